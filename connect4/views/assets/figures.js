/* Positions on a page, drawn as boards. Without a script they stay text. */

for (const [place, { cells, ...shape }] of DATA.entries()) {
  const figure = byId(`position-${place + 1}`);
  const picture = make("div");
  new Board(picture, shape).show(Uint8Array.from(cells, Number), null, 0);
  figure.querySelector("pre")?.replaceWith(picture);
}
