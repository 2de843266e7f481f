"""Make the screenshots of the pages: a part of `make screenshots`; needs Chromium.

One seeded game and one search are shown light, dark and as on a phone, as PNG files in this folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from connect4.analysis.costs import analyse
from connect4.games import GAMES, load_start
from connect4.players.registry import parse_agent
from connect4.record import Record
from connect4.table import Table, Terms
from connect4.views.page.page import page
from connect4.views.tree.tree import explain, tree_page
from tests.browser import PHONE, STILL, Browser, NoBrowserError

FOLDER = Path(__file__).parent
WIDE = (1200, 1480)
TREE = (1200, 760)


def game() -> Record:
    """Play a greedy agent against alpha-beta; say what each move cost."""
    rules = GAMES["extended"]
    agents = parse_agent("greedy"), parse_agent("alphabeta:depth=3,heuristic=margin")
    start = load_start(rules, "mid8x10")
    with Table(rules, start, agents, Terms(20.0, 7)) as table:
        for _ in table.events():
            pass
    record = table.record
    record.extra["analysis"] = analyse(record, 0.1, jobs=2)
    return record


def search() -> str:
    """Return the page of an alpha-beta search with the published counts."""
    rules = GAMES["classic-full"]
    agent = parse_agent("alphabeta:depth=4,heuristic=v1,tt=off", rules.name)
    start = rules.start(None, None)
    return tree_page(rules, start, agent.text, explain(agent, rules, start, 20.0, 0))


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
