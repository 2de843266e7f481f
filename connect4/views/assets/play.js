/* A game while it is played: the referee's events reach the replay page, and a person's moves go
   back. `post` sends them: `served.js` to the server of this page, `playground.js` to a worker.
   While it goes on there is no replay bar: the arrow keys look back, and `shown` follows. */

/**
 * @typedef {{text: string, to?: number, from?: number, column?: number}} Choice
 * @typedef {{player: number, limit: number | null, at: number, moves: Choice[] | null, helps: boolean}} Asked
 */

const live = {
  turn: /** @type {Asked | null} */ (null),
  going: false, // whether a game is being played
  from: /** @type {number | null} */ (null), // the piece that was chosen, in a game whose pieces slide
  hint: /** @type {Choice | null} */ (null),
  typed: "", // the keys of a move that is not complete
  tried: /** @type {[number, number] | null} */ (null), // the row and column of the last move
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
    const own = data.names[1] === "human" && data.names[0] !== "human" ? 2 : 1;
    byId("board").before(byId(`player${3 - own}`));
    byId("said").before(byId(`player${own}`));
    this.then(() => {
      listGames();
      page.choose(DATA.games.length - 1, Infinity);
      const { columns, popOuts, rowLabels } = page.game;
      for (const [id, has] of Object.entries({ slide: rowLabels, drop: !rowLabels, two: !rowLabels && columns > 10, pop: popOuts })) {
        byId(`key-${id}`).hidden = !has;
      }
    });
  },

  /**
   * Do something once the last token has landed.
   * @param {() => void} act
   */
  then(act) {
    this.shown = this.shown.then(() => page.board?.landed()).then(act);
  },

  /** @param {Asked} turn */
  begin(turn) {
    this.turn = turn;
    this.from = this.hint = null;
    this.typed = "";
    this.tick();
    this.offer();
  },

  /**
   * Forget the turns after the first ones: a person took them back.
   * @param {{turns: number}} data
   */
  back({ turns }) {
    const index = DATA.games.length - 1;
    const data = DATA.games[index];
    data.turns.length = turns;
    for (const at of Object.keys(data.printed ?? {})) if (Number(at) > turns) delete data.printed[at];
    this.turn = null;
    say("");
    if (page.index === index && page.game) page.choose(index, Infinity);
  },

  /**
   * Show the move that the engine would make.
   * @param {{text: string}} data
   */
  hinted({ text }) {
    this.hint = this.turn?.moves?.find((move) => move.text === text) ?? null;
    const { columns, rowLabels, rows } = page.game;
    const { to, column } = this.hint ?? {};
    say(`Hint: ${rowLabels ? "" : column === undefined ? "column " : "pop out "}${text}`, to === undefined ? [rows, column ?? 0] : [Math.floor(to / columns), to % columns]);
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
        const gained = page.game.changes[page.game.last].some(({ points }) => points > 0);
        page.board.landed().then(() => sound.play(gained));
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
      const isOwn = game.names.map((/** @type {string} */ name) => name === "human");
      say(!game.winner || isOwn[0] === isOwn[1] ? "" : isOwn[game.winner - 1] ? "You won." : "You lost.");
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
    byId("made").replaceChildren("It is ready. ", Object.assign(make("a", "", "Open it"), { href: address, target: "_blank" }));
  },

  /** @param {{page: string}} data */
  end({ page: text }) {
    this.offerRecord();
    byId("advice").after(byId("after-words")); // below what one plays the game again with
    if (text) keep("page", "Save page", () => [text, "game.html", "text/html"]);
    byId("after").hidden = false;
    post("received", {}).catch(() => {});
  },

  /* Let the clock of the mover run, and say in a person's box that it is their move. */
  tick() {
    const { turn } = this;
    for (const player of [1, 2]) {
      const clock = byId(`clock${player}`);
      clock.hidden = turn?.player !== player;
      if (page.at === page.game.last) byId(`player${player}`).classList.toggle("turn", turn?.player === player);
      if (!turn || turn.player !== player) continue;
      const spent = Math.max(0, Date.now() / 1000 - turn.at);
      const left = page.game.left[page.game.last]?.[player - 1];
      const facts = [make("span", turn.moves ? "yours" : "fact", turn.moves ? `Your move${this.typed && `: ${this.typed}_`}` : "thinks")];
      if (left !== undefined) facts.push(make("span", "fact", `${left} pop-out${left === 1 ? "" : "s"} left`));
      facts.push(make("span", "fact", turn.limit === null ? `${spent.toFixed(0)} s`
        : `${Math.min(spent, turn.limit).toFixed(1)} of ${number(turn.limit, 3)} s`));
      clock.replaceChildren(...facts.flatMap((fact) => [fact, " "]));
    }
  },

  /* Show what a person can do now: move, look on at the end, or nothing. */
  offer() {
    const { moves, turn, going } = this;
    const back = going && page.game && page.at < page.game.last;
    document.body.classList.toggle("going", going);
    byId("return").hidden = !back;
    if (back) say("");
    if (back) byId("return").textContent = `Turn ${page.at} of ${page.game.last} \u2013 back to the game`;
    byId("acts").hidden = Boolean(back) || !going || !DATA.games[DATA.games.length - 1].names.includes("human");
    button("take-back").disabled = button("ask-hint").disabled = !turn?.moves || !turn.helps;
    button("resign").disabled = !turn?.moves;
    button("resign").textContent = "Resign";
    this.explain();
    byId("board").classList.toggle("playable", moves.length > 0);
    byId("board").classList.toggle("past", Boolean(back));
    if (!page.board) return;
    page.board.offer(moves.flatMap(({ column }) => column ?? []));
    this.mark(null);
  },

  /* Say how to move, to somebody who has not yet, or who has only pop-outs left. */
  explain() {
    const [first] = this.moves;
    byId("said").querySelector(".how")?.remove();
    const isFull = this.moves.every(({ column }) => column !== undefined);
    if (!first || page.at > 1 && !isFull) return;
    const click = TOUCH.matches ? "Tap" : "Click";
    const key = (/** @type {string} */ text) => make("span", "wide", text); // not on a phone
    if (isFull) {
      byId("said").prepend(make("strong", "how", `All columns are full: ${click.toLowerCase()} a filled triangle`, key(" or press P and a number"), ". "));
      return;
    }
    const popOut = page.game.popOuts ? [", a triangle", key(" or P and a number"), " to pop out"] : [];
    byId("said").append(make("span", "how muted", ...page.game.rowLabels
      ? [`${click} a piece, then its square`, key(`, or type ${first.text}`), "."]
      : [`${click} a column`, key(" or type its number"), ...popOut, "."]));
  },

  /**
   * Show a move as a ghost, or the piece that was chosen.
   * @param {Choice | null} move
   */
  mark(move) {
    const chosen = this.from === null ? null : { to: this.from };
    const ghost = move ?? chosen ?? this.hint;
    if (this.turn && this.moves.length) page.board.point(ghost && { move: ghost, player: this.turn.player });
  },

  /** @param {string} text */
  async play(text) {
    if (!text.trim() || !this.turn?.moves) return;
    this.from = null;
    this.typed = "";
    const answer = await post("move", { text, turn: page.game.last + 1 }).catch(() => "the game has ended");
    if (answer) refuse(answer);
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
   * Play what a click means at a cell, or choose the piece there.
   * @param {number} row
   * @param {number} column
   */
  act(row, column) {
    const { columns, columnLabels, rows } = page.game;
    const cell = row * columns + column;
    const move = this.at(row, column);
    this.tried = [row, column];
    if (move) {
      this.play(move.text);
    } else if (this.moves.some(({ from }) => from === cell)) {
      this.from = this.from === cell ? null : cell;
      this.mark(null);
    } else if (!page.game.rowLabels) {
      this.play(`${columnLabels[column]}${row >= rows ? "P" : ""}`); // the server says why it is not legal
    }
  },

  /**
   * Take a key of a move: 3, P and 3, two digits on a wide board, 72W; return whether it is one.
   * @param {string} key
   */
  type(key) {
    const { columnLabels, rowLabels, rows } = page.game;
    const popOut = this.typed.startsWith("P");
    const digits = this.typed.replace("P", "");
    if (key === "Backspace" || key === "Escape") {
      if (!this.typed) return false;
      this.typed = "";
    } else if (key === "Enter") {
      if (!digits) return false;
      this.play(`${digits}${popOut ? "P" : ""}`);
    } else if (rowLabels ? /^[\dNESW]$/.test(key) : /^\d$/.test(key)) {
      this.typed += key;
      const column = columnLabels.indexOf(String(Number(digits + key)));
      if (rowLabels && this.typed.length === 3) this.play(this.typed);
      else if (!rowLabels && digits.length + 1 === String(columnLabels.length - 1).length) {
        this.tried = column < 0 ? null : [popOut ? rows : 0, column];
        this.play(`${Number(digits + key)}${popOut ? "P" : ""}`);
      }
    } else if (key === "P" && !rowLabels) {
      this.typed = popOut ? "" : "P";
    } else {
      return false;
    }
    this.tick();
    return true;
  },
};

const sound = {
  on: false,
  context: /** @type {AudioContext | null} */ (null),

  /** @param {boolean} gained a run, which sounds higher */
  play(gained) {
    if (!this.on) return;
    this.context ??= new AudioContext();
    const { currentTime: now, destination } = this.context;
    const [tone, volume] = [this.context.createOscillator(), this.context.createGain()];
    tone.frequency.value = gained ? 660 : 220;
    volume.gain.setValueAtTime(.15, now);
    volume.gain.exponentialRampToValueAtTime(.001, now + .18);
    tone.connect(volume).connect(destination);
    tone.start(now);
    tone.stop(now + .2);
  },
};

/**
 * Say something: under the board or, while a game goes on, beside a place on it.
 * @param {string} text
 * @param {[number, number] | null} place row and column
 */
function say(text, place = null) {
  const answer = byId("answer");
  answer.textContent = text;
  const picture = page.board?.group;
  const matrix = /** @type {SVGSVGElement} */ (picture)?.getScreenCTM();
  if (!text || !matrix || !live.going) return;
  const { rows, columns } = page.game;
  const [row, column] = place ?? [rows - 1, (columns - 1) / 2];
  const { x, y } = new DOMPoint((column + .5) * CELL, row * CELL).matrixTransform(matrix);
  const stage = /** @type {HTMLElement} */ (answer.closest(".stage")).getBoundingClientRect();
  const half = answer.offsetWidth / 2 + 4;
  answer.style.left = `${Math.max(half, Math.min(stage.width - half, x - stage.left))}px`;
  answer.style.top = `${y - stage.top}px`;
}

/**
 * Say why a move is refused, and shake its column.
 * @param {string} text
 */
function refuse(text) {
  say(text, live.tried);
  if (live.tried && !page.game.rowLabels) page.board.shake(live.tried[1]);
  live.tried = null;
  live.offer(); // also after a hint that there is not
}

/**
 * Add a button that saves a file.
 * @param {string} id
 * @param {string} label
 * @param {() => [string, string, string]} content
 */
function keep(id, label, content) {
  byId("save").append(Object.assign(makeButton("", () => save(...content()), label), { id: `save-${id}` }));
}

/** @param {string} text @param {string} name @param {string} type */
function save(text, name, type) {
  const link = Object.assign(make("a"), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** What the page does for each kind of event.
 * @type {Record<string, (data: any) => void>} */
const kinds = {
  game: (data) => live.game(data), begin: (data) => live.begin(data), turn: (data) => live.add(data),
  over: (data) => live.over(data), back: (data) => live.back(data), hint: (data) => live.hinted(data), note: refuse,
  made: (data) => live.made(data), making: (text) => byId("made").replaceChildren(text),
  make: () => live.make(), stay: () => live.stay(), end: (data) => live.end(data),
};

(function attend() {
  thoughtBox.after(byId("changes"), byId("said"), byId("bar"));
  setInterval(() => live.turn && live.tick(), 100);
  document.addEventListener("shown", () => live.offer());
  addEventListener("resize", () => live.going && say("")); // its place on the board is another one now

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
  const goBack = () => page.show(page.game.last, 0);
  let down = 0; // where a finger came down
  for (const kind of /** @type {("pointerdown" | "pointermove")[]} */ (["pointerdown", "pointermove"])) {
    board.addEventListener(kind, (event) => {
      if (kind === "pointerdown") down = event.clientX;
      const at = place(event);
      if (at) live.mark(live.at(...at));
    });
  }
  board.addEventListener("pointerleave", () => live.mark(null));
  board.addEventListener("pointerup", (event) => { // after a slide no click follows
    const at = event.pointerType === "touch" && Math.abs(event.clientX - down) > CELL / 2 && place(event);
    if (at) live.act(...at);
  });
  board.addEventListener("click", (event) => {
    const at = place(/** @type {PointerEvent} */ (event));
    if (at) live.act(...at);
    else if (!byId("return").hidden) goBack();
  });
  byId("return").addEventListener("click", goBack);
  byId("take-back").addEventListener("click", () => live.play("back"));
  byId("ask-hint").addEventListener("click", () => {
    button("ask-hint").disabled = true;
    say("Looking for a hint ...");
    live.play("hint");
  });
  byId("resign").addEventListener("click", ({ detail }) => {
    if (byId("resign").textContent === "Resign") byId("resign").textContent = "Really?";
    else if (detail < 2) live.play("resign"); // a double click is not two
  });
  byId("resign").addEventListener("blur", () => {
    byId("resign").textContent = "Resign";
  });
  byId("sound").addEventListener("click", () => {
    sound.on = !sound.on;
    byId("sound").setAttribute("aria-pressed", String(sound.on));
    sound.play(false);
  });
  document.addEventListener("keydown", (event) => {
    const { tagName } = /** @type {HTMLElement} */ (event.target);
    if (!live.going || event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(tagName)) return;
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1]; // with Shift it is another key
    const isAsked = live.moves.length > 0 && !(event.key === "Enter" && tagName === "BUTTON");
    if (digit && event.shiftKey) live.typed = "P";
    const isTaken = isAsked && live.type(digit ?? (event.key.length > 1 ? event.key : event.key.toUpperCase()));
    const isEarly = digit && !byId("acts").hidden; // a move before its turn: no runs are shown
    if (!isTaken && !isEarly && (event.key !== " " || tagName === "BUTTON")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
})();
