"""Make the pictures of the documents, of one seeded game and one search: `make screenshots`.

Needs Chromium.
"""

import sys
import tempfile
from pathlib import Path

import connect4
from connect4.record import Record
from connect4.views.page import page
from tests.browser import STILL, Browser, NoBrowserError

FOLDER = Path(__file__).parent
WIDE = (1200, 1480)
TREE = (1200, 760)
THOUGHT = (760, 1000)


def game() -> Record:
    """Play a greedy agent against alpha-beta; say what each move cost."""
    record = connect4.play("greedy", "alphabeta:depth=3,heuristic=margin", "mid8x10", seed=7)
    connect4.analyse(record, seconds=0.1)
    return record


def search() -> str:
    """Return the page of an alpha-beta search with the published counts."""
    agent = "alphabeta:depth=4,heuristic=v1,tt=off"
    return connect4.search_tree(agent, game="classic-full").to_html()


def main() -> int:
    """Make all pictures; return the exit status."""
    try:
        browser = Browser()
    except NoBrowserError as reason:
        print(f"no screenshots: {reason}", file=sys.stderr)
        return 1
    record = game()
    half = f"#1.{len(record.turns) // 2}"
    with tempfile.TemporaryDirectory() as name:
        replay, tree = Path(name) / "game.html", Path(name) / "tree.html"
        replay.write_text(page([record]), encoding="utf-8")
        tree.write_text(search(), encoding="utf-8")
        try:
            for file, fragment, size, keys, picture in (
                (replay, half, WIDE, "w", "page-light.png"),
                (replay, "#1.15", THOUGHT, "w", "thought.png"),
                (tree, "", TREE, "cc", "tree.png"),
            ):
                browser.open(file, fragment, size, False)
                browser.press(*keys)
                browser.wait(STILL)
                browser.screenshot(FOLDER / picture)
                print(f"docs/{picture}")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
