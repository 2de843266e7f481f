/* A button changes between dark and light. A file opens as the system is set; what the reader has
   chosen holds for the tab, so that a page that reloads itself keeps it. The tab's name holds it:
   on a busy machine Chromium loses what is new in sessionStorage in one reload of twenty. */

(function theme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button.theme"));
  if (["dark", "light"].includes(window.name)) root.dataset.theme = window.name;
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => buttons.forEach((change) => {
    const word = document.createElement("span");
    word.className = "word";
    word.textContent = dark() ? " Light" : " Dark";
    change.replaceChildren(dark() ? "\u2600\ufe0e" : "\u263e\ufe0e", word);
    change.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
    change.title = dark() ? "Light colours" : "Dark colours";
  });
  const turn = () => {
    root.dataset.theme = window.name = dark() ? "light" : "dark";
    label();
  };
  for (const change of buttons) change.addEventListener("click", turn);
  system.addEventListener("change", label);
  label();
})();
