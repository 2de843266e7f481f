"""Classic Connect 4: rules, both endings, the 64-bit state, state files."""

import random
from functools import reduce

import pytest

from connect4.errors import IllegalAction, InputError
from connect4.games.base import Ending
from connect4.games.classic import CLASSIC, CLASSIC_FULL, from_bits, to_bits

EMPTY_BITS = 10378549747928563776


def after(game, columns, rows=None, width=None):
    return reduce(lambda state, column: state.apply(column), columns, game.start(rows, width))


def read(game, *lines):
    return game.read("\n".join(lines), "board.txt")


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (7, "column 7 is outside 0..6"),
        (-1, "column -1 is outside 0..6"),
        (3, "column 3 is full"),
        ("3", "a column is an int from 0 to 6, not '3'"),
        (2.0, "a column is an int from 0 to 6, not 2.0"),
        (None, "a column is an int from 0 to 6, not None"),
    ],
)
def test_an_illegal_drop_is_refused_with_the_reason(column, reason):
    state = after(CLASSIC, [3, 3, 3, 3, 3, 3])
    with pytest.raises(IllegalAction) as refusal:
        state.apply(column)
    assert str(refusal.value) == reason
    assert state.legal_actions() == (0, 1, 2, 4, 5, 6)


@pytest.mark.parametrize(("text", "column"), [("3", 3), (" 0\n", 0), ("11", 11), ("007", 7)])
def test_a_move_as_a_person_types_it(text, column):
    assert CLASSIC.parse_action(text) == column


@pytest.mark.parametrize("text", ["", "3P", "-1", "x", "1.0", "²", "12345", "71W"])
def test_text_that_is_no_move_is_refused_with_the_form_of_one(text):
    with pytest.raises(IllegalAction) as refusal:
        CLASSIC.parse_action(text)
    assert str(refusal.value) == f"{text!r} is not a move: type 3 to drop into column 3"


@pytest.mark.parametrize("shape", [(0, 7), (13, 7), (6, 0), (6, 13), (-1, 7), (10**9, 10**9)])
def test_a_board_of_an_impossible_size_is_refused(shape):
    with pytest.raises(InputError) as refusal:
        CLASSIC.start(*shape)
    assert str(refusal.value) == (
        f"a board of {shape[0]} rows by {shape[1]} columns: classic Connect 4 has 1 to 12 of each"
    )


def test_a_state_file_may_say_who_moves_and_may_have_an_odd_number_of_columns():
    state = read(CLASSIC, "0 0 2", "0 0 0", "1 0 0")
    assert state.mover == 2
    assert state.to_text() == "0 0 2\n0 0 0\n1 0 0\n"
    assert state.to_json() == {"board": [[0, 0, 0], [1, 0, 0]], "mover": 2}
    assert read(CLASSIC, "0", "1 1 1 1").ending() is Ending.LINE


def test_a_plain_grid_is_a_position_whose_mover_follows_from_the_tokens():
    state = read(CLASSIC, "0 0 2", "0 0 0", "1 0 0")
    assert read(CLASSIC, "0 0 0", "1 0 0") == state
    assert read(CLASSIC, "000", "100") == state
    assert read(CLASSIC, "000", "120").mover == 1
    for board in (state.board(), state.board().astype(float)):  # a notebook's own
        assert CLASSIC.from_json({"board": board, "mover": 2}) == state


def test_the_64_bit_state_of_the_empty_board_and_of_some_tokens():
    empty = CLASSIC_FULL.start(None, None)
    assert to_bits(empty) == to_bits(empty, ai=2) == EMPTY_BITS
    state = after(CLASSIC_FULL, [0, 0, 6])
    grown = (2 << 60) + (1 << 6)  # two more in column 0, one more in column 6
    assert to_bits(state, ai=1) == EMPTY_BITS + grown + (1 << 59) + (1 << 5)
    assert to_bits(state, ai=2) == EMPTY_BITS + grown + (1 << 58)


def test_the_64_bit_state_comes_back_as_the_same_position():
    rng = random.Random(2)
    for ai in (1, 2):
        state = CLASSIC_FULL.start(None, None)
        while not state.is_over():
            state = state.apply(rng.choice(state.legal_actions()))
            assert from_bits(to_bits(state, ai), "classic-full", ai=ai) == state


def test_a_64_bit_state_is_one_of_classic_unless_the_caller_says_otherwise():
    won = after(CLASSIC, [0, 1, 0, 1, 0, 1, 0])
    assert from_bits(to_bits(won)) == won
    assert from_bits(to_bits(won)).winner() == 1
    going_on = from_bits(to_bits(won), game="classic-full")
    assert going_on.game is CLASSIC_FULL
    assert going_on.legal_actions() == (0, 1, 2, 3, 4, 5, 6)
    with pytest.raises(InputError, match="write 'classic' or 'classic-full'"):
        from_bits(EMPTY_BITS, game="popout")


@pytest.mark.parametrize(
    "bits",
    [
        0,
        EMPTY_BITS | 1 << 64,
        -EMPTY_BITS,
        EMPTY_BITS - (1 << 60),  # column 0 has no next free row
        EMPTY_BITS | 1 << 5,  # a token floats in column 6
        EMPTY_BITS + (1 << 6) + (1 << 4),
    ],
)
def test_a_number_that_is_no_64_bit_state_is_refused(bits):
    with pytest.raises(InputError, match=f"^{bits} is not the 64-bit state of a board of 6 by 7$"):
        from_bits(bits)


def test_the_64_bit_state_is_of_6_by_7_alone():
    with pytest.raises(
        InputError, match="a board of 6 rows by 8 columns; the 64-bit state is 6 by 7"
    ):
        to_bits(CLASSIC.start(6, 8))
