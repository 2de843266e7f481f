"""Proofs of forced wins in Dynamic Connect-4, compared with a plain search."""

from functools import cache
from random import Random

import pytest

from connect4.games import GAMES, load_start
from connect4.games.base import Ending
from connect4.search.base import Deadline, OutOfBudgetError, after
from connect4.search.forced import ForcedWins, Proof
from tests.positions import random_position, wins

DYNAMIC = GAMES["dynamic"]
SMALL = "O,X,O\nX, ,\nO, ,X\nline=3\n"
"""Three pieces a side in a narrow place: sides pass, repeat positions and are blocked."""


@cache
def plain(state, plies):
    """Return player 1's outcome and the plies to it by brute force; outcome None: not forced."""
    if state.is_over():
        return state.margin(1), 0
    if not plies:
        return None, 0
    sign = 1 if state.mover == 1 else -1
    moves = state.legal_actions() or (None,)
    found = [plain(after(state, move), plies - 1) for move in moves]
    wins = [length for outcome, length in found if outcome == sign]
    if wins:
        return sign, min(wins) + 1
    if all(outcome == -sign for outcome, _ in found):
        return -sign, max(length for _, length in found) + 1
    if all(outcome is not None for outcome, _ in found):
        return 0, state.max_plies
    return None, 0


def positions(number, seed):
    """Yield random undecided positions, on the usual boards and in a narrow place."""
    rng = Random(seed)
    starts = [load_start(DYNAMIC, name) for name in "abc"]
    for count in range(number):
        yield random_position(rng, 0, 12, starts[count % 3])[0]


def narrow(number, seed, plies, repetition):
    """Yield positions of few squares, with that many plies to the draw limit."""
    rng = Random(seed)
    start = DYNAMIC.read(SMALL, "start").with_options(repetition=repetition)
    while number:
        state = start
        for _ in range(rng.randint(0, 14)):
            if not state.is_over():
                state = after(state, rng.choice(state.legal_actions() or (None,)))
        if not state.is_over():
            number -= 1
            yield state.with_options(max_turns=state.turns + plies)


def known(proof):
    """Return a proof as `plain` returns it."""
    return (None, 0) if proof is None else tuple(proof)


@pytest.mark.slow
def test_a_win_is_found_at_the_plies_at_which_a_plain_search_finds_it():
    decided = set()
    for state in positions(30, 1):
        expected = plain(state, 3)
        assert known(ForcedWins(state).prove(state, 3)) == expected, state.to_text()
        decided.add(expected)
    assert {(1, 1), (1, 3), (-1, 2), (None, 0)} <= decided


@pytest.mark.slow
@pytest.mark.parametrize("repetition", [False, True])
def test_to_the_draw_limit_every_value_is_exact(repetition):
    outcomes = set()
    for state in narrow(30, 2, 6, repetition):
        expected = plain(state, 6)
        assert known(ForcedWins(state).prove(state, 6)) == expected, state.to_text()
        outcomes.add(expected)
    assert {outcome for outcome, _ in outcomes} == {1, 0, -1}
    assert max(plies for outcome, plies in outcomes if outcome) >= 4


def test_a_win_that_needs_a_third_repetition_is_none():
    """The same pieces are won in three plies where the way has not been gone twice before."""
    free = load_start(DYNAMIC, "a").with_options(repetition=True)
    engine = ForcedWins(free)
    assert engine.prove(free, 3) == Proof(1, 3)
    ways = [move for move in free.legal_actions() if plain(free.apply(move), 2)[0] == 1]
    for way in ways:
        child = free.apply(way)
        seen = (*child.bitboards(), child.mover)
        text = free.to_text() + f"history={' '.join([':'.join(map(str, seen))] * 2)}\n"
        state = DYNAMIC.read(text, "state")
        assert state.apply(way).ending() is Ending.REPETITION
        proof = ForcedWins(state).prove(state, 3)
        assert (proof is None) == (len(ways) == 1)
    assert ways


def test_the_best_moves_end_the_game_as_proven():
    endings = set()
    for state in [*positions(20, 3), *narrow(20, 4, 6, False)]:
        engine = ForcedWins(state)
        proof = engine.prove(state, 6)
        if proof is None:
            continue
        position = state
        for move in engine.line(state, proof, 99):
            position = after(position, move)
        assert position.is_over()
        assert (position.margin(1), position.turns - state.turns) == proof
        endings.add(proof.outcome)
    assert endings == {1, 0, -1}


def test_the_budget_ends_a_proof():
    state = load_start(DYNAMIC, "start")
    engine = ForcedWins(state)
    engine.deadline = Deadline(nodes=50)
    with pytest.raises(OutOfBudgetError):
        engine.prove(state, 99)


def test_a_safe_move_replaces_one_after_which_the_opponent_wins():
    replaced = kept = 0
    for state in positions(40, 7):
        engine = ForcedWins(state)
        lost = {move for move in state.legal_actions() if wins(state.apply(move))}
        for first in state.legal_actions():
            move = engine.safe_move(state, first, 2)
            if first in lost and len(lost) < len(state.legal_actions()):
                assert move not in lost
                replaced += 1
            else:
                assert move == first
                kept += 1
    assert kept > 100
    assert replaced > 20
