/* A chart over the turns of a game: x is the turn, a line shows where the reader stands, a press
   or a drag goes there. */

class Chart {
  at = 0;
  width = 0;
  height = 0;
  left = 0;
  right = 0;
  top = 0;
  bottom = 0;
  stopped = false;
  /** @type {SVGElement | null} */
  cursor = null;
  /** @type {SVGElement | null} */
  pointer = null;
  /** @type {((turn: number) => void) | null} */
  tell = null; // says the values of a turn: of the one under the pointer, else of the reader's

  /**
   * `range` is [lowest, highest] value; `paint(chart)` draws the series with `x` and `y`.
   * @param {HTMLElement} host
   * @param {number} turns
   * @param {[number, number]} range
   * @param {(chart: Chart) => void} paint
   * @param {(turn: number) => void} pick
   * @param {[number, string][] | null} levels values with names, in place of numbers
   */
  constructor(host, turns, range, paint, pick, levels = null) {
    this.levels = levels;
    this.host = host;
    this.turns = turns;
    this.range = range;
    this.paint = paint;
    this.picture = svg("svg", { class: "chart", "aria-hidden": "true" });
    host.replaceChildren(this.picture);
    this.observer = new ResizeObserver(() => this.draw());
    afterPaint(() => {
      if (this.stopped) return;
      this.draw();
      this.observer.observe(host);
    });
    const go = (/** @type {PointerEvent} */ event) => {
      const share = (event.offsetX - this.left) / (this.right - this.left);
      const turn = Math.max(0, Math.min(turns, Math.round(share * turns)));
      if (event.buttons & 1) pick(turn);
      this.point(turn);
    };
    this.picture.addEventListener("pointerdown", go);
    this.picture.addEventListener("pointermove", go);
    this.picture.addEventListener("pointerleave", () => this.point(null));
  }

  stop() {
    this.stopped = true;
    this.observer.disconnect();
  }

  /** @param {number} turn */
  x(turn) {
    return this.left + (turn / Math.max(1, this.turns)) * (this.right - this.left);
  }

  /** @param {number} value */
  y(value) {
    const [low, high] = this.range;
    return this.bottom - ((value - low) / (high - low)) * (this.bottom - this.top);
  }

  draw() {
    const width = this.host.clientWidth;
    const height = this.host.clientHeight;
    if (!width || (width === this.width && height === this.height)) return;
    [this.width, this.height] = [width, height];
    // at the right, room for half of the last bar
    [this.left, this.right, this.top, this.bottom] = [this.levels ? 92 : 40, width - 28, 10, height - 20];
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.replaceChildren();
    const size = step(this.range[1] - this.range[0], 4);
    const digits = Math.max(0, -Math.floor(Math.log10(size)));
    const levels = this.levels ?? multiples(size, ...this.range).map((value) => (
      /** @type {[number, string]} */ ([value, number(value, digits)])
    ));
    for (const [value, text] of levels) {
      const y = this.y(value);
      const kind = value === 0 ? "zero" : "grid";
      svg("line", { x1: this.left, x2: width - 12, y1: y, y2: y, class: kind }, this.picture);
      this.label(this.left - 6, y, text, "end");
    }
    const every = Math.max(1, step(this.turns, width / 70));
    for (let turn = 0; turn <= this.turns; turn += every) {
      this.label(this.x(turn), this.bottom + 12, `${turn}`, "middle");
    }
    this.label(this.left - 10, this.bottom + 12, "turn", "end");
    this.paint(this);
    [this.pointer, this.cursor] = ["pointer", "cursor"].map((kind) => (
      svg("line", { y1: this.top, y2: this.bottom, class: kind, visibility: "hidden" }, this.picture)
    ));
    this.go(this.at);
  }

  /** @param {number} x @param {number} y @param {string} text @param {string} anchor */
  label(x, y, text, anchor, kind = "") {
    const attributes = { x, y, "text-anchor": anchor, class: kind };
    svg("text", attributes, this.picture).textContent = text;
  }

  /**
   * The numbers of turns over their values; one that has no room beside the others goes above them.
   * @param {[number, number][]} places
   * @param {string} kind
   */
  labels(places, kind) {
    /** @type {[number, number][]} */
    const taken = [];
    for (const [turn, value] of places) {
      const x = this.x(turn);
      let y = this.y(value) - 9;
      const hit = () => taken.some(([otherX, otherY]) => Math.abs(x - otherX) < 18 && Math.abs(y - otherY) < 13);
      while (hit() && y > this.top + 13) y -= 13;
      if (hit()) continue;
      taken.push([x, y]);
      this.label(x, y, `${turn}`, "middle", kind);
    }
  }

  /**
   * A line through `values`, value k at turn k; null leaves a gap. With `stepped` a value holds
   * until the next turn.
   * @param {(number | null)[]} values
   * @param {string} kind
   */
  line(values, kind, stepped = false) {
    let path = "";
    let pen = "M";
    values.forEach((value, turn) => {
      if (value !== null && stepped && pen === "L") path += `H${this.x(turn).toFixed(1)}`;
      if (value !== null) path += `${pen}${this.x(turn).toFixed(1)} ${this.y(value).toFixed(1)}`;
      pen = value === null ? "M" : "L";
    });
    svg("path", { d: path, class: kind }, this.picture);
  }

  /**
   * The bar of a turn, from 0 to `value`.
   * @param {number} turn
   * @param {number} value
   * @param {string} kind
   */
  bar(turn, value, kind) {
    if (value <= 0) return;
    const width = Math.min(24, Math.max(1.5, (this.right - this.left) / Math.max(1, this.turns) * .7));
    const [zero, end] = [this.y(0), this.y(value)];
    const height = Math.max(1, Math.abs(zero - end));
    const attributes = { x: this.x(turn) - width / 2, y: Math.min(zero, end), width, height };
    svg("rect", { ...attributes, class: kind }, this.picture);
  }

  /**
   * Fill what lies between 0 and a stepped line on one side of 0.
   * @param {number[]} values
   * @param {number} side 1 above, -1 below
   * @param {string} kind
   */
  area(values, side, kind) {
    const zero = this.y(0);
    const steps = values.map((value, turn) => `H${this.x(turn).toFixed(1)}V${this.y(side * Math.max(0, side * value)).toFixed(1)}`);
    svg("path", { d: `M${this.left} ${zero}${steps.join("")}V${zero}Z`, class: kind }, this.picture);
  }

  /** @param {number} turn */
  go(turn) {
    this.at = turn;
    this.stand(this.cursor, turn);
    this.tell?.(turn);
  }

  /** @param {number | null} turn the one under the pointer */
  point(turn) {
    this.stand(this.pointer, turn);
    this.tell?.(turn ?? this.at);
  }

  /** @param {SVGElement | null} line @param {number | null} turn */
  stand(line, turn) {
    line?.setAttribute("visibility", turn === null ? "hidden" : "visible");
    for (const name of ["x1", "x2"]) line?.setAttribute(name, String(this.x(turn ?? 0)));
  }
}

/**
 * The least of 1, 2, 5, 10, 20 ... of which `span` holds at most `count`.
 * @param {number} span
 * @param {number} count
 */
function step(span, count) {
  if (!(span > 0)) return 0;
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * .9999) ?? 10);
}

/** @param {number} size @param {number} low @param {number} high */
function multiples(size, low, high) {
  const values = [];
  for (let index = Math.ceil(low / size); index * size <= high; index++) values.push(index * size);
  return values;
}
