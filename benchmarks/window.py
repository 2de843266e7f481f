"""Measure the window's work on a 12x12 board: `python3 -m benchmarks.window [--times N]`.

A random game with ten pop-outs each is shown turn by turn on a screen of 1280 by 900 (Xvfb if there
is no display). The figures are the time to update the window after a turn (board, cards, list,
curve) and the time of one animation frame of the falling or sliding tokens. Each measurement ends
when the screen has drawn everything. The same game is shown several times, and the fastest showing
of each turn and frame counts, which excludes the effect of other programs on the machine.
`processor` is the processor time of the window and, if this command started the Xvfb, of the screen
too: the work itself. Exits with status 1 unless 99 % of the turns and of the frames stay below
16 ms of processor time, and the median of the wall time does too.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from tabulate import tabulate

from connect4.errors import InputError
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.players.base import Outcome
from connect4.referee import Started, Turn, TurnEnded
from connect4.views.window.display import open_window
from connect4.views.window.game_page import GamePage, Heading
from connect4.views.window.window import Window
from tests.screen import screen

LIMIT = 16.0
PICTURES = 6
"""Pictures of each move that are measured, evenly over its way."""


Spent = tuple[float, float]
"""Milliseconds of the wall clock and of the processor."""


def events(seed: int) -> Iterator[Started | TurnEnded]:
    """Play at random; the events of a game that the window shows."""
    choose = random.Random(seed)
    state = ExtendedState(np.zeros((12, 12), dtype=np.int64), (10, 10))
    yield Started(EXTENDED, state)
    number = 0
    while actions := state.legal_actions():
        number += 1
        action, player = choose.choice(actions), state.mover
        state = state.apply(action)
        text = EXTENDED.format_action(action)
        yield TurnEnded(Turn(number, player, Outcome.PLAYED, action, text), state)


class Clock:
    """Measures from one call of `start` to the next of `stop`."""

    def __init__(self, server: int | None) -> None:
        """`server` is the process of the screen, None where it is not ours."""
        self._server = Path(f"/proc/{server}/schedstat") if server else None
        self._began = 0.0, 0.0

    def start(self) -> None:
        self._began = self._now()

    def stop(self) -> Spent:
        wall, processor = self._now()
        return wall - self._began[0], processor - self._began[1]

    def _now(self) -> Spent:
        screen = 0
        if self._server is not None and self._server.exists():
            screen = int(self._server.read_text(encoding="ascii").split()[0])
        return 1e3 * time.perf_counter(), 1e3 * time.process_time() + screen / 1e6


def measure(window: Window, seed: int, clock: Clock) -> tuple[list[Spent], list[Spent]]:
    """Show one game; return what each turn and each picture took."""
    page = GamePage(
        window.root, Heading(EXTENDED, "12x12", ("random", "random")), window.buttons(None), "fast"
    )
    page.pack(fill="both", expand=True)
    window.root.update()
    turns, pictures = [], []
    for event in events(seed):
        clock.start()
        page.see(event)
        drawn(window)
        if isinstance(event, TurnEnded):
            turns.append(clock.stop())
        for part in range(1, PICTURES + 1):
            clock.start()
            page.board.draw_flight(part / PICTURES)
            drawn(window)
            pictures.append(clock.stop())
    page.destroy()
    return turns, pictures


def drawn(window: Window) -> None:
    """Wait until the screen has drawn everything: the last question is answered in order."""
    window.root.update_idletasks()
    window.root.winfo_pointerxy()


def main() -> int:
    """Run the benchmark; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="showings of the game (default 5)")
    times = parser.parse_args().times
    with ExitStack() as stack:
        server = None
        if not os.environ.get("DISPLAY") and shutil.which("Xvfb"):
            os.environ["DISPLAY"], server = stack.enter_context(screen())
        try:
            window = open_window()
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        shown = [measure(window, 1, Clock(server)) for _ in range(times)]
        window.close()
    turns, pictures = (np.array(part).min(axis=0) for part in zip(*shown, strict=True))
    rows = []
    worst = 0.0
    for name, spent in (("a turn taken in", turns), ("a picture of its way", pictures)):
        middle, most = np.percentile(spent, [50, 99], axis=0)
        worst = max(worst, middle[0], most[1])
        rows.append([name, len(spent), middle[0], most[0], middle[1], most[1], LIMIT])
    head = ["milliseconds", "number", "median", "99 %", "processor: median", "99 %", "limit"]
    print(tabulate(rows, head, tablefmt="github", floatfmt=".1f"))
    return 1 if worst >= LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
