import numpy as np
import pytest

from connect4 import utils
from connect4.config import win_pts
from connect4.utils import Integer, get_pts, get_row_score, get_valid_actions

course_points = pytest.mark.skipif(
    win_pts != [0, 0, 2, 5, 20],
    reason=f"the examples have the points of the course, connect4/config.py has {win_pts}",
)

ROW = [1, 1, 0, 0, 1, 1, 2, 1, 2, 2, 2, 1, 1, 1]
LONG_ROW = [0, 1, 1, 1, 1, 1, 1, 2, 1, 2, 2, 2, 1, 1, 1]
DIAGONAL_BOARD = [[0, 1, 1, 0, 1], [0, 1, 0, 2, 2], [0, 1, 1, 0, 0]]
CROSS_BOARD = [[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 1, 0, 0]]
NUMBERED = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 3, 4]]
RUN_POINTS = [0, 2, 5, 20, 20, 22, 25, 40, 40, 42, 45, 60]


def state_of(board, first=0, second=0):
    return np.array(board), {1: Integer(first), 2: Integer(second)}


@course_points
@pytest.mark.parametrize(("player", "row", "points"), [(1, ROW, 9), (2, ROW, 5), (1, LONG_ROW, 27)])
def test_rows_of_the_rules_score_as_written(player, row, points):
    assert get_row_score(player, row) == points
    assert get_row_score(player, np.array(row)) == points
    assert get_pts(player, np.array([row])) == points
    assert type(get_row_score(player, np.array(row))) is type(get_pts(player, [row])) is int


@course_points
@pytest.mark.parametrize(("board", "points"), [(DIAGONAL_BOARD, 13), (CROSS_BOARD, 48)])
def test_boards_of_the_rules_score_as_written(board, points):
    assert get_pts(1, np.array(board)) == points
    assert get_pts(1, board) == points


@course_points
@pytest.mark.parametrize(("length", "points"), list(enumerate(RUN_POINTS, start=1)))
def test_a_run_scores_by_its_length_in_each_of_the_four_directions(length, points):
    line = np.zeros((length, length), dtype=np.int64)
    line[length // 2] = 2
    rising = 2 * np.eye(length, dtype=np.int64)
    for board in (line, line.T, rising, rising[::-1]):
        assert get_pts(2, board) == points
        assert get_pts(1, board) == 0
    assert get_row_score(2, [2] * length) == points


@course_points
def test_a_run_does_not_go_on_from_one_row_to_the_next():
    assert get_pts(1, np.array([[0, 0, 0, 1, 1], [1, 1, 0, 0, 0]])) == 4


def test_diagonals_come_in_the_order_of_the_rules():
    board = np.array(NUMBERED)
    assert list(utils.get_diagonals_primary(board)) == [
        [1],
        [4, 2],
        [7, 5, 3],
        [1, 8, 6],
        [3, 9],
        [4],
    ]
    assert list(utils.get_diagonals_secondary(board)) == [
        [3],
        [6, 2],
        [9, 5, 1],
        [4, 8, 4],
        [3, 7],
        [1],
    ]
    assert utils.get_diagonals_primary(NUMBERED) == utils.get_diagonals_primary(board)
    assert utils.get_diagonals_secondary(NUMBERED) == utils.get_diagonals_secondary(board)
    assert utils.get_diagonals_primary([[1, 2, 3, 4]]) == [[1], [2], [3], [4]]
    assert utils.get_diagonals_secondary([[1, 2, 3], [4, 5, 6]]) == [[3], [6, 2], [5, 1], [4]]


def test_actions_are_drops_then_popouts_by_column():
    board = [[0, 0, 0, 2, 0, 0], [0, 1, 0, 1, 0, 0], [1, 2, 0, 2, 1, 0]]
    drops = [(0, False), (1, False), (2, False), (4, False), (5, False)]
    assert get_valid_actions(1, state_of(board, 1, 1)) == [*drops, (0, True), (4, True)]
    assert get_valid_actions(2, state_of(board, 1, 1)) == [*drops, (1, True), (3, True)]
    assert get_valid_actions(1, state_of(board, 0, 1)) == drops
    rows_state = (board, {1: Integer(1), 2: Integer(0)})
    actions = get_valid_actions(1, rows_state)
    assert actions == [*drops, (0, True), (4, True)]
    assert all(type(column) is int and type(popout) is bool for column, popout in actions)


def test_a_full_board_leaves_popouts_to_those_who_have_them():
    full = np.ones((2, 4), dtype=np.int64)
    assert get_valid_actions(1, state_of(full, 0, 4)) == []
    assert get_valid_actions(2, state_of(full, 0, 4)) == [(1, True), (3, True)]
    assert get_valid_actions(1, state_of([[1, 0]], 1, 1)) == [(1, False), (0, True)]
