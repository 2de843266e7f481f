/* The search tree: an outline of which only the rows in sight are drawn. The nodes stand in columns
   in the order in which the search came to them, so that each is followed by what lies below it. */

const KINDS = [["max", "\u25b2 MAX"], ["min", "\u25bc MIN"], ["chance", "\u25c6 CHANCE"]];
const ROW = TOUCH.matches ? 44 : 30;
const SPARE = 12;

const COUNT = DATA.depth.length;

/* Flags of a node, as `connect4.views.tree` writes them. */
const BEST = 1;
const PRUNED = 2;
const CUT = 4;
const FINAL = 8;
const KNOWN = 16;

const parents = new Int32Array(COUNT).fill(-1);
const ends = new Int32Array(COUNT); // one past the last node below
const ranks = new Int32Array(COUNT); // place among the siblings, from 1
const families = new Int32Array(COUNT); // number of children
const searched = new Int32Array(COUNT); // nodes below and itself, without pruned ones
const isOpen = new Uint8Array(COUNT);
const HAS_CHANCE = DATA.kind.includes(2);

(function link() {
  const trail = [];
  for (let node = 0; node < COUNT; node++) {
    const depth = DATA.depth[node];
    for (; trail.length > depth; trail.pop()) ends[trail[trail.length - 1]] = node;
    if (depth) {
      const parent = trail[depth - 1];
      parents[node] = parent;
      ranks[node] = ++families[parent];
    }
    trail.push(node);
  }
  for (const node of trail) ends[node] = COUNT;
  for (let node = COUNT - 1; node >= 0; node--) {
    if (!is(node, PRUNED)) searched[node] += 1;
    if (node) searched[parents[node]] += searched[node];
  }
})();

/** @param {number} node @param {number} flag */
function is(node, flag) {
  return (DATA.flags[node] & flag) !== 0;
}

/** @param {number} node */
function moveText(node) {
  return node ? DATA.move[node] : "start";
}

/**
 * Beyond `DATA.win` lie won positions: the more, the sooner.
 * @param {number | null} value
 */
function shownValue(value, none = "") {
  if (value === null) return none;
  if (Math.abs(value) >= DATA.win) return value > 0 ? "win" : "loss";
  return String(value).replace("-", "\u2212");
}

/** @param {number} node */
function shownWindow(node) {
  if (!DATA.windowed) return "";
  const alpha = shownValue(DATA.alpha[node], "\u2212\u221e");
  const beta = shownValue(DATA.beta[node], "+\u221e");
  return `${alpha} .. ${beta}`;
}

/**
 * Return the probability of a move of chance, as `1/6`; all its moves are equally likely.
 * @param {number} node
 */
function probability(node) {
  return node && DATA.kind[parents[node]] === 2 ? `1/${families[parents[node]]}` : "";
}

/** @param {number} node */
function pathTo(node) {
  const path = [];
  for (let at = node; at >= 0; at = parents[at]) path.unshift(at);
  return path;
}

/** @param {number} node @returns {[Uint8Array, Move | null]} */
function cellsAt(node) {
  const cells = Uint8Array.from(DATA.start, Number);
  let before = cells;
  for (const step of pathTo(node).slice(1)) {
    const changes = DATA.change[step];
    before = cells.slice();
    for (let index = 0; index < changes.length; index += 2) cells[changes[index]] = changes[index + 1];
  }
  const last = node ? DATA.change[node] : [];
  return [cells, readMove(before, last, DATA.columns)];
}

/**
 * Say in words what became of a node, and of a pruned one which bound cut it off.
 * @param {number} node
 */
function reason(node) {
  if (is(node, PRUNED)) {
    const above = parents[node];
    const [, kind] = KINDS[DATA.kind[above]];
    const value = shownValue(DATA.value[above]);
    if (DATA.kind[above] === 0) {
      const beta = shownValue(DATA.beta[above]);
      return `Pruned: its parent, ${kind}, already had the value ${value} \u2265 \u03b2 ${beta}, so MIN above would not let it come to this.`;
    }
    const alpha = shownValue(DATA.alpha[above]);
    return `Pruned: its parent, ${kind}, already had the value ${value} \u2264 \u03b1 ${alpha}, so MAX above would not let it come to this.`;
  }
  if (is(node, FINAL)) return "The game is over here: the value is its result.";
  if (is(node, KNOWN)) return "Known already: the value is from the transposition table.";
  if (!families[node]) return DATA.leaf;
  const pruned = families[node] - searchedChildren(node);
  const said = [`${families[node]} moves`];
  if (is(node, CUT)) said.push(`a cut-off after ${searchedChildren(node)}, ${pruned} pruned`);
  if (is(node, BEST)) said.push("on the principal variation");
  const best = wrong.get(node);
  const mistake = best === undefined ? "" : ` Wrong: the best of its children's values is ${shownValue(best)}.`;
  return `${said.join("; ")}.${mistake}`;
}

/** @param {number} node */
function searchedChildren(node) {
  return childrenOf(node).filter((child) => !is(child, PRUNED)).length;
}

/** @param {number} node */
function childrenOf(node) {
  const children = [];
  for (let child = node + 1; child < ends[node]; child = ends[child]) children.push(child);
  return children;
}

/** In a student's tree, each node whose value is not the best of its children's, with that one.
 * @type {Map<number, number>} */
const wrong = new Map();

(function check() {
  for (let node = 0; DATA.checked && node < COUNT; node++) {
    const values = childrenOf(node).filter((child) => !is(child, PRUNED)).map((child) => DATA.value[child]);
    if (!values.length || DATA.kind[node] === 2 || [DATA.value[node], ...values].includes(null)) continue;
    const best = DATA.kind[node] === 0 ? Math.max(...values) : Math.min(...values);
    const bounded = Math.max(DATA.alpha[node] ?? best, Math.min(DATA.beta[node] ?? best, best)); // alpha-beta may return a bound
    if ([best, bounded].every((value) => Math.abs(value - DATA.value[node]) > .002)) wrong.set(node, best);
  }
})();

const tree = {
  list: [0], selected: 0, shown: -1,
  drawn: /** @type {Map<number, HTMLElement>} */ (new Map()),
  board: new Board(byId("board"), DATA),

  /* Work the list of rows out anew: each open node is followed by its children. */
  layOut() {
    const list = [];
    for (let node = 0; node < COUNT; node = isOpen[node] ? node + 1 : ends[node]) list.push(node);
    this.list = list;
    byId("rows").style.height = `${list.length * ROW}px`;
  },

  /**
   * Return the first row to be drawn and the one after the last.
   * @returns {[number, number]}
   */
  inSight() {
    const view = byId("tree");
    const { scrollTop, clientHeight } = view;
    const bar = `${view.offsetWidth - view.clientWidth}px`;
    const columns = byId("columns").style;
    if (columns.getPropertyValue("--bar") !== bar) columns.setProperty("--bar", bar);
    const first = Math.max(0, Math.floor(scrollTop / ROW) - SPARE);
    return [first, Math.min(this.list.length, Math.ceil((scrollTop + clientHeight) / ROW) + SPARE)];
  },

  /* Draw the rows that have come into sight. */
  draw() {
    const [first, end] = this.inSight();
    for (const [place, row] of this.drawn) {
      if (place >= first && place < end) continue;
      row.remove();
      this.drawn.delete(place);
    }
    this.add(first, end);
  },

  /* Draw every row in sight anew. */
  redraw() {
    const [first, end] = this.inSight();
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.add(first, end);
  },

  /** @param {number} first @param {number} end */
  add(first, end) {
    const fresh = document.createDocumentFragment();
    for (let place = first; place < end; place++) {
      if (this.drawn.has(place)) continue;
      const row = makeRow(this.list[place], place);
      this.drawn.set(place, row);
      fresh.append(row);
    }
    byId("rows").append(fresh);
  },

  /** @param {number} node */
  place(node) {
    let [low, high] = [0, this.list.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.list[middle] < node) low = middle + 1;
      else high = middle;
    }
    return low;
  },

  /**
   * Open everything above `node`, select it and bring it into sight.
   * @param {number} node
   */
  select(node, open = false) {
    let changed = false;
    const above = pathTo(node).slice(0, open ? undefined : -1);
    for (const step of above) {
      if (!isOpen[step] && families[step]) {
        isOpen[step] = 1;
        changed = true;
      }
    }
    this.selected = node;
    if (changed) this.layOut();
    this.reveal(node);
    this.redraw();
    byId("tree").setAttribute("aria-activedescendant", `n${node}`);
    showPath();
    show(node);
  },

  /** @param {number} node */
  reveal(node) {
    const view = byId("tree");
    const top = this.place(node) * ROW;
    if (top < view.scrollTop + ROW) view.scrollTop = top - 2 * ROW;
    else if (top + 3 * ROW > view.scrollTop + view.clientHeight) view.scrollTop = top - view.clientHeight / 2;
  },

  /** @param {number} node */
  close(node) {
    isOpen[node] = 0;
    this.layOut();
    this.select(node);
  },

  /** @param {number} by */
  step(by) {
    const place = Math.max(0, Math.min(this.list.length - 1, this.place(this.selected) + by));
    this.select(this.list[place]);
  },
};

/** @param {number} node @param {number} place */
function makeRow(node, place) {
  const depth = DATA.depth[node];
  const opener = make("span", "opener", families[node] ? (isOpen[node] ? "\u25be" : "\u25b8") : "");
  const lead = make("span", "lead", opener);
  lead.style.setProperty("--depth", String(Math.min(depth, 24)));
  const inner = families[node] > 0;
  const [kind, badge] = inner ? KINDS[DATA.kind[node]] : ["leaf", is(node, FINAL) ? "end" : is(node, PRUNED) ? "pruned" : "leaf"];
  lead.append(make("span", "text", moveText(node)), make("span", `kind ${kind}`, badge));
  if (is(node, BEST)) lead.append(make("span", "star", "\u2605"));
  if (is(node, CUT)) {
    lead.append(make("span", "chip", make("span", "word", cutText(node)), make("span", "brief", "cut")));
  }
  if (wrong.has(node)) lead.append(make("span", "chip wrong", "wrong"));
  const row = make(
    "div", "row", lead, make("span", "value", shownValue(DATA.value[node])),
    make("span", "window", is(node, PRUNED) ? "" : shownWindow(node) || probability(node)),
    make("span", "below", inner ? searched[node].toLocaleString("en") : ""),
  );
  if (node && inner) row.style.setProperty("--share", `${100 * searched[node] / searched[parents[node]]}%`);
  row.classList.toggle("pruned", is(node, PRUNED));
  row.classList.toggle("best", is(node, BEST));
  row.classList.toggle("selected", node === tree.selected);
  row.style.top = `${place * ROW}px`;
  row.id = `n${node}`;
  /** @type {Record<string, string | number | boolean>} */
  const labels = {
    role: "treeitem", "aria-level": depth + 1, "aria-posinset": ranks[node] || 1,
    "aria-setsize": node ? families[parents[node]] : 1, "aria-selected": node === tree.selected,
  };
  if (inner) labels["aria-expanded"] = Boolean(isOpen[node]);
  for (const [name, value] of Object.entries(labels)) row.setAttribute(name, String(value));
  return row;
}

/** @param {number} node */
function cutText(node) {
  const value = shownValue(DATA.value[node]);
  return DATA.kind[node] === 0
    ? `cut: value ${value} \u2265 \u03b2 ${shownValue(DATA.beta[node])}`
    : `cut: value ${value} \u2264 \u03b1 ${shownValue(DATA.alpha[node])}`;
}

function showPath() {
  byId("path").replaceChildren(...pathTo(tree.selected).map((node) => {
    const text = `${["\u25b2", "\u25bc", "\u25c6"][DATA.kind[node]]} ${moveText(node)}`;
    const step = makeButton("", () => tree.select(node), text);
    if (node === tree.selected) step.setAttribute("aria-current", "location");
    return make("li", "", step);
  }));
  button("up").disabled = tree.selected === 0;
}

/**
 * Show a node beside the tree: the one under the pointer, else the selected one.
 * @param {number} node
 */
function show(node) {
  if (node === tree.shown) return;
  tree.shown = node;
  const [cells, move] = cellsAt(node);
  tree.board.show(cells, move, 0);
  byId("caption").textContent = `The board after ${pathTo(node).map(moveText).join(" ")}`;
  byId("node-title").textContent = node ? `Move ${moveText(node)}, ply ${DATA.depth[node]}` : "The start";
  byId("why").textContent = reason(node);
  const facts = [
    ["Value", shownValue(DATA.value[node], "unknown")],
    ...(DATA.windowed ? [["Window", (is(node, PRUNED) ? "" : shownWindow(node)) || "\u2013"]] : []),
    ...(HAS_CHANCE ? [["Probability", probability(node) || "\u2013"]] : []),
    ["Order", node ? `${ranks[node]} of ${families[parents[node]]}` : "\u2013"],
    ["Nodes", searched[node].toLocaleString("en")],
  ];
  byId("values").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
}

/** Return the last node of the principal variation. */
function endOfBest() {
  let node = 0;
  for (let next = /** @type {number | undefined} */ (0); next !== undefined; next = childrenOf(node).find((child) => is(child, BEST))) node = next;
  return node;
}

const openBest = () => tree.select(endOfBest());

/** @param {(node: number) => boolean} wanted */
function next(wanted) {
  for (let ahead = 1; ahead <= COUNT; ahead++) {
    const node = (tree.selected + ahead) % COUNT;
    if (wanted(node)) {
      tree.select(node, true);
      return;
    }
  }
}

(function start() {
  byId("title").replaceChildren(`${DATA.title}: `, quoted(DATA.agent));
  byId("facts").replaceChildren(...DATA.facts.map((/** @type {string} */ fact) => make("span", "", fact.replace(/ -(?=\d)/, " \u2212"))));
  byId("max-is").textContent = DATA.max_is;
  byId("min-is").textContent = DATA.min_is;
  if (!DATA.windowed) byId("bounds").textContent = HAS_CHANCE ? "Probability" : "";
  byId("min-key").hidden = !DATA.kind.some((/** @type {number} */ kind, /** @type {number} */ node) => kind === 1 && families[node]);
  byId("chance-key").hidden = !HAS_CHANCE;
  const cuts = DATA.flags.some((/** @type {number} */ flags) => flags & CUT);
  for (const part of ["", "-key", "-hint"]) {
    byId(`cut${part}`).hidden = !cuts;
    byId(`wrong${part}`).hidden = !wrong.size;
  }
  const nextCut = () => next((node) => is(node, CUT));
  const nextWrong = () => next((node) => wrong.has(node));
  tree.board.describeIn(byId("cells"));
  const view = byId("tree");
  view.addEventListener("scroll", () => tree.draw(), { passive: true });
  new ResizeObserver(() => tree.draw()).observe(view);
  const nodeOf = (/** @type {Event} */ event) => {
    const row = /** @type {Element} */ (event.target).closest(".row");
    return row ? Number(row.id.slice(1)) : null;
  };
  view.addEventListener("click", (event) => {
    const node = nodeOf(event);
    if (node === null) return;
    if (isOpen[node] && /** @type {Element} */ (event.target).classList.contains("opener")) tree.close(node);
    else tree.select(node, true);
  });
  view.addEventListener("pointerover", (event) => {
    const node = nodeOf(event);
    if (node !== null) show(node);
  });
  view.addEventListener("pointerleave", () => show(tree.selected));
  byId("up").addEventListener("click", () => tree.select(Math.max(0, parents[tree.selected])));
  byId("best").addEventListener("click", openBest);
  byId("cut").addEventListener("click", nextCut);
  byId("wrong").addEventListener("click", nextWrong);
  byId("all").addEventListener("click", () => {
    for (let node = 0; node < COUNT; node++) isOpen[node] = families[node] ? 1 : 0;
    tree.layOut();
    tree.redraw();
  });
  byId("none").addEventListener("click", () => {
    isOpen.fill(0);
    tree.layOut();
    tree.select(0);
  });
  const closed = (/** @type {number} */ node) => families[node] > 0 && !isOpen[node];
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowUp: () => tree.step(-1), ArrowDown: () => tree.step(1),
    PageUp: () => tree.step(-15), PageDown: () => tree.step(15),
    Home: () => tree.select(0), End: () => tree.select(tree.list[tree.list.length - 1]),
    ArrowRight: () => (closed(tree.selected) || !families[tree.selected] ? tree.select(tree.selected, true) : tree.step(1)),
    ArrowLeft: () => (isOpen[tree.selected] ? tree.close(tree.selected) : tree.select(Math.max(0, parents[tree.selected]))),
    Enter: () => tree.select(tree.selected, true), Backspace: () => tree.select(Math.max(0, parents[tree.selected])),
    v: openBest, c: nextCut, w: nextWrong,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!keys[name] || (name === "Enter" && /** @type {Element} */ (event.target).tagName === "BUTTON")) return;
    event.preventDefault();
    keys[name]();
  });
  for (const node of [0, ...pathTo(endOfBest()).slice(0, -1)]) isOpen[node] = families[node] ? 1 : 0;
  tree.layOut();
  tree.select(0);
})();
