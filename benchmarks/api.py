"""Compare the student API with the plain one: `python3 -m benchmarks.api [--quick]`.

Both sides of a ratio are timed alternately, block by block, on the same seeded boards. The figures
are the medians of the blocks. Exits with status 1 if a required ratio is missed. `get_pts` has one
for boards that are half full. Boards full of one player's tokens do not occur in play; their lines
show the slowest case.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

from connect4 import utils
from connect4.utils import Integer
from tests import naive_api

REQUIRED_PTS = {(6, 8): 11, (8, 10): 16, (12, 12): 20}
"""For boards that are half full; fuller ones are slower."""

REQUIRED_ACTIONS = 12
FILLS = (0.0, 0.25, 0.5, 0.75, 1.0)
BOARDS_PER_CASE = 8

Boards = list[npt.NDArray[np.int64]]
Arguments = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """One line of the table: calls of one function, and the ratio they must reach."""

    function: str
    shape: tuple[int, int]
    fill: str
    required: int | None
    arguments: Arguments


def dropped_board(
    rng: np.random.Generator, shape: tuple[int, int], fill: float
) -> npt.NDArray[np.int64]:
    """Drop tokens of random players into random columns until that part of the board is full."""
    board = np.zeros(shape, dtype=np.int64)
    for _ in range(round(fill * board.size)):
        column = rng.choice(np.flatnonzero(board[0] == 0))
        lowest = np.flatnonzero(board[:, column] == 0)[-1]
        board[lowest, column] = rng.integers(1, 3)
    return board


def cases() -> Iterator[Case]:
    """Yield the cases; players take turns over the boards of each."""
    rng = np.random.default_rng(2)
    for shape, required in REQUIRED_PTS.items():
        by_fill: dict[str, Boards] = {
            f"{fill:.0%}": [dropped_board(rng, shape, fill) for _ in range(BOARDS_PER_CASE)]
            for fill in FILLS
        }
        for fill, boards in by_fill.items():
            turns = [(1 + place % 2, board) for place, board in enumerate(boards)]
            yield Case("get_pts", shape, fill, required if fill == "50%" else None, list(turns))
        one_player = np.ones(shape, dtype=np.int64)
        yield Case("get_pts", shape, "100%, one player's", None, [(1, one_player)])
        for popouts, (fill, boards) in product((0, 10), by_fill.items()):
            left = {1: Integer(popouts), 2: Integer(popouts)}
            states = [(1 + place % 2, (board, left)) for place, board in enumerate(boards)]
            name = f"get_valid_actions, {popouts} pop-outs"
            yield Case(name, shape, fill, REQUIRED_ACTIONS, list(states))


def seconds_per_call(function: Callable[..., Any], arguments: Arguments, rounds: int) -> float:
    start = perf_counter()
    for _ in range(rounds):
        for player_number, position in arguments:
            function(player_number, position)
    return (perf_counter() - start) / (rounds * len(arguments))


def compare(case: Case, blocks: int, calls: int) -> tuple[float, float]:
    """Return the median seconds per call of the plain function and of ours."""
    name = case.function.partition(",")[0]
    slow, fast = getattr(naive_api, name), getattr(utils, name)
    rounds = max(1, calls // len(case.arguments))
    times = [
        (
            seconds_per_call(slow, case.arguments, max(1, rounds // 10)),
            seconds_per_call(fast, case.arguments, rounds),
        )
        for _ in range(blocks)
    ]
    return median(slow for slow, _ in times), median(fast for _, fast in times)


def ratio_table(blocks: int, calls: int) -> tuple[str, bool]:
    rows = []
    for case in cases():
        slow, fast = compare(case, blocks, calls)
        ratio = slow / fast
        ok = "-" if case.required is None else "yes" if ratio >= case.required else "NO"
        board = "{}x{}".format(*case.shape)
        microseconds = (slow * 1e6, fast * 1e6)
        rows.append(
            (case.function, board, case.fill, *microseconds, ratio, case.required or "-", ok)
        )
    headers = ("function", "board", "fill", "plain us", "ours us", "ratio", "required", "ok?")
    formats = ("", "", "", ".1f", ".2f", ".1f", "d", "")
    return tabulate(rows, headers, floatfmt=formats), all(row[-1] != "NO" for row in rows)


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.api", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, coarser figures")
    quick = parser.parse_args().quick
    text, ok = ratio_table(blocks=5 if quick else 21, calls=400 if quick else 4000)
    print(text)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
