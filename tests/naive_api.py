"""The student API written the obvious way: the oracle of the tests, the yardstick of benchmarks."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from connect4.config import win_pts
from connect4.utils import Integer


def get_pts(player_number: int, board: npt.NDArray[np.int64]) -> int:
    """Score each row, each column and each diagonal of a 0/1/2 array, floating tokens or not."""
    points = 0
    for row in board:
        points += get_row_score(player_number, row)
    for column in board.T:
        points += get_row_score(player_number, column)
    for diagonal in rising_diagonals(board):
        points += get_row_score(player_number, diagonal)
    for diagonal in rising_diagonals(board[:, ::-1]):
        points += get_row_score(player_number, diagonal)
    return points


def get_row_score(player_number: int, row: Iterable[int]) -> int:
    points = 0
    length = 0
    for token in row:
        if token == player_number:
            length += 1
        else:
            points += win_pts[length % 4] + (length // 4) * 20
            length = 0
    return points + win_pts[length % 4] + (length // 4) * 20


def rising_diagonals(board: npt.NDArray[np.int64]) -> Iterator[list[int]]:
    rows, columns = board.shape
    for total in range(rows + columns - 1):
        first, last = max(0, total - rows + 1), min(columns - 1, total)
        yield [board[total - column, column] for column in range(first, last + 1)]


def get_valid_actions(
    player_number: int, state: tuple[npt.NDArray[np.int64], Mapping[int, Integer]]
) -> list[tuple[int, bool]]:
    """List drops where a column has an empty cell, then pop-outs where one of ours has a token."""
    board, popouts_left = state
    columns = board.shape[1]
    actions = []
    for column in range(columns):
        if 0 in board[:, column]:
            actions.append((column, False))
    if popouts_left[player_number].get_int() > 0:
        for column in range(player_number - 1, columns, 2):
            if 1 in board[:, column] or 2 in board[:, column]:
                actions.append((column, True))
    return actions
