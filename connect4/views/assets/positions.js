/* The positions of lost turns in the report above the games, drawn as boards. Without a script
   they stay text. */

/** @param {HTMLElement} figure */
function drawPosition(figure) {
  const [number, turn] = (figure.dataset.turn ?? "").split(".").map(Number);
  const data = DATA.games[DATA.games.map(numberOf).indexOf(number)];
  const cells = Uint8Array.from(data.start, Number);
  for (const [, , , , , , changes] of data.turns.slice(0, turn - 1)) {
    for (let place = 0; place < changes.length; place += 2) cells[changes[place]] = changes[place + 1];
  }
  const picture = make("div");
  const body = make("tbody");
  const table = make("table", "", make("caption", "", `The board before turn ${turn}`), body);
  const board = new Board(picture, data);
  board.describeIn(body);
  board.show(cells, null, 0);
  figure.querySelector("pre")?.replaceWith(picture, make("div", "hidden", table));
}

for (const figure of document.querySelectorAll("figure.position[data-turn]")) {
  drawPosition(/** @type {HTMLElement} */ (figure));
}
