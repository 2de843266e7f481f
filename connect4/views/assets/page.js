/* The replay page: where the reader stands in which game, and what is shown of it. */

/**
 * @typedef {{
 *   number: number, player: number, text: string | null, outcome: string, time: number,
 *   detail: string | null, fault: boolean,
 * }} Turn
 * @typedef {[number[], number[] | null, number[], number[][]]} Ply scores, pop-outs left, cells, runs
 * @typedef {{
 *   turns: ([number, number, number, string[], Ply[], boolean | null, number] | null)[], worst: number[], unit: string, source: string,
 * }} Analysis
 * @typedef {Shape & {
 *   title: string, names: string[], facts: string[], limit: number, result: string, why: string | null,
 *   analysis: Analysis | null, countsPoints: boolean, boards: Uint8Array[], moves: (Move | null)[],
 *   scores: number[][], left: (number[] | null)[], turns: (Turn | null)[], last: number,
 *   runs: Run[], firstRuns: Run[], changes: RunChange[][], winner: number, scores_end: number[],
 *   thoughts: (Thought | null)[], printed?: Record<number, string>,
 * }} Game
 */

/** @type {Record<string, string>} */
const WORDS = {
  invalid: "invalid action", timeout: "too late", error: "error", pass: "cannot move, passes",
};
const MANY_FAULTS = 20; // beyond it letters would touch
/** @type {Record<string, string>} */
const LETTERS = { invalid: "I", timeout: "T", error: "E" };

/**
 * Return one game with all its positions made out of the differences that the data hold.
 * @param {any} data
 * @returns {Game}
 */
function unpack(data) {
  const cells = Uint8Array.from(data.start, Number);
  /** @type {Run[]} */
  const runs = data.runs.map((/** @type {number[]} */ [player, first, last, length, points]) => (
    { player, first, last, length, points }
  ));
  /** @type {Game} */
  const game = {
    ...data, countsPoints: data.counts_points, boards: [cells], moves: [null], scores: [data.scores],
    left: [data.left], turns: [null], runs, changes: [[]],
    firstRuns: data.first_runs.map((/** @type {number} */ index) => runs[index]),
  };
  game.last = 0;
  for (const row of data.turns) addTurn(game, row, data.details);
  return game;
}

/**
 * Add a turn to a game, with the position after it.
 * @param {Game} game
 * @param {any[]} row
 * @param {string[]} details
 */
function addTurn(game, [player, text, outcome, time, scores, left, changes, runChanges, detail], details) {
  const before = game.boards[game.last];
  const after = changes.length ? before.slice() : before;
  for (let index = 0; index < changes.length; index += 2) after[changes[index]] = changes[index + 1];
  game.boards.push(after);
  game.moves.push(readMove(before, changes, game.columns));
  game.scores.push(scores);
  game.left.push(left);
  game.changes.push(runChanges.map((/** @type {number[]} */ change) => unpackChange(change, game.runs)));
  game.last += 1;
  game.turns.push({
    number: game.last, player, text, outcome, time,
    detail: detail === null ? null : details[detail], fault: outcome in LETTERS,
  });
}

/** @param {number[]} change @param {Run[]} runs @returns {RunChange} */
function unpackChange([points, ...numbers], runs) {
  const made = numbers.filter((value) => value > 0).map((value) => runs[value - 1]);
  const broken = numbers.filter((value) => value < 0).map((value) => runs[-value - 1]);
  return { player: (made[0] ?? broken[0]).player, points, made, broken };
}

const slider = /** @type {HTMLInputElement} */ (byId("slider"));
const chooser = /** @type {HTMLSelectElement} */ (byId("game"));
const speed = /** @type {HTMLSelectElement} */ (byId("speed"));

/* `at` is the turn after which the reader stands, `side` whose runs are shown (0: what the turn
   changed). In a variation `line` is the better line of that turn, and `step` the moves shown of it. */
const page = {
  game: /** @type {Game} */ (/** @type {unknown} */ (null)),
  board: /** @type {Board} */ (/** @type {unknown} */ (null)),
  index: 0, at: 0, side: 0, step: 0,
  line: /** @type {Game | null} */ (null),
  timer: /** @type {number | undefined} */ (undefined),
  charts: /** @type {Chart[]} */ ([]),
  items: /** @type {HTMLButtonElement[]} */ ([]),

  /** @param {number} index @param {number} at */
  choose(index, at) {
    this.pause();
    this.index = index;
    this.side = 0;
    const game = this.game = unpack(DATA.games[index]);
    chooser.value = String(index);
    byId("title").textContent = game.title;
    byId("facts").replaceChildren(...game.facts.map((fact) => make("span", /^seed|: get_/.test(fact) ? "wide" : "", fact)));
    byId("outcome").replaceChildren(...headline(game));
    byId("outcome").hidden = !game.result;
    this.board = new Board(byId("board"), game);
    this.board.describeIn(byId("cells"));
    byId("changes").hidden = !game.countsPoints;
    byId("points-key").hidden = !game.countsPoints;
    showHint(game);
    for (const player of [1, 2]) buildPlayer(player);
    this.count();
    listMoves();
    showAnalysis();
    this.show(Math.max(0, Math.min(game.last, at)), 0);
  },

  /* Show how many turns there are, and what they add up to. */
  count() {
    const { last, turns } = this.game;
    slider.max = String(last);
    button("play").disabled = !last;
    byId("mistake").hidden = byId("mistake-key").hidden = !turns.some((turn) => turn && isMistake(this.game, turn));
    byId("moves-title").parentElement?.classList.toggle("times", timesMatter(this.game));
    markSlider();
    drawCharts();
  },

  /** @param {number} at */
  go(at, milliseconds = 260) {
    const next = Math.max(0, Math.min(this.game.last, at));
    if (next === this.at && !this.line) return;
    this.show(next, next === this.at + 1 ? milliseconds : 0);
  },

  /** @param {number} at @param {number} milliseconds */
  show(at, milliseconds) {
    const { game } = this;
    this.at = at;
    this.line = null;
    showAdvice();
    this.draw(milliseconds);
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", at ? `after turn ${at} of ${game.last}` : "start");
    for (const chart of this.charts) chart.go(at);
    this.markMove();
    if (at === game.last) this.pause();
    document.dispatchEvent(new Event("shown"));
    try {
      history.replaceState(null, "", `#${numberOf(DATA.games[this.index], this.index)}.${at}`);
    } catch { /* some browsers allow it too rarely for a fast scrub; the address then waits */ }
  },

  /* The position that is shown: of the game, or of the variation. */
  get view() {
    return this.line ? { game: this.line, at: this.step } : { game: this.game, at: this.at };
  },

  /**
   * Show the better line of the turn where the reader stands, after `step` moves of it.
   * @param {number} step
   */
  enter(step) {
    this.pause();
    const last = this.line ? this.step : 0;
    this.line ??= lineOf(this.game, this.at);
    if (!this.line) return;
    this.step = Math.max(0, Math.min(this.line.last, step));
    this.draw(this.step === last + 1 ? 260 : 0);
    byId("variation").scrollIntoView({ block: "nearest" });
  },

  leave() {
    if (!this.line) return;
    const focused = [byId("leave"), byId("advice")].some((part) => part.contains(document.activeElement));
    this.show(this.at, 0);
    if (focused) byId("advice").querySelector("button")?.focus(); // what had the focus is gone
  },

  /**
   * Go on by a number of turns, in the variation where one is shown.
   * @param {number} by
   */
  walk(by) {
    if (this.line) this.enter(this.step + by);
    else this.go(this.at + by);
  },

  /** @param {number} milliseconds */
  draw(milliseconds) {
    const { game, at } = this.view;
    this.drawBoard(milliseconds);
    for (const player of [1, 2]) showPlayer(player);
    showTurn();
    showVariation();
    showThought();
    for (const id of ["first", "back"]) button(id).disabled = at === 0;
    for (const id of ["next", "end"]) button(id).disabled = at === game.last;
  },

  /** @param {number} milliseconds */
  drawBoard(milliseconds) {
    const { side, view: { game, at } } = this;
    const runs = side || !game.countsPoints ? runsAt(game, at) : [];
    const marks = side ? standingMarks(runs.filter(({ player }) => player === side))
      : game.countsPoints ? changeMarks(game.changes[at])
        : runs.map(({ first, last }) => ({ first, last, kind: "won", label: "" }));
    this.board.show(game.boards[at], game.moves[at], milliseconds, marks, this.line ? null : betterMove(at));
    showSum(runs);
  },

  /**
   * Show all runs of a player instead of what the turn changed, or no longer.
   * @param {number} player
   */
  toggleRuns(player) {
    if (!this.game.countsPoints) return;
    this.side = this.side === player ? 0 : player;
    this.draw(0);
  },

  markMove() {
    const current = this.items.find((item) => item.hasAttribute("aria-current"));
    const list = byId("moves");
    const focused = list.contains(document.activeElement);
    if (current) {
      current.removeAttribute("aria-current");
      current.tabIndex = -1;
    }
    const item = this.items[this.at];
    item.setAttribute("aria-current", "step");
    item.tabIndex = 0; // one stop of the Tab key for the whole list
    if (!item.isConnected) return;
    if (focused) item.focus({ preventScroll: true });
    const height = item.offsetHeight; // of every line, so that the list begins with a whole one
    const top = this.at * height;
    if (list.scrollTop <= top && top + height <= list.scrollTop + list.clientHeight) return;
    list.scrollTop = Math.round((top - list.clientHeight / 2) / height) * height;
  },

  play() {
    if (this.timer !== undefined) {
      this.pause();
      return;
    }
    if (!this.game.last) return;
    if (this.at === this.game.last) this.show(0, 0);
    const tick = () => {
      const pace = Number(speed.value);
      this.timer = setTimeout(tick, pace);
      this.go(this.at + 1, Math.min(320, pace * .6));
    };
    showPlay("M3 2h3v10h-3zM8 2h3v10h-3z", " Pause");
    tick();
  },

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    showPlay("M3 1l9 6l-9 6z", " Play");
  },

  /* Go to the next mistake after this turn, from the start again at the end. */
  seekMistake() {
    const { turns, last } = this.game;
    for (let ahead = 1; ahead <= last + 1; ahead++) {
      const at = (this.at + ahead) % (last + 1);
      const turn = turns[at];
      if (turn && isMistake(this.game, turn)) {
        this.go(at);
        return;
      }
    }
  },
};

/** Return the result in a few words: who won, and player 1's points before player 2's, or why it is no matter of points.
 * @param {Game} game
 */
function headline({ winner, names, countsPoints, scores_end: [one, two], result }) {
  const byPoints = winner === 2 ? two > one : one > two;
  const score = !countsPoints ? [] : byPoints ? [token(1), `${one}:${two}`, token(2)] : [/\(.*\)/.exec(result)?.[0] ?? ""];
  const name = names[0] === names[1] ? `Player ${winner}` : names[winner - 1];
  return winner ? [quoted(name), " won ", ...score] : [result];
}

/** Return whether a turn was lost, or is one of the costliest.
 * @param {Game} game
 * @param {Turn} turn
 */
function isMistake({ analysis }, turn) {
  return turn.fault || Boolean(analysis?.worst.includes(turn.number));
}

/** Return whether any turn took so much of the limit that its time is worth a look.
 * @param {Game} game
 */
function timesMatter({ turns, limit }) {
  return turns.some((turn) => turn && turn.time > limit / 50);
}

/** @param {string} shape @param {string} word */
function showPlay(shape, word) {
  const picture = svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
  svg("path", { d: shape }, picture);
  byId("play").replaceChildren(picture, word);
}

/**
 * Explain the notation of pop-outs, and the triangles below the columns.
 * @param {Game} game
 */
function showHint({ owners, popOuts, thoughts }) {
  byId("hint").hidden = !popOuts;
  byId("hint").textContent = `${owners ? "A triangle shows who may pop out of its column. " : ""}3P is a pop-out from column 3.${thoughts.some((each) => each?.values) ? " Under the columns: what the agent valued a drop at, dashed a pop-out, filled the move it chose." : ""}`;
}

/** @param {number} player */
function buildPlayer(player) {
  const { game } = page;
  const name = make("span", "name", make("span", "hidden", `Player ${player}: `), quoted(game.names[player - 1]));
  const score = makeButton("score", () => page.toggleRuns(player));
  score.title = `Show all runs of player ${player} (${player})`;
  score.hidden = !game.countsPoints;
  const clock = make("span", "clock");
  clock.id = `clock${player}`;
  clock.hidden = true;
  byId(`player${player}`).replaceChildren(token(player), name, make("span", "more"), score, clock);
}

/** @param {number} player */
function showPlayer(player) {
  const { game, at } = page.view;
  const box = byId(`player${player}`);
  const [, , more, score] = box.children;
  const left = game.left[at];
  const turns = game.turns.slice(1, at + 1).filter((turn) => turn?.player === player);
  const spent = turns.reduce((sum, turn) => sum + (turn?.time ?? 0), 0);
  const faults = turns.filter((turn) => turn?.fault).length;
  const facts = [];
  if (left) facts.push(`${left[player - 1]} pop-out${left[player - 1] === 1 ? "" : "s"} left`);
  if (!page.line && timesMatter(page.game)) facts.push(`${seconds(spent)} total`);
  const parts = facts.map((fact) => make("span", "fact", fact));
  if (faults) parts.push(make("span", "fact fault", `${faults} fault${faults > 1 ? "s" : ""}`));
  more.replaceChildren(...parts.flatMap((part) => [part, " "]));
  const points = number(game.scores[at][player - 1]);
  score.replaceChildren(points);
  score.setAttribute("aria-label", `${points} points: show all runs of player ${player}`);
  score.setAttribute("aria-pressed", String(page.side === player));
  box.classList.toggle("turn", game.turns[at + 1]?.player === player);
}

/**
 * Show how a side's runs add up, where its runs are shown.
 * @param {Run[]} runs
 */
function showSum(runs) {
  const { side } = page;
  byId("sum").hidden = !side;
  byId("sum-table").replaceChildren(...(side ? sumOfRuns(runs.filter(({ player }) => player === side), side) : []));
}

/* Mark the lost turns over the slider. */
function markSlider() {
  const { turns, last } = page.game;
  const lost = turns.flatMap((turn) => (turn?.fault ? [turn] : []));
  const marks = lost.map((turn) => {
    const mark = lost.length > MANY_FAULTS ? make("span", "tick") : make("span", "", LETTERS[turn.outcome]);
    mark.style.setProperty("--share", String(turn.number / Math.max(1, last)));
    return mark;
  });
  byId("slider-marks").replaceChildren(...marks);
}

/**
 * What a player did, as words after the name: ` plays 3P`, or what went wrong in its place.
 * @param {Turn} turn
 */
function deed(turn) {
  if (turn.outcome === "played") return ` plays ${turn.text}`;
  return turn.fault ? `: ${WORDS[turn.outcome]}` : ` ${WORDS[turn.outcome]}`;
}

function showTurn() {
  const { game, at } = page.view;
  const turn = game.turns[at];
  const said = byId("said");
  const detail = byId("detail");
  if (turn) {
    const [, colon, words] = /** @type {string[]} */ (/^(:?)(.*)$/s.exec(deed(turn)));
    const what = make("span", turn.fault ? "fault" : "", words);
    const number = page.line ? page.at + at - 1 : at;
    said.replaceChildren(`Turn ${number}: `, token(turn.player), ` player ${turn.player}${colon}`, what,
      page.line || !timesMatter(game) ? ". " : ` (${seconds(turn.time)}). `);
    const [one, two] = game.scores[at];
    if (game.countsPoints) said.append(make("span", "hidden", `Score ${one} to ${two}. `));
  } else {
    said.replaceChildren(page.line ? `Before turn ${page.at}. ` : "The start. ");
  }
  if (at === game.last) said.append(make("strong", "", game.result));
  byId("changes").replaceChildren(...(game.countsPoints ? changeChips(game.changes[at], game.columns) : []));
  const why = turn ? turn.detail : game.why; // without a turn: why the game never began
  detail.hidden = !why;
  detail.textContent = why || "";
  byId("printed").textContent = game.printed?.[at] ?? "";
  byId("printed").hidden = !game.printed?.[at];
  byId("caption").textContent = at ? `The board after turn ${at}` : "The board at the start";
}

function listMoves() {
  const { game } = page;
  const section = byId("moves-title").parentElement;
  section?.classList.toggle("costs", Boolean(game.analysis?.worst.length));
  section?.classList.toggle("leads", game.countsPoints);
  page.items = game.turns.map((_, at) => moveItem(game, at));
  byId("moves").replaceChildren();
  const [first] = page.items;
  afterPaint(() => {
    if (first !== page.items[0]) return; // another game was chosen meanwhile
    byId("moves").replaceChildren(...page.items.map((item) => make("li", "", item)));
    page.markMove();
  });
}

/**
 * Return the line of the list that leads to the position after a turn.
 * @param {Game} game
 * @param {number} at
 */
function moveItem(game, at) {
  const item = makeButton("", () => page.go(at));
  item.tabIndex = -1;
  const turn = game.turns[at];
  if (!turn) {
    item.append(make("span", "number", "0"), make("span"), make("span", "text", "Start"));
    return item;
  }
  const gain = game.scores[at].map((score, side) => score - game.scores[at - 1][side]);
  const net = turn.player === 1 ? gain[0] - gain[1] : gain[1] - gain[0];
  const text = turn.outcome === "played" ? turn.text ?? "" : WORDS[turn.outcome];
  item.setAttribute("aria-label", `${at}: player ${turn.player}${deed(turn)}, ${seconds(turn.time)}`);
  item.append(
    make("span", "number", `${at}`), token(turn.player),
    make("span", turn.fault ? "text fault" : "text", text),
    make("span", "gain muted", net && game.countsPoints ? signed(net) : ""),
    make("span", "cost", game.analysis?.worst.includes(at) ? thrownAway(game, at) ?? costText(game.analysis, at) : ""),
    make("span", "time", seconds(turn.time)),
  );
  if (turn.fault && turn.text) item.title = `asked for ${turn.text}`;
  return item;
}

/** @param {number} player */
function barKey(player) {
  return make("span", "key", token(player), `player ${player}`);
}

/**
 * @param {string} id
 * @param {string} summary
 * @param {[number, number]} range
 * @param {(chart: Chart) => void} paint
 * @param {[number, string][] | null} levels
 */
function addChart(id, summary, range, paint, levels = null) {
  byId(`${id}-figure`).hidden = false;
  byId(`${id}-figure`).setAttribute("aria-label", summary);
  const chart = new Chart(byId(id), page.game.last, range, paint, (at) => {
    page.pause();
    page.go(at);
  }, levels);
  page.charts.push(chart);
  return chart;
}

function drawCharts() {
  const { game } = page;
  for (const chart of page.charts) chart.stop();
  page.charts = [];
  for (const id of ["lead", "loss", "time"]) byId(`${id}-figure`).hidden = true;
  drawLead(game);
  drawTimes(game);
  drawLosses(game);
}

/**
 * The curves under the board, from player 1's view: a line each, and its words in what is said of a turn.
 * @param {Game} game
 */
function curvesOf(game) {
  /** @type {{kind: string, words: string, values: (number | null)[], told?: (number | null)[]}[]} */
  const curves = [{ kind: "lead", words: "lead", values: game.scores.map(([one, two]) => one - two) }];
  if (!game.countsPoints) curves.pop();
  const values = expectedOf(game);
  if (values.some((value) => value !== null) && (game.analysis?.unit === "points") === game.countsPoints) {
    curves.push({ kind: "expected", words: "best play", values });
  }
  return [...curves, ...beliefsOf(game)];
}

/**
 * Draw the lead, and what best play would make of it; above 0 is player 1's side.
 * @param {Game} game
 */
function drawLead(game) {
  const { analysis, last, turns } = game;
  const curves = curvesOf(game);
  const known = curves.flatMap(({ values }) => values.filter((value) => value !== null));
  if (!known.some((value) => value) && !analysis || !known.length) return;
  const unit = game.countsPoints ? "" : ` ${analysis?.unit}`;
  const exact = analysis && known.every((value) => outcomeWord(analysis, value));
  const [high, low] = [Math.max(5, ...known) * 1.1, Math.min(-5, ...known) * 1.1];
  /** @param {number} at */
  const said = (at) => curves.flatMap(({ kind, words, values, told }) => {
    const value = (told ?? values)[at];
    if (value === null) return [make("span", `key ${kind}`, `${words} \u2013`)];
    const won = analysis && outcomeWord(analysis, Math.abs(value));
    const who = value ? [token(value > 0 ? 1 : 2), ` ${exact ? won : `${signed(Math.abs(value), 1)}${unit}`}`] : [exact ? "draw" : "0"];
    return [make("span", `key ${kind}`, `${words} `, ...who)];
  });
  const [{ words, values }] = curves;
  const summary = `Player 1's ${words} over the turns, at the end ${signed(values[last] ?? 0, 1)}`;
  const chart = addChart("lead", summary, exact ? [-120, 120] : [low, high], (drawn) => {
    for (const { kind, values: found } of curves) {
      if (kind === "lead") for (const side of [1, -1]) drawn.area(found.map(Number), side, side > 0 ? "over1" : "over2");
      drawn.line(found, kind, kind !== "expected" || Boolean(exact));
    }
    for (const turn of turns) {
      if (!turn || !isMistake(game, turn)) continue;
      const place = { cx: drawn.x(turn.number), cy: drawn.y(values[turn.number] ?? 0), r: 4, class: "mistake" };
      svg("circle", place, drawn.picture);
    }
  }, exact ? OUTCOMES : null);
  chart.tell = (at) => byId("lead-said").replaceChildren(make("span", "wide", `After turn ${at}: `), ...said(at));
  byId("lead-figure").classList.toggle("named", Boolean(exact));
}

/** @param {Game} game */
function drawTimes(game) {
  const turns = game.turns.flatMap((turn) => turn ?? []);
  const longest = Math.max(0.01, ...turns.map((turn) => turn.time));
  const limited = longest > game.limit / 3;
  const top = (limited ? Math.max(longest, game.limit) : longest) * 1.25;
  const faults = turns.filter((turn) => turn.fault).length;
  const unit = top < .1 ? 1000 : 1; // milliseconds, as the list of moves has them
  if (!timesMatter(game)) return;
  byId("time-title").textContent = faults ? "Thinking time and faults" : "Thinking time";
  const summary = `Thinking time of each turn, the longest ${seconds(longest)}; ${faults} faults`;
  addChart("time", summary, [0, top * unit], (chart) => {
    if (limited) {
      const y = chart.y(game.limit * unit);
      svg("line", { x1: chart.left, x2: chart.right, y1: y, y2: y, class: "limit" }, chart.picture);
    }
    let lettered = -10;
    for (const turn of turns) {
      chart.bar(turn.number, turn.time * unit, turn.fault ? "faulty" : `s${turn.player}`);
      if (!turn.fault) continue;
      const x = chart.x(turn.number);
      if (faults > MANY_FAULTS) {
        svg("line", { x1: x, x2: x, y1: chart.top - 6, y2: chart.top + 2, class: "fault-tick" }, chart.picture);
        continue;
      }
      const drop = { x1: x, x2: x, y1: chart.top + 8, y2: chart.y(turn.time * unit), class: "drop" };
      svg("line", drop, chart.picture);
      if (x - lettered < 10) continue;
      chart.label(x, chart.top, LETTERS[turn.outcome], "middle", "fault");
      lettered = x;
    }
  });
  const legend = [barKey(1), barKey(2), unit === 1 ? "seconds" : "milliseconds"];
  if (limited) legend.push(`limit ${number(game.limit, 3)} s (dotted)`);
  for (const [outcome, letter] of Object.entries(LETTERS)) {
    if (turns.some((turn) => turn.outcome === outcome)) {
      legend.push(make("span", "", make("b", "fault", faults > MANY_FAULTS ? "|" : letter), ` ${WORDS[outcome]}`));
    }
  }
  byId("time-legend").replaceChildren(...legend.map((part) => make("span", "", part)));
}

/** The number of a game: a report may list more games than can be shown.
 * @param {any} game
 * @param {number} index
 */
const numberOf = (game, index) => game.number ?? index + 1;

/* List the games in the chooser; who plays in all of them is not named. */
function listGames() {
  /** @type {string[]} */
  const always = DATA.games.length > 2 ? DATA.games[0].names.filter((/** @type {string} */ name) => (
    DATA.games.every((/** @type {any} */ { names }) => names.includes(name)))) : [];
  chooser.replaceChildren();
  DATA.games.forEach((/** @type {any} */ game, /** @type {number} */ index) => {
    const result = game.counts_points ? game.scores_end.join(":")
      : game.winner ? `player ${game.winner} won` : "nobody won";
    const side = always.length === 1 ? game.names.indexOf(always[0]) : -1;
    const who = side < 0 ? game.names.map(brief).join(" \u2013 ") : `against ${brief(game.names[1 - side])}${game.label ? "" : side ? ", second" : ", first"}`;
    chooser.append(option(String(index), `${numberOf(game, index)}. ${who}, ${result}${game.label ? `, ${game.label}` : ""}`));
  });
  byId("choice").hidden = DATA.games.length < 2;
}

(function start() {
  listGames();
  byId("outcome").addEventListener("click", () => page.go(page.game.last));
  chooser.addEventListener("change", () => page.choose(Number(chooser.value), 0));
  const actions = {
    first: () => page.walk(-Infinity), back: () => page.walk(-1), next: () => page.walk(1),
    end: () => page.walk(Infinity), mistake: () => page.seekMistake(),
  };
  for (const [id, action] of Object.entries(actions)) {
    byId(id).addEventListener("click", () => {
      page.pause();
      action();
    });
  }
  byId("play").addEventListener("click", () => page.play());
  byId("leave").addEventListener("click", () => page.leave());
  slider.addEventListener("input", () => {
    page.pause();
    page.go(Number(slider.value));
  });
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: actions.back, ArrowRight: actions.next, Home: actions.first, End: actions.end,
    PageUp: () => page.walk(-10), PageDown: () => page.walk(10),
    m: actions.mistake, b: () => page.enter(page.line ? page.step + 1 : 1), Escape: () => page.leave(),
    1: () => page.toggleRuns(1), 2: () => page.toggleRuns(2),
  };
  byId("moves").addEventListener("keydown", (event) => {
    if (!["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    page.pause();
    page.go(page.at + (event.key === "ArrowUp" ? -1 : 1));
  });
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || ["SELECT", "INPUT", "TEXTAREA"].includes(target.tagName)
      && target !== slider || event.defaultPrevented) return;
    if (target.id === "detail" && !event.key.startsWith("Arrow")) return;
    if (event.key === " ") {
      if (target.tagName === "BUTTON") return;
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
  /** @param {string} address */
  const goTo = (address) => {
    const [, number, at] = /^#(\d+)\.(\d+)$/.exec(address) ?? [];
    const index = DATA.games.map(numberOf).indexOf(Number(number));
    if (index >= 0) page.choose(index, Number(at));
    return index >= 0;
  };
  document.addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest("a");
    if (!link?.hash || !goTo(link.hash)) return; // in a report above: a game, or a turn of it
    event.preventDefault();
    byId("title").scrollIntoView({ behavior: CALM.matches ? "auto" : "smooth" });
    byId("slider").focus({ preventScroll: true });
  });
  addEventListener("hashchange", () => goTo(location.hash));
  const lost = /** @type {HTMLElement | null} */ (document.querySelector("[data-turn]")); // in a report
  const first = [location.hash, `#${lost?.dataset.turn ?? DATA.opens}`].some(goTo);
  if (DATA.games.length && !first) page.choose(0, 0);
})();
