"""The board data for pages, as plain values: size, labels, and the cells that a move changed."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.games.base import State

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
