/* The ladder's pages: the curves of the term, and the grid of all pairings on a canvas. */

(function curves() {
  const plot = document.getElementById("curve-plot");
  const drawable = DATA.curves.filter((/** @type {unknown[]} */ curve) => curve.length);
  if (!plot || !drawable.length) return;
  const section = document.getElementById("curves");
  if (section) section.hidden = false;
  const WIDTH = Math.max(280, plot.clientWidth), HEIGHT = WIDTH < 600 ? 220 : 320, LEFT = 44, BOTTOM = 28;
  /** @param {string} text */
  const day = (text) => Date.parse(text) / 86400000;
  const points = drawable.flat();
  const days = [...points.map((/** @type {[string, number]} */ point) => day(point[0])), day(DATA.day)];
  const values = [...points.map((/** @type {[string, number]} */ point) => point[1]), 0];
  const first = Math.min(...days), last = Math.max(...days, first + 1);
  const step = [5, 10, 25, 50, 100, 250, 500, 1000].find((size) => (Math.max(...values) - Math.min(...values)) / size <= 6) ?? 2500;
  const low = Math.floor(Math.min(...values) / step) * step, high = Math.ceil((Math.max(...values) + 1) / step) * step;
  /** @param {number} value */
  const across = (value) => LEFT + ((value - first) / (last - first)) * (WIDTH - LEFT - 8);
  /** @param {number} value */
  const down = (value) => 8 + ((high - value) / (high - low)) * (HEIGHT - BOTTOM - 8);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Ratings over the term" }, plot);
  for (let value = low; value <= high; value += step) {
    svg("line", { x1: LEFT, x2: WIDTH - 8, y1: down(value), y2: down(value), class: "tick" }, drawing);
    svg("text", { x: LEFT - 6, y: down(value) + 4, "text-anchor": "end" }, drawing).textContent = number(value);
  }
  const weeks = Math.max(1, Math.ceil((last - first) / 7 / (WIDTH < 600 ? 4 : 8))) * 7;
  for (let at = first; at <= last; at += weeks) {
    const label = new Date(at * 86400000).toISOString().slice(5, 10);
    const anchor = at === first ? "start" : across(at) > WIDTH - 28 ? "end" : "middle";
    svg("text", { x: across(at), y: HEIGHT - 8, "text-anchor": anchor }, drawing).textContent = label;
  }
  /** @param {[string, number][]} curve */
  const path = (curve) => {
    let text = `M${across(day(curve[0][0]))} ${down(curve[0][1])}`;
    for (const [when, value] of curve.slice(1)) text += `H${across(day(when))}V${down(value)}`;
    return `${text}H${across(last)}`;
  };
  const lines = DATA.curves.map((/** @type {[string, number][]} */ curve, /** @type {number} */ place) => {
    if (!curve.length) return null;
    const line = svg("path", { d: path(curve), class: "line" }, drawing);
    svg("title", {}, line).textContent = DATA.names[place];
    return line;
  });
  /** @param {number} chosen */
  const show = (chosen) => lines.forEach((/** @type {SVGElement | null} */ line, /** @type {number} */ place) => {
    if (!line) return;
    line.classList.toggle("chosen", place === chosen);
    if (place === chosen) drawing.append(line);
  });
  const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("curve-agent"));
  lines.forEach((/** @type {SVGElement | null} */ line, /** @type {number} */ place) => {
    if (!line || !select) return;
    select.append(new Option(DATA.names[place], String(place)));
    line.addEventListener("click", () => {
      select.value = String(place);
      show(place);
    });
  });
  if (select) select.addEventListener("change", () => show(Number(select.value)));
  show(select ? Number(select.value) : lines.findIndex(Boolean));
})();

(function grid() {
  const canvas = /** @type {HTMLCanvasElement | null} */ (document.getElementById("grid-canvas"));
  if (!canvas || !DATA.cells.length) return;
  const context = canvas.getContext("2d");
  if (!context) return;
  byId("grid").hidden = false;
  const size = DATA.names.length;
  const told = byId("grid-told");
  /** @type {Map<number, [number, number, number, number, string]>} */
  const cells = new Map(DATA.cells.map((/** @type {number[]} */ cell) => [cell[0] * size + cell[1], cell]));
  const most = Math.max(1, ...DATA.cells.map((/** @type {number[]} */ cell) => Math.abs(cell[2])));
  let cellSize = 0, label = 0;
  let row = 0, column = Math.min(1, size - 1);

  function draw() {
    if (!canvas || !context) return;
    const room = (canvas.parentElement?.clientWidth ?? 600);
    label = Math.min(170, room * .3);
    if ((room - label) / size < 9) label = 0;
    cellSize = Math.max(4, Math.min(30, Math.floor((room - label) / size)));
    const scale = devicePixelRatio || 1;
    const width = label + size * cellSize, height = size * cellSize;
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    canvas.width = width * scale;
    canvas.height = height * scale;
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    context.font = `${Math.min(13, cellSize - 2)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (let at = 0; at < size; at += 1) {
      if (label && cellSize >= 9) {
        context.globalAlpha = 1;
        context.fillStyle = colour("text");
        context.fillText(DATA.names[at], 0, (at + .5) * cellSize, label - 6);
      }
      for (let other = 0; other < size; other += 1) {
        const cell = cells.get(at * size + other);
        const [x, y] = [label + other * cellSize, at * cellSize];
        context.globalAlpha = 1;
        context.fillStyle = at === other ? colour("muted") : colour("hover");
        const gap = cellSize > 8 ? 1 : 0;
        context.fillRect(x, y, cellSize - gap, cellSize - gap);
        if (!cell) continue;
        context.globalAlpha = .25 + .75 * Math.sqrt(Math.abs(cell[2]) / most);
        context.fillStyle = cell[2] === 0 ? colour("muted") : colour(cell[2] > 0 ? "player2" : "player1");
        context.fillRect(x, y, cellSize - gap, cellSize - gap);
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = colour("text");
    context.lineWidth = 2;
    context.strokeRect(label + column * cellSize, row * cellSize, cellSize - 1, cellSize - 1);
  }

  function tell() {
    const cell = cells.get(row * size + column);
    const who = `${DATA.names[row]} against ${DATA.names[column]}`;
    if (row === column) told.textContent = DATA.names[row];
    else told.textContent = cell ? `${who}: ${signed(cell[2])} a game, ${cell[3]} games` : `${who}: not played`;
  }

  /** @param {MouseEvent} event */
  function find(event) {
    const x = Math.floor((event.offsetX - label) / cellSize), y = Math.floor(event.offsetY / cellSize);
    if (x < 0 || y < 0 || x >= size || y >= size) return false;
    const changed = x !== column || y !== row;
    [row, column] = [y, x];
    if (changed) {
      draw();
      tell();
    }
    return true;
  }

  function open() {
    const cell = cells.get(row * size + column);
    if (cell && cell[4]) location.href = cell[4];
  }

  canvas.addEventListener("mousemove", find);
  canvas.addEventListener("click", (event) => {
    if (find(event)) open();
  });
  canvas.addEventListener("keydown", (event) => {
    /** @type {Record<string, [number, number]>} */
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Enter") open();
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    row = Math.max(0, Math.min(size - 1, row + move[0]));
    column = Math.max(0, Math.min(size - 1, column + move[1]));
    draw();
    tell();
  });
  addEventListener("resize", draw);
  button("theme").addEventListener("click", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  tell();
})();
