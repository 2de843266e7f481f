"""Search like the published 64-bit agent without pruning, on a plain two-dimensional array.

`benchmarks.search_speed` uses it as the baseline: the same tree, the same estimate `v1`, columns in
the same order. A board has shape `(6, 7)`, with row 0 on top; its cells are 0, 1 or 2.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Board: TypeAlias = npt.NDArray[np.int64]

ROWS, COLUMNS = 6, 7
ORDER = (3, 2, 4, 1, 5, 0, 6)
DIRECTIONS = ((-1, 0), (0, 1), (-1, 1), (-1, -1))
"""Rows and columns to go up, right, up-right, up-left."""


def free_row(board: Board, column: int) -> int | None:
    """Return the row that a token dropped into the column falls to."""
    for row in reversed(range(ROWS)):
        if board[row, column] == 0:
            return row
    return None


def dropped(board: Board, column: int, row: int, player: int) -> Board:
    """Return the board with one more token."""
    after = board.copy()
    after[row, column] = player
    return after


def window(board: Board, row: int, column: int, down: int, right: int) -> list[int]:
    """Return the four cells from there in that direction; none where the board is too small."""
    end_row, end_column = row + 3 * down, column + 3 * right
    if not (0 <= end_row < ROWS and 0 <= end_column < COLUMNS):
        return []
    return [board[row + step * down, column + step * right] for step in range(4)]


def v1(board: Board) -> int:
    """Return player 1's value; see `connect4.search.heuristics.v1`."""
    total = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            player = board[row, column]
            if player == 0:
                continue
            value = 0
            for down, right in DIRECTIONS:
                cells = window(board, row, column, down, right)
                own, enemy = cells.count(player), cells.count(3 - player)
                if enemy == 0 and own >= 2:
                    value += own
                elif own == 3 and enemy == 1:
                    value -= 1
            if window(board, row, column, 0, -1) == [player, player, player, 0]:
                value += 3
            total += value if player == 1 else -value
    return total


def fours(board: Board) -> int:
    """Return how many windows of four player 1 has filled, less player 2's."""
    total = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            for down, right in DIRECTIONS:
                cells = window(board, row, column, down, right)
                if cells:
                    total += (cells.count(1) == 4) - (cells.count(2) == 4)
    return total


def minimax(board: Board, player: int, depth: int) -> tuple[int, int]:
    """Return player 1's value and the states expanded; on a full board fours alone count."""
    if 0 not in board[0]:
        return 4 * fours(board), 1
    if depth == 0:
        return v1(board), 1
    values, nodes = [], 1
    for column in ORDER:
        row = free_row(board, column)
        if row is not None:
            value, below = minimax(dropped(board, column, row, player), 3 - player, depth - 1)
            values.append(value)
            nodes += below
    return (max(values) if player == 1 else min(values)), nodes
