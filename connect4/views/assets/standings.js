/* The standings for a projector: the bracket alone, as large as the window allows. */

(function projector() {
  const root = document.documentElement;
  const change = /** @type {HTMLButtonElement} */ (document.getElementById("projector"));
  const stages = /** @type {HTMLElement} */ (document.querySelector(".stages"));
  const LEGIBLE = 44; // pixels of a name that can be read from the back of a room
  const LARGEST = 72;
  const SHOWN = 5; // of a group that promotes nobody, where there is no room for all

  /* How much is left out until the names are legible: nothing; who is not promoted; then groups
     stand side by side; at last the stages that are over. */
  const LEVELS = ["", "brief", "brief wide", "brief wide current"];

  const isOn = () => root.dataset.view === "projector";

  /** @param {number} size */
  function fits(size) {
    stages.style.setProperty("--size", `${size}px`);
    return stages.scrollHeight <= stages.clientHeight && stages.scrollWidth <= stages.clientWidth;
  }

  function namesAreWhole() {
    return [...stages.querySelectorAll(".name")].every((name) => (
      name.scrollWidth <= name.clientWidth && name.scrollHeight <= name.clientHeight + 2
    ));
  }

  /** @param {boolean} brief */
  function shorten(brief) {
    for (const list of stages.querySelectorAll("ol")) {
      list.querySelector(".more")?.remove();
      const items = [...list.children];
      const promoted = list.querySelectorAll(".promoted").length;
      const kept = brief ? promoted || Math.min(items.length, SHOWN) : items.length;
      items.forEach((item, place) => item.toggleAttribute("hidden", place >= kept));
      if (kept === items.length) continue;
      const more = document.createElement("li");
      more.className = "more";
      more.textContent = `and ${items.length - kept} more`;
      list.append(more);
    }
  }

  function fit() {
    for (const level of LEVELS) {
      stages.className = `stages ${level}`;
      shorten(isOn() && level !== "");
      if (!isOn()) return;
      const least = level === LEVELS[LEVELS.length - 1] ? 16 : LEGIBLE;
      let size = LARGEST;
      while (size >= least && !fits(size)) size -= 2;
      if (size < least) continue;
      for (let smaller = size; smaller >= LEGIBLE; smaller -= 2) {
        if (fits(smaller) && namesAreWhole()) return;
      }
      fits(size);
      return;
    }
  }

  /** @param {boolean} on */
  function show(on) {
    if (on) root.dataset.view = "projector";
    else delete root.dataset.view;
    change.setAttribute("aria-pressed", String(on));
    change.textContent = on ? "Exit (Esc)" : "Projector";
    try {
      history.replaceState(null, "", on ? "#projector" : "#");
    } catch { /* some browsers do not allow it in a file */ }
    fit();
  }

  change.addEventListener("click", () => show(!isOn()));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isOn()) show(false);
  });
  addEventListener("resize", fit);
  show(location.hash === "#projector");
})();
