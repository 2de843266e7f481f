"""The solver: published scores, plain search, and another solver as an oracle."""

import sys
from contextlib import closing
from random import Random

import pytest

from connect4.errors import AgentError
from connect4.games import GAMES
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.registry import parse_agent
from connect4.search import WIN, Deadline, Evaluation, OutOfBudgetError, center, win_or_loss
from connect4.search.minimax import TableAlphaBeta
from connect4.search.solver import LibrarySolver, Solver, find_opening, tokens_in
from tests.positions import random_position, scores, wins

CLASSIC = GAMES["classic"]


def after_moves(text):
    """Return the position after moves written as columns counted from 1."""
    state = CLASSIC.start(6, 7)
    for digit in text:
        state = state.apply(int(digit) - 1)
    return state


@pytest.mark.parametrize(("moves", "score"), [("4455", 18), ("44455554221", -15)])
def test_published_scores(moves, score):
    assert Solver(memory=16).score(after_moves(moves)) == score


def test_the_move_keeps_the_score():
    solver = Solver(memory=16)
    rng = Random(1)
    for _ in range(60):
        state, _ = random_position(rng, 24, 40)
        move, score = solver.best(state)
        values = scores(solver, state)
        assert max(values.values()) == values[move] == score == solver.score(state)
        assert bool(wins(state)) == (score == (43 - tokens_in(state)) // 2)


def test_scores_are_what_a_plain_search_to_the_end_finds():
    solver = Solver(memory=16)
    rng = Random(2)
    to_the_end = Evaluation(lambda state: 0, win_or_loss)
    for _ in range(150):
        state, moves = random_position(rng, 30, 41)
        left = 42 - len(moves)
        found = TableAlphaBeta(to_the_end, center).search(state, left)
        assert found.complete
        score = solver.score(state)
        assert (score > 0) - (score < 0) == (found.value > 0) - (found.value < 0)
        if found.value:
            plies = left - (abs(found.value) - WIN)  # from here to the end of the game
            tokens = (len(moves) + plies + 1) // 2  # the winner's
            assert abs(score) == 22 - tokens


def test_it_stops_at_its_budget_and_stays_usable():
    solver = Solver(memory=16)
    solver.deadline = Deadline(nodes=1000)
    with pytest.raises(OutOfBudgetError):
        solver.score(CLASSIC.start(6, 7))
    assert solver.nodes == 1001
    solver.deadline = Deadline()
    assert solver.score(after_moves("44455554221")) == -15


@pytest.mark.parametrize(
    "state",
    [
        CLASSIC.start(6, 8),
        after_moves("1212121"),
        GAMES["dynamic"].start(None, None),
        GAMES["classic-full"].start(6, 7),
    ],
)
def test_other_positions_are_refused(state):
    solver = Solver(memory=1)
    for method in (solver.score, solver.best):
        with pytest.raises(AgentError, match="classic Connect 4 of 6 rows by 7 columns, not over"):
            method(state)


def openings(number, seed):
    """Return undecided positions of 0 to 8 plies whose mover cannot win at once."""
    rng = Random(seed)
    found = []
    while len(found) < number:
        state, moves = random_position(rng, 0, 8)
        if len(moves) <= 8 and not state.is_over() and not wins(state):
            found.append((state, moves))
    return found


def in_book(state):
    """Return what the opening book holds of a position."""
    one, two = state.bitboards()
    return find_opening(one if state.mover == 1 else two, one | two)


def test_the_book_opens_in_the_centre_and_wins():
    assert in_book(CLASSIC.start(6, 7)) == (3, 1)
    replies = {column: in_book(after_moves(str(column + 1)))[1] for column in range(7)}
    assert replies == {0: 1, 1: 1, 2: 0, 3: -1, 4: 0, 5: 1, 6: 1}


def test_the_outcomes_in_the_book_follow_from_those_one_ply_later():
    checked = 0
    for state, moves in openings(400, seed=8):
        if len(moves) == 8:
            continue
        column, outcome = in_book(state)
        later = {}
        for move in state.legal_actions():
            after = state.apply(move)
            later[move] = -1 if wins(after) else -in_book(after)[1]
        assert outcome == max(later.values()) == later[column], moves
        checked += 1
    assert checked > 200


def test_the_book_holds_no_other_positions():
    assert in_book(after_moves("445566123")) is None
    grid = CLASSIC.start(6, 7).grid
    floor = [grid.bit(5, column) for column in range(3)]
    above = grid.bit(4, 0)
    assert find_opening(floor[1] | floor[2], sum(floor) | above) is not None
    upside_down = grid.bit(5, 0), grid.bit(5, 0) | above  # the mover's below, the other's on top
    assert find_opening(*upside_down) is not None
    twice = 0, floor[0] | above  # two of the other side, none of the mover's
    assert find_opening(*twice) is None


@pytest.mark.bitbully
def test_bitbully_agrees_with_the_book():
    oracle = LibrarySolver()
    for state, moves in openings(300, seed=10):
        values = scores(oracle, state)
        (column, outcome), best = in_book(state), max(values.values())
        assert (outcome, values[column]) == ((best > 0) - (best < 0), best), moves


HARD = "4444436233"  # ten plies, nothing forced


def reply_of(name, state, level="none"):
    """Return the reply of an agent's seat."""
    setup = Setup(parse_agent(name, "classic"), state.mover, CLASSIC, 20.0, 1)
    with closing(open_seat(setup, level)) as seat:
        return seat.ask(state, 20.0)


@pytest.mark.parametrize("level", ["none", "process"])
def test_a_move_that_is_not_proven_says_so(level):
    reply = reply_of("solver:engine=own,nodes=500", after_moves(HARD), level)
    assert reply.outcome is Outcome.PLAYED
    assert reply.detail == "not proven: the time was too short to solve this position"


@pytest.mark.slow
@pytest.mark.bitbully
def test_with_the_library_every_position_is_answered():
    oracle, solver = LibrarySolver(), Solver(memory=64)
    rng = Random(13)
    for _ in range(100):
        state, _ = random_position(rng, 20, 41)
        assert oracle.best(state) == solver.best(state)
        assert scores(oracle, state) == scores(solver, state)
        assert oracle.score(state) == solver.score(state)
    for state in (CLASSIC.start(6, 7), after_moves(HARD)):
        reply = reply_of("solver", state)
        assert reply.detail is None
        assert reply.action == oracle.best(state)[0]
    with pytest.raises(AgentError, match="classic Connect 4 of 6 rows by 7 columns, not over"):
        oracle.score(after_moves("1212121"))


@pytest.mark.bitbully
def test_with_the_library_a_side_may_have_missed_a_turn():
    """The library itself takes player 1 for the mover where both have as many tokens."""
    oracle, solver = LibrarySolver(), Solver(memory=16)
    rng = Random(14)
    for _ in range(40):
        missed = random_position(rng, 24, 36)[0].skip()
        moved = {move: missed.apply(move) for move in missed.legal_actions()}
        if tokens_in(missed) % 2:  # the mover has one token more: the library knows none of these
            for state in (missed, *moved.values()):
                if not state.is_over():
                    with pytest.raises(AgentError, match="in which a side has missed a turn"):
                        oracle.score(state)
            assert reply_of("solver", missed).action == solver.best(missed)[0]
        else:
            assert scores(oracle, missed) == scores(solver, missed)
            assert reply_of("solver", missed).action == oracle.best(missed)[0]


def test_without_the_library_the_kit_plays_on_its_own(monkeypatch):
    monkeypatch.setitem(sys.modules, "bitbully", None)
    assert reply_of("solver", CLASSIC.start(6, 7), "none").action == 3
