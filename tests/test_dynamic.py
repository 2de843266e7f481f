"""Dynamic Connect-4: slides, wins, passes, draws, state files, move text."""

from functools import reduce

import pytest

from connect4.errors import IllegalAction, InputError
from connect4.games import load_start
from connect4.games.base import Ending
from connect4.games.dynamic import DYNAMIC
from connect4.players.base import Outcome
from connect4.record import replay
from tests.games import played, reread


def read(*lines):
    return DYNAMIC.read("\n".join(lines), "board.txt")


def moved(state, moves):
    return reduce(lambda state, move: state.apply(move), moves.split(), state)


def start():
    return DYNAMIC.start(None, None)


def test_x_is_the_column_from_the_left_y_the_row_from_the_top():
    state = start().skip()
    after = state.apply("71W")
    assert after.board()[0].tolist() == [0, 0, 0, 0, 0, 2, 0]
    assert state.board()[0].tolist() == [0, 0, 0, 0, 0, 0, 2]
    centre = read(" , , ", " ,O, ", " , ,X")
    for move, row, column in (("22N", 0, 1), ("22S", 2, 1), ("22E", 1, 2), ("22W", 1, 0)):
        assert centre.apply(move).board()[row, column] == 1


def test_white_is_player_1_and_moves_first():
    state = start()
    assert state.mover == 1
    assert state.legal_actions() == ("13E", "15E", "17E", "72W", "74W", "76S", "76W")


def test_a_line_of_three_wins_where_three_count():
    rows = ["O,O, ", " , ,O", "X, ,X"]
    assert read(*rows).apply("32N").ending() is None
    assert read(*rows, "line=3").apply("32N").ending() is Ending.LINE
    won = read(*rows).with_options(line=3).apply("32N")
    assert won.scores() == (1, 0)
    assert read(*rows).with_options(line=3).grid.line == 3


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("71W", "71W: the piece there is black's"),
        ("41W", "41W: there is no piece in column 4, row 1"),
        ("13W", "13W: that leaves the board"),
        ("13N", "13N: the square there is taken"),
        ("81W", "81W: the board has columns 1 to 7 and rows 1 to 7"),
        ("10E", "10E: the board has columns 1 to 7 and rows 1 to 7"),
        ("13e", "'13e' is not a move: type 71W to move the piece in column 7, row 1"),
        (None, "None is not a move"),
    ],
)
def test_an_illegal_move_is_refused_with_the_reason(move, reason):
    with pytest.raises(IllegalAction) as refusal:
        start().apply(move)
    assert str(refusal.value).startswith(reason)


def test_black_is_told_that_a_piece_is_whites():
    with pytest.raises(IllegalAction, match="13E: the piece there is white's"):
        start().skip().apply("13E")


def test_a_move_as_a_person_types_it():
    assert DYNAMIC.parse_action(" 71w\n") == DYNAMIC.parse_action("71W") == "71W"
    for text in ("", "7", "71", "71X", "W71", "711W", "71 W", "x", "71\u017f", "\u0667\u0661W"):
        with pytest.raises(IllegalAction) as refusal:
            DYNAMIC.parse_action(text)
        assert str(refusal.value).startswith(
            f"{text!r} is not a move: type 71W to move the piece in"
        )


def test_who_cannot_move_passes_and_loses_nothing():
    shut_in = read("X,O,", "O,O,", " , ,", "mover=2")
    assert shut_in.legal_actions() == ()
    assert not shut_in.is_over()
    passed = shut_in.skip()
    assert (passed.mover, passed.turns) == (1, 1)
    record, _ = played("random", "random", shut_in.with_options(max_turns=9), game="dynamic")
    assert record.turns[0].outcome is Outcome.PASS
    assert record.turns[0].text is None
    assert record.result.ending is Ending.DRAW_LIMIT
    assert len(list(replay(reread(record)))) == 10


def test_where_nobody_can_ever_move_the_limit_ends_the_game():
    record, _ = played("random", "random", read("O,X", "X,O"), game="dynamic")
    assert [turn.outcome for turn in record.turns] == [Outcome.PASS] * 100
    assert record.result.ending is Ending.DRAW_LIMIT


def test_the_limit_of_turns_is_a_draw_and_counts_plies():
    state = start().with_options(max_turns=3)
    state = moved(state, "13E 71W")
    assert not state.is_over()
    state = state.apply("23W")
    assert state.ending() is Ending.DRAW_LIMIT
    assert state.scores() == (0, 0)
    assert state.legal_actions() == ()
    usual = read("O,X", " , ", "turns=99")
    assert usual.apply("11S").ending() is Ending.DRAW_LIMIT


def test_a_win_with_the_last_ply_is_a_win():
    state = read("O,O, ,O", " , ,O, ", "X, , ,X", "turns=99").apply("32N")
    assert state.ending() is Ending.LINE


def test_a_third_repetition_is_a_draw_only_on_request():
    there_and_back = "13E 71W 23W 61E " * 2
    assert not moved(start(), there_and_back).is_over()
    state = start().with_options(repetition=True)
    for move in there_and_back.split():
        assert not state.is_over()
        state = state.apply(move)
    assert state.ending() is Ending.REPETITION
    assert state.scores() == (0, 0)
    assert not state.with_options(repetition=False).is_over()
    assert moved(state.with_options(repetition=False), "13E").board()[2, 1] == 1


def test_what_has_come_up_before_travels_with_the_position():
    halfway = moved(start().with_options(repetition=True), "13E 71W 23W 61E")
    for copy in (DYNAMIC.read(halfway.to_text(), "copy"), DYNAMIC.from_json(halfway.to_json())):
        assert copy.key() == halfway.key()
        assert moved(copy, "13E 71W 23W 61E").ending() is Ending.REPETITION
    assert halfway.key() != start().with_options(repetition=True).key()


START_ROWS = [
    " , , , , , ,X", "X, , , , , ,O", "O, , , , , ,X", "X, , , , , ,O",
    "O, , , , , ,X", "X, , , , , ,O", "O, , , , , ,",
]  # fmt: skip


def test_the_kit_has_the_start_and_the_three_positions():
    assert load_start(DYNAMIC, "start").key() == start().key()
    assert start().to_text().splitlines() == START_ROWS
    for name in "abc":
        board = load_start(DYNAMIC, name).board()
        assert board.shape == (7, 7)
        assert (board == 1).sum() == (board == 2).sum() == 6


def test_a_state_file_may_be_careless_about_blanks_and_ends():
    careless = "\n" + "\r\n".join(row.replace(" ", "") for row in START_ROWS)
    assert DYNAMIC.read(careless, "board.txt").key() == start().key()
    spaced = "\n\n" + "\n".join(f"  {row}   " for row in START_ROWS) + "\n\n"
    assert DYNAMIC.read(spaced, "board.txt").key() == start().key()


def test_the_record_holds_the_rows_as_the_file_does_and_only_unusual_options():
    assert start().to_json() == {"board": START_ROWS}
    state = start().with_options(line=3, max_turns=40, repetition=True).apply("13E")
    assert state.to_json() == {
        "board": [*START_ROWS[:2], " ,O, , , , ,X", *START_ROWS[3:]],
        "mover": 2,
        "turns": 1,
        "line": 3,
        "max_turns": 40,
        "repetition": True,
        "history": [[*start().bitboards(), 1]],
    }


def test_the_printed_board_has_numbers_from_one():
    assert start().display() == (
        "  1 2 3 4 5 6 7\n"
        "1             X\n"
        "2 X           O\n"
        "3 O           X\n"
        "4 X           O\n"
        "5 O           X\n"
        "6 X           O\n"
        "7 O"
    )
    assert read("O,X", " , ").display() == "  1 2\n1 O X\n2"


def test_other_boards_and_piece_counts_come_from_the_file():
    state = read("O, , , ", " ,X,X,X")
    assert state.board().tolist() == [[1, 0, 0, 0], [0, 2, 2, 2]]
    assert state.legal_actions() == ("11E", "11S")
    assert DYNAMIC.start(7, 7).key() == start().key()
    with pytest.raises(InputError) as refusal:
        DYNAMIC.start(6, None)
    assert str(refusal.value) == (
        "Dynamic Connect-4 starts on 7 rows by 7 columns; a state file can hold another board"
    )
