"""The referee: events, skipped turns, ends, people who leave."""

import math
from dataclasses import replace

import pytest

from connect4.errors import InputError
from connect4.games import load_start
from connect4.games.base import Ending, FaultPolicy
from connect4.games.extended import EXTENDED, read
from connect4.games.falling import parse_action
from connect4.players.base import Outcome, PlayerLeftError, Reply
from connect4.players.human import HumanSeat
from connect4.referee import Over, Result, TurnBegun, TurnEnded, play, step
from tests.games import agent_file, played, seated

ILLEGAL = Reply(Outcome.PLAYED, (99, False), "99")
LATE = Reply(Outcome.TIMEOUT, seconds=2.5, overrun=0.5, detail="no answer within 2 s")
FAILED = Reply(Outcome.ERROR, detail="ValueError: no idea")


class Script:
    """A seat that gives the replies it was written with; a text stands for that move."""

    load_failure = None

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
        TurnBegun,
        TurnEnded,
        TurnBegun,
        TurnEnded,
        Over,
    ]
    begun, ended, begun2, ended2, over = events
    assert (begun.number, begun.state.mover, begun.limit) == (1, 1, 3.0)
    assert (ended.turn.number, ended.turn.player, ended.turn.text) == (1, 1, "1")
    assert (ended.turn.outcome, ended.turn.action) == (Outcome.PLAYED, (1, False))
    assert ended.state.board().tolist() == [[0, 1]]
    assert (begun2.number, begun2.state.mover, begun2.limit) == (2, 2, None)
    assert ended2.state.board().tolist() == over.state.board().tolist() == [[2, 1]]
    assert over.result == Result((0, 0), Ending.NO_ACTION, 0)


def test_a_game_that_is_over_at_its_start_asks_nobody():
    one, two = Script(), Script()
    (over,) = events_of("0 4 1\n1 2\n2 1\n", one, two)
    assert over.result.ending is Ending.NO_ACTION
    assert one.asked == two.asked == []


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
    events = events_of("2\n0 0\n1 2\n", Script(reply, PlayerLeftError()), Script("0"))
    turn, answer = turns_of(events)
    assert (turn.player, turn.outcome, turn.action) == (1, outcome, None)
    assert turn.detail.startswith(detail)
    assert (turn.seconds, turn.overrun) == (reply.seconds, reply.overrun)
    state = events[1].state
    assert (state.popouts, state.mover) == ((2, 2), 2)
    assert state.board().tolist() == [[0, 0], [1, 2]]
    assert (answer.number, answer.player) == (2, 2)


def test_six_skipped_turns_in_a_row_stop_the_game_as_it_stands():
    events = events_of(
        "1\n0 0 0 0\n1 1 2 0\n", Script(ILLEGAL, LATE, FAILED), Script(LATE, FAILED, ILLEGAL)
    )
    assert len(turns_of(events)) == 6
    assert events[-1].result == Result((2, 0), Ending.STALLED, 1)
    assert events[-1].state.popouts == (1, 1)


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


@pytest.mark.parametrize(
    ("failures", "winner", "detail"),
    [
        ((None, "no such import"), 1, "no such import"),
        (("a typo", None), 2, "a typo"),
        (("one", "two"), 0, "one\n\ntwo"),
        (("both", "both"), 0, "both"),
    ],
)
def test_an_agent_that_cannot_be_loaded_ends_the_game_before_its_first_turn(
    failures, winner, detail
):
    seats = Script("0"), Script("1")
    for seat, failure in zip(seats, failures, strict=True):
        seat.load_failure = failure
    (over,) = events_of("0\n0 0\n2 1\n", *seats)
    assert over.result == Result((0, 0), Ending.NOT_LOADED, winner, detail)
    assert not seats[0].asked and not seats[1].asked


def test_a_position_without_moves_needs_no_agent_that_can_be_loaded():
    broken = Script()
    broken.load_failure = "a typo"
    over = events_of("0\n1 1\n", broken, Script())[-1]
    assert over.result == Result((2, 0), Ending.NO_ACTION, 1)


def test_who_wants_it_has_an_unloaded_agent_lose_its_turns():
    broken = Script(FAILED)
    broken.load_failure = "a typo"
    seats, limits = {1: broken, 2: Script("0")}, {1: None, 2: None}
    events = list(play(EXTENDED, read("0\n0 2\n", "start"), seats, limits, play_unloaded=True))
    assert [turn.outcome for turn in turns_of(events)] == [Outcome.ERROR, Outcome.PLAYED]


def test_a_person_who_leaves_ends_the_game_without_a_winner():
    events = events_of("0\n0 0\n1 1\n", Script("1"), Script(PlayerLeftError()))
    assert events[-1].result == Result((6, 0), Ending.LEFT, 0)
    assert isinstance(events[-2], TurnBegun)


def person(lines, said, player=1, strict=False):
    lines = iter(lines)

    def read_line(prompt):
        said.append(prompt)
        for line in lines:
            return line
        raise EOFError

    return HumanSeat(EXTENDED, player, read_line, said.append, strict)


@pytest.mark.parametrize("lines", [["q"], ["QUIT"], ["x", "exit"], []])
def test_a_person_leaves_with_a_word_or_at_the_end_of_input(lines):
    events = events_of("0\n0 0\n", person(lines, []), Script(), limits=(None, None))
    assert events[-1].result.ending is Ending.LEFT
    assert turns_of(events) == []


@pytest.mark.parametrize("move", ["return (3, False)", "return None", "raise ValueError"])
def test_a_late_answer_is_late_whatever_it_is(tmp_path, move):
    agent = agent_file(tmp_path, f"import time\ntime.sleep(0.01)\n{move}")
    record, _ = played(agent, "random", "case4", seconds=0.005)
    turn = record.turns[0]
    assert (turn.outcome, turn.text) == (Outcome.TIMEOUT, None)
    over = math.ceil((turn.seconds - 0.005) * 1000) / 1000
    assert turn.detail == (f"no answer within 0.005 s (it came {over:.3f} s over the limit)")
    assert turn.overrun == pytest.approx(turn.seconds - 0.005)


def test_a_step_judges_a_reply_and_leaves_the_position_alone():
    state = load_start(EXTENDED, "case4")
    before = state.to_text()
    legal = state.legal_actions()[0]
    turn, after = step(5, state, Reply(Outcome.PLAYED, legal, "x", 0.5))
    assert (turn.number, turn.player, turn.outcome, turn.action) == (5, 1, Outcome.PLAYED, legal)
    assert after == state.apply(legal)
    turn, after = step(5, state, Reply(Outcome.PLAYED, (99, False), "99"))
    assert (turn.outcome, turn.action, turn.text) == (Outcome.INVALID, None, "99")
    assert turn.detail.startswith("column 99 is outside 0..")
    assert after == state.skip()
    for lost in (Outcome.PASS, Outcome.TIMEOUT, Outcome.ERROR):
        turn, after = step(5, state, Reply(lost))
        assert (turn.outcome, after) == (lost, state.skip())
    assert state.to_text() == before


def test_a_table_without_seats_for_people_refuses_a_person():
    with pytest.raises(InputError, match=r"^player 2 is a person, and only programs play here$"):
        seated("random", "human")
