"""Picture everything that people look at: `make gallery GALLERY=FOLDER`.

Plays games, grades a small class and writes each page, then takes a picture of each at three
widths in both themes. `... make_gallery.py FOLDER NAME...` takes only the pictures whose name
begins so. All pages come from commands; with `--kit CHECKOUT` from
those of another checkout with its own `.venv`, for pictures of before and after. Games that
FOLDER has already are not played again. Needs Chromium.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.browser import PHONE, STILL, Browser, NoBrowserError
from tests.hostile import source_of

HERE: Final = Path(__file__).resolve().parent
TESTS: Final = HERE.parent / "tests" / "data"

SIZES: Final = {"1400": (1400, 1000), "800": (800, 1100), "phone": PHONE}
PROJECTOR: Final = (1920, 1080)

WHOLE: Final = "return document.documentElement.scrollHeight"

PAGES: Final = {
    "replay": ("replay.html#1.0", "m"),
    "replay-fault": ("fault.html#1.0", "m"),
    "replay-dynamic": ("dynamic.html#1.24", ""),
    "replay-popout": ("popout.html#1.9", ""),
    "replay-classic": ("classic.html#1.99", ""),
    "replay-small": ("small.html#1.6", ""),
    "replay-12x12": ("large.html#1.60", "1"),
    "tree": ("tree.html", "cc"),
    "tree-expectimax": ("chance.html", "v"),
    "feedback": ("marks/feedback/di.html#1.12", ""),
    "feedback-broken": ("marks/feedback/fay.html", ""),
    "class": ("marks/class.html", ""),
    "standings": ("night/standings.html", ""),
    "projector": ("night/standings.html#projector", ""),
    "ladder": ("site/index.html", ""),
    "notebook": ("notebook.html", ""),
    "tutorial": ("tutorial.html", ""),
}
"""Names of pictures: the page with its place, and the keys that are pressed there."""

GAMES: Final = {
    "replay": ("greedy", "alphabeta:depth=3,heuristic=margin", "mid8x10"),
    "fault": ("ai:raises.py", "alphabeta:depth=2", "case2"),
    "dynamic": ("random", "random", "start", "--game", "dynamic"),
    "popout": ("greedy", "mcts:iterations=200", "--game", "popout"),
    "classic": ("mcts:iterations=300", "random", "--game", "classic"),
    "small": ("greedy", "random", "--rows", "2", "--columns", "4"),
    "large": ("greedy", "greedy", "empty12x12"),
}
"""Recorded games: who plays whom, from which start."""

ANALYSED: Final = ("replay", "classic")

STUDENTS: Final = {
    "ann": (1, 1), "bo": (1, -1), "cy": (2, 1), "gil": (2, -1), "hana": (1, 2),
    "a-team-with-a-very-long-name-2026": (1, -2),
}  # fmt: skip
"""The class: the depth and the order of columns of each student's search."""

RUBRIC: Final = """
[match]
time_limit = 2.0
seed = 518230946017753824
[part_a]
boards = ["case1", "case4"]
[part_b]
boards = ["case1", "case2"]
baselines = [
  {agent = "random", points = 5.0, low = 0.0, high = 40.0},
  {agent = "greedy", points = 10.0, low = -100.0, high = 370.0},
]
[[tournament.stages]]
name = "groups"
group_size = 4
promote = 2
repeats = 1
time_limit = 2.0
boards = ["case4"]
[[tournament.stages]]
name = "final"
group_size = 0
promote = 0
repeats = 1
time_limit = 2.0
boards = ["case1", "case4"]
"""

NOTEBOOK: Final = """
import sys
import connect4
from connect4.games import GAMES
from connect4.views.board import svg as picture
state = connect4.load("case1")
parts = [picture(state), picture(state.apply((2, False)).apply((3, False)).apply((2, False)))]
parts.append(picture(GAMES["dynamic"].start(None, None)))
state = GAMES["classic"].start(None, None)
for column in (3, 2, 3, 2, 3, 2, 3):
    state = state.apply(column)
parts.append(picture(state))
print('<meta charset="utf-8"><style>:root { color-scheme: light dark } body { display: flex;'
      ' flex-wrap: wrap; gap: 12px }</style>', *parts)
"""


class Kit:
    """A checkout whose commands are run in a folder."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.checkout, self.folder = checkout, folder
        python = checkout / ".venv" / "bin" / "python"
        self.python = str(python) if python.exists() else sys.executable
        self.environment = dict(os.environ, PYTHONPATH=str(checkout))

    def run(self, *words: str, out: str = "") -> None:
        """Run a command, its output into the file `out`; one that fails is reported."""
        done = subprocess.run(
            [self.python, *words], cwd=self.folder, env=self.environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            print(f"{' '.join(words):.100} failed:\n{done.stderr}", file=sys.stderr)
        elif out:
            (self.folder / out).write_text(done.stdout, encoding="utf-8")


def hand_in(folder: Path) -> None:
    """Write a class: searches, one file that fails and one that cannot be loaded."""
    searcher = (TESTS / "submissions" / "searcher.py").read_text(encoding="utf-8")
    sources = {
        name: searcher.replace("DEPTH = 1", f"DEPTH = {depth}").replace(
            "ORDER = 1", f"ORDER = {order}"
        )
        for name, (depth, order) in STUDENTS.items()
    }
    sources["di"] = source_of("raises")
    sources["fay"] = "x = 1 / 0\n"
    for name, source in sources.items():
        place = folder / "class" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "ai.py").write_text(f"{source}\n# {name}\n", encoding="utf-8")
        (place / "report.txt").write_text(f"{name}, 1\n", encoding="utf-8")
    (folder / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
    (folder / "raises.py").write_text(sources["di"], encoding="utf-8")


def make_pages(kit: Kit) -> None:
    """Play, grade and write every page into the kit's folder."""
    hand_in(kit.folder)
    for name, words in GAMES.items():
        if not (kit.folder / f"{name}.json").exists():
            game = ("--time", "2", "--seed", "7", "--view", "none", "--record", f"{name}.json")
            kit.run("-m", "connect4.ConnectFour", *words, *game)
            if name in ANALYSED:
                kit.run("-m", "connect4.analysis", f"{name}.json", "--time", "0.1")
        kit.run("-m", "connect4.views.page", f"{name}.json", "-o", f"{name}.html")
    tree = ("-m", "connect4.views.tree", "--agent")
    full = ("--game", "classic-full", "-o", "tree.html")
    kit.run(*tree, "alphabeta:depth=4,heuristic=v1,tt=off", *full)
    kit.run(*tree, "expectimax:depth=2", "-o", "chance.html", "case4")
    for work, out in (("grade", "marks"), ("tournament", "night")):
        options = ("--rubric", "rubric.toml", "--out", out)  # continues where it stopped
        kit.run("-m", "grader", work, "class", *options)
    ladder = ("--rubric", "rubric.toml", "--minutes", "1", "--site", "site")
    kit.run("-m", "grader", "ladder", "class", *ladder)
    kit.run("-c", NOTEBOOK, out="notebook.html")
    tutorial = kit.checkout / "docs" / "tutorial.ipynb"
    if tutorial.exists():
        kit.run("-m", "nbconvert", "--to", "html", str(tutorial), "--output-dir", str(kit.folder))


def picture_pages(folder: Path, pages: Path, wanted: Sequence[str]) -> None:
    """Take every page's pictures: what the window shows, and below it all of a long page."""
    browser = Browser()
    try:
        for name, (address, keys) in PAGES.items():
            if wanted and not name.startswith(tuple(wanted)):
                continue
            if not (pages / address.partition("#")[0]).exists():
                continue
            sizes = {"1920": PROJECTOR} if name == "projector" else SIZES
            for width, size in sizes.items():
                for theme in ("light", "dark"):
                    file, mark, fragment = address.partition("#")
                    browser.open(pages / file, mark + fragment, size, theme == "dark")
                    browser.press(*keys)
                    browser.wait(STILL)
                    if name != "projector":
                        enlarge(browser, size)
                    browser.screenshot(folder / f"{name}-{width}-{theme}.png")
                    print(folder / f"{name}-{width}-{theme}.png", flush=True)
    finally:
        browser.close()


def enlarge(browser: Browser, size: tuple[int, int]) -> None:
    """Make the picture as high as the page, up to three screens of it."""
    height = min(max(size[1], browser.run(WHOLE)), 3 * size[1])
    clip = {"width": size[0], "height": height, "deviceScaleFactor": 1, "mobile": size[0] < 600}
    place = browser.run("return window.scrollY")
    browser.devtools("Emulation.setDeviceMetricsOverride", **clip)
    browser.run("window.scrollTo(0, arguments[0])", place)
    browser.run("document.activeElement.blur()")
    time.sleep(0.3)


def main() -> int:
    """Make the gallery; return the exit status."""
    parser = argparse.ArgumentParser(description="Picture every page.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the pictures go")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only pictures that begin so")
    parser.add_argument("--kit", metavar="CHECKOUT", type=Path, default=HERE.parent)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    pages = folder / "pages"
    pages.mkdir(parents=True, exist_ok=True)
    kit = Kit(arguments.kit.resolve(), pages)
    make_pages(kit)
    try:
        picture_pages(folder, pages, arguments.names)
    except NoBrowserError as reason:
        print(f"no pictures: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
