"""Draw a position as an array of pixels, with numpy only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from connect4.games.base import State
from connect4.views import palette

CELL = 32
"""Side of a cell in pixels."""


def rgb_array(state: State) -> npt.NDArray[np.uint8]:
    """Return the board in the light colours of the pages, shape `(height, width, 3)`."""
    board = state.board()
    tiles = np.stack([_tile(player) for player in (0, 1, 2)])
    rows, columns = board.shape
    picture = tiles[board].transpose(0, 2, 1, 3, 4)
    return picture.reshape(rows * CELL, columns * CELL, 3)


def _tile(player: int) -> npt.NDArray[np.uint8]:
    """Return a cell that is empty (0) or has a player's token: a dot for 1, a ring for 2."""
    y, x = np.indices((CELL, CELL)) - (CELL - 1) / 2
    away = np.hypot(x, y)
    tile = np.empty((CELL, CELL, 3), dtype=np.uint8)
    tile[:] = _colour("plate")
    tile[away <= 13] = _colour(f"player{player}" if player else "hole")
    if player:
        mark = away <= 4 if player == 1 else (away >= 5) & (away <= 8)
        tile[mark] = _colour(f"player{player}-ink")
    return tile


def _colour(name: str) -> tuple[int, int, int]:
    """Return a colour of the light theme as red, green and blue."""
    text = palette.light(name)
    red, green, blue = (int(text[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue
