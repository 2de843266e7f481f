/* Small helpers. Text from records reaches the page through textContent and attributes alone. */

const SVG = "http://www.w3.org/2000/svg";
const DATA = JSON.parse(byId("data").textContent ?? "");

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element ${id}`);
  return element;
}

/** @param {string} id @returns {HTMLButtonElement} */
function button(id) {
  return /** @type {HTMLButtonElement} */ (byId(id));
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {Element} [parent]
 * @returns {SVGElement}
 */
function svg(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (parent) parent.append(element);
  return /** @type {SVGElement} */ (element);
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string} [className]
 * @param {...(string | Node)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** @param {string} className @param {() => void} act @param {...(string | Node)} children */
function makeButton(className, act, ...children) {
  const made = make("button", className, ...children);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** @param {string} value @param {string} text */
function option(value, text) {
  const made = make("option", "", text);
  made.value = value;
  return made;
}

/**
 * A name that nobody vouches for: `bdi` keeps its writing direction to itself. It breaks after
 * punctuation alone.
 * @param {string} text
 */
function quoted(text) {
  const parts = brief(text).split(/(?<=[,:/=_\-])/);
  const name = make("bdi", "", ...parts.flatMap((part) => [part, make("wbr")]));
  name.title = text;
  return name;
}

/**
 * Of a long path, what tells it from others: the file, or the folder where all are named alike.
 * @param {string} name
 */
function brief(name) {
  if (name.length <= 24 || !/^ai:.*\//.test(name)) return name;
  return name.replace(/\/ai\.py$/, "").split("/").pop() ?? name;
}

/** @param {number} player */
function token(player) {
  const mark = make("span", `mark p${player}`);
  mark.setAttribute("aria-hidden", "true");
  return mark;
}

/**
 * Numbers with a real minus sign and at most `digits` decimals.
 * @param {number} value
 */
function number(value, digits = 0) {
  return value.toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")
    .replace(/^-0$/, "0").replace("-", "\u2212");
}

/** @param {number} value */
function signed(value, digits = 0) {
  const text = number(value, digits);
  return value > 0 && text !== "0" ? `+${text}` : text;
}

/** @param {number} value */
function seconds(value) {
  if (value < .0005) return "<1 ms";
  return value < 0.1 ? `${number(value * 1000)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

/**
 * Do what the first look at the page need not wait for.
 * @param {() => void} work
 */
function afterPaint(work) {
  requestAnimationFrame(() => setTimeout(work));
}

const TOUCH = matchMedia("(pointer: coarse)");
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
