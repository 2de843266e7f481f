"""ExtendedConnect4: what its rules allow, when it ends, and its state files."""

import re

import numpy as np
import pytest

from connect4.errors import IllegalAction, InputError
from connect4.games import GAMES, find_start, load_start, own_starts
from connect4.games.base import Ending
from connect4.games.extended import EXTENDED, read, start
from connect4.games.falling import format_action, parse_action


def position(*lines):
    return read("\n".join(lines), "position")


def after(state, *moves):
    for move in moves:
        state = state.apply(parse_action(move))
    return state


# Drops and pop-outs


def test_a_popout_takes_the_bottom_token_whoever_owns_it_and_costs_one():
    state = position("3 2 1", "0 0 0 0", "1 0 0 0", "2 0 0 1")
    popped = after(state, "0P")
    assert popped.board().tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]]
    assert popped.popouts == (2, 2)
    assert after(popped, "3p").popouts == (2, 1)


@pytest.mark.parametrize(
    ("lines", "move", "reason"),
    [
        (("0", "0 1", "0 1"), "1", "column 1 is full"),
        (("0", "0 0"), "2", "column 2 is outside 0..1"),
        (("0", "0 0"), "9999P", "column 9999 is outside 0..1"),
        (("0", "1 1"), "0P", "player 1 has no pop-outs left"),
        (("5 0 2", "1 1"), "1P", "player 2 has no pop-outs left"),
        (("1", "1 1"), "1P", "player 1 pops out of even columns only, not of column 1"),
        (("1 1 2", "1 1"), "0P", "player 2 pops out of odd columns only, not of column 0"),
        (("1", "0 1"), "0P", "column 0 is empty: there is nothing to pop out"),
    ],
)
def test_an_illegal_action_is_refused_with_the_reason(lines, move, reason):
    state = position(*lines)
    with pytest.raises(IllegalAction) as refusal:
        after(state, move)
    assert str(refusal.value) == reason
    assert state.to_text() == position(*lines).to_text()


# The end, skips, scores


def test_the_game_ends_when_the_mover_has_nothing_though_the_other_may_pop():
    full = ("1 2", "2 1")
    over = position("0 4 1", *full)
    assert over.ending() is Ending.NO_ACTION
    assert over.legal_actions() == ()
    assert position("0 4 2", *full).ending() is None
    assert over.skip().legal_actions() == ((1, True),)


def test_four_in_a_row_ends_nothing():
    state = position("0", "0 0 0 0 0 0", "1 1 1 1 0 0")
    assert not state.is_over()
    assert state.scores() == (20, 0)
    assert (state.margin(1), state.margin(2)) == (20, -20)


def test_an_agent_gets_an_int64_board_and_counters_with_the_games_maximum():
    board, counters = after(position("2", "0 0", "1 2"), "0P").for_agent()
    assert board.dtype == np.int64
    assert board.flags.writeable
    assert board.flags.c_contiguous
    assert counters[1].get_int() == 1
    assert repr(counters[1]) == "Integer(1, maximum=2)"


# Moves as text


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("3", (3, False)),
        ("3P", (3, True)),
        ("3p", (3, True)),
        (" 11 ", (11, False)),
        ("0", (0, False)),
    ],
)
def test_a_move_as_a_person_types_it(text, action):
    assert parse_action(text) == action
    assert parse_action(format_action(action)) == action


# State files


@pytest.mark.parametrize(
    "text",
    [
        "2\n0 0\n1 2\n",
        "2\n0 0\n1 2",
        "2\n0 0\n1 2\n\n \n\n",
        " 2 \n0   0 \n 1\t2\t\n",
        "2\r\n0 0\r\n1 2\r\n",
        "2 2 1\n0 0\n1 2\n",
        "+2\n00 0\n01 2\n",
    ],
)
def test_blanks_and_line_ends_do_not_matter(text):
    state = read(text, "f.txt")
    assert state.board().tolist() == [[0, 0], [1, 2]]
    assert (state.popouts, state.mover) == ((2, 2), 1)


def test_a_position_in_the_middle_of_a_game_names_both_popouts_and_the_mover():
    state = read("4 3 2\n0 0\n1 2\n", "f.txt")
    assert (state.popouts, state.mover) == ((4, 3), 2)
    assert state.to_text() == "4 3 2\n0 0\n1 2\n"
    assert read("4 4 2\n0 0\n", "f.txt").to_text() == "4 4 2\n0 0\n"
    assert read("4 4 1\n0 0\n", "f.txt").to_text() == "4\n0 0\n"


@pytest.mark.parametrize("shape", [(0, 8), (6, 0), (6, 7), (-1, 8)])
def test_a_board_of_another_size_is_refused(shape):
    with pytest.raises(InputError, match="at least 1 row and an even number of columns, 2 or more"):
        start(*shape)


# Finding state files


def test_a_start_is_found_by_path_by_name_and_without_its_ending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = find_start(EXTENDED, "case4.txt")
    assert find_start(EXTENDED, "case4") == own
    assert find_start(EXTENDED, str(own)) == own
    here = tmp_path / "case4.txt"
    here.write_text("1\n0 0\n")
    assert load_start(EXTENDED, "case4.txt").shape == (1, 2)
    assert load_start(EXTENDED, str(here)).shape == (1, 2)
    assert load_start(EXTENDED, "case4").shape == (4, 6)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("case44.txt", "did you mean 'case4.txt'?"),
        ("boards/cse1.txt", "did you mean 'case1.txt'?"),
        ("MID8X10", "did you mean 'mid8x10.txt'?"),
        ("??", "the kit's own are case1.txt, case2.txt"),
        ("", "the kit's own are case1.txt"),
        ("z" * 5000, "the kit's own are case1.txt"),
    ],
)
def test_an_unknown_start_suggests_the_nearest(name, hint):
    with pytest.raises(InputError) as refusal:
        load_start(EXTENDED, name)
    message = str(refusal.value)
    assert message.startswith(f"{name}: no such file, here or among the kit's initial states")
    assert hint in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["cas1.txt", "??", "late8x1.txt"])
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_only_starts_that_the_game_can_read_are_suggested(game, name):
    with pytest.raises(InputError) as refusal:
        load_start(game, name)
    suggested = re.findall(r"\w+\.txt", str(refusal.value).partition("initial states")[2])
    assert bool(suggested) == bool(own_starts(game))
    for own in suggested:
        assert load_start(game, own).legal_actions()


def test_a_file_that_is_no_text_or_far_too_large_is_refused(tmp_path):
    picture, heap = tmp_path / "picture.png", tmp_path / "heap.txt"
    picture.write_bytes(b"\x89PNG")
    heap.write_bytes(b"0 " * 600_000)
    with pytest.raises(InputError, match=r"picture\.png: not a text file \(byte 0\)"):
        load_start(EXTENDED, str(picture))
    with pytest.raises(InputError, match=r"heap\.txt: larger than 1000000 bytes"):
        load_start(EXTENDED, str(heap))


def test_a_byte_order_mark_is_no_part_of_the_first_number(tmp_path):
    path = tmp_path / "bom.txt"
    path.write_bytes(b"\xef\xbb\xbf6\r\n0 0\r\n")
    assert load_start(EXTENDED, str(path)).popouts == (6, 6)
