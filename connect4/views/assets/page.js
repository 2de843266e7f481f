/* The replay page: where the reader stands in which game, and what is shown of it. */

const WORDS = {
  invalid: "an invalid action", timeout: "too late", error: "an error", pass: "cannot move, passes",
};
const LETTERS = { invalid: "I", timeout: "T", error: "E" };

/* Return one game with all its positions made out of the differences that the data hold. */
function open(data) {
  const size = data.rows * data.columns;
  const cells = Uint8Array.from(data.start, Number);
  const game = {
    ...data, boards: [cells], moves: [null],
    scores: [data.scores], left: [data.left], turns: [null],
  };
  for (const [player, text, outcome, time, scores, left, changes, detail] of data.turns) {
    const before = game.boards[game.boards.length - 1];
    const after = changes.length ? before.slice(0, size) : before;
    for (let index = 0; index < changes.length; index += 2) after[changes[index]] = changes[index + 1];
    game.boards.push(after);
    game.moves.push(readMove(before, changes, data.columns));
    game.scores.push(scores);
    game.left.push(left);
    game.turns.push({
      number: game.turns.length, player, text, outcome, time,
      detail: detail === null ? null : data.details[detail], fault: outcome in LETTERS,
    });
  }
  game.last = game.turns.length - 1;
  return game;
}

const page = {
  game: null, index: 0, at: 0, timer: null, charts: [], board: null, items: [],

  choose(index, at) {
    this.pause();
    this.index = index;
    const game = this.game = open(DATA.games[index]);
    byId("game").value = String(index);
    byId("title").replaceChildren(
      `${game.title}: `, quoted(game.names[0]), " against ", quoted(game.names[1]),
    );
    byId("facts").replaceChildren(...game.facts.map((fact) => make("span", "", fact)));
    this.board = new Board(byId("board"), game);
    this.board.describeIn(byId("cells"));
    byId("slider").max = game.last;
    byId("fault").hidden = !game.turns.some((turn) => turn && turn.fault);
    listMoves();
    drawCharts();
    showAnalysis();
    this.show(Math.max(0, Math.min(game.last, at)), 0);
  },

  go(at, milliseconds = 260) {
    const next = Math.max(0, Math.min(this.game.last, at));
    if (next === this.at) return;
    this.show(next, next === this.at + 1 ? milliseconds : 0);
  },

  show(at, milliseconds) {
    const { game } = this;
    this.at = at;
    const line = at === game.last ? game.line : null;
    this.board.show(game.boards[at], game.moves[at], line, milliseconds);
    for (const player of [1, 2]) showPlayer(player);
    showTurn();
    const slider = byId("slider");
    slider.value = at;
    slider.setAttribute("aria-valuetext", at ? `after turn ${at} of ${game.last}` : "start");
    for (const chart of this.charts) chart.go(at);
    this.markMove();
    if (at === game.last) this.pause();
    for (const id of ["first", "back"]) byId(id).disabled = at === 0;
    for (const id of ["next", "end"]) byId(id).disabled = at === game.last;
    try {
      history.replaceState(null, "", `#${this.index + 1}.${at}`);
    } catch { /* some browsers allow it too rarely for a fast scrub; the address then waits */ }
  },

  markMove() {
    const current = this.items.find((item) => item.hasAttribute("aria-current"));
    if (current) current.removeAttribute("aria-current");
    const item = this.items[this.at];
    item.setAttribute("aria-current", "step");
    if (!item.isConnected) return;
    const list = byId("moves");
    const top = item.parentElement.offsetTop;
    const low = top + item.offsetHeight - list.clientHeight;
    if (list.scrollTop > top) list.scrollTop = top - 40;
    else if (list.scrollTop < low) list.scrollTop = low + 40;
  },

  play() {
    if (this.timer !== null) {
      this.pause();
      return;
    }
    if (!this.game.last) return;
    if (this.at === this.game.last) this.show(0, 0);
    const tick = () => {
      const pace = Number(byId("speed").value);
      this.timer = setTimeout(tick, pace);
      this.go(this.at + 1, Math.min(320, pace * .6));
    };
    byId("play").textContent = "\u23f8\ufe0e Pause";
    tick();
  },

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    byId("play").textContent = "\u25b6\ufe0e Play";
  },

  /* Go to the next turn after this one that `wanted` holds for, from the start again at the end. */
  seek(wanted) {
    const { turns, last } = this.game;
    for (let ahead = 1; ahead <= last + 1; ahead++) {
      const at = (this.at + ahead) % (last + 1);
      if (at && wanted(turns[at])) return this.go(at);
    }
  },
};

function showPlayer(player) {
  const { game, at } = page;
  const box = byId(`player${player}`);
  const left = game.left[at];
  const turns = game.turns.slice(1, at + 1).filter((turn) => turn.player === player);
  const spent = turns.reduce((sum, turn) => sum + turn.time, 0);
  const faults = turns.filter((turn) => turn.fault).length;
  const more = [];
  if (left) more.push(`${left[player - 1]} pop-out${left[player - 1] === 1 ? "" : "s"} left`);
  more.push(`${seconds(spent)} in all`);
  const facts = make("span", "more", more.join(" \u00b7 "));
  if (faults) facts.append(" \u00b7 ", make("span", "fault", `${faults} fault${faults > 1 ? "s" : ""}`));
  const name = make("span", "name", make("span", "hidden", `Player ${player}: `), quoted(game.names[player - 1]));
  box.replaceChildren(token(player), name, facts, make("span", "score", number(game.scores[at][player - 1])));
  box.classList.toggle("turn", at < game.last && game.turns[at + 1].player === player);
}

/* The move as words: `plays 3P`, or what went wrong in its place. */
function deed(turn) {
  return turn.outcome === "played" ? `plays ${turn.text}` : WORDS[turn.outcome];
}

function showTurn() {
  const { game, at } = page;
  const turn = game.turns[at];
  const said = byId("said");
  const detail = byId("detail");
  if (turn) {
    const what = make("span", turn.fault ? "fault" : "", deed(turn));
    said.replaceChildren(`Turn ${at}: `, token(turn.player), ` player ${turn.player} `, what,
      `, ${seconds(turn.time)}. `);
    const [one, two] = game.scores[at];
    said.append(make("span", "hidden", `Score ${one} to ${two}. `));
  } else {
    said.replaceChildren("The start. ");
  }
  if (at === game.last) said.append(make("strong", "", game.result));
  const why = turn ? turn.detail : game.why; // without a turn: why the game never began
  detail.hidden = !why;
  detail.textContent = why || "";
  byId("caption").textContent = at ? `The board after turn ${at}` : "The board at the start";
  showAdvice(turn);
}

function listMoves() {
  const { game } = page;
  page.items = game.turns.map((turn, at) => {
    const item = make("button");
    item.type = "button";
    item.addEventListener("click", () => page.go(at));
    if (!turn) {
      item.append(make("span", "number", "0"), make("span"), make("span", "text", "Start"));
      return item;
    }
    const gain = game.scores[at].map((score, side) => score - game.scores[at - 1][side]);
    const net = turn.player === 1 ? gain[0] - gain[1] : gain[1] - gain[0];
    const text = turn.outcome === "played" ? turn.text : WORDS[turn.outcome];
    item.setAttribute("aria-label", `${at}: player ${turn.player} ${deed(turn)}, ${seconds(turn.time)}`);
    item.append(
      make("span", "number", `${at}`), token(turn.player),
      make("span", turn.fault ? "text fault" : "text", text),
      make("span", "gain muted", net ? signed(net) : ""), make("span", "time", seconds(turn.time)),
    );
    if (game.analysis && game.analysis.worst.includes(at)) {
      item.children[3].replaceChildren(make("span", "cost", `cost ${number(game.analysis.turns[at - 1][2], 1)}`));
    }
    if (turn.fault && turn.text) item.title = `asked for ${turn.text}`;
    return item;
  });
  byId("moves").replaceChildren();
  const lines = page.items.map((item) => make("li", "", item));
  afterPaint(() => {
    if (lines[0].firstChild !== page.items[0]) return; // another game was chosen meanwhile
    byId("moves").replaceChildren(...lines);
    page.markMove();
  });
}

function key(player) {
  const sample = svg("svg", { viewBox: "0 0 27 10" });
  svg("path", { d: "M0 5h27", class: `s${player}` }, sample);
  return make("span", "key", token(player), sample, `player ${player}`);
}

function barKey(player) {
  return make("span", "key", token(player), `player ${player}`);
}

function addChart(id, summary, range, paint) {
  byId(`${id}-figure`).hidden = false;
  byId(`${id}-figure`).setAttribute("aria-label", summary);
  page.charts.push(new Chart(byId(id), page.game.last, range, paint, (at) => {
    page.pause();
    page.go(at);
  }));
}

function drawCharts() {
  const { game } = page;
  for (const chart of page.charts) chart.stop();
  page.charts = [];
  for (const id of ["score", "margin", "loss", "time"]) byId(`${id}-figure`).hidden = true;
  const points = game.scores.flat();
  if (points.slice(0, -2).some((score) => score)) {
    const summary = `Score over the turns, at the end ${game.scores[game.last].join(" to ")}`;
    addChart("score", summary, [0, Math.max(5, ...points) * 1.05], (chart) => {
      chart.line(game.scores.map((score) => score[0]), "s1");
      chart.line(game.scores.map((score) => score[1]), "s2");
    });
    byId("score-legend").replaceChildren(key(1), key(2));
  }
  drawTimes(game);
  drawMargins(game);
}

function drawTimes(game) {
  const turns = game.turns.slice(1);
  const longest = Math.max(0.01, ...turns.map((turn) => turn.time));
  const limited = longest > game.limit / 3;
  const top = (limited ? Math.max(longest, game.limit) : longest) * 1.25;
  const faults = turns.filter((turn) => turn.fault).length;
  const summary = `Thinking time of each turn, the longest ${seconds(longest)}; ${faults} faults`;
  addChart("time", summary, [0, top], (chart) => {
    if (limited) {
      const y = chart.y(game.limit);
      svg("line", { x1: chart.left, x2: chart.right, y1: y, y2: y, class: "limit" }, chart.picture);
    }
    for (const turn of turns) {
      chart.bar(turn.number, turn.time, turn.fault ? "faulty" : `s${turn.player}`);
      if (!turn.fault) continue;
      const x = chart.x(turn.number);
      const drop = { x1: x, x2: x, y1: chart.top + 8, y2: chart.y(turn.time), class: "drop" };
      svg("line", drop, chart.picture);
      chart.label(x, chart.top, LETTERS[turn.outcome], "middle", "fault");
    }
  });
  const legend = [barKey(1), barKey(2), "seconds"];
  if (limited) legend.push(`limit ${number(game.limit, 3)} s (dotted)`);
  for (const [outcome, letter] of Object.entries(LETTERS)) {
    if (turns.some((turn) => turn.outcome === outcome)) {
      legend.push(make("span", "", make("b", "fault", letter), ` ${WORDS[outcome]}`));
    }
  }
  byId("time-legend").replaceChildren(...legend.map((part) => make("span", "", part)));
}

(function start() {
  const chooser = byId("game");
  DATA.games.forEach((game, index) => {
    const option = make("option", "", `${index + 1}. ${game.names.map(brief).join(" \u2013 ")}, ${game.scores_end.join(":")}`);
    option.value = String(index);
    chooser.append(option);
  });
  byId("choice").hidden = DATA.games.length < 2;
  chooser.addEventListener("change", () => page.choose(Number(chooser.value), 0));
  const costly = (turn) => page.game.analysis && page.game.analysis.worst.includes(turn.number);
  const actions = {
    first: () => page.go(0), back: () => page.go(page.at - 1), next: () => page.go(page.at + 1),
    end: () => page.go(page.game.last), fault: () => page.seek((turn) => turn.fault),
    bad: () => page.seek(costly),
  };
  for (const [id, action] of Object.entries(actions)) {
    byId(id).addEventListener("click", () => {
      page.pause();
      action();
    });
  }
  byId("play").addEventListener("click", () => page.play());
  byId("slider").addEventListener("input", (event) => {
    page.pause();
    page.go(Number(event.target.value));
  });
  const keys = {
    ArrowLeft: actions.back, ArrowRight: actions.next, Home: actions.first, End: actions.end,
    PageUp: () => page.go(page.at - 10), PageDown: () => page.go(page.at + 10),
    f: actions.fault, w: actions.bad,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    if (event.target.id === "detail" && !event.key.startsWith("Arrow")) return;
    if (event.key === " ") {
      if (event.target.tagName === "BUTTON") return;
      event.preventDefault();
      page.play();
      return;
    }
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    page.pause();
    action();
  });
  const [, index, at] = /^#(\d+)\.(\d+)$/.exec(location.hash) || [];
  const known = Number(index) >= 1 && Number(index) <= DATA.games.length;
  page.choose(known ? Number(index) - 1 : 0, known ? Number(at) : 0);
})();
