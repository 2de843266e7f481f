/* A game while it is played: the referee's events reach the replay page, and a person's moves go
   back. `post` sends them: `served.js` to the server of this page, `playground.js` to a worker. */

/** @typedef {{text: string, to?: number, from?: number, column?: number}} Choice */

const live = {
  /** @type {{player: number, limit: number | null, at: number, moves: Choice[] | null} | null} */
  turn: null,
  going: false, // whether a game is being played
  column: 0, // where the arrow keys stand
  /** @type {number | null} */
  from: null, // the piece that was chosen, in a game whose pieces slide
  cell: 0,
  redraw: /** @type {number | undefined} */ (undefined),
  shown: Promise.resolve(), // when the board shows all that has been told
  waiting: false, // whether the last turn is still to be shown
  records: /** @type {string[]} */ ([]),

  /** Return the moves that the person at this page has now. */
  get moves() {
    return page.at === page.game?.last && !page.line && this.turn?.moves || [];
  },

  /** @param {any} data */
  game(data) {
    DATA.games.push(data);
    this.going = true;
    this.turn = null;
    this.then(() => {
      listGames();
      page.choose(DATA.games.length - 1, Infinity);
      this.offer();
    });
  },

  /**
   * Do something once the last token has landed.
   * @param {() => void} act
   */
  then(act) {
    this.shown = this.shown.then(() => page.board?.landed()).then(act);
  },

  /** @param {any} turn */
  begin(turn) {
    this.turn = turn;
    this.from = null;
    this.tick();
    this.offer();
  },

  /** @param {{turn: any[], runs: any[], details: string[], printed: string}} data */
  add({ turn, runs, details, printed }) {
    const { game } = page;
    const shown = page.index === DATA.games.length - 1;
    const data = DATA.games[DATA.games.length - 1];
    data.turns.push(turn);
    if (printed) data.printed = { ...data.printed, [data.turns.length]: printed };
    data.runs.push(...runs);
    data.details.push(...details);
    this.turn = null;
    if (!shown) return;
    game.runs.push(...runs.map(([player, first, last, length, points]) => ({ player, first, last, length, points })));
    const atEnd = page.at === game.last && !page.line;
    addTurn(game, turn, data.details);
    game.printed = data.printed;
    const item = moveItem(game, game.last);
    page.items.push(item);
    if (byId("moves").firstChild) byId("moves").append(make("li", "", item)); // else it is about to be filled
    slider.max = String(game.last);
    if (atEnd && !this.waiting) {
      this.waiting = true; // turns may come faster than tokens fall
      this.then(() => {
        this.waiting = false;
        page.show(page.game.last, 260);
        this.offer();
      });
    }
    this.redraw ??= setTimeout(() => {
      this.redraw = undefined;
      page.count();
      for (const chart of page.charts) chart.go(page.at);
    }, 200);
    say("");
  },

  /** @param {{game: any, record: string}} data */
  over({ game, record }) {
    this.turn = null;
    this.going = false;
    this.records.push(record);
    const index = DATA.games.length - 1;
    this.then(() => {
      clearTimeout(this.redraw);
      this.redraw = undefined;
      const atEnd = page.at === page.game.last;
      game.printed = DATA.games[index].printed;
      DATA.games[index] = game;
      listGames();
      if (page.index === index) page.choose(index, atEnd ? Infinity : page.at);
      byId("say").hidden = true;
      say("");
      this.offer();
    });
  },

  /* Where the command goes on after the game, it makes the tree of a turn, from the first turn on. */
  make() {
    this.offerToMake("tree", "Search tree");
    byId("after-words").hidden = true;
    byId("after").hidden = false;
  },

  /* After its last game. */
  stay() {
    this.offerRecord();
    this.offerToMake("analysis", "What moves cost");
  },

  /** @param {string} what @param {string} label */
  offerToMake(what, label) {
    byId("save").append(makeButton("", () => {
      byId("made").textContent = "one moment ...";
      post("make", { what, game: page.index, turn: Math.max(1, page.at) })
        .then((answer) => answer && byId("made").replaceChildren(answer));
    }, label));
  },

  offerRecord() {
    keep("record", "Save record", () => [this.records[page.index], "game.json", "application/json"]);
  },

  /**
   * Link to what was made.
   * @param {string} address
   */
  made(address) {
    const link = make("a", "", "Open it");
    link.href = address;
    link.target = "_blank";
    byId("made").replaceChildren("It is ready. ", link);
  },

  /** @param {{page: string}} data */
  end({ page: text }) {
    this.offerRecord();
    if (text) keep("page", "Save page", () => [text, "game.html", "text/html"]);
    byId("after").hidden = false;
    post("received", {}).catch(() => {});
  },

  /* Let the clock of the mover run. */
  tick() {
    const { turn } = this;
    for (const player of [1, 2]) {
      const clock = byId(`clock${player}`);
      clock.hidden = turn?.player !== player;
      if (page.at === page.game.last) byId(`player${player}`).classList.toggle("turn", turn?.player === player);
      if (!turn || turn.player !== player) continue;
      const spent = Math.max(0, Date.now() / 1000 - turn.at);
      const left = page.game.left[page.game.last]?.[player - 1];
      const facts = left === undefined ? [] : [`${left} pop-out${left === 1 ? "" : "s"} left`];
      facts.push(turn.limit === null ? `${spent.toFixed(1)} s`
        : `${Math.min(spent, turn.limit).toFixed(1)} of ${number(turn.limit, 3)} s`);
      clock.replaceChildren(...facts.flatMap((fact) => [make("span", "fact", fact), " "]));
    }
  },

  /* Show that a person is to move, and how. */
  offer() {
    const { moves, turn } = this;
    if (turn?.moves) byId("say").hidden = false; // it stays while the other side thinks
    byId("board").classList.toggle("playable", moves.length > 0);
    if (turn?.moves) say(`Player ${turn.player}: your move.`);
    const popOut = turn?.moves?.find(({ text }) => text.endsWith("P"));
    if (turn?.moves) byId("how").textContent = page.game.rowLabels ? `Click a piece, then a square, or type ${turn.moves[0]?.text}.`
      : `Click a column, or type its number${page.game.columns > 10 ? " and Enter" : ""}.${popOut ? ` To pop out, click the triangle or type ${popOut.text}.` : ""}`;
    this.mark(null);
  },

  /**
   * Show a move as a ghost, or the piece that was chosen.
   * @param {Choice | null} move
   */
  mark(move) {
    const chosen = this.from === null ? null : { to: this.from };
    const ghost = move ?? chosen;
    if (this.turn && this.moves.length) page.board.point(ghost && { move: ghost, player: this.turn.player });
  },

  /** @param {string} text */
  async play(text) {
    if (!text.trim() || !this.turn?.moves) return;
    this.from = null;
    const answer = await post("move", { text, turn: page.game.last + 1 }).catch(() => "the game has ended");
    if (answer) say(answer);
  },

  /**
   * Return the move of a cell of the board; row `rows` is below it, where a pop-out is made.
   * @param {number} row
   * @param {number} column
   * @returns {Choice | null}
   */
  at(row, column) {
    const { rows, columns } = page.game;
    const cell = row * columns + column;
    const found = this.moves.find(({ to, from, column: popped }) => (
      from !== undefined ? from === this.from && to === cell
        : popped !== undefined ? row >= rows && popped === column
          : row < rows && to !== undefined && to % columns === column
    ));
    return found ?? null;
  },

  /**
   * Play what a click or Enter means at a cell, or choose the piece there.
   * @param {number} row
   * @param {number} column
   */
  act(row, column) {
    const { columns, columnLabels, rows } = page.game;
    const cell = row * columns + column;
    const move = this.at(row, column);
    if (move) {
      this.play(move.text);
    } else if (this.moves.some(({ from }) => from === cell)) {
      this.from = this.from === cell ? null : cell;
      this.mark(null);
    } else if (!page.game.rowLabels) {
      this.play(`${columnLabels[column]}${row >= rows ? "P" : ""}`); // the server says why it is not legal
    }
  },
};

/** @param {string} text */
function say(text) {
  byId("answer").textContent = text;
}

/**
 * Add a button that saves a file.
 * @param {string} id
 * @param {string} label
 * @param {() => [string, string, string]} content
 */
function keep(id, label, content) {
  const button = makeButton("", () => save(...content()), label);
  button.id = `save-${id}`;
  byId("save").append(button);
}

/** @param {string} text @param {string} name @param {string} type */
function save(text, name, type) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** What the page does for each kind of event.
 * @type {Record<string, (data: any) => void>} */
const kinds = {
  game: (data) => live.game(data), begin: (data) => live.begin(data), turn: (data) => live.add(data),
  over: (data) => live.over(data), note: say, made: (data) => live.made(data),
  making: (text) => byId("made").replaceChildren(text),
  make: () => live.make(), stay: () => live.stay(), end: (data) => live.end(data),
};

(function attend() {
  byId("said").after(byId("bar"));
  setInterval(() => live.turn && live.tick(), 100);

  const board = byId("board");
  /** @param {PointerEvent} event @returns {[number, number] | null} */
  const place = (event) => {
    const { rows, columns } = page.game;
    const picture = /** @type {SVGSVGElement} */ (page.board.group);
    const matrix = picture.getScreenCTM();
    if (!matrix || !live.moves.length) return null;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const [row, column] = [Math.min(rows, Math.floor(y / CELL)), Math.floor(x / CELL)];
    return column >= 0 && column < columns && row >= 0 ? [row, column] : null;
  };
  board.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (at) live.mark(live.at(...at));
  });
  board.addEventListener("pointerleave", () => live.mark(null));
  board.addEventListener("click", (event) => {
    const at = place(/** @type {PointerEvent} */ (event));
    if (at) live.act(...at);
  });
  byId("say").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (byId("typed"));
    live.play(field.value);
    field.value = "";
  });
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!live.moves.length || event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    if (begins(event)) {
      byId("typed").focus(); // which receives the digit
      event.stopImmediatePropagation();
    } else if (act(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  /**
   * Return whether a key may be the first of two digits, such as of column 10.
   * @param {KeyboardEvent} event
   */
  function begins({ key }) {
    const { columnLabels, rowLabels } = page.game;
    return !rowLabels && columnLabels.length > 10 && /^\d$/.test(key);
  }

  /** @param {KeyboardEvent} event */
  function act({ key, code, shiftKey, target }) {
    const { rows, columns, columnLabels, rowLabels } = page.game;
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
    if (digit !== undefined && !rowLabels) {
      const column = columnLabels.indexOf(digit);
      if (column >= 0) live.act(shiftKey ? rows : 0, column);
      return column >= 0;
    }
    /** @type {Record<string, [number, number]>} */
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    let [row, column] = [Math.floor(live.cell / columns), live.cell % columns];
    if (steps[key]) {
      row = (row + steps[key][0] + rows) % rows;
      column = (column + steps[key][1] + columns) % columns;
      live.cell = row * columns + column;
      live.mark(live.at(row, column) ?? (rowLabels ? { text: "", to: live.cell } : null));
      return true;
    }
    if (key === "Enter" && /** @type {HTMLElement} */ (target).tagName !== "BUTTON") {
      live.act(row, column);
      return true;
    }
    if (key.toLowerCase() === "p" && !rowLabels) {
      live.act(rows, column);
      return true;
    }
    return false;
  }
})();
