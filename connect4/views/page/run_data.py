"""The runs of a game for the replay page: all runs, and each turn's changes as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from connect4.games.runs import Cell, Run, run_changes


class RunTable:
    """Numbers the runs of one game in the order of their first occurrence."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._numbers: dict[Run, int] = {}

    def number(self, run: Run) -> int:
        """Return the number of a run, which is added if it is new."""
        return self._numbers.setdefault(run, len(self._numbers))

    def changes(self, before: Sequence[Run], after: Sequence[Run]) -> list[list[int]]:
        """Return `[points, run, ...]` of each change: n + 1 if run n was made, -n - 1 if broken."""
        return [
            [
                change.points,
                *(self.number(run) + 1 for run in change.made),
                *(-self.number(run) - 1 for run in change.broken),
            ]
            for change in run_changes(before, after)
        ]

    def rows(self) -> list[Any]:
        """Return `[player, first cell, last cell, length, points]` of each run."""
        return [
            [
                run.player,
                self._cell_number(run.cells[0]),
                self._cell_number(run.cells[-1]),
                run.length,
                run.points,
            ]
            for run in self._numbers
        ]

    def _cell_number(self, cell: Cell) -> int:
        row, column = cell
        return row * self._columns + column
