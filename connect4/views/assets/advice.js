/* What an analysis adds to the replay page; without one nothing of it is shown.
   Values are from player 1's view; `game.analysis.turns[k - 1]` is [before, after, loss, line], and
   the line begins with the better move. */

function drawMargins(game) {
  const { analysis } = game;
  if (!analysis || !analysis.turns.length) return;
  const values = [analysis.turns[0][0], ...analysis.turns.map(([, after]) => after)];
  const most = Math.max(1, ...values.map(Math.abs)) * 1.1;
  const summary = `Expected ${analysis.unit} for player 1 by best play, at the start ${number(values[0], 1)}`;
  addChart("margin", summary, [-most, most], (chart) => chart.line(values, "expected"));
  byId("margin-legend").replaceChildren(
    make("span", "key", "up: ", token(1), " player 1"), make("span", "key", "down: ", token(2), " player 2"),
    make("span", "", analysis.unit),
  );
  const losses = analysis.turns.map(([, , loss]) => loss);
  const highest = Math.max(1, ...losses) * 1.25;
  addChart("loss", `Cost of each move, the highest ${number(highest / 1.25, 1)}`, [0, highest], (chart) => {
    losses.forEach((loss, index) => {
      const turn = index + 1;
      if (loss) chart.bar(turn, loss, `s${game.turns[turn].player}`);
      if (!analysis.worst.includes(turn)) return;
      chart.label(chart.x(turn), chart.y(loss) - 9, `${turn}`, "middle", "fault");
    });
  });
  byId("loss-legend").replaceChildren(barKey(1), barKey(2), make("span", "", "numbers: the costliest"));
}

function showAdvice(turn) {
  const { analysis } = page.game;
  const advice = byId("advice");
  const found = analysis && turn ? analysis.turns[turn.number - 1] : null;
  advice.hidden = !found;
  if (!found) return;
  const [before, after, loss, [better, ...rest]] = found;
  const side = turn.player === 1 ? 1 : -1;
  const expected = `Best play would expect ${signed(before * side, 1)} for player ${turn.player}`;
  if (!loss) {
    advice.textContent = `${expected}; this turn keeps it.`;
    return;
  }
  advice.replaceChildren(
    `${expected}; after this turn it is ${signed(after * side, 1)}. `,
    make("strong", "fault", `Cost ${number(loss, 1)}.`), ` Better: ${better}${then(rest)}`,
  );
}

function then(rest) {
  return rest.length ? `, then ${rest.join(" ")}` : "";
}

function showAnalysis() {
  const { game } = page;
  const { analysis } = game;
  const any = Boolean(analysis && analysis.worst.length);
  byId("bad").hidden = byId("bad-key").hidden = !any;
  byId("worst").hidden = !any;
  if (!any) return;
  byId("worst-source").textContent = analysis.source;
  const head = ["", "Turn", "Played", "Cost", "Better", "and then"].map((text) => make("th", "", text));
  const body = make("tbody", "");
  for (const turn of analysis.worst) {
    const [, , loss, [better, ...rest]] = analysis.turns[turn - 1];
    const button = make("button", "", `${turn}`);
    button.type = "button";
    button.addEventListener("click", () => page.go(turn));
    const { player, outcome, text } = game.turns[turn];
    const played = outcome === "played" ? text : WORDS[outcome];
    const cells = [token(player), button, played, number(loss, 1), better, rest.join(" ")];
    body.append(make("tr", "", ...cells.map((cell) => make("td", "", cell))));
  }
  byId("worst-table").replaceChildren(make("thead", "", make("tr", "", ...head)), body);
}
