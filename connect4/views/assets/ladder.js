/* The ladder's pages: the curves of the term, and the grid of all pairings on a canvas. */

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

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
  const versions = DATA.versions.flat().map((/** @type {[string, number, number]} */ version) => version[1]);
  const values = [...points.map((/** @type {[string, number]} */ point) => point[1]), ...versions, 0];
  const first = Math.min(...days), last = Math.max(...days);
  if (first === last) {
    for (const part of section?.querySelectorAll("label, .muted") ?? plot.parentElement?.querySelectorAll(".muted") ?? []) part.remove();
    plot.replaceWith(make("p", "muted", "The chart starts with the second day."));
    return;
  }
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
  const most = WIDTH < 600 ? 4 : 8, span = last - first;
  const every = span <= most ? 1 : Math.ceil(span / 7 / most) * 7;
  for (let at = first; at <= last; at += every) {
    const date = new Date(at * 86400000);
    const label = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
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
  const own = svg("g", {}, drawing);
  /** Draw each version of an agent with its own rating. @param {number} chosen */
  const draw = (chosen) => {
    drawing.append(own);
    own.replaceChildren();
    const found = DATA.versions[chosen] ?? [];
    if (found.length > 1) svg("path", { d: path(found), class: "own" }, own);
    for (const [when, value, place] of found) {
      const dot = svg("circle", { cx: across(day(when)), cy: down(value), r: 4.5, class: "version" }, own);
      svg("title", {}, dot).textContent = `v${place}: ${number(value)}`;
    }
  };
  /** @param {number} chosen */
  const mark = (chosen) => lines.forEach((/** @type {SVGElement | null} */ line, /** @type {number} */ place) => {
    if (!line) return;
    line.classList.toggle("chosen", place === chosen);
    if (place === chosen) drawing.append(line);
  });
  /** @param {number} chosen */
  const show = (chosen) => {
    mark(chosen);
    draw(chosen);
  };
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
  const TOP = 22, FEW = 12;
  let cellWidth = 0, cellHeight = 0, label = 0, gutter = 0;
  let row = -1, column = -1;

  function draw() {
    if (!canvas || !context) return;
    const room = canvas.parentElement?.clientWidth ?? 600;
    gutter = size > 99 ? 30 : 22;
    label = gutter + Math.min(190, room * .3);
    if ((room - label) / size < 12) label = gutter;
    cellWidth = Math.max(4, Math.min(size <= FEW ? 76 : 36, Math.floor((room - label) / size)));
    cellHeight = Math.min(36, cellWidth);
    const scale = devicePixelRatio || 1;
    const width = label + size * cellWidth, height = TOP + size * cellHeight;
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    canvas.width = width * scale;
    canvas.height = height * scale;
    context.scale(scale, scale);
    context.textBaseline = "middle";
    drawHeads(context);
    for (let at = 0; at < size; at += 1) for (let other = 0; other < size; other += 1) drawCell(context, at, other);
    if (row < 0) return;
    context.strokeStyle = colour("text");
    context.lineWidth = 2;
    context.strokeRect(label + column * cellWidth, TOP + row * cellHeight, cellWidth - 1, cellHeight - 1);
  }

  /** @param {string} name */
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** Draw the numbers of rows and columns, and the names if there is room. @param {CanvasRenderingContext2D} to */
  function drawHeads(to) {
    const every = [1, 2, 5, 10, 20, 50].find((step) => step * cellHeight >= 14 && step * cellWidth >= (size > 99 ? 24 : 18)) ?? 100;
    const rowsEvery = cellHeight >= 12 ? 1 : every;
    to.font = `${Math.min(13, Math.max(10, cellHeight - 2))}px system-ui, sans-serif`;
    for (let at = 0; at < size; at += 1) {
      const y = TOP + (at + .5) * cellHeight, text = String(at + 1);
      to.fillStyle = colour("muted");
      to.textAlign = "right";
      if ((at + 1) % rowsEvery === 0) to.fillText(text, gutter - 4, y);
      to.textAlign = "center";
      if ((at + 1) % every === 0) to.fillText(text, label + (at + .5) * cellWidth, TOP / 2);
      to.fillStyle = colour("text");
      to.textAlign = "left";
      if (label > gutter) to.fillText(DATA.names[at], gutter, y, label - gutter - 6);
    }
  }

  /** @param {number} margin */
  const strength = (margin) => (margin ? .25 + .75 * Math.sqrt(Math.abs(margin) / most) : .25);
  /** @param {number} margin */
  const side = (margin) => (margin === 0 ? "muted" : margin > 0 ? "good" : "lost");

  /** @param {CanvasRenderingContext2D} to @param {number} at @param {number} other */
  function drawCell(to, at, other) {
    const cell = cells.get(at * size + other);
    const gap = cellHeight > 8 ? 1 : 0;
    /** @type {[number, number, number, number]} */
    const box = [label + other * cellWidth, TOP + at * cellHeight, cellWidth - gap, cellHeight - gap];
    to.fillStyle = colour(at === other ? "line" : "hover");
    to.fillRect(...box);
    if (!cell) return;
    to.globalAlpha = strength(cell[2]);
    to.fillStyle = colour(side(cell[2]));
    to.fillRect(...box);
    to.globalAlpha = 1;
    if (size > FEW || cellWidth < 26) return;
    to.font = "13px system-ui, sans-serif";
    to.textAlign = "center";
    const strong = strength(cell[2]) > (colour("text") > "#8" ? .6 : .75); // light text: the dark theme
    to.fillStyle = colour(strong ? "card" : "text");
    to.fillText(signed(cell[2]), box[0] + box[2] / 2, box[1] + box[3] / 2 + 1);
  }

  /** Show which colour is which margin. */
  function drawLegend() {
    const ramp = make("span", "ramp");
    ramp.setAttribute("aria-hidden", "true");
    for (let step = -4; step <= 4; step += 1) {
      const swatch = make("span", step ? (step > 0 ? "won" : "lost") : "even");
      swatch.style.opacity = String(strength((step / 4) * most));
      ramp.append(swatch);
    }
    byId("grid-legend").append(number(-most), ramp, signed(most), " points per game");
  }

  function tell() {
    if (row < 0) return;
    const cell = cells.get(row * size + column);
    const who = `${DATA.names[row]} against ${DATA.names[column]}`;
    if (row === column) told.textContent = DATA.names[row];
    else told.textContent = cell ? `${who}: ${signed(cell[2])} points per game, ${cell[3]} games` : `${who}: not played`;
  }

  /** @param {MouseEvent} event */
  function find(event) {
    const x = Math.floor((event.offsetX - label) / cellWidth), y = Math.floor((event.offsetY - TOP) / cellHeight);
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
    if (row < 0) [row, column] = [0, 0];
    row = Math.max(0, Math.min(size - 1, row + move[0]));
    column = Math.max(0, Math.min(size - 1, column + move[1]));
    draw();
    tell();
  });
  addEventListener("resize", draw);
  document.querySelector("button.theme")?.addEventListener("click", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  drawLegend();
  draw();
})();
