"""What `connect4.utils` says of wrong arguments, and how its `Integer` counts."""

import copy

import numpy as np
import pytest

from connect4 import config
from connect4.utils import (
    Integer,
    get_diagonals_primary,
    get_diagonals_secondary,
    get_pts,
    get_row_score,
    get_valid_actions,
)
from connect4.utils_test import CROSS_BOARD, state_of


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
        wanted = r"a state is a tuple \(board, popouts\) with an Integer for each player, not this "
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
