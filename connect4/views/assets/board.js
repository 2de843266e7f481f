/* A board as a picture, and as a table for screen readers. It knows no rules. */

const CELL = 40;
const RADIUS = 16.5;
const SMALLEST = .75; // the least, also on a phone on its side
const LARGEST = 1.7; // pixels on the screen for one of the picture: a small board stays small

/**
 * `owners` has the player who may pop out of each column; without it, both may where `popOuts` holds.
 * `plate` is whether there is a plate with holes.
 * @typedef {{
 *   rows: number, columns: number, columnLabels: string[], rowLabels: string[] | null,
 *   owners: number[] | null, popOuts: boolean, plate: boolean,
 * }} Shape
 * @typedef {{to?: number, from?: number, column?: number}} Move
 * @typedef {{move: Move, player: number}} Ghost
 */

class Board {
  /** @param {HTMLElement} host @param {Shape} shape */
  constructor(host, shape) {
    this.shape = shape;
    const { rows, columns } = shape;
    const left = shape.rowLabels ? 24 : 6;
    const bottom = shape.popOuts ? 52 : 28;
    const width = columns * CELL + left + 6;
    const height = rows * CELL + 6 + bottom;
    this.picture = svg("svg", {
      class: "board", viewBox: `${-left} -6 ${width} ${height}`, "aria-hidden": "true",
    });
    this.picture.style.maxWidth = `${width * LARGEST}px`;
    this.picture.style.setProperty("--least", `${height * SMALLEST}px`); // in a low window
    /** @type {SVGElement[]} */
    this.tokens = [];
    /** @type {Animation[]} */
    this.running = [];
    /** @type {SVGElement[][]} */
    this.labels = []; // of each column, with its triangle
    this.values = new Uint8Array(rows * columns);
    this.group = svg("g", { class: shape.plate ? "plated" : "" }, this.picture);
    this.drawCells();
    this.marks = svg("g", {}, this.group);
    this.ghosts = svg("g", {}, this.group); // a layer of its own: pointing redraws nothing else
    this.drawLabels();
    host.replaceChildren(this.picture);
    /** @type {HTMLElement[] | null} */
    this.table = null;
  }

  /** @param {number} cell @returns {[number, number]} */
  centre(cell) {
    const { columns } = this.shape;
    return [(cell % columns + .5) * CELL, (Math.floor(cell / columns) + .5) * CELL];
  }

  drawCells() {
    const { rows, columns, plate } = this.shape;
    const size = { x: 0, y: 0, width: columns * CELL, height: rows * CELL };
    svg("rect", { ...size, class: plate ? "back" : "field-back", rx: plate ? 8 : 0 }, this.group);
    const layer = svg("g", { class: "tokens" }, this.group);
    let holes = `M-4 8a12 12 0 0 1 12-12h${size.width - 16}a12 12 0 0 1 12 12v${size.height - 16}` +
      `a12 12 0 0 1-12 12h${16 - size.width}a12 12 0 0 1-12-12z`;
    let lines = "";
    for (let cell = 0; cell < rows * columns; cell++) {
      const [x, y] = this.centre(cell);
      this.tokens.push(svg("g", { class: "p0" }, layer));
      holes += `M${x - 15.5} ${y}a15.5 15.5 0 1 0 31 0a15.5 15.5 0 1 0-31 0z`;
    }
    for (let row = 1; row < rows; row++) lines += `M0 ${row * CELL}h${size.width}`;
    for (let column = 1; column < columns; column++) lines += `M${column * CELL} 0v${size.height}`;
    if (plate) svg("path", { d: holes, class: "plate", "fill-rule": "evenodd" }, this.group);
    else svg("path", { d: lines, class: "field" }, this.group);
  }

  /** @param {number} cell */
  drawToken(cell) {
    const [cx, cy] = this.centre(cell);
    const circles = [{ kind: "disc", r: RADIUS }, { kind: "dot", r: 4.5 }, { kind: "ring", r: 7 }];
    for (const { kind, r } of circles) svg("circle", { cx, cy, r, class: kind }, this.tokens[cell]);
  }

  drawLabels() {
    const { rows, columns, columnLabels, rowLabels, owners, popOuts } = this.shape;
    for (let column = 0; column < columns; column++) {
      const x = (column + .5) * CELL;
      const y = rows * CELL + 16;
      const label = svg("text", { x, y }, this.group);
      label.textContent = columnLabels[column];
      this.labels.push([label]);
      if (!popOuts) continue;
      const shape = `M${x - 14} ${y + 11}h28l-14 16z`;
      const owner = svg("path", { d: shape, class: `own${owners?.[column] ?? 0}` }, this.group);
      this.labels[column].push(owner);
      const who = owners ? `Player ${owners[column]}` : "Its owner";
      svg("title", {}, owner).textContent = `${who} may pop out of column ${columnLabels[column]}`;
    }
    if (!rowLabels) return;
    for (let row = 0; row < rows; row++) {
      svg("text", { x: -13, y: (row + .5) * CELL }, this.group).textContent = rowLabels[row];
    }
  }

  /**
   * Show `cells` (0 empty, 1 and 2 the players) and what lies over them; `move` is what `readMove`
   * returned. `milliseconds` 0 shows it without motion.
   * @param {Uint8Array} cells
   * @param {Move | null} move
   * @param {number} milliseconds
   * @param {RunMark[]} runs
   * @param {Ghost | null} ghost
   */
  show(cells, move, milliseconds, runs = [], ghost = null) {
    for (const animation of this.running) animation.cancel();
    this.running = [];
    cells.forEach((value, cell) => {
      if (this.values[cell] === value) return;
      this.values[cell] = value;
      this.tokens[cell].setAttribute("class", `p${value}`);
      if (!this.tokens[cell].firstChild) this.drawToken(cell);
    });
    this.marks.replaceChildren();
    this.drawMove(move);
    this.drawRuns(runs, move);
    this.point(ghost);
    if (move && milliseconds && !CALM.matches) this.animate(move, milliseconds);
    this.fillTable();
  }

  /** @param {RunMark[]} runs @param {Move | null} move */
  drawRuns(runs, move) {
    for (const { first, last, kind } of runs) {
      const [[x1, y1], [x2, y2]] = [this.centre(first), this.centre(last)];
      const line = svg("g", { class: `run ${kind}` }, this.marks);
      svg("line", { x1, y1, x2, y2, class: "casing" }, line);
      svg("line", { x1, y1, x2, y2, class: "line" }, line);
    }
    /** @type {[number, number][]} */
    const taken = move?.to === undefined ? [] : [this.centre(move.to)];
    for (const run of runs.filter(({ label }) => label)) {
      const place = this.labelPlaces(run).find(([x, y]) => taken.every(
        ([otherX, otherY]) => Math.abs(x - otherX) > 21 || Math.abs(y - otherY) > 15,
      ));
      if (!place && run.kind === "standing") continue; // the table beside the board has them all
      const [x, y] = place ?? this.labelPlaces(run)[0];
      taken.push([x, y]);
      const label = svg("g", { class: `points ${run.kind}` }, this.marks);
      const width = 8 + 6.5 * run.label.length;
      svg("rect", { x: x - width / 2, y: y - 7.5, width, height: 15, rx: 7.5 }, label);
      svg("text", { x, y: y + .5 }, label).textContent = run.label;
    }
  }

  /**
   * Return where the points of a run can stand: the middle first, then towards its ends.
   * @param {RunMark} run
   */
  labelPlaces({ first, last }) {
    const [[x1, y1], [x2, y2]] = [this.centre(first), this.centre(last)];
    return [.5, .3, .7, .15, .85, 0, 1].map((share) => (
      /** @type {[number, number]} */ ([x1 + share * (x2 - x1), y1 + share * (y2 - y1)])
    ));
  }

  /**
   * Fill the triangles of the columns that can be popped out of now.
   * @param {number[]} columns
   */
  offer(columns) {
    this.labels.forEach(([, owner], column) => owner?.classList.toggle("legal", columns.includes(column)));
  }

  /**
   * Shake a column whose move was refused.
   * @param {number} column
   */
  shake(column) {
    if (CALM.matches) return;
    const tokens = this.tokens.filter((_, cell) => cell % this.shape.columns === column);
    for (const part of [...this.labels[column], ...tokens]) {
      part.animate([0, -4, 4, -3, 3, 0].map((x) => ({ transform: `translateX(${x}px)` })), 350);
    }
  }

  /* Wait until nothing on the board moves. */
  async landed() {
    await Promise.allSettled(this.running.map(({ finished }) => finished));
  }

  /**
   * Draw a move that is not made, as a pale disc or an arrow; null takes the last one away.
   * @param {Ghost | null} shown
   */
  point(shown) {
    this.ghosts.replaceChildren();
    if (!shown) return;
    const { move: { column, from, to }, player } = shown;
    const ghost = svg("g", { class: `ghost p${player}` }, this.ghosts);
    if (column !== undefined) {
      const [x, y] = [(column + .5) * CELL, this.shape.rows * CELL];
      svg("path", { d: `M${x} ${y - 26}v26m-9 -9l9 12l9 -12`, class: "arrow" }, ghost);
    } else if (from !== undefined && to !== undefined) {
      const [[x1, y1], [x2, y2]] = [this.centre(from), this.centre(to)];
      const turn = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
      svg("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: "arrow" }, ghost);
      const tip = { d: "M-10 -8L2 0L-10 8", class: "arrow", transform: `translate(${x2} ${y2}) rotate(${turn})` };
      svg("path", tip, ghost);
    } else if (to !== undefined) {
      const [cx, cy] = this.centre(to);
      svg("circle", { cx, cy, r: RADIUS - 2, class: "disc" }, ghost);
    }
  }

  /** @param {Move | null} move */
  drawMove(move) {
    const { rows } = this.shape;
    if (!move) return;
    if (move.column !== undefined) {
      const x = (move.column + .5) * CELL;
      const y = rows * CELL;
      svg("path", { d: `M${x - 9} ${y - 5}h18l-9 10z`, class: "popped" }, this.marks);
    }
    if (move.from !== undefined) {
      const [cx, cy] = this.centre(move.from);
      svg("circle", { cx, cy, r: RADIUS - 3, class: "from" }, this.marks);
    }
    if (move.to !== undefined) {
      const [cx, cy] = this.centre(move.to);
      svg("circle", { cx, cy, r: RADIUS - 1, class: "last" }, this.marks);
    }
  }

  /** @param {Move} move @param {number} milliseconds */
  animate(move, milliseconds) {
    const { rows, columns } = this.shape;
    /** @type {(cell: number, dx: number, dy: number, duration: number, easing: string) => void} */
    const slide = (cell, dx, dy, duration, easing) => {
      const frames = [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }];
      this.running.push(this.tokens[cell].animate(frames, { duration, easing }));
    };
    const hidden = [{ opacity: 0 }, { opacity: 0, offset: .99 }, { opacity: 1 }]; // until it has landed
    this.running.push(this.marks.animate(hidden, { duration: milliseconds }));
    if (move.column !== undefined) {
      for (let cell = move.column; cell < rows * columns; cell += columns) {
        slide(cell, 0, -CELL, milliseconds, "cubic-bezier(.5, 0, .9, .6)");
      }
    } else if (move.to === undefined) {
      return;
    } else if (move.from !== undefined) {
      const [x1, y1] = this.centre(move.from);
      const [x2, y2] = this.centre(move.to);
      slide(move.to, x1 - x2, y1 - y2, milliseconds, "ease-in-out");
    } else {
      const depth = Math.floor(move.to / columns) + 1;
      const share = Math.sqrt(depth / rows);
      slide(move.to, 0, -depth * CELL, milliseconds * share, "cubic-bezier(.5, 0, .9, .6)");
    }
  }

  /**
   * Keep `table` filled with what the picture shows.
   * @param {HTMLElement} table
   */
  describeIn(table) {
    const { rows, columns, columnLabels, rowLabels } = this.shape;
    const head = make("tr", "", make("th", "", "row"));
    for (let column = 0; column < columns; column++) {
      head.append(make("th", "", `column ${columnLabels[column]}`));
    }
    const lines = [head];
    this.table = [];
    for (let row = 0; row < rows; row++) {
      const line = make("tr", "", make("th", "", rowLabels ? rowLabels[row] : `${row + 1} from the top`));
      for (let column = 0; column < columns; column++) {
        const cell = make("td", "", "empty");
        this.table.push(cell);
        line.append(cell);
      }
      lines.push(line);
    }
    table.replaceChildren(...lines);
    this.fillTable();
  }

  fillTable() {
    this.table?.forEach((cell, index) => {
      const text = ["empty", "player 1", "player 2"][this.values[index]];
      if (cell.textContent !== text) cell.textContent = text;
    });
  }
}

/**
 * Tell from the cells a move has changed, `[cell, new value, ...]`, what it did to `before`:
 * {to} a token was set, {from, to} one moved, {column} one was taken out below.
 * @param {Uint8Array} before
 * @param {number[]} changes
 * @param {number} columns
 * @returns {Move | null}
 */
function readMove(before, changes, columns) {
  let from;
  let to;
  for (let index = 0; index < changes.length; index += 2) {
    const cell = changes[index];
    if (before[cell] === 0) to = cell;
    else if (changes[index + 1] === 0) from = cell;
  }
  if (!changes.length) return null;
  if (to === undefined) return { column: changes[0] % columns };
  return from === undefined ? { to } : { from, to };
}
