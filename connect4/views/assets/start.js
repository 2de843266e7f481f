/* The start page: what is filled in becomes the words of a command line, which the server checks. */

/**
 * @typedef {{
 *   kind: string, file: boolean, options: Record<string, string[]>, usual: Record<string, string>, about: string,
 * }} Agent
 * @typedef {{
 *   name: string, title: string, size: [number, number] | null, starts: string[], agents: Agent[],
 *   options: {name: string, help: string, switch: boolean}[], about: string,
 *   boards: Record<string, [number, string, [number, number] | null]>,
 * }} Rules
 */

const KEPT = "connect4-start";
const FIELDS = ["game", "rows", "columns", "place", "begins", "seconds"];

/** @param {string} id @returns {HTMLInputElement} */
const field = (id) => /** @type {HTMLInputElement} */ (byId(id));

/** @type {{name: string, text: string} | null} */
let dropped = null;

/** @returns {Rules} */
const rules = () => DATA.games.find((/** @type {Rules} */ { name }) => name === field("game").value);

/** @returns {string} */
const mode = () => /** @type {HTMLInputElement} */ (document.querySelector("[name=mode]:checked")).value;

/** @returns {string} */
const board = () => /** @type {HTMLInputElement} */ (document.querySelector("[name=board]:checked")).value;

/** @param {string} value */
function chooseBoard(value) {
  const radios = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("[name=board]"));
  for (const radio of radios) if (radio.value === value) radio.checked = true;
  document.querySelector(".thumb:has(:checked)")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/**
 * Return the picture of a board to choose.
 * @param {string} value
 * @param {string} text
 */
function thumbnail(value, text) {
  const radio = make("input");
  radio.type = "radio";
  radio.name = "board";
  radio.value = value;
  const label = make("label", "thumb", radio);
  const { boards } = rules();
  const [columns, cells, left] = boards[value] ?? [1, "", null];
  const some = Object.values(boards).some((each) => each[2]);
  const rows = cells.length / columns;
  const picture = svg("svg", { viewBox: `0 0 ${columns} ${rows || 1}`, "aria-hidden": "true" });
  if (rows) svg("rect", { width: columns, height: rows, rx: .4 }, picture);
  [...cells].forEach((cell, index) => {
    svg("circle", { cx: index % columns + .5, cy: Math.floor(index / columns) + .5, r: .38, class: `c${cell}` }, picture);
  });
  label.append(...(rows ? [picture] : []), make("span", "", text));
  if (rows) label.append(make("small", "muted", `${rows}\u00d7${columns}`, ...(some ? [make("br"), `${left?.[0] ?? "no"} pop-outs`] : [])));
  return label;
}

/* Offer what the chosen game has. */
function offerGame() {
  const { about, starts, size, options } = rules();
  byId("about").textContent = about;
  byId("boards").replaceChildren(
    thumbnail("", "usual start"), ...(size ? [thumbnail("size", "another size")] : []), thumbnail("file", "a state file"),
    ...starts.map((name) => thumbnail(name, name)),
  );
  chooseBoard("");
  if (size) [field("rows").value, field("columns").value] = size.map(String);
  byId("options").hidden = !options.length;
  byId("options").replaceChildren(make("span", "muted", rules().title), ...options.map(({ name, help, switch: flag }) => {
    const input = make("input");
    input.id = `option-${name}`;
    if (flag) input.type = "checkbox";
    else Object.assign(input, { size: 4, placeholder: /default (\w+)/.exec(help)?.[1] ?? "" });
    const said = make("span", "muted", help.replace(/ \(.*/, ""));
    return make("label", "", `${name.replace("_", " ")} `, input, " ", said);
  }));
  offerAgent("first", "First agent");
  offerAgent("second", "");
}

/** @param {string} id @param {string} title */
function offerAgent(id, title) {
  const before = document.getElementById(`${id}-kind`) ? field(`${id}-kind`).value : "";
  const kinds = make("select");
  kinds.id = `${id}-kind`;
  kinds.append(...rules().agents.map(({ kind, about }) => option(kind, about ? `${kind}: ${about}` : kind)));
  const usual = id === "first" ? ["ai", "alphabeta"] : ["ai", "greedy"];
  kinds.value = [before, ...usual].find((kind) => rules().agents.some((agent) => agent.kind === kind)) ?? "";
  const label = make("label", "", title);
  label.htmlFor = kinds.id;
  byId(id).replaceChildren(label, kinds);
  kinds.addEventListener("change", () => offerFields(id));
  offerFields(id);
}

/** @param {string} id */
function offerFields(id) {
  const agent = rules().agents.find(({ kind }) => kind === field(`${id}-kind`).value);
  /** @type {[string, HTMLElement][]} */
  const parts = agent?.file ? [["file", Object.assign(make("input"), { placeholder: "another file" })]] : [];
  for (const [name, words] of Object.entries(agent?.options ?? {})) {
    const usual = agent?.usual[name] ?? "";
    const choices = words.map((word) => option(word === usual ? "" : word, word));
    if (!words.includes(usual)) choices.unshift(option("", usual || "usual"));
    const input = words.length ? make("select", "", ...choices) : make("input");
    if (input instanceof HTMLInputElement) input.placeholder = usual || (/nodes|seconds/.test(name) ? "no limit" : "");
    else input.value = "";
    parts.push([name, input]);
  }
  const fields = make("span", "", ...parts.map(([name, input]) => {
    const element = /** @type {HTMLInputElement} */ (input);
    element.dataset.name = name;
    if (element.tagName === "INPUT") element.size = name === "file" ? 24 : 6;
    return make("label", "", `${name} `, element);
  }));
  fields.id = `${id}-fields`;
  byId(`${id}-options`).replaceChildren(make("span", "muted"), fields);
}

/** @param {string} id */
function agentName(id) {
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (byId(`${id}-fields`).querySelectorAll("[data-name]"));
  const parts = [...inputs].filter(({ value }) => value.trim()).map(({ value, dataset: { name } }) => (
    name === "file" ? value.trim() : `${name}=${value.trim()}`
  ));
  return [field(`${id}-kind`).value, parts.join(",")].filter(Boolean).join(":");
}

/* The words of the command line. */
function words() {
  const kind = mode();
  const second = kind === "persons" ? "human" : agentName("second");
  const sides = [kind === "watch" ? agentName("first") : "human", second];
  if (kind !== "persons" && field("begins").value === "2") sides.reverse();
  const found = [...sides];
  const start = board();
  if (dropped && start === "dropped") found.push(dropped.name);
  else if (start === "file") found.push(field("place").value.trim() || "FILE");
  else if (start === "size") found.push("--rows", field("rows").value.trim(), "--columns", field("columns").value.trim());
  else if (start) found.push(start);
  if (rules().name !== DATA.games[0].name) found.push("--game", rules().name);
  for (const { name, switch: flag } of rules().options) {
    const input = field(`option-${name}`);
    const long = `--${name.replace("_", "-")}`;
    if (flag && input.checked) found.push(long);
    else if (!flag && input.value.trim()) found.push(long, input.value.trim());
  }
  if (Number(field("seconds").value) !== DATA.seconds) found.push("--time", field("seconds").value.trim());
  if (kind !== "watch" && field("clock").checked) found.push("--human-clock");
  return found;
}

/** @param {string} word */
const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);

function changed() {
  const kind = mode();
  byId("first").hidden = byId("first-options").hidden = kind !== "watch";
  byId("second").hidden = byId("second-options").hidden = byId("begin-line").hidden = kind === "persons";
  const [one, two] = byId("begins").children;
  [one.textContent, two.textContent] = kind === "watch" ? ["the first agent", "the second agent"] : ["you", "the opponent"];
  byId("second").children[0].textContent = kind === "watch" ? "Second agent" : "Opponent";
  for (const id of ["first", "second"]) {
    byId(`${id}-options`).children[0].textContent = `${byId(id).children[0].textContent}: ${field(`${id}-kind`).value}`;
  }
  byId("clock-label").hidden = kind === "watch";
  byId("size").hidden = board() !== "size";
  byId("place").hidden = board() !== "file";
  byId("command").textContent = ["python3", "-m", "connect4.ConnectFour", ...words().map(quote)].join(" ");
  byId("wrong").textContent = "";
  const kept = Object.fromEntries(FIELDS.map((id) => [id, field(id).value]));
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...kept, board: board(), mode: kind, first: agentName("first"), second: agentName("second") }));
  } catch { /* a browser that keeps nothing */ }
}

/** @param {string} path @param {any} data */
async function ask(path, data) {
  byId("wrong").textContent = "";
  const headers = { "Content-Type": "application/json" };
  try {
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(data) });
    const { path: page, wrong: why } = answer.ok ? await answer.json() : { path: "", wrong: await answer.text() };
    if (page) location.href = page;
    else wrong(why);
  } catch {
    wrong("the command behind this page has ended");
  }
}

/** @param {string} text */
function wrong(text) {
  byId("wrong").textContent = text;
  byId("wrong").scrollIntoView({ block: "nearest" });
}

/** @param {File | undefined} file */
async function take(file) {
  if (!file) return;
  const text = await file.text();
  if (text.length > 55000) { // as JSON it is longer, and a request is at most 64000 bytes
    wrong(`${file.name} is too large for this page; python3 -m connect4.views.page FILE -o game.html shows a record`);
    return;
  }
  if (file.name.endsWith(".json")) {
    ask("open", { text });
    return;
  }
  dropped = { name: file.name, text };
  document.querySelector("[name=board][value=dropped]")?.parentElement?.remove();
  byId("boards").append(thumbnail("dropped", file.name));
  chooseBoard("dropped");
  changed();
}

/** @param {string} id @param {string} text */
function showAgent(id, text) {
  const [, kind, rest] = /^(\w+):?(.*)$/.exec(text) ?? [];
  if (!rules().agents.some((agent) => agent.kind === kind)) return;
  field(`${id}-kind`).value = kind;
  offerFields(id);
  for (const part of rest.split(",").filter(Boolean)) {
    const [, name, value] = /^([a-z]+)=(.*)$/.exec(part) ?? ["", "file", part];
    const input = /** @type {HTMLInputElement | null} */ (byId(`${id}-fields`).querySelector(`[data-name=${name}]`));
    if (input) input.value = value;
    /** @type {HTMLDetailsElement} */ (byId("more")).open = true;
  }
}

/* List the last games of this server, the newest first; each is a page. */
const games = new Map();

/** @param {{path: string, names: string, result: string}} game */
function list(game) {
  games.set(game.path, game);
  byId("last").hidden = false;
  byId("last-games").replaceChildren(...[...games.values()].slice(-3).reverse().map(({ path, names, result }) => {
    return make("li", "", Object.assign(make("a", "", names), { href: path }), `: ${result}`);
  }));
}

(function start() {
  byId("game").append(...DATA.games.map((/** @type {Rules} */ { name, title }) => option(name, title)));
  /** @type {Record<string, string>} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch { /* damaged: as at the first time */ }
  field("seconds").value = String(DATA.seconds);
  if (DATA.games.some((/** @type {Rules} */ { name }) => name === kept.game)) field("game").value = kept.game;
  offerGame();
  for (const id of FIELDS.slice(1)) {
    const element = /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(id));
    const known = element instanceof HTMLInputElement || [...element.options].some(({ value }) => value === kept[id]);
    if (kept[id] && known) element.value = kept[id];
  }
  chooseBoard(kept.board ?? "");
  const radio = /** @type {HTMLInputElement | null} */ (document.querySelector(`[name=mode][value=${kept.mode ?? "against"}]`));
  if (radio) radio.checked = true;
  for (const id of ["first", "second"]) if (kept[id]) showAgent(id, kept[id]);
  byId("game").addEventListener("change", () => {
    dropped = null;
    offerGame();
  });
  byId("form").addEventListener("input", changed);
  byId("form").addEventListener("change", changed);
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (board() === "file" && !field("place").value.trim()) wrong("Type the path of the state file, or drop the file here.");
    else ask("play", { words: words(), file: board() === "dropped" ? dropped : null });
  });
  byId("copy").addEventListener("click", () => {
    const selection = getSelection();
    selection?.selectAllChildren(byId("command"));
    document.execCommand("copy");
  });
  field("record").addEventListener("change", () => take(field("record").files?.[0]));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take(event.dataTransfer?.files[0]);
  });
  if (DATA.playground) {
    byId("playground").append(Object.assign(make("a", "", "Write an agent in the browser, and play against it"), { href: DATA.playground }));
    byId("playground").hidden = false;
  }
  const here = new EventSource("here"); // the command ends when its last page has gone
  here.addEventListener("game", (event) => list(JSON.parse(/** @type {MessageEvent} */ (event).data)));
  changed();
})();
