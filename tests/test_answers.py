"""What becomes of each answer that a student's file can give, the hostile ones too."""

import pytest

from connect4.games.extended import read
from connect4.players.base import Outcome
from connect4.referee import TurnEnded
from tests.games import agent_file, played, reread, seated

BOARD = "2\n0 0 0 0 0 0\n0 0 0 0 0 0\n1 2 1 2 0 0\n"

HOSTILE = """
class Lie(tuple):
    def __{method}__(self, *arguments):
        raise SystemExit("out of the game")

class Meta(type):
    def __eq__(self, other): return True
    def __hash__(self): return hash(int)
    def __getattribute__(self, name): raise SystemExit(name)
    def __instancecheck__(self, other): return True

class Seven(metaclass=Meta):
    def __index__(self): raise SystemExit("index")
    def __float__(self): raise SystemExit("float")

class Masked:
    @property
    def __class__(self): raise SystemExit("class")
    def __repr__(self): raise SystemExit("repr")

class Faked:
    __class__ = np.int64
    def __index__(self): raise SystemExit("index")

class Mine(np.int64):
    def __index__(self): raise SystemExit("index")
    def __int__(self): raise SystemExit("int")
    def __eq__(self, other): raise SystemExit("eq")

class Half(np.float64):
    def __float__(self): raise SystemExit("float")

class Count(int):
    def __le__(self, other): raise SystemExit("le")
    def __ge__(self, other): raise SystemExit("ge")

class MetaTuple(tuple, metaclass=Meta):
    pass
"""


def first_turn(tmp_path, move, before=""):
    """Return the first turn of a game that such an agent begins, read back from its record."""
    agent = agent_file(tmp_path, move, before=before)
    record, _ = played(agent, "random", read(BOARD, "start"))
    return reread(record).turns[0]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("(3, False)", "3"),
        ("(2, True)", "2P"),
        ("(np.int64(3), np.bool_(False))", "3"),
        ("(np.int16(2), np.int8(1))", "2P"),
        ("(3.0, 0)", "3"),
        ("(np.longdouble(3), False)", "3"),
        ("(True, False)", "1"),
        ("(False, 1)", "0P"),
        ("Move(3, False)", "3"),
        ("Kept(2, True)", "2P"),
        ("max([(np.int64(5), False)], key=lambda move: move[0])", "5"),
    ],
)
def test_an_honest_answer_is_a_move_whatever_numbers_it_is_made_of(tmp_path, answer, text):
    before = """
    from typing import NamedTuple
    from collections import namedtuple
    class Move(NamedTuple):
        column: int
        is_popout: bool
        def __repr__(self): return "a move"
    Kept = namedtuple("Kept", "column popout")
    """
    turn = first_turn(tmp_path, f"return {answer}", before)
    assert (turn.outcome, turn.text, turn.detail) == (Outcome.PLAYED, text, None)


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        ("[3, False]", "an action is a tuple (column, is_popout), not [3, False]"),
        ("np.int64(3)", "an action is a tuple (column, is_popout), not np.int64(3)"),
        ("[Masked()]", "an action is a tuple (column, is_popout), not a value of type list"),
        (
            "np.array([3, 0])",
            "an action is a tuple (column, is_popout), not a value of type ndarray",
        ),
        ("None", "an action is a tuple (column, is_popout), not None (a method without `return`"),
        ("'3P'", "an action is a tuple (column, is_popout), not '3P'"),
        ("'x' * 10**6", "an action is a tuple (column, is_popout), not 'xxx"),
        ("Masked()", "an action is a tuple (column, is_popout), not a value of type Masked"),
        ("Seven()", "an action is a tuple (column, is_popout), not a value of type Seven"),
        ("type('N' * 10**6, (), {})()", "an action is a tuple (column, is_popout), not a value of"),
        ("(3, False, 1)", "an action is a tuple of two, (column, is_popout); got 3 values"),
        ("(None, False)", "a column is a whole number, not None"),
        ("('3', False)", "a column is a whole number, not '3'"),
        (
            "(np.timedelta64(3), False)",
            "a column is a whole number, not a value of type timedelta64",
        ),
        ("(3.5, False)", "column 3.5 is not a whole number"),
        ("(float('nan'), False)", "column nan is not a whole number"),
        ("(np.float32('inf'), False)", "column inf is not a whole number"),
        ("(10**5000, False)", "column is outside the board"),
        ("(np.uint64(2**64 - 1), False)", "column is outside the board"),
        ("(-1, False)", "column is negative"),
        ("(-3.5, (3, False))", "the second value is a tuple; if that is the action, return it"),
        ("(3, None)", "is_popout is True or False, not None"),
        ("(3, -10**5000)", "is_popout is True or False, not a value of type int"),
        ("(3, 'P')", "is_popout is True or False, not 'P'"),
        ("(3, np.timedelta64(1))", "is_popout is True or False, not a value of type timedelta64"),
        ("(Seven(), False)", "a column is a whole number, not a value of type Seven"),
        ("(Masked(), False)", "a column is a whole number, not a value of type Masked"),
        ("(Faked(), False)", "a column is a whole number, not a value of type Faked"),
        ("(Mine(3), False)", "a column is a whole number, not a value of type Mine"),
        ("(Half(3), False)", "a column is a whole number, not a value of type Half"),
        ("(Count(3), False)", "a column is a whole number, not a value of type Count"),
        ("(3, Seven())", "is_popout is True or False, not a value of type Seven"),
        ("(3, Mine(1))", "is_popout is True or False, not a value of type Mine"),
    ],
)
def test_any_other_answer_costs_the_turn_with_the_reason(tmp_path, answer, detail):
    turn = first_turn(tmp_path, f"return {answer}", HOSTILE.format(method="iter"))
    assert turn.outcome is Outcome.INVALID
    assert turn.text is None
    assert turn.detail.startswith(detail)
    assert len(turn.detail) < 160


@pytest.mark.parametrize("method", ["iter", "len", "getitem", "eq", "hash", "getattribute"])
def test_a_tuple_that_lies_about_itself_is_read_as_it_is(tmp_path, method):
    for kind in ("Lie", "MetaTuple"):
        turn = first_turn(tmp_path, f"return {kind}((3, False))", HOSTILE.format(method=method))
        assert (turn.outcome, turn.text, turn.detail) == (Outcome.PLAYED, "3", None)


@pytest.mark.parametrize(
    ("answer", "text", "detail"),
    [
        ("(17, False)", "17", "column 17 is outside 0..5"),
        ("(1, True)", "1P", "player 1 pops out of even columns only, not of column 1"),
        ("(4, 1)", "4P", "column 4 is empty: there is nothing to pop out"),
    ],
)
def test_an_illegal_move_is_recorded_as_it_would_be_typed(tmp_path, answer, text, detail):
    turn = first_turn(tmp_path, f"return {answer}")
    assert (turn.outcome, turn.text, turn.detail) == (Outcome.INVALID, text, detail)


def test_what_an_agent_does_to_its_copies_changes_nothing(tmp_path):
    move = """
    board[:] = self.player_number
    popouts[1].decrement()
    popouts[2] = None
    return (3, False)
    """
    agent = agent_file(tmp_path, move)
    with seated(agent, "random", read(BOARD, "start")) as table:
        ended = next(event for event in table.events() if isinstance(event, TurnEnded))
    assert ended.state.to_text() == "2 2 2\n0 0 0 0 0 0\n0 0 0 1 0 0\n1 2 1 2 0 0\n"
