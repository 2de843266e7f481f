"""Make the pictures of the window in docs/, or in another folder: a part of `make screenshots`.

Opens the window on a screen of its own (Xvfb) and takes each picture with ImageMagick's `import`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import connect4
from connect4.games import find_game, load_start
from connect4.players.registry import parse_agent
from connect4.table import Terms
from connect4.views.window.choices import Choices, save_choices
from connect4.views.window.display import open_window
from connect4.views.window.game_page import GamePage
from connect4.views.window.session import TablePlan
from connect4.views.window.window import Window
from tests.screen import screen

FOLDER = Path(__file__).parent

AGENT = """
from connect4.utils import get_pts, get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.me = player_number
        self.turn = 0

    def get_intelligent_move(self, state):
        self.turn += 1
        if self.turn == 9:
            raise ValueError("no move looks good")
        board, _ = state
        best = None
        for column, is_popout in get_valid_actions(self.me, state):
            after = board.copy()
            if is_popout:
                after[1:, column] = board[:-1, column]
                after[0, column] = 0
            else:
                after[(board[:, column] == 0).sum() - 1, column] = self.me
            margin = get_pts(self.me, after) - get_pts(3 - self.me, after)
            if best is None or margin > best[0]:
                best = margin, (column, is_popout)
        return best[1]

    get_expectimax_move = get_intelligent_move
"""


def wait(window: Window, done: Callable[[], bool]) -> None:
    """Let the window live until `done`."""
    while not done():
        window.root.update()
        time.sleep(0.005)


def pause(window: Window, seconds: float) -> None:
    """Let the window live for a while."""
    end = time.monotonic() + seconds
    wait(window, lambda: time.monotonic() > end)


def take(window: Window, folder: Path, name: str) -> None:
    """Write one picture."""
    pause(window, 0.5)
    path = folder / f"{name}.png"
    command = ["import", "-window", str(window.root.winfo_id()), "-depth", "8", "-strip", str(path)]
    subprocess.run(command, check=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def page_of(window: Window) -> GamePage:
    """Return the game that is shown."""
    assert isinstance(window.page, GamePage)
    return window.page


def play_some(window: Window, agent: str) -> None:
    """Play a person's first moves against `agent` and point at the next."""
    game = find_game("extended")
    planned = TablePlan(
        game,
        load_start(game, "case1"),
        (parse_agent("human"), parse_agent(agent)),
        Terms(20, 7),
        "ExtendedConnect4, case1",
    )
    window.play([planned])
    page = page_of(window)
    moves = [(0, 3), (0, 4), (0, 3), (0, 2), (0, 3), (0, 4), (6, 2), (0, 5), (0, 6)]
    for row, column in moves:
        wait(window, lambda: page.asked)
        point = page.board.cell_at((row, column))
        page.board.event_generate("<Button-1>", x=point[0], y=point[1])
    wait(window, lambda: page.asked)
    x, y = page.board.cell_at((0, 1))
    page.board.event_generate("<Motion>", x=x, y=y)


def main() -> int:
    """Make all pictures; return the exit status."""
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else FOLDER
    for program, package in (("Xvfb", "xvfb"), ("import", "imagemagick")):
        if shutil.which(program) is None:
            print(f"error: {program} is missing (Debian: apt install {package})", file=sys.stderr)
            return 2
    with screen() as (os.environ["DISPLAY"], _), tempfile.TemporaryDirectory() as home:
        os.environ["XDG_CONFIG_HOME"] = home
        os.chdir(home)
        Path("mine.py").write_text(AGENT, encoding="utf-8")
        window = open_window()
        save_choices(Choices(board="file", opponent="alphabeta:depth=5,heuristic=potential"))
        window.show_start_page()
        take(window, folder, "window-start")
        play_some(window, "ai:mine.py")
        take(window, folder, "window-game")
        finished = connect4.play("ai:mine.py", "random", "case2", seconds=5, seed=3)
        window.replay(finished, "game.json")
        page_of(window).go_to(58)
        take(window, folder, "window-replay")
        finished = connect4.play("random", "random", game="dynamic", seconds=5, seed=3)
        window.replay(finished, "dynamic.json")
        page_of(window).go_to(17)
        take(window, folder, "window-dynamic")
        window.close()
        os.chdir(FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
