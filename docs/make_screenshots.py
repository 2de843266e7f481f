"""Make the screenshots of the pages: a part of `make screenshots`; needs Chromium.

One seeded game and one search are shown light, dark and as on a phone, as PNG files in this folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import connect4
from connect4.record import Record
from connect4.views.page import page
from tests.browser import PHONE, STILL, Browser, NoBrowserError

FOLDER = Path(__file__).parent
WIDE = (1200, 1480)
TREE = (1200, 760)


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
            for file, fragment, size, dark, keys, picture in (
                (replay, half, WIDE, False, "w", "page-light.png"),
                (replay, half, WIDE, True, "w", "page-dark.png"),
                (replay, half, PHONE, False, "", "page-phone.png"),
                (tree, "", TREE, False, "cc", "tree.png"),
                (tree, "", TREE, True, "v", "tree-dark.png"),
            ):
                browser.open(file, fragment, size, dark)
                browser.press(*keys)
                browser.wait(STILL)
                browser.screenshot(FOLDER / picture)
                print(f"docs/{picture}")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
