"""What the pages show of a board, as plain values: its size, its labels, what a move changed."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.games.base import State
from connect4.games.dynamic import DynamicState
from connect4.games.extended import ExtendedState

Board: TypeAlias = npt.NDArray[np.int64]
"""Shape `(rows, columns)`, row 0 on top."""


def shape_data(start: State) -> dict[str, Any]:
    """Return the board's size and labels, as people count in the game."""
    rows, columns = start.board().shape
    slides = isinstance(start, DynamicState)  # counted from 1, and no plate with holes
    popouts = isinstance(start, ExtendedState) and any(start.maximum)
    return {
        "rows": rows,
        "columns": columns,
        "columnLabels": [str(column + slides) for column in range(columns)],
        "rowLabels": [str(row + 1) for row in range(rows)] if slides else None,
        "owners": [column % 2 + 1 for column in range(columns)] if popouts else None,
        "plate": not slides,
    }


def popouts_left(state: State) -> tuple[int, int] | None:
    """Return the pop-outs left of player 1 and 2, None in a game without them."""
    if not isinstance(state, ExtendedState) or not any(state.maximum):
        return None
    return state.popouts


def changed_cells(before: Board, after: Board) -> list[int]:
    """Return `[cell, new value, ...]` in reading order, cells counted row by row from the top."""
    cells = np.flatnonzero(before != after)
    return [int(value) for cell in cells for value in (cell, after.flat[cell])]
