"""The reference agent: exact endgames, incremental sums, every odd board."""

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.training.fit import agent_numbers, packed
from connect4.games import extended
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.games.falling import ExtendedAction
from connect4.players import ai
from connect4.reference import AIPlayer
from connect4.reference.alphabeta import AlphaBeta
from connect4.reference.evaluation import LEARNED
from connect4.reference.expectimax import Expectimax
from connect4.reference.lines import Lines
from tests.positions import by_force

DATA = Path(__file__).parent / "data" / "reference.json"
"""Positions with the move and the value that the agent found when it was one file. A position
without a value is played against the random player."""

SHAPES = [(rows, columns) for rows in range(1, 13) for columns in range(2, 13, 2)]


def empty(rows: int, columns: int, popouts: int = 0) -> ExtendedState:
    return extended.position(np.zeros((rows, columns), dtype=np.int64), (popouts, popouts))


def played(state: ExtendedState, plies: int, rng: random.Random) -> ExtendedState:
    """Return the position after `plies` random actions, or at the end of the game if it is near."""
    for _ in range(plies):
        actions = state.legal_actions()
        if not actions:
            break
        state = state.apply(rng.choice(actions))
    return state


def best_margin(state: ExtendedState, chance: Any = None) -> float:
    """Return the mover's final margin by force; `chance` is a player that plays at random."""
    sign = 1 if state.mover == 1 else -1
    return sign * float(by_force(state, chance))


def pair(state: ExtendedState) -> tuple[int, int]:
    """Return the pop-outs of the mover and of the opponent."""
    one, two = state.popouts
    return (one, two) if state.mover == 1 else (two, one)


def ask(state: ExtendedState, seconds: float = 5, nodes: int | None = None) -> ExtendedAction:
    player = AIPlayer(state.mover, seconds)
    player.node_budget = nodes
    return player.get_intelligent_move(state.for_agent())


@cache
def lines_of(shape: tuple[int, int], player: int) -> Lines:
    return Lines(*shape, player, AlphaBeta.share)


positions = st.builds(
    lambda shape, popouts, plies, seed: played(empty(*shape, popouts), plies, random.Random(seed)),
    st.sampled_from(SHAPES),
    st.integers(0, 4),
    st.integers(0, 160),
    st.integers(0, 2**32),
)

small_endgames = st.builds(
    lambda shape, popouts, plies, seed: played(empty(*shape, popouts), plies, random.Random(seed)),
    st.sampled_from([(1, 2), (1, 6), (2, 2), (2, 4), (3, 2), (4, 2), (5, 2)]),
    st.integers(0, 1),
    st.integers(0, 10),
    st.integers(0, 2**32),
).filter(lambda state: len(state.legal_actions()) > 1)


@settings(max_examples=60, deadline=None)
@given(small_endgames)
def test_the_value_of_a_solved_endgame_is_the_margin_of_perfect_play(state: ExtendedState) -> None:
    value, (action, *_), _, solved = AIPlayer(state.mover, 60).expected_play(state.for_agent())
    assert solved
    assert value == best_margin(state) == -best_margin(state.apply(action))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([(4, 6), (6, 4), (5, 6), (8, 4)]))
def test_endgames_of_larger_boards_are_solved(seed: int, shape: tuple[int, int]) -> None:
    cells = shape[0] * shape[1]
    state = played(empty(*shape), cells - 9, random.Random(seed))
    if len(state.legal_actions()) < 2:
        return
    assert -best_margin(state.apply(ask(state, 60))) == best_margin(state)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(small_endgames)
def test_expectimax_is_exact_where_the_rest_of_the_game_is_short(state: ExtendedState) -> None:
    player = AIPlayer(state.mover, 60)
    action = player.get_expectimax_move(state.for_agent())
    chance = 3 - state.mover
    after = -best_margin(state.apply(action), chance)
    assert after == pytest.approx(best_margin(state, chance))


@settings(max_examples=100, deadline=None)
@given(positions, st.integers(0, 2**32), st.sampled_from([AlphaBeta, Expectimax]))
def test_codes_and_gains_kept_up_to_date_equal_those_read_anew(
    state: ExtendedState, seed: int, method: Any
) -> None:
    rng = random.Random(seed)
    lines = Lines(*state.shape, state.mover, method.share)
    position = lines.read(state.board(), *pair(state))
    for _ in range(16):
        actions = lines.actions(position)
        assert sorted(lines.move(action) for _, action in actions) == sorted(state.legal_actions())
        if not actions:
            break
        gain, action = rng.choice(actions)
        state = state.apply(lines.move(action))
        position = lines.play(position, gain, action)
        codes, drops, total, key, mover, own, other = position
        anew = lines.read(state.board(), own, other)
        assert codes == anew[0]
        assert sorted(cell for _, cell in drops) == sorted(cell for _, cell in anew[1])
        assert sorted(gain for gain, _ in drops) == pytest.approx(sorted(g for g, _ in anew[1]))
        assert (total if mover == 1 else -total) == pytest.approx(anew[2])
        assert key == anew[3] ^ (lines.turn if mover == 2 else 0)
        assert (own, other) == pair(state)


@pytest.mark.parametrize("kind", [AIPlayer, ai.AIPlayer], ids=["reference", "solution"])
@settings(max_examples=60, deadline=None)
@given(state=positions, method=st.sampled_from(["get_intelligent_move", "get_expectimax_move"]))
def test_moves_on_boards_of_every_shape_are_valid(
    kind: Any, state: ExtendedState, method: str
) -> None:
    player = kind(state.mover, 1)
    player.node_budget = 50
    if actions := state.legal_actions():
        assert getattr(player, method)(state.for_agent()) in actions


@pytest.mark.slow
def test_moves_and_values_are_those_of_the_one_file_that_it_was() -> None:
    data = json.loads(DATA.read_text(encoding="utf-8"))
    for text, move, value in data["positions"]:
        state = EXTENDED.read(text, "the position")
        assert isinstance(state, ExtendedState)
        player = AIPlayer(state.mover, 1)
        player.node_budget = data["nodes"]
        if value is None:
            assert player.get_expectimax_move(state.for_agent()) == tuple(move), text
        else:
            found, line, _, _ = player.expected_play(state.for_agent())
            assert (line[0], found) == (tuple(move), pytest.approx(value, abs=1e-4)), text


def test_the_only_action_is_answered_at_once() -> None:
    """Nothing is prepared for a search, which with many plies to come would take all the time."""
    player = AIPlayer(1, 1000)
    state = extended.position(np.array([[1, 0], [2, 0], [1, 0]]), (0, 10))
    assert player.get_intelligent_move(state.for_agent()) == (1, False)
    assert not player.kept


@pytest.mark.parametrize("popouts", [0, 3])
@pytest.mark.parametrize("method", ["get_intelligent_move", "get_expectimax_move"])
def test_with_a_node_budget_the_same_game_comes_out_again(method: str, popouts: int) -> None:
    def game() -> list[ExtendedAction]:
        state, moves = empty(6, 6, popouts), []
        players = {number: AIPlayer(number, 1) for number in (1, 2)}
        while state.legal_actions():
            players[state.mover].node_budget = 60
            moves.append(getattr(players[state.mover], method)(state.for_agent()))
            state = state.apply(moves[-1])
        return moves

    assert game() == game()


def test_the_packed_numbers_are_those_that_the_agent_reads() -> None:
    found = packed(agent_numbers())
    assert found.keys() == LEARNED.keys()
    for name, numbers in found.items():
        assert numbers.dtype == LEARNED[name].dtype
        assert np.array_equal(numbers, LEARNED[name]), name
