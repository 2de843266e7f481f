/* Why it scored: the runs that points come from, and how each turn changed them. */

/**
 * `first` and `last` are the cells at its ends, counted row by row from the top.
 * @typedef {{player: number, first: number, last: number, length: number, points: number}} Run
 * @typedef {{player: number, points: number, made: Run[], broken: Run[]}} RunChange
 * @typedef {{first: number, last: number, kind: string, label: string}} RunMark
 */

/**
 * Return the runs that stand after turn `at`.
 * @param {{runs: Run[], firstRuns: Run[], changes: RunChange[][]}} game
 * @param {number} at
 */
function runsAt(game, at) {
  const standing = new Set(game.firstRuns);
  for (const change of game.changes.slice(1, at + 1).flat()) {
    for (const run of change.broken) standing.delete(run);
    for (const run of change.made) standing.add(run);
  }
  return [...standing];
}

/**
 * Return what a turn's changes look like on the board: runs made and runs broken, with points.
 * @param {RunChange[]} changes
 * @returns {RunMark[]}
 */
function changeMarks(changes) {
  return changes.filter(({ points }) => points).flatMap(({ points, made, broken }) => {
    const gained = points > 0;
    const runs = gained ? made : broken;
    return runs.map(({ first, last }, index) => (
      { first, last, kind: gained ? "made" : "broken", label: index ? "" : signed(points) }
    ));
  });
}

/** @param {Run[]} runs @returns {RunMark[]} */
function standingMarks(runs) {
  const ordered = [...runs].sort((one, two) => two.points - one.points);
  return ordered.map(({ first, last, points }) => ({ first, last, kind: "standing", label: number(points) }));
}

/** @param {Run} run @param {number} columns */
function direction({ first, last }, columns) {
  const rows = Math.floor(last / columns) - Math.floor(first / columns);
  const across = last % columns - first % columns;
  return rows === 0 ? "row" : across === 0 ? "column" : "diagonal";
}

/** @param {RunChange} change @param {number} columns */
function changeText({ made, broken }, columns) {
  const lengths = (/** @type {Run[]} */ runs) => runs.map(({ length }) => length).join(" and ");
  const where = direction((made[0] ?? broken[0]), columns);
  if (!made.length) return `${where} of ${lengths(broken)} broken`;
  const before = broken.length ? `, was ${lengths(broken)}` : "";
  return `${where} of ${lengths(made)}${before}`;
}

/** @param {RunChange[]} changes @param {number} columns */
function changeChips(changes, columns) {
  const shown = changes.filter(({ points }) => points).sort((one, two) => Math.abs(two.points) - Math.abs(one.points));
  return shown.map((change) => make(
    "li", change.points > 0 ? "chip made" : "chip broken", token(change.player),
    make("span", "hidden", `player ${change.player} `), make("b", "", signed(change.points)),
    ` ${changeText(change, columns)}`,
  ));
}

/**
 * Return a side's points as a sum over the lengths of its runs.
 * @param {Run[]} runs
 * @param {number} player
 */
function sumOfRuns(runs, player) {
  /** @type {Map<number, Run[]>} */
  const byLength = new Map();
  for (const run of runs) byLength.set(run.length, [...(byLength.get(run.length) ?? []), run]);
  const total = runs.reduce((sum, { points }) => sum + points, 0);
  const head = make("tr", "", ...["tokens in a row", "runs", "points each", "points"].map((text) => make("th", "", text)));
  const lines = [...byLength].sort(([one], [two]) => two - one).map(([length, same]) => make(
    "tr", "", ...[length, same.length, same[0].points, same.length * same[0].points]
      .map((value) => make("td", "", number(value))),
  ));
  const sum = make("tr", "total", make("th", "", "in all"), make("td", "", `${runs.length}`), make("td"), make("td", "", number(total)));
  return [make("caption", "", `Where player ${player}'s points come from`), make("thead", "", head), make("tbody", "", ...lines, sum)];
}
