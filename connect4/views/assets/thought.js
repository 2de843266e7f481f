/* What the agents believed: the values of the actions under their columns, what was searched, and a
   curve beside the lead. `game.thoughts[k - 1]` is what the mover of turn k thought, from its own side
   and in its own units; the list is empty if no agent said anything, and while a game goes on. */

/**
 * @typedef {{
 *   value?: number, depth?: number, nodes?: number, values?: Record<string, number>, line?: string[], note?: string,
 * }} Thought
 */

const DECIDED = 1e9; // from here on the kit's searches take a game for won
const WIDE = 1e4;
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1, signDisplay: "always" });
const SCALE = 3; // a belief is drawn up to so many times the greatest lead
const LEAST = 20; // points that are drawn in any case

const thoughtBox = make("div", "thought");
const moreBox = make("div", "thought");
byId("board").after(thoughtBox);
byId("advice").before(moreBox);
addEventListener("resize", () => page.game && showThought());

/** @param {number} value */
function beliefText(value) {
  if (Math.abs(value) >= DECIDED) return value > 0 ? "win" : "loss";
  if (Math.abs(value) >= WIDE) return COMPACT.format(value).replace("-", "\u2212"); // a chip has room for little
  return signed(value, Number.isInteger(value) ? 0 : Math.abs(value) > 1 ? 1 : 2);
}

/* Show what the mover of the turn thought where the reader stands; where there is nothing, its place stays empty. */
function showThought() {
  const { game, at, line } = page;
  const shown = game.thoughts[at - 1] ? at : game.thoughts.findIndex(Boolean) + 1;
  const [turn, thought] = [game.turns[shown], game.thoughts[shown - 1]];
  thoughtBox.hidden = !turn || !thought;
  moreBox.hidden = shown !== at || Boolean(line);
  if (!turn || !thought) return;
  thoughtBox.style.visibility = moreBox.hidden ? "hidden" : "";
  const { value, depth, nodes, values = {}, line: expected = [], note } = thought;
  const facts = [];
  if (depth !== undefined) facts.push(`depth ${depth}`);
  if (nodes !== undefined) facts.push(`${number(nodes)} node${nodes === 1 ? "" : "s"}`);
  if (value !== undefined) facts.push(`value ${beliefText(value)}`);
  const said = make("p", "muted", facts.length ? `Player ${turn.player}'s search: ${facts.join(", ")}.` : "\u00a0");
  const chips = drawChips(game, turn, values);
  const room = chips ?? drawChips(game, turn, game.thoughts.find((each) => each?.values)?.values ?? {}); // so that nothing below moves
  if (!chips) room?.setAttribute("visibility", "hidden");
  thoughtBox.replaceChildren(...(room ? [room] : []), said);
  const all = Object.entries(values).map(([text, worth]) => `${text} at ${beliefText(worth)}`).join(", ");
  const more = make("p", "muted", expected.length > 1 ? `Next it expects ${expected.slice(1).join(" ")}. ` : "", note ?? "");
  if (all) more.append(make("span", chips ? "hidden" : "", ` It valued ${all}.`));
  const parted = partedText(game, turn, thought);
  moreBox.replaceChildren(...(more.textContent ? [more] : []), ...(parted ? [make("p", "parted", parted)] : []));
}

/**
 * Draw the values under the columns, drops above and pop-outs below; null in a game without columns.
 * @param {Game} game
 * @param {Turn} turn
 * @param {Record<string, number>} values
 */
function drawChips(game, turn, values) {
  const chips = Object.entries(values).flatMap(([text, value]) => {
    const column = game.columnLabels.indexOf(text.replace("P", ""));
    return column < 0 ? [] : [{ text, value, column, isPopOut: text.endsWith("P") }];
  });
  if (!chips.length) return null;
  const left = game.rowLabels ? 24 : 6; // as the board above
  const width = game.columns * CELL + left + 6;
  const height = game.popOuts ? 44 : 22; // the same in all turns
  const picture = svg("svg", { class: "chips", viewBox: `${-left} 0 ${width} ${height}`, "aria-hidden": "true" });
  const shown = /** @type {SVGSVGElement} */ (page.board.group).getScreenCTM()?.a ?? LARGEST;
  picture.style.width = `${width * shown}px`; // as wide as the board, whose height has a limit
  for (const { text, value, column, isPopOut } of chips) {
    const [x, y] = [(column + .5) * CELL, isPopOut ? 33 : 11];
    const kind = `${isPopOut ? "pop-out" : "drop"}${text === turn.text ? " chosen" : ""}`;
    const chip = svg("g", { class: kind }, picture);
    svg("rect", { x: x - 19, y: y - 9, width: 38, height: 18, rx: 9 }, chip);
    svg("text", { x, y: y + .5 }, chip).textContent = beliefText(value);
    svg("title", {}, chip).textContent = `${text} at ${beliefText(value)}`;
  }
  return picture;
}

/**
 * Say where the search and the analysis part on a costly move; empty where they do not, or nobody knows.
 * @param {Game} game
 * @param {Turn} turn
 * @param {Thought} thought
 */
function partedText({ analysis }, turn, { value, depth, values = {} }) {
  const found = analysis?.turns[turn.number - 1];
  const own = values[turn.text ?? ""] ?? value;
  if (!analysis || !found?.[2] || own === undefined || turn.outcome !== "played") return "";
  const [better] = found[3];
  const worths = [found[1], found[0]].map((worth) => worth * (turn.player === 1 ? 1 : -1));
  const [is, best] = worths.map((worth) => outcomeWord(analysis, worth) ?? beliefText(worth));
  const deep = depth === undefined ? "" : ` (depth ${depth})`;
  const other = better in values ? `${better} at ${beliefText(values[better])}` : `no value for ${better}`;
  return `This search valued ${turn.text} at ${beliefText(own)}${deep} and had ${other}; the analysis has ${turn.text} at ${is} and ${better} at ${best}.`;
}

/**
 * Return a curve of what each player believed, from player 1's view: the value of its last thought.
 * `values` are drawn, and stay near the true lead; `told` are said.
 * @param {Game} game
 */
function beliefsOf({ countsPoints, scores, thoughts, turns }) {
  const most = SCALE * Math.max(LEAST / SCALE, ...scores.map(([one, two]) => Math.abs(one - two)));
  const curves = [1, 2].map((player) => {
    const side = player === 1 ? 1 : -1;
    let last = /** @type {number | null} */ (null);
    const told = turns.map((turn, at) => {
      const value = turn?.player === player ? thoughts[at - 1]?.value : undefined;
      if (value !== undefined && Math.abs(value) < DECIDED) last = value * side;
      return last;
    });
    const values = told.map((value) => value && Math.max(-most, Math.min(most, value)));
    return { kind: `belief${player}`, words: `player ${player} believed`, values, told };
  });
  return countsPoints ? curves.filter(({ told }) => told.some((value) => value !== null)) : [];
}
