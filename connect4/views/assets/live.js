/* The projector's page: the site and the game just played, each loaded again when it has changed. */
(() => {
  "use strict";
  const EVERY = 1000, GAME = 15000;
  const frame = (/** @type {string} */ id) => /** @type {HTMLIFrameElement} */ (document.getElementById(id));
  const seen = { site: -1, game: -1 };
  let shownAt = -GAME;

  /** @param {HTMLIFrameElement} element @param {() => void} [then] */
  function again(element, then) {
    const inside = element.contentWindow;
    const top = inside ? inside.scrollY : 0;
    element.addEventListener("load", () => {
      if (element.contentWindow) element.contentWindow.scrollTo(0, top);
      if (then) then();
    }, { once: true });
    if (inside) inside.location.reload();
  }

  /** Show a frame in the colours of this page, whose button is the only one. */
  function colour(/** @type {HTMLIFrameElement} */ element) {
    const inside = element.contentDocument;
    if (!inside?.documentElement) return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const wanted = document.documentElement.dataset.theme || system;
    inside.documentElement.dataset.theme = wanted;
    const change = /** @type {HTMLButtonElement | null} */ (inside.querySelector("button.theme"));
    if (change) change.hidden = true;
    inside.defaultView?.dispatchEvent(new Event("resize")); // the grid is drawn again
  }

  function play() {
    const button = frame("game").contentDocument?.getElementById("play");
    if (button) button.click();
  }

  async function look() {
    try {
      const now = await (await fetch("/live.json", { cache: "no-store" })).json();
      if (now.site !== seen.site) again(frame("site"));
      seen.site = now.site;
      if (now.game !== seen.game && performance.now() - shownAt >= GAME) {
        seen.game = now.game;
        const told = document.getElementById("told");
        if (told) told.textContent = now.text; // of the game that is shown
        shownAt = performance.now();
        again(frame("game"), play);
      }
    } catch {
      const told = document.getElementById("told");
      if (told) told.textContent = "the ladder has ended";
    }
    setTimeout(look, EVERY);
  }
  for (const element of [frame("site"), frame("game")]) {
    element.addEventListener("load", () => colour(element));
    document.querySelector("button.theme")?.addEventListener("click", () => colour(element));
    colour(element);
  }
  look();
})();
