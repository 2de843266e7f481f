/* A board as a picture, and as a table for screen readers. It knows no rules. */

const CELL = 40;
const RADIUS = 16.5;

class Board {
  /* `shape`: rows, columns, columnLabels, rowLabels (or null), owners (whose pop-out a column is,
     or null), plate (a plate with holes, else a field of squares). */
  constructor(host, shape) {
    this.shape = shape;
    const { rows, columns } = shape;
    const left = shape.rowLabels ? 24 : 6;
    const bottom = shape.owners ? 44 : 28;
    const width = columns * CELL + left + 6;
    const height = rows * CELL + 6 + bottom;
    this.picture = svg("svg", {
      class: "board", viewBox: `${-left} -6 ${width} ${height}`, "aria-hidden": "true",
    });
    this.tokens = [];
    this.running = [];
    this.values = new Uint8Array(rows * columns);
    this.group = svg("g", { class: shape.plate ? "plated" : "" }, this.picture);
    this.drawCells();
    this.marks = svg("g", {}, this.group);
    this.drawLabels();
    host.replaceChildren(this.picture);
    this.table = null;
  }

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

  drawToken(cell) {
    const [cx, cy] = this.centre(cell);
    for (const [kind, r] of [["disc", RADIUS], ["dot", 4.5], ["ring", 7]]) {
      svg("circle", { cx, cy, r, class: kind }, this.tokens[cell]);
    }
  }

  drawLabels() {
    const { rows, columns, columnLabels, rowLabels, owners } = this.shape;
    for (let column = 0; column < columns; column++) {
      const x = (column + .5) * CELL;
      const y = rows * CELL + 16;
      svg("text", { x, y }, this.group).textContent = columnLabels[column];
      if (!owners) continue;
      const shape = `M${x - 6} ${y + 11}h12l-6 8z`;
      svg("path", { d: shape, class: `own${owners[column]}` }, this.group);
    }
    if (!rowLabels) return;
    for (let row = 0; row < rows; row++) {
      svg("text", { x: -13, y: (row + .5) * CELL }, this.group).textContent = rowLabels[row];
    }
  }

  /* Show `cells` (0 empty, 1 and 2 the players). `move` is what `readMove` returned, or null;
     `line` lists the cells of a winning line. `milliseconds` 0 shows it without motion. */
  show(cells, move, line, milliseconds) {
    for (const animation of this.running) animation.cancel();
    this.running = [];
    cells.forEach((value, cell) => {
      if (this.values[cell] === value) return;
      this.values[cell] = value;
      this.tokens[cell].setAttribute("class", `p${value}`);
      if (!this.tokens[cell].firstChild) this.drawToken(cell);
    });
    this.drawMarks(move, line);
    if (move && milliseconds && !CALM.matches) this.animate(move, milliseconds);
    if (this.table) this.fillTable();
  }

  drawMarks(move, line) {
    const { rows } = this.shape;
    this.marks.replaceChildren();
    if (line) {
      const [x1, y1] = this.centre(line[0]);
      const [x2, y2] = this.centre(line[line.length - 1]);
      svg("line", { x1, y1, x2, y2, class: "line" }, this.marks);
    }
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

  animate(move, milliseconds) {
    const { rows, columns } = this.shape;
    const slide = (cell, dx, dy, duration, easing) => {
      const frames = [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }];
      this.running.push(this.tokens[cell].animate(frames, { duration, easing }));
    };
    if (move.column !== undefined) {
      for (let cell = move.column; cell < rows * columns; cell += columns) {
        slide(cell, 0, -CELL, milliseconds, "cubic-bezier(.5, 0, .9, .6)");
      }
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

  /* Keep `table` filled with what the picture shows. */
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
    this.table.forEach((cell, index) => {
      const text = ["empty", "player 1", "player 2"][this.values[index]];
      if (cell.textContent !== text) cell.textContent = text;
    });
  }
}

/* Tell from the cells a move has changed, `[cell, new value, ...]`, what it did to `before`:
   {to} a token was set, {from, to} one moved, {column} one was taken out below. */
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
