"""Measure the pages in Chromium: `python3 -m benchmarks.page [--loads N]`.

The replay page shows a random game on an empty 12x12 board and is opened from disk repeatedly. The
figures are the times to the first contentful paint and until the page is ready, the time of one
step with its layout, and the size of the file. The search-tree page shows a tree of 111,111 nodes,
which is opened, fully unfolded and scrolled. A frame is the time from one drawing of the screen to
the next, 16.7 ms at best. Exits with status 1 if the first paint of the replay page takes 100 ms or
more (median), if its file has 200 kB or more, or if a frame of the tree's scrolling takes 50 ms or
more (median).
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median

from tabulate import tabulate

from connect4.games import GAMES, load_start
from connect4.players.base import Outcome, Turn
from connect4.record import Record, RecordedPlayer
from connect4.referee import Result
from connect4.search.trace import Flag, Kind, Node
from connect4.views.page import page
from connect4.views.tree import tree_page
from tests.browser import Browser, NoBrowserError

PAINT_LIMIT = 100.0
SIZE_LIMIT = 200_000
FRAME_LIMIT = 50
HEAD = ["", "median", "highest", "limit"]

PAINT = """
const done = arguments[0];
const [load] = performance.getEntriesByType('navigation');
new PerformanceObserver((list) => {
  const first = list.getEntries().find((entry) => entry.name === 'first-contentful-paint');
  if (first) done([first.startTime, load.loadEventEnd]);
}).observe({ type: 'paint', buffered: true });
"""

SCROLL = """
const done = arguments[0];
const began = performance.now();
document.getElementById('all').click();
document.body.getBoundingClientRect();
const unfolded = performance.now() - began;
const view = document.getElementById('tree');
const frames = [];
let before = null;
function frame(now) {
  if (before !== null) frames.push(now - before);
  before = now;
  view.scrollTop += 25000;
  if (frames.length < 100) requestAnimationFrame(frame);
  else done([unfolded, frames, document.getElementById('rows').clientHeight / 30,
    document.querySelectorAll('.row').length]);
}
requestAnimationFrame(frame);
"""

STEPS = """
const times = [];
const slider = document.getElementById('slider');
for (let at = 1; at <= Number(slider.max); at++) {
  const began = performance.now();
  slider.value = String(at);
  slider.dispatchEvent(new Event('input'));
  document.body.getBoundingClientRect();
  times.push(performance.now() - began);
}
return times;
"""


def random_game() -> Record:
    """Return a random game on the empty 12x12 board, seed 1."""
    game, rng = GAMES["extended"], random.Random(1)
    state = start = load_start(game, "empty12x12")
    turns: list[Turn] = []
    while not state.is_over():
        action = rng.choice(state.legal_actions())
        number, text = len(turns) + 1, game.format_action(action)
        seconds = round(rng.uniform(0, 20), 3)
        turns.append(Turn(Outcome.PLAYED, action, text, seconds, number=number, player=state.mover))
        state = state.apply(action)
    ending = state.ending()
    assert ending is not None
    players = (RecordedPlayer("random"), RecordedPlayer("random"))
    return Record(game, start, players, 20.0, 1, turns, Result(state.scores(), ending, 0))


def load(browser: Browser, file: Path) -> tuple[float, float]:
    """Open a file; return the milliseconds to the first paint and to being loaded."""
    browser.open(file)
    browser.wait("return document.readyState === 'complete'")
    paint, loaded = browser.driver.execute_async_script(PAINT)
    return paint, loaded


def measure(browser: Browser, file: Path, loads: int) -> tuple[list[list[object]], float]:
    """Return the lines of the table, and the median first paint in milliseconds."""
    paints, ready = [], []
    for _ in range(loads):
        paint, loaded = load(browser, file)
        paints.append(paint)
        ready.append(loaded)
    steps = browser.run(STEPS)
    rows: list[list[object]] = [
        [name, f"{median(times):.1f}", f"{max(times):.1f}", limit]
        for name, times, limit in (
            ("first paint", paints, f"{PAINT_LIMIT:.0f}"),
            ("page ready", ready, ""),
            ("one step", steps, ""),
        )
    ]
    return rows, median(paints)


def wide_tree() -> list[Node]:
    """Return a search of 10 moves at each of 5 plies from an empty 10x10 board, values random."""
    rng = random.Random(1)
    nodes = []

    def grow(ply: int, move: tuple[int, bool] | None) -> None:
        value = float(rng.randint(-40, 40))
        nodes.append(Node(ply, move, Kind(ply % 2), value, value - 9, value + 9, Flag(0)))
        if ply < 5:
            for column in range(10):
                grow(ply + 1, (column, False))

    grow(0, None)
    return nodes


def measure_tree(browser: Browser, folder: Path, loads: int) -> tuple[list[list[object]], float]:
    """Return the lines of the table, and the median frame of scrolling in milliseconds."""
    game = GAMES["extended"]
    text = tree_page(game, load_start(game, "empty10x10"), "alphabeta:depth=5", wide_tree())
    file = folder / "tree.html"
    file.write_text(text, encoding="utf-8")
    ready = [load(browser, file)[1] for _ in range(max(1, loads // 4))]
    unfolded, frames, rows, drawn = browser.driver.execute_async_script(SCROLL)
    print(f"\nsearch tree, {rows} rows unfolded, {drawn} of them drawn; {len(text) / 1e6:.1f} MB")
    table: list[list[object]] = [
        ["page ready", f"{median(ready):.1f}", f"{max(ready):.1f}", ""],
        ["unfold all", f"{unfolded:.1f}", "", ""],
        ["frame while scrolling", f"{median(frames):.1f}", f"{max(frames):.1f}", FRAME_LIMIT],
    ]
    return table, median(frames)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.page", description=__doc__)
    parser.add_argument("--loads", type=int, default=20, help="how often it is opened (default 20)")
    arguments = parser.parse_args()
    game = random_game()
    text = page([game])
    size = len(text.encode())
    try:
        browser = Browser()
    except NoBrowserError as reason:
        print(f"not measured: {reason}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.html"
        file.write_text(text, encoding="utf-8")
        try:
            rows, paint = measure(browser, file, arguments.loads)
            rows.append(["size, kB", f"{size / 1000:.1f}", "", f"{SIZE_LIMIT / 1000:.0f}"])
            print(f"12x12, {len(game.turns)} turns, opened {arguments.loads} times; milliseconds")
            print(tabulate(rows, HEAD, disable_numparse=True))
            rows, frame = measure_tree(browser, Path(folder), arguments.loads)
            print(tabulate(rows, HEAD, disable_numparse=True))
        finally:
            browser.close()
    return 0 if paint < PAINT_LIMIT and size < SIZE_LIMIT and frame < FRAME_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
