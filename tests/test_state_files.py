"""State files and the `start` of a record: what is wrong with one is said in one line."""

import pytest

import connect4
from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.falling import after_moves

BAD_FILES = {
    "extended": [
        ("", "f.txt:1: the file is empty; expected the pop-outs, then the board"),
        ("x\n0 0\n", "f.txt:1: 'x' is not a number"),
        ("0\n0 0\n0 x\n", "f.txt:3: 'x' is not a number"),
        ("0\n0 1_0\n", "f.txt:2: '1_0' is not a number"),
        ("0\n0 " + "9" * 70 + "\n", f"f.txt:2: '{'9' * 59}... is not a number"),
        ("-1\n0 0\n", "f.txt:1: -1 pop-outs; the number cannot be negative"),
        ("1 -2 1\n0 0\n", "f.txt:1: -2 pop-outs; the number cannot be negative"),
        (
            "1 2\n0 0\n",
            "f.txt:1: '1 2'; expected the pop-outs of each player (`6`), "
            "or of both and who moves (`4 3 2`)",
        ),
        ("1 2 3\n0 0\n", "f.txt:1: player 3 to move; expected 1 or 2"),
        ("0\n0 0\n0 0 0\n", "f.txt:3: 3 values in this row, 2 in the first"),
        ("0\n0 0 0\n0 0 0\n", "f.txt:2: 3 columns; the number of columns has to be even"),
        ("0\n0 0\n0 3\n", "f.txt:3: value 3; expected 0 (empty), 1 or 2 (the players)"),
        ("0\n0 -1\n", "f.txt:2: value -1; expected 0 (empty), 1 or 2 (the players)"),
        ("0\n0 1\n0 0\n0 2\n", "f.txt:2: the token in column 1 floats above an empty cell"),
        ("6\n", "f.txt:2: no board; expected rows of 0, 1 and 2, such as"),
        ("0\n0 0\n\n0 0\n", "f.txt:3: a blank line inside the board"),
        ("0\n0\x000\n", "f.txt:2: '0\\x000' is not a number"),
    ],
    "classic": [
        ([], "f.txt:1: the file is empty; expected rows of 0, 1 and 2"),
        (["6", "0 0"], "f.txt:1: classic Connect 4 counts no pop-outs; delete this line "),
        (["0 1 2", "0 0"], "f.txt:1: classic Connect 4 counts no pop-outs; delete this line "),
        (["0 0 3", "0 0"], "f.txt:1: player 3 to move; expected 1 or 2"),
        (["0", " ".join("0" * 13)], "f.txt: a board of 1 rows by 13 columns: classic"),
        (["0", *["0"] * 13], "f.txt: a board of 13 rows by 1 columns: classic"),
        (["0", "1 1 1 1", "2 2 2 2"], "f.txt: both have 4 in a row; only one can"),
    ],
    "dynamic": [
        ([], "f.txt:1: no board; expected rows of O, X and blanks"),
        (["mover=2"], "f.txt:1: no board; expected rows of O, X and blanks"),
        (["O,o", " , "], "f.txt:1: 'o' in column 2; expected O or X or a blank between commas"),
        (["", "O,X", "OO,"], "f.txt:3: 'OO' in column 1; expected O or X or a blank"),
        (["O,X", "O,X,"], "f.txt:2: 3 values in this row, 2 in the first"),
        (["O,X", "O"], "f.txt:2: 1 values in this row, 2 in the first"),
        (["O,X", "", "X,O"], "f.txt:2: a blank line inside the board"),
        (["O", "X"], "f.txt: a board of 2 rows by 1 columns: Dynamic Connect-4 has 2 to 9 of"),
        (["O,X"], "f.txt: a board of 1 rows by 2 columns: Dynamic Connect-4 has 2 to 9 of"),
        ([",".join("O" * 10)] * 2, "f.txt: a board of 2 rows by 10 columns"),
        (["O,O,O,O", "X,X,X,X"], "f.txt: both sides have 4 in a row; only one can have won"),
        (["O,X", "X,", "mover=3"], "f.txt: mover=3; expected 1 or 2"),
        (["O,X", "X,", "mover=X"], "f.txt: mover='X'; expected a whole number"),
        (["O,X", "X,", "turns=-1"], "f.txt: turns='-1'; expected a whole number"),
        (["O,X", "X,", "repetition=2"], "f.txt: repetition=2; expected 0 or 1"),
        (["O,X", "X,", "line=5"], "f.txt: a line of 5: expected 3 or 4"),
        (["O,X", "X,", "max_turns=0"], "f.txt: max_turns 0: expected 1 to 100000 plies"),
        (["O,X", "X,", "time=3"], "f.txt: no setting 'time'; expected mover, turns, line, max"),
        (["O,X", "X,", "history=1:2"], "f.txt: '1:2' in history; expected number:number:play"),
        (["O,X", "mover=2", "X,"], "f.txt:3: 'X,' after the settings; expected name=value"),
    ],
    "popout": [
        ("0\n0 0\nturn=3\n", "f.txt: no setting 'turn'; expected turns"),
        ("0\n0 0\nturns=-1\n", "f.txt: turns='-1'; expected a whole number"),
        ("0\n0 0\nhistory=1:2\n", "f.txt: '1:2' in history; expected number:number:player"),
        ("0\n" + "0\n" * 13, "f.txt: a board of 13 rows by 1 columns: Pop Out has 1 to 12 of each"),
        ("0\n1 0\n0 0\n", "f.txt:2: the token in column 0 floats above an empty cell"),
    ],
}
"""Texts, or their lines, and how the refusal of each begins."""

BAD_STARTS = {
    "extended": [
        ([], "not a position of ExtendedConnect4"),
        ({}, "KeyError('popouts')"),
        ({"popouts": 1}, "KeyError('board')"),
        ({"popouts": [1], "board": [[0, 0]]}, "not a position of ExtendedConnect4"),
        ({"popouts": 1, "board": 5}, "not a position of ExtendedConnect4"),
        ({"popouts": 1, "board": []}, "no board"),
        ({"popouts": 1, "board": [[0, 0], []]}, "a blank line inside the board"),
        ({"popouts": 1, "board": ["00", "12"]}, "'\"0\"' is not a number"),
        ({"popouts": True, "board": [[0, 0]]}, "'true' is not a number"),
        ({"popouts": 1, "board": [[0, 1.5]]}, "'1.5' is not a number"),
        ({"popouts": 1, "board": [[0, 0]], "mover": None}, "'null' is not a number"),
        ({"popouts": 1, "board": [[0, 0]], "mover": 3}, "player 3 to move"),
        ({"popouts": -1, "board": [[0, 0]]}, "-1 pop-outs"),
        ({"popouts": 1, "board": [[0, 0, 0]]}, "has to be even"),
        ({"popouts": 1, "board": [[1, 0], [0, 0]]}, "floats above an empty cell"),
        ({"popouts": 1, "board": [[0, 0]], "maximum": [0, 4]}, "maximum is a pair of whole"),
    ],
    "classic": [
        ({}, "start: not a position of classic Connect 4 (KeyError('board'))"),
        ({"board": 3}, "start: not a position of classic Connect 4"),
        ({"board": [[0]], "mover": 3}, "start:1: player 3 to move; expected 1 or 2"),
    ],
    "dynamic": [
        ({}, "start: not a position of Dynamic Connect-4 (KeyError('board'))"),
        ({"board": 3}, "start: not a position of Dynamic Connect-4"),
        ({"board": [3]}, "start: not a position of Dynamic Connect-4"),
        ([], "start: not a position of Dynamic Connect-4"),
        ({"board": []}, "start:1: no board; expected rows of O, X and blanks"),
        ({"board": ["O,", "O"]}, "start:2: 1 values in this row, 2 in the first"),
        ({"board": ["O,Z"]}, "start:1: 'Z' in column 2; expected O or X or a blank"),
        ({"board": ["O,", "X,"], "turns": 1.5}, "start: turns='1.5'; expected a whole number"),
        ({"board": ["O,", "X,"], "mover": "X"}, "start: mover='X'; expected a whole number"),
        ({"board": ["O,", "X,"], "mover": 0}, "start: mover=0; expected 1 or 2"),
        ({"board": ["O,", "X,"], "line": 7}, "start: a line of 7: expected 3 or 4"),
        ({"board": ["O,", "X,"], "history": 1}, "start: not a position of Dynamic Connect-4"),
        ({"board": ["O,", "X,"], "history": [[1]]}, "start: '1' in history; expected"),
    ],
}
"""Values, and what the refusal of each contains."""


def rows_of(table):
    return [(game, *row) for game, rows in table.items() for row in rows]


@pytest.mark.parametrize(("game", "text", "message"), rows_of(BAD_FILES))
def test_a_bad_state_file_is_refused_with_its_place_and_cause(game, text, message):
    with pytest.raises(InputError) as refusal:
        GAMES[game].read(text if isinstance(text, str) else "\n".join(text), "f.txt")
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("game", "value", "part"), rows_of(BAD_STARTS))
def test_a_bad_start_of_a_record_is_refused(game, value, part):
    with pytest.raises(InputError) as refusal:
        GAMES[game].from_json(value)
    assert str(refusal.value).startswith("start")
    assert part in str(refusal.value)


SHOWN = {
    "commas": "0,0,0,0,0,0,0\n0, 0, 0, 2, 0, 0, 0\n0, 1, 1, 1, 2, 0, 0\n",
    "decimal points": "0. 0. 0. 0. 0. 0. 0.\n0.0 0 0 2.0 0 0 0\n0.00 1 1 1 2 0 0\n",
    "side by side": ".......\n...o...\n.xxxo..\n\n",
    "letters": ". . . . . . .\n_ _ _ O _ _ _\n. X X X O . .",
    "bars": "| | | | | | | |\n| | | |O| | | |\n| |X|X|X|O| | |\n---------------\n 1 2 3 4 5 6 7\n",
    "a grid": "+---+\n|0|0|0|0|0|0|0|\n+---+\n| | | |2| | | |\n| |1|1|1|2| | |\n+---+\n",
}


@pytest.mark.parametrize("game", ["classic", "classic-full", "popout"])
@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
def test_a_picture_of_a_position_is_read(game, text):
    plain = "0 0 2\n0 0 0 0 0 0 0\n0 0 0 2 0 0 0\n0 1 1 1 2 0 0\n"
    assert GAMES[game].read(text, "f.txt") == GAMES[game].read(plain, "f.txt")


@pytest.mark.parametrize("game", ["classic", "classic-full", "popout"])
@pytest.mark.parametrize("columns", [1, 3, 4, 7, 12])
def test_what_the_kit_prints_of_a_position_is_read(game, columns):
    state = connect4.start(game, columns=columns)
    while not state.is_over():
        shown = GAMES[game].read(str(state), "f.txt")
        assert (shown.bitboards(), shown.mover) == (state.bitboards(), state.mover)
        state = state.apply(state.legal_actions()[0])
    assert GAMES[game].read(str(state), "f.txt").bitboards() == state.bitboards()
    skipped = connect4.start(game).skip()
    assert GAMES[game].read(str(skipped), "f.txt").mover == 2


@pytest.mark.parametrize("game", ["classic", "classic-full", "popout"])
def test_a_line_of_moves_is_read_unless_it_may_be_a_row(game):
    moved = GAMES[game].read("44535\n", "f.txt")
    assert moved == after_moves(connect4.start(game), "44535", "the test")
    assert moved.board()[4:].tolist() == [[0, 0, 0, 2, 1, 0, 0], [0, 0, 2, 1, 1, 0, 0]]
    with pytest.raises(InputError, match=r"one row of a board, or moves.*--moves 1212"):
        GAMES[game].read("1212\n", "f.txt")
    assert GAMES[game].read("1 2 1 2\n", "f.txt").board().tolist() == [[1, 2, 1, 2]]
    with pytest.raises(InputError, match="move 7, 4: column 4 is full"):
        GAMES[game].read("4444444", "f.txt")


def test_moves_are_written_in_many_ways():
    wide = connect4.start("popout", columns=12)
    expected = wide
    for column in (3, 3, 10, 11):
        expected = expected.apply((column, False))
    for text in ("4 4 11 12", "4,4,11,12", "d1 d2 k1 l1", "D, d, K l", "d1d2k1l1"):
        assert after_moves(wide, text, "the test") == expected


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("4 13", "'13' is no column; expected 1 to 7, as in 4445, `4 4 7` or `d1 d2`"),
        ("8", "'8' is no column"),
        ("0", "'0' is no column"),
        ("h1", "'h1' is no column"),
        ("4-4", "'-' is no column"),
        ("\u00b2", "'\u00b2' is no column"),
        ("4 " + "9" * 5000, "is no column"),
        ("d1 d3", "move 2, d3: the token falls to d2"),
    ],
)
def test_moves_that_make_no_sense_are_refused_with_their_form(moves, message):
    with pytest.raises(InputError) as refusal:
        after_moves(connect4.start("classic"), moves, "--moves")
    assert message in str(refusal.value)


def test_an_array_as_numpy_prints_it_is_refused_with_the_form_expected():
    with pytest.raises(InputError, match="not a number; expected rows of 0, 1 and 2, such as `0 0"):
        GAMES["classic"].read("[[0 0 0]\n [0 1 2]]", "f.txt")


@pytest.mark.parametrize("game", ["classic", "popout"])
def test_three_in_a_row_win_if_the_start_says_so(game):
    state = connect4.start(game, line=3)
    assert GAMES[game].read(state.to_text(), "f.txt") == state
    assert GAMES[game].from_json(state.to_json()) == state
    assert state != connect4.start(game)
    won = after_moves(state, "44553", "the test")
    assert won.scores() == (1, 0)
    assert won.winner() == 1
    assert not after_moves(connect4.start(game), "44553", "the test").is_over()
    with pytest.raises(InputError, match="a line of 5: expected 3 or 4"):
        connect4.start(game, line=5)
    record = connect4.play("alphabeta:depth=3", "mcts:iterations=50", start=state, isolation="none")
    assert record.start == state
