"""Find the runs of tokens that score points, and how a move changed them.

A run is a maximal row of one player's tokens along a row, a column or a diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from connect4.games.base import Player

Cell: TypeAlias = tuple[int, int]
"""`(row, column)`, row 0 on top."""

STEPS: Final[tuple[Cell, ...]] = ((0, 1), (1, 0), (1, 1), (-1, 1))
"""From one cell of a line to the next: along a row, a column, a falling and a rising diagonal."""


class Run(NamedTuple):
    """`length` tokens of `player`, from the cell `first` in steps of `step`, worth `points`."""

    player: Player
    first: Cell
    step: Cell
    length: int
    points: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        (row, column), (down, right) = self.first, self.step
        return tuple((row + down * place, column + right * place) for place in range(self.length))

    @property
    def line(self) -> tuple[Cell, int]:
        """Return a value that identifies the line of the board that the run is on."""
        (row, column), (down, right) = self.first, self.step
        return self.step, row * right - column * down


class RunChange(NamedTuple):
    """How a move changed a player's runs on one line; `points` is gained minus lost."""

    player: Player
    points: int
    made: tuple[Run, ...]
    broken: tuple[Run, ...]


@lru_cache(maxsize=32)
def _lines(rows: int, columns: int) -> tuple[tuple[Cell, tuple[Cell, ...]], ...]:
    """Return every line of a board as its step and its cells."""
    board = dict.fromkeys(np.ndindex(rows, columns))
    found = []
    for down, right in STEPS:
        for row, column in board:
            if (row - down, column - right) in board:
                continue  # not the first cell of its line
            line = [(row, column)]
            while (following := (line[-1][0] + down, line[-1][1] + right)) in board:
                line.append(following)
            found.append(((down, right), tuple(line)))
    return tuple(found)


def runs_on(board: npt.NDArray[np.int64], points: Callable[[Player, int], int]) -> tuple[Run, ...]:
    """Return the runs on a board for which `points(player, length)` is not 0."""
    rows = board.tolist()
    found = []
    for step, line in _lines(*board.shape):
        place = 0
        for value, group in groupby(rows[row][column] for row, column in line):
            length = len(list(group))
            if value and (worth := points(value, length)):
                found.append(Run(value, line[place], step, length, worth))
            place += length
    return tuple(found)


def winning_runs(board: npt.NDArray[np.int64], winner: Player, least: int) -> tuple[Run, ...]:
    """Return the winner's runs of at least `least` tokens; the longest one scores the point."""
    runs = runs_on(board, lambda player, length: int(player == winner and length >= least))
    ordered = sorted(runs, key=lambda run: -run.length)
    return tuple(run._replace(points=int(place == 0)) for place, run in enumerate(ordered))


def run_changes(before: Sequence[Run], after: Sequence[Run]) -> tuple[RunChange, ...]:
    """Return the differences between the runs of two positions, largest first.

    The points of all changes add up to the difference of the scores. A pair that grew to three is
    one change. A run that only moved is one change with 0 points.
    """
    old, new = set(before), set(after)
    lines: dict[tuple[Player, tuple[Cell, int]], tuple[list[Run], list[Run]]] = {}
    for place, runs in enumerate((new - old, old - new)):
        for run in runs:
            lines.setdefault((run.player, run.line), ([], []))[place].append(run)
    changes = [
        RunChange(
            player,
            sum(run.points for run in made) - sum(run.points for run in broken),
            tuple(sorted(made)),
            tuple(sorted(broken)),
        )
        for (player, _), (made, broken) in sorted(lines.items())
    ]
    return tuple(sorted(changes, key=lambda change: -abs(change.points)))
