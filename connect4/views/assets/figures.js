/* Positions on a page, drawn as boards. Without a script they stay text. */

for (const [place, { start, ...shape }] of DATA.entries()) {
  const figure = byId(`position-${place + 1}`);
  const picture = make("div");
  new Board(picture, shape).show(Uint8Array.from(start, Number), null, 0);
  figure.querySelector("pre")?.replaceWith(picture);
}
