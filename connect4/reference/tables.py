"""The expected margin of a line: a table by the code of its cells.

A line is a row, a column or a diagonal. Its code is its cells read as ternary digits: 0 for empty,
1 for mine, 2 for the opponent's. Its expected margin is what it brings me on average if each empty
cell becomes mine with a fixed probability, its share, and the opponent's otherwise.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

from connect4.config import win_pts

Array: TypeAlias = np.ndarray[Any, Any]

Shares: TypeAlias = tuple[float, ...]
"""For each cell of a line the probability that it becomes mine if it is empty."""

Table: TypeAlias = "tuple[float, ...] | LongLine"
"""The expected margin of each code of a line."""

LONGEST_TABLE = 12
"""Cells: a table has 3**length entries; longer lines are computed code by code."""

MOST_DIFFERENCES = 2000
"""Differences of one kind kept for lines of one form, so that memory has a bound."""


def even_share(kind: str, height: int) -> float:
    """Return one half: a cell then gains the same whoever takes it, and one list serves both."""
    return 0.5


def share_against_random(kind: str, height: int) -> float:
    """Return what serves best against chance: low cells are likelier to become mine than high ones.

    At three plies that gave 10 points a game more than one half everywhere on 8x10 with 4 pop-outs,
    and about 40 on 12x12 with 10 (`benchmarks.versus_random`).
    """
    return 0.5 if kind == "row" else max(0.6 - 0.02 * height, 0.2)


def _points(run: int) -> int:
    return win_pts[run % 4] + run // 4 * win_pts[4]


@cache
def _margins(length: int) -> Array:
    """Return the margins of all full lines, one axis for each cell, the last cell first.

    Index 1 is a cell of mine, 0 one of the opponent's.
    """
    masks = (f"{mask:0{length}b}" for mask in range(2**length))
    points = np.array([sum(_points(len(run)) for run in mask.split("0")) for mask in masks])
    margins: Array = (points - points[::-1]).astype(float)
    return margins.reshape((2,) * length)


def expected_margins(shares: Shares) -> Array:
    """Return the table for lines whose cells, where empty, become mine with these chances."""
    margins = _margins(len(shares))
    for axis, share in enumerate(reversed(shares)):  # from index 0, 1 to the digit 0, 1, 2
        theirs, mine = np.moveaxis(margins, axis, 0)
        margins = np.stack((share * mine + (1 - share) * theirs, mine, theirs), axis)
    return margins.ravel()


class LongLine(dict[int, float]):
    """The same for a line that is too long for a table: each code when it is asked for."""

    def __init__(self, shares: Shares):
        super().__init__()
        self.shares = shares

    def __missing__(self, code: int) -> float:
        digits = [code // 3**place % 3 for place in range(len(self.shares))]
        mine = [(share, 1.0, 0.0)[d] for share, d in zip(self.shares, digits, strict=True)]
        theirs = [1 - chance for chance in mine]
        self[code] = self._expected_points(mine) - self._expected_points(theirs)
        return self[code]

    @staticmethod
    def _expected_points(chances: list[float]) -> float:
        """Sum the points of every possible run, times the chance that it comes about."""
        chances = [0.0, *chances, 0.0]
        expected = 0.0
        for start in range(1, len(chances) - 1):
            chance = 1 - chances[start - 1]
            for end in range(start, len(chances) - 1):
                chance *= chances[end]
                expected += chance * (1 - chances[end + 1]) * _points(end - start + 1)
        return expected


class Differences(dict[int, float]):
    """How much each entry of a table changes with a step of the code, when it is asked for.

    Few of all codes come up in a search: to look one of them up here takes less time than to
    subtract. The step of a token gives its gain. Differences of gains, with the step of another
    token, tell how much that one changes them.
    """

    __slots__ = "step", "table"

    def __init__(self, table: Table | Differences, step: int):
        super().__init__()
        self.table, self.step = table, step

    def __missing__(self, code: int) -> float:
        if len(self) >= MOST_DIFFERENCES:
            self.clear()
        self[code] = difference = self.table[code + self.step] - self.table[code]
        return difference


def _line_tables() -> dict[Shares, tuple[float, ...]]:
    """Return the tables of all lines that a board of up to 12 rows and columns can have."""
    columns = [tuple(share_against_random("column", h) for h in range(top)) for top in range(1, 13)]
    tables = {}
    for length in range(1, LONGEST_TABLE + 1):
        sloping = (column[-length:] for column in columns[length - 1 :])
        for shares in ((0.5,) * length, *sloping):
            margins = expected_margins(shares).tolist()
            tables[shares] = tuple(margins)  # the garbage collector does not walk it
    return tables


TABLES = _line_tables()
