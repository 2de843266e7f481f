/* What an analysis adds to the replay page; without one nothing of it is shown.
   Values are from player 1's view; `game.analysis.turns[k - 1]` is [before, after, loss, line, moves,
   proven, slower]: the line begins with the better move, `moves` holds what each move of it changes.
   A turn that was not analysed is null. */

/* The levels of a chart of solved positions. */
const OUTCOMES = /** @type {[number, string][]} */ ([[100, "player 1 wins"], [0, "draw"], [-100, "player 2 wins"]]);

/**
 * Return what best play comes to after each turn, for player 1; null where nobody knows.
 * @param {Game} game
 */
function expectedOf({ analysis }) {
  const turns = analysis?.turns ?? [];
  return [null, ...turns].map((found, turn) => found?.[1] ?? turns[turn]?.[0] ?? null);
}

/** @param {Game} game */
function drawLosses(game) {
  const { analysis } = game;
  const known = expectedOf(game).filter((value) => value !== null);
  if (!analysis || !known.length || known.every((value) => outcomeWord(analysis, value))) return;
  const { turns } = analysis;
  const losses = turns.map((found) => found?.[2] ?? 0);
  const highest = Math.max(1, ...losses) * 1.7;
  addChart("loss", `Cost of each move, the highest ${number(Math.max(0, ...losses), 1)}`, [0, highest], (chart) => {
    losses.forEach((loss, index) => {
      const turn = game.turns[index + 1];
      if (loss && turn) chart.bar(turn.number, loss, `s${turn.player}`);
    });
    chart.labels(worstTurns(analysis).map((turn) => [turn, losses[turn - 1]]), "fault");
  });
  byId("loss-legend").replaceChildren(barKey(1), barKey(2), make("span", "", "numbers: the three costliest turns"));
}

/**
 * Return the costliest turns of the game, the costliest first; `worst` has three of each side.
 * @param {Analysis} analysis
 */
function worstTurns(analysis, count = 3) {
  return [...analysis.worst].sort((one, two) => lossOf(analysis, two) - lossOf(analysis, one)).slice(0, count);
}

/**
 * Return what a turn cost as a number; 0 for one that was not analysed.
 * @param {Analysis} analysis
 * @param {number} at
 */
function lossOf({ turns }, at) {
  return turns[at - 1]?.[2] ?? 0;
}

/**
 * Return what a value means where it is exact: a solver knows wins, draws and losses alone.
 * @param {Analysis} analysis
 * @param {number} value for the player who asks
 */
function outcomeWord({ unit }, value) {
  if (unit !== "hundredths of a win" || value % 100) return null;
  return value > 0 ? "win" : value < 0 ? "loss" : "draw";
}

/**
 * Return what a turn threw away, as `win \u2192 loss`; null where values are points or estimates.
 * @param {Game} game
 * @param {number} at
 */
function thrownAway({ analysis, turns }, at) {
  const side = turns[at]?.player === 1 ? 1 : -1;
  const [before, after] = analysis?.turns[at - 1] ?? [];
  const words = analysis ? [before, after].map((value) => outcomeWord(analysis, (value ?? .5) * side)) : [null];
  return words.every((word) => word) ? words.join(" \u2192 ") : null;
}

/**
 * Return what a turn cost; all costly turns of a game have the same number of decimals.
 * @param {Analysis} analysis
 * @param {number} at
 */
function costText(analysis, at) {
  const whole = analysis.worst.every((turn) => Number.isInteger(lossOf(analysis, turn)));
  return lossOf(analysis, at).toFixed(whole ? 0 : 1);
}

/**
 * Return what a turn cost, as a sentence.
 * @param {Analysis} analysis
 * @param {number} at
 * @param {boolean | null} proven
 */
function costSentence(analysis, at, proven) {
  const cost = number(lossOf(analysis, at), 1);
  const unit = analysis.unit === "points" && cost === "1" ? "point" : analysis.unit;
  return `${proven === false ? "Estimated cost" : "Cost"}: ${cost} ${unit}.`;
}

/**
 * Return the better move where the reader stands after a costly one.
 * @param {number} at
 * @returns {Ghost | null}
 */
function betterMove(at) {
  const { analysis, turns, boards, columns } = page.game;
  const [turn, found] = [turns[at], analysis?.turns[at - 1]];
  if (!turn || !found || !found[2] || !found[4].length) return null;
  const move = readMove(boards[at - 1], found[4][0][2], columns);
  return move && { move, player: turn.player };
}

/**
 * Return the better line of a turn as a game of its own, from the position before the turn.
 * @param {Game} game
 * @param {number} at
 * @returns {Game | null}
 */
function lineOf(game, at) {
  const [turn, found] = [game.turns[at], game.analysis?.turns[at - 1]];
  if (!turn || !found || !found[2] || !found[4].length) return null;
  /** @type {Game} */
  const line = {
    ...game, boards: [game.boards[at - 1]], moves: [null], scores: [game.scores[at - 1]], left: [game.left[at - 1]],
    turns: [null], changes: [[]], firstRuns: runsAt(game, at - 1), last: 0, analysis: null, printed: undefined, result: "",
  };
  found[4].forEach(([scores, left, cells, runs], index) => {
    const player = index % 2 ? 3 - turn.player : turn.player;
    addTurn(line, [player, found[3][index], "played", 0, scores, left, cells, runs, null], []);
  });
  return line;
}

/* Say what the turn cost and which line was better; each of its moves is a button. */
function showAdvice() {
  const { game, at } = page;
  const { analysis } = game;
  const turn = game.turns[at];
  const advice = byId("advice");
  const found = analysis?.turns[at - 1];
  advice.hidden = !turn || found === undefined;
  advice.classList.toggle("plain", Boolean(turn?.fault));
  if (!turn || found === undefined || !analysis) return;
  if (!found) {
    advice.replaceChildren("This turn was not analysed.");
    return;
  }
  const [before, after, loss, line, playable, proven, slower] = found;
  const digits = [before, after].every(Number.isInteger) ? 0 : 1;
  const sign = (/** @type {number} */ value) => `${value > 0 ? "+" : ""}${value.toFixed(digits).replace("-", "\u2212")}`;
  const certainty = proven === null ? "" : proven ? " Proven." : " This is an estimate.";
  const side = turn.player === 1 ? 1 : -1;
  const exact = outcomeWord(analysis, before * side);
  const expected = exact ? `Best play was a ${exact} for player ${turn.player}`
    : `Best play would expect ${sign(before * side)} for player ${turn.player}`;
  if (!loss) {
    const pace = slower ? ` ${slower} ${slower === 1 ? "ply" : "plies"} ${before * side > 0 ? "slower" : "sooner"} than ${line[0]}.` : "";
    advice.replaceChildren(`${expected}; ${turn.fault ? "the lost turn cost nothing here" : "this turn keeps it"}.${pace}${certainty}`);
    return;
  }
  const moves = line.map((text, index) => {
    if (index >= playable.length) return make("li", "", text);
    const move = makeButton("", () => page.enter(index + 1), text);
    move.setAttribute("aria-pressed", "false");
    return make("li", "", ...(index === 1 ? [make("span", "muted", "then ")] : []), move);
  });
  const left = outcomeWord(analysis, after * side);
  advice.replaceChildren(
    `${expected}; after this turn it is ${left ? `a ${left}` : sign(after * side)}. `,
    make("strong", "fault", exact && left ? "" : costSentence(analysis, at, proven)),
    `${proven ? certainty : ""} Better: `,
    make("ol", "branch", ...moves),
  );
}

/* Say that a variation is shown, which moves of it, and how to leave it. */
function showVariation() {
  const { at, line, step } = page;
  byId("variation").hidden = !line;
  byId("board").classList.toggle("branching", Boolean(line));
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (byId("advice").querySelectorAll(".branch button"));
  buttons.forEach((move, index) => move.setAttribute("aria-pressed", String(Boolean(line) && index === step - 1)));
  if (!line) return;
  const moves = line.turns.slice(1, step + 1).map((turn) => turn?.text).join(" ");
  byId("variation-moves").textContent = `Variation after turn ${at - 1}: ${moves}`;
  byId("caption").textContent = `The board after ${moves || "no move"} in place of turn ${at}`;
}

function showAnalysis() {
  const { game } = page;
  const { analysis } = game;
  const any = Boolean(analysis?.worst.length);
  byId("branch-key").hidden = byId("worst").hidden = !any;
  byId("analyse").hidden = Boolean(analysis) || !game.last;
  if (!analysis || !any) return;
  byId("worst-source").textContent = analysis.source;
  const head = ["Player", "Turn", "Played", "Cost", "Better", "Then"].map((text, index) => make("th", index === 3 ? "number" : "", text));
  const body = make("tbody", "");
  for (const at of worstTurns(analysis, 6)) {
    const turn = game.turns[at];
    if (!turn) continue;
    const [better, ...rest] = analysis.turns[at - 1]?.[3] ?? [];
    const go = makeButton("", () => page.go(at), `${at}`);
    go.setAttribute("aria-label", `Turn ${at}`);
    const played = turn.outcome === "played" ? turn.text ?? "" : WORDS[turn.outcome];
    const then = make("span", "then", ...rest.map((text, index) => make("span", "key", token(index % 2 ? turn.player : 3 - turn.player), text)));
    const who = make("span", "", token(turn.player), ` ${turn.player}`);
    const cells = [who, go, played, thrownAway(game, at) ?? costText(analysis, at), better, then];
    body.append(make("tr", "", ...cells.map((cell, index) => make("td", index === 3 ? "number" : "", cell))));
  }
  byId("worst-table").replaceChildren(make("thead", "", make("tr", "", ...head)), body);
}
