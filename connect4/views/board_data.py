"""What views need of a board, without the rules of a game: its size, and what a move changed.

Data for pages are plain values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.games.base import State
from connect4.games.runs import Cell, Run, run_changes

Board: TypeAlias = npt.NDArray[np.int64]
"""Shape `(rows, columns)`, row 0 on top."""


def shape_data(start: State) -> dict[str, Any]:
    """Return the board's size and labels, as people number them in the game."""
    rows, columns = start.board().shape
    first = start.first_number
    return {
        "rows": rows,
        "columns": columns,
        "columnLabels": [str(column + first) for column in range(columns)],
        "rowLabels": [str(row + first) for row in range(rows)] if start.slides else None,
        "owners": start.column_owners,
        "plate": not start.slides,
    }


def changed_cells(before: Board, after: Board) -> list[int]:
    """Return `[cell, new value, ...]` in reading order, cells counted row by row from the top."""
    cells = np.flatnonzero(before != after)
    return [int(value) for cell in cells for value in (cell, after.flat[cell])]


class Motion(NamedTuple):
    """The effect of a move: a token came to `target`, slid there from `origin`, or was popped out.

    `origin` is None after a drop, and `target` after a pop-out.
    """

    origin: Cell | None
    target: Cell | None


def motion_between(before: Board, after: Board) -> Motion | None:
    """Return the single move that leads from `before` to `after`; None if there is none."""
    changed = [(int(row), int(column)) for row, column in np.argwhere(before != after)]
    added = int(np.count_nonzero(after)) - int(np.count_nonzero(before))
    if added == 1 and len(changed) == 1:
        return Motion(None, changed[0])
    if added == -1 and len({column for _, column in changed}) == 1:
        column = changed[0][1]
        if np.array_equal(after[1:, column], before[:-1, column]):
            return Motion((len(before) - 1, column), None)
    if added == 0 and len(changed) == 2:
        for origin, target in (changed, changed[::-1]):
            if after[origin] == 0 and after[target] == before[origin]:
                return Motion(origin, target)
    return None


class RunTable:
    """Numbers the runs of one game in the order of their first occurrence, from `start` on."""

    def __init__(self, start: State) -> None:
        self._columns: int = start.board().shape[1]
        self._numbers: dict[Run, int] = {}
        for run in start.runs():
            self.number(run)

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
