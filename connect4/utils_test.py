import copy

import numpy as np
import pytest

from connect4 import config
from connect4.config import win_pts
from connect4.utils import (
    Integer,
    get_diagonals_primary,
    get_diagonals_secondary,
    get_pts,
    get_row_score,
    get_valid_actions,
)

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
    assert list(get_diagonals_primary(board)) == [[1], [4, 2], [7, 5, 3], [1, 8, 6], [3, 9], [4]]
    assert list(get_diagonals_secondary(board)) == [[3], [6, 2], [9, 5, 1], [4, 8, 4], [3, 7], [1]]
    assert get_diagonals_primary(NUMBERED) == get_diagonals_primary(board)
    assert get_diagonals_secondary(NUMBERED) == get_diagonals_secondary(board)
    assert get_diagonals_primary([[1, 2, 3, 4]]) == [[1], [2], [3], [4]]
    assert get_diagonals_secondary([[1, 2, 3], [4, 5, 6]]) == [[3], [6, 2], [5, 1], [4]]


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


@pytest.mark.parametrize(
    ("player", "shown"),
    [
        (0, "0"),
        (3, "3"),
        ("1", "'1'"),
        (None, "a value of type NoneType"),
        (np.array(CROSS_BOARD), "a value of type ndarray"),  # the arguments are swapped
    ],
)
def test_no_such_player(player, shown):
    expected = f"^the player number must be 1 or 2, not {shown}$"
    for call in (
        lambda: get_pts(player, np.ones((2, 2), dtype=int)),
        lambda: get_pts(player, [[1, 1]]),
        lambda: get_valid_actions(player, state_of([[0, 0]])),
        lambda: get_row_score(player, [0, 0]),
    ):
        with pytest.raises(ValueError, match=expected):
            call()


@pytest.mark.parametrize(
    ("board", "problem"),
    [
        (np.zeros(4, dtype=int), r"a board has rows and columns \(2-D\), not the shape \(4,\)"),
        ([[], []], r"a board has .* not the shape \(2, 0\)"),
        ([[0, 1], [0]], "the rows of a board must be equally long"),
        ([["0", "1"]], "the cells of a board are integers, not <U1"),
        ([[0.5, 1.0]], "the cells of a board are integers, not float64"),
    ],
)
def test_what_is_no_board(board, problem):
    for call in (
        lambda: get_pts(1, board),
        lambda: get_valid_actions(1, (board, {1: Integer(0), 2: Integer(0)})),
        lambda: get_diagonals_primary(board),
        lambda: get_diagonals_secondary(board),
    ):
        with pytest.raises(ValueError, match=f"^{problem}$"):
            call()


def test_a_state_in_place_of_a_board_is_named():
    with pytest.raises(ValueError, match=r"a board is state\[0\], not the whole tuple"):
        get_pts(1, state_of([[0]]))
    for state in (np.zeros((6, 8), dtype=int), ([[0, 0]], {1: 3, 2: 3}), 7):
        wanted = (
            r"a state is a tuple \(board, popouts\) with an Integer for each player, not such a "
        )
        with pytest.raises(ValueError, match=wanted + type(state).__name__):
            get_valid_actions(1, state)


@pytest.fixture
def debug_mode(monkeypatch):
    monkeypatch.setattr(config, "debug_mode", True)


def test_an_integer_counts_beyond_its_ends_as_older_submissions_do():
    counter = Integer(1)
    counter.increment()
    assert counter.get_int() == counter._i == 2
    for _ in range(3):
        counter.decrement()
    assert counter.get_int() == counter._i == -1
    counters = {1: counter, 2: Integer(0)}
    assert get_valid_actions(1, ([[0, 0], [1, 1]], counters)) == [(0, False), (1, False)]
    counter._i += 2
    assert counter.get_int() == 1
    assert Integer(4, 3).get_int() == Integer(4, maximum=9).get_int() == 4


@pytest.mark.usefixtures("debug_mode")
@pytest.mark.parametrize(("counter", "most"), [(Integer(1), 1), (Integer(1, 3), 3)])
def test_in_debug_mode_an_integer_counts_between_zero_and_its_maximum(counter, most):
    counter.decrement()
    with pytest.raises(ValueError, match=r"^cannot decrement a count of 0$"):
        counter.decrement()
    assert counter.get_int() == 0
    for _ in range(most):
        counter.increment()
    with pytest.raises(
        ValueError, match=rf"^cannot increment a count above its maximum of {most}$"
    ):
        counter.increment()
    assert counter.get_int() == most


@pytest.mark.usefixtures("debug_mode")
@pytest.mark.parametrize(
    ("count", "maximum", "problem"),
    [
        (-1, None, "a count of -1 is below 0"),
        (4, 3, "a count of 4 is above its maximum of 3"),
        (0, -1, "a count of 0 is above its maximum of -1"),
    ],
)
def test_in_debug_mode_an_integer_refuses_a_wrong_start(count, maximum, problem):
    with pytest.raises(ValueError, match=f"^{problem}$"):
        Integer(count, maximum)
    with pytest.raises(TypeError, match="float"):
        Integer(1.5)


def test_an_integer_is_itself_alone_and_reads_by_its_values():
    assert repr(Integer(2, 3)) == "Integer(2, maximum=3)"
    counter = Integer(2)
    assert counter != Integer(2)
    assert {counter: "as a key"}[counter] == "as a key"


def test_a_copied_integer_counts_for_itself():
    original = Integer(1, 2)
    for copied in (copy.copy(original), copy.deepcopy(original)):
        copied.increment()
        assert (original.get_int(), copied.get_int()) == (1, 2)
