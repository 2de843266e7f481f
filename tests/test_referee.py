"""The referee: events, skips, ends; and what becomes of each answer a student's file can give."""

from dataclasses import replace

import pytest

from connect4.errors import AgentFailure
from connect4.games import load_start
from connect4.games.base import Ending, FaultPolicy
from connect4.games.extended import EXTENDED, parse_action, read
from connect4.players import asked_of, parse_agent
from connect4.players.base import Outcome, PlayerLeft, Reply
from connect4.players.human import HumanSeat
from connect4.referee import Over, Result, Started, TurnBegun, TurnEnded, play
from tests.games import agent_file, played, reread, seated

ILLEGAL = Reply(Outcome.PLAYED, (99, False), "99")
LATE = Reply(Outcome.TIMEOUT, seconds=2.5, overrun=0.5, detail="no answer within 2 s")
FAILED = Reply(Outcome.ERROR, detail="ValueError: no idea")


class Script:
    """A seat that gives the replies it was written with; a text stands for that move."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def ask(self, state, seconds):
        self.asked.append((state.mover, seconds))
        reply = self.replies.pop(0)
        if isinstance(reply, str):
            return Reply(Outcome.PLAYED, parse_action(reply), reply)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def close(self):
        pass


def events_of(text, one, two, *, game=EXTENDED, limits=(2.0, 2.0)):
    return list(play(game, read(text, "start"), {1: one, 2: two}, {1: limits[0], 2: limits[1]}))


def turns_of(events):
    return [event.turn for event in events if isinstance(event, TurnEnded)]


# Events and ends


def test_events_come_in_order_with_the_positions_they_speak_of():
    events = events_of("0\n0 0\n", Script("1"), Script("0"), limits=(3.0, None))
    assert [type(event) for event in events] == [
        Started,
        TurnBegun,
        TurnEnded,
        TurnBegun,
        TurnEnded,
        Over,
    ]
    started, begun, ended, begun2, ended2, over = events
    assert started.game is EXTENDED
    assert started.state.board().tolist() == [[0, 0]]
    assert (begun.number, begun.state.mover, begun.limit) == (1, 1, 3.0)
    assert (ended.turn.number, ended.turn.player, ended.turn.text) == (1, 1, "1")
    assert (ended.turn.outcome, ended.turn.action) == (Outcome.PLAYED, (1, False))
    assert ended.state.board().tolist() == [[0, 1]]
    assert (begun2.number, begun2.state.mover, begun2.limit) == (2, 2, None)
    assert ended2.state.board().tolist() == over.state.board().tolist() == [[2, 1]]
    assert over.result == Result((0, 0), Ending.NO_ACTION, 0)


def test_the_generator_returns_the_result():
    game = play(EXTENDED, read("0\n1 1\n", "start"), {1: Script(), 2: Script()}, {1: 1.0, 2: 1.0})
    while True:
        try:
            next(game)
        except StopIteration as stop:
            assert stop.value == Result((2, 0), Ending.NO_ACTION, 1)
            break


def test_a_game_that_is_over_at_its_start_asks_nobody():
    one, two = Script(), Script()
    started, over = events_of("0 4 1\n1 2\n2 1\n", one, two)
    assert isinstance(started, Started)
    assert over.result.ending is Ending.NO_ACTION
    assert one.asked == two.asked == []


def test_the_end_comes_when_the_mover_has_nothing_though_the_other_has():
    events = events_of("0 4 2\n1 0\n2 1\n", Script(), Script("1"))
    assert events[-1].result.ending is Ending.NO_ACTION
    assert events[-1].state.skip().legal_actions() == [(1, True)]


def test_a_skip_can_end_the_game():
    """Player 2 could pop but errs; player 1 then has nothing to do."""
    events = events_of("0 4 2\n1 2\n2 1\n", Script(), Script(ILLEGAL))
    assert [turn.outcome for turn in turns_of(events)] == [Outcome.INVALID]
    assert events[-1].result.ending is Ending.NO_ACTION


@pytest.mark.parametrize(
    ("text", "scores", "winner"),
    [("0\n1 1 2 2 2 1\n", (2, 5), 2), ("0\n1 1 2 2\n", (2, 2), 0), ("0\n1 1 1 2\n", (5, 0), 1)],
)
def test_the_higher_score_wins(text, scores, winner):
    assert events_of(text, Script(), Script())[-1].result == Result(
        scores, Ending.NO_ACTION, winner
    )


# Skipped turns


@pytest.mark.parametrize(
    ("reply", "outcome", "detail"),
    [
        (ILLEGAL, Outcome.INVALID, "column 99 is outside 0..1"),
        (Reply(Outcome.PLAYED, (1, True), "1P"), Outcome.INVALID, "player 1 pops out of even"),
        (Reply(Outcome.INVALID, detail="no tuple"), Outcome.INVALID, "no tuple"),
        (LATE, Outcome.TIMEOUT, "no answer within 2 s"),
        (FAILED, Outcome.ERROR, "ValueError: no idea"),
    ],
)
def test_a_faulty_turn_is_skipped_and_nothing_is_charged(reply, outcome, detail):
    events = events_of("2\n0 0\n1 2\n", Script(reply, PlayerLeft()), Script("0"))
    turn, answer = turns_of(events)
    assert (turn.player, turn.outcome, turn.action) == (1, outcome, None)
    assert turn.detail.startswith(detail)
    assert (turn.seconds, turn.overrun) == (reply.seconds, reply.overrun)
    state = events[2].state
    assert (state.popouts, state.mover) == ((2, 2), 2)
    assert state.board().tolist() == [[0, 0], [1, 2]]
    assert (answer.number, answer.player) == (2, 2)


def test_an_illegal_action_is_kept_as_it_would_be_typed():
    (turn,) = turns_of(events_of("0\n0 0\n", Script(ILLEGAL), Script(PlayerLeft())))
    assert (turn.text, turn.action) == ("99", None)


def test_six_skipped_turns_in_a_row_stop_the_game_as_it_stands():
    events = events_of(
        "1\n0 0 0 0\n1 1 2 0\n", Script(ILLEGAL, LATE, FAILED), Script(LATE, FAILED, ILLEGAL)
    )
    assert len(turns_of(events)) == 6
    assert events[-1].result == Result((2, 0), Ending.STALLED, 1)
    assert events[-1].state.popouts == (1, 1)


def test_a_played_turn_begins_the_count_of_skips_anew():
    events = events_of(
        "0\n0 0\n0 0\n",
        Script(ILLEGAL, ILLEGAL, ILLEGAL, ILLEGAL, LATE, LATE),
        Script(LATE, LATE, "0", LATE, LATE, LATE),
    )
    outcomes = [turn.outcome for turn in turns_of(events)]
    assert len(outcomes) == 12
    assert outcomes.count(Outcome.PLAYED) == 1
    assert events[-1].result.ending is Ending.STALLED


def test_one_side_alone_may_fail_for_ever():
    events = events_of("0\n0 0\n0 0\n", Script(*[ILLEGAL] * 9), Script("0", "0", "1", "1"))
    assert events[-1].result == Result((0, 12), Ending.NO_ACTION, 2)
    assert len(turns_of(events)) == 8


# Forfeits and people who leave


@pytest.mark.parametrize("reply", [ILLEGAL, LATE, FAILED])
def test_where_a_fault_loses_the_game_it_ends_at_once(reply):
    strict = replace(EXTENDED, on_fault=FaultPolicy.FORFEIT)
    events = events_of("0\n0 0 0 0\n1 1 0 0\n", Script("3"), Script(reply), game=strict)
    assert events[-1].result == Result((2, 0), Ending.FORFEIT, 1)
    assert len(turns_of(events)) == 2


def test_a_person_who_leaves_ends_the_game_without_a_winner():
    events = events_of("0\n0 0\n1 1\n", Script("1"), Script(PlayerLeft()))
    assert events[-1].result == Result((6, 0), Ending.LEFT, 0)
    assert isinstance(events[-2], TurnBegun)


def person(lines, said, player=1):
    lines = iter(lines)

    def read_line(prompt):
        said.append(prompt)
        for line in lines:
            return line
        raise EOFError

    return HumanSeat(EXTENDED, player, read_line, said.append)


def test_a_person_is_asked_again_for_what_is_no_move_but_an_illegal_move_costs_the_turn():
    said = []
    events = events_of(
        "0\n0 0\n", person(["hello", "", "7", "1"], said), Script("0"), limits=(None, 2.0)
    )
    first, _, third = turns_of(events)
    assert (first.outcome, first.text) == (Outcome.INVALID, "7")
    assert first.detail == "column 7 is outside 0..1"
    assert (third.outcome, third.text) == (Outcome.PLAYED, "1")
    assert sum("is no move: type" in line for line in said) == 2
    assert said.count("Player 1, your move: ") == 4


@pytest.mark.parametrize("lines", [["q"], ["QUIT"], ["x", "exit"], []])
def test_a_person_leaves_with_a_word_or_at_the_end_of_input(lines):
    events = events_of("0\n0 0\n", person(lines, []), Script(), limits=(None, None))
    assert events[-1].result.ending is Ending.LEFT
    assert turns_of(events) == []


def test_a_person_on_the_clock_can_be_late():
    events = events_of(
        "0\n0 0\n", person(["0", "1"], []), Script(PlayerLeft()), limits=(1e-9, None)
    )
    (turn,) = turns_of(events)
    assert turn.outcome is Outcome.TIMEOUT
    assert turn.overrun > 0
    assert (turn.action, turn.text) == (None, None)


# Answers of students' files

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
        ("(np.uint8(2), np.bool_(True))", "2P"),
        ("(np.int16(2), np.int8(1))", "2P"),
        ("(np.intp(2), 0)", "2"),
        ("(3.0, 0)", "3"),
        ("(np.float32(3.0), False)", "3"),
        ("(np.longdouble(3), False)", "3"),
        ("(True, False)", "1"),
        ("(False, 1)", "0P"),
        ("Move(3, False)", "3"),
        ("Kept(2, True)", "2P"),
        ("tuple([3, False])", "3"),
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
        ("[[3], False]", "an action is a tuple (column, is_popout), not a value of type list"),
        ("[Masked()]", "an action is a tuple (column, is_popout), not a value of type list"),
        (
            "np.array([3, 0])",
            "an action is a tuple (column, is_popout), not a value of type ndarray",
        ),
        ("None", "an action is a tuple (column, is_popout), not None"),
        ("3", "an action is a tuple (column, is_popout), not 3"),
        ("'3P'", "an action is a tuple (column, is_popout), not '3P'"),
        ("'x' * 10**6", "an action is a tuple (column, is_popout), not 'xxx"),
        ("Masked()", "an action is a tuple (column, is_popout), not a value of type Masked"),
        ("Seven()", "an action is a tuple (column, is_popout), not a value of type Seven"),
        ("type('N' * 10**6, (), {})()", "an action is a tuple (column, is_popout), not a value of"),
        ("()", "an action is a tuple of two, (column, is_popout); got 0 values"),
        ("(3, False, 1)", "an action is a tuple of two, (column, is_popout); got 3 values"),
        ("(None, False)", "a column is a whole number, not None"),
        ("('3', False)", "a column is a whole number, not '3'"),
        ("(np.array(3), False)", "a column is a whole number, not a value of type ndarray"),
        (
            "(np.timedelta64(3), False)",
            "a column is a whole number, not a value of type timedelta64",
        ),
        ("(3.5, False)", "column 3.5 is not a whole number"),
        ("(float('nan'), False)", "column nan is not a whole number"),
        ("(np.float32('inf'), False)", "column inf is not a whole number"),
        ("(10**5000, False)", "column is outside the board"),
        ("(1e300, False)", "column is outside the board"),
        ("(np.uint64(2**64 - 1), False)", "column is outside the board"),
        ("(-1, False)", "column is negative"),
        ("(-10**5000, False)", "column is negative"),
        ("(3, None)", "is_popout is True or False, not None"),
        ("(3, 2)", "is_popout is True or False, not 2"),
        ("(3, -10**5000)", "is_popout is True or False, not a number without end"),
        ("(3, 'P')", "is_popout is True or False, not 'P'"),
        ("(3, 1.0)", "is_popout is True or False, not 1.0"),
        ("(3, np.timedelta64(1))", "is_popout is True or False, not a value of type timedelta64"),
        ("(Seven(), False)", "a column is a whole number, not a value of type Seven"),
        ("(Masked(), False)", "a column is a whole number, not a value of type Masked"),
        ("(Faked(), False)", "a column is a whole number, not a value of type Faked"),
        ("(Mine(3), False)", "a column is a whole number, not a value of type Mine"),
        ("(Half(3), False)", "a column is a whole number, not a value of type Half"),
        ("(Count(3), False)", "a column is a whole number, not a value of type Count"),
        ("(3, Seven())", "is_popout is True or False, not a value of type Seven"),
        ("(3, Mine(1))", "is_popout is True or False, not a value of type Mine"),
        ("MetaTuple((3, False))", "an action is a plain tuple; this one redefines how tuples"),
    ],
)
def test_any_other_answer_costs_the_turn_with_the_reason(tmp_path, answer, detail):
    turn = first_turn(tmp_path, f"return {answer}", HOSTILE.format(method="iter"))
    assert turn.outcome is Outcome.INVALID
    assert turn.text is None
    assert turn.detail.startswith(detail)
    assert len(turn.detail) < 160


@pytest.mark.parametrize("method", ["iter", "len", "getitem", "eq", "hash", "getattribute"])
def test_a_tuple_that_lies_about_itself_is_refused(tmp_path, method):
    turn = first_turn(tmp_path, "return Lie((3, False))", HOSTILE.format(method=method))
    assert turn.outcome is Outcome.INVALID
    assert turn.detail == "an action is a plain tuple; this one redefines how tuples behave"


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


def test_two_agents_that_never_answer_properly_are_stalled(tmp_path):
    one = agent_file(tmp_path, "return [3, False]", name="one.py")
    two = agent_file(tmp_path, "raise ValueError('no idea')", name="two.py")
    record, _ = played(one, two, "case1")
    assert record.result == Result((0, 0), Ending.STALLED, 0)
    assert [turn.outcome for turn in record.turns] == [Outcome.INVALID, Outcome.ERROR] * 3
    assert reread(record).result == record.result


@pytest.mark.parametrize("move", ["return (3, False)", "return None", "raise ValueError"])
def test_a_late_answer_is_late_whatever_it_is(tmp_path, move):
    agent = agent_file(tmp_path, f"import time\ntime.sleep(0.01)\n{move}")
    record, _ = played(agent, "random", "case4", seconds=0.005)
    turn = record.turns[0]
    assert (turn.outcome, turn.text) == (Outcome.TIMEOUT, None)
    assert turn.detail == "no answer within 0.005 s"
    assert turn.overrun == pytest.approx(turn.seconds - 0.005)


@pytest.mark.parametrize(
    ("opponent", "forced", "asked"),
    [
        ("random", None, "expectimax"),
        ("ai", None, "intelligent"),
        ("human", None, "intelligent"),
        ("random", "intelligent", "intelligent"),
        ("ai", "expectimax", "expectimax"),
    ],
)
def test_which_method_is_asked_follows_the_opponent(tmp_path, opponent, forced, asked):
    agent = parse_agent(agent_file(tmp_path, "return (0, False)"))
    assert asked_of(agent, parse_agent(opponent), forced) == asked
    assert asked_of(parse_agent(opponent), agent) in (None, "intelligent")


def test_a_state_file_of_the_kit_begins_with_its_mover():
    state = load_start(EXTENDED, "mid10x10")
    assert state.mover == 2
    events = list(play(EXTENDED, state, {1: Script(PlayerLeft()), 2: Script("0")}, {1: 1, 2: 1}))
    assert turns_of(events)[0].player == 2


def test_an_agent_failure_is_a_connect4_error_with_the_whole_text():
    assert AgentFailure("short").detail == "short"
    assert AgentFailure("short", "whole").detail == "whole"
