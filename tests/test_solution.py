"""The course's solution, `connect4/players/ai.py`: its moves, its promise, and its form."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connect4.games import extended
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.players import ai
from connect4.players.base import STUDENT_FILE, AgentName, Setup
from connect4.search.trace import Flag
from connect4.utils import get_pts
from connect4.views.tree import explain
from tests.command import run
from tests.test_reference_agent import best_margin, empty, played, positions, small_endgames

SOURCE = STUDENT_FILE.read_text(encoding="utf-8")


def reading(state: ExtendedState, player: Any = None) -> tuple[ai.Board, ai.Position]:
    board = ai.Board(*state.shape, player or state.mover)
    return board, board.read(state.for_agent())


@pytest.mark.parametrize("shape", [(6, 8), (1, 2), (12, 12), (9, 4)])
def test_the_expected_margin_of_a_full_board_is_the_margin(shape: tuple[int, int]) -> None:
    for seed in range(10):
        board = np.random.default_rng(seed).integers(1, 3, shape)
        for player in (1, 2):
            _, position = reading(extended.position(board, (1, 1)), player)
            assert position.margin == get_pts(player, board) - get_pts(3 - player, board)


@settings(max_examples=60, deadline=None)
@given(positions, st.integers(0, 2**32))
def test_a_position_kept_up_to_date_equals_one_read_anew(state: ExtendedState, seed: int) -> None:
    rng = random.Random(seed)
    board, position = reading(state)
    for plies in range(1, 17):
        actions = board.actions(position)
        assert sorted(board.move(action) for _, action in actions) == sorted(state.legal_actions())
        assert actions == sorted(actions, reverse=True)
        if not actions:
            break
        gain, action = rng.choice(actions)
        state = state.apply(board.move(action))
        position = board.play(position, gain, action)
        anew = board.read(state.for_agent())
        assert position.codes == anew.codes
        assert position.drops == anew.drops
        assert position.margin == pytest.approx(-anew.margin if plies % 2 else anew.margin)
        assert position.key == anew.key ^ (board.turn_key if plies % 2 else 0)


def searched(state: ExtendedState, depth: int) -> tuple[ai.AlphaBeta, ai.Position]:
    """Return a search that has begun, as `choose` begins it, and the position."""
    board, position = reading(state)
    search = ai.AlphaBeta(board)
    search._begin(position, ai.Budget(ai.INFINITY, None))
    search.solved = depth >= search.plies_left
    return search, position


def minimax(search: ai.AlphaBeta, position: ai.Position, depth: int) -> float:
    """Return the mover's value with the same evaluation: without a window, without a table."""
    actions = search.board.actions(position)
    if not actions or not depth:
        return position.margin
    if depth == 1 and not search.solved:
        return search._last_ply(position, actions)
    children = [search.board.play(position, *item) for item in actions]
    return max(-minimax(search, child, depth - 1) for child in children)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(3, 4), (4, 4), (2, 6), (5, 2)]),
    st.integers(0, 2),
    st.integers(0, 12),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_the_search_keeps_its_promise(
    shape: tuple[int, int], popouts: int, plies: int, depth: int, seed: int
) -> None:
    rng = random.Random(seed)
    state = played(empty(*shape, popouts), plies, rng)
    search, position = searched(state, depth)
    whole = minimax(search, position, depth)
    for _ in range(4):
        alpha = whole + rng.uniform(-4, 3)
        beta = alpha + rng.uniform(0.1, 4)
        search.table.clear()  # a table may answer with the value of a deeper search
        found = search._search(position, depth, alpha, beta)
        if found <= alpha:
            assert whole <= found + 1e-9
        elif found >= beta:
            assert whole >= found - 1e-9
        else:
            assert found == pytest.approx(whole)


@settings(max_examples=30, deadline=None)
@given(small_endgames)
def test_the_end_of_a_game_is_played_perfectly(state: ExtendedState) -> None:
    action = ai.AIPlayer(state.mover, 60).get_intelligent_move(state.for_agent())
    assert -best_margin(state.apply(action)) == best_margin(state)


@settings(max_examples=30, deadline=None)
@given(small_endgames.filter(lambda state: state.max_plies <= 7))
def test_the_end_of_a_game_against_chance_has_the_greatest_mean(state: ExtendedState) -> None:
    action = ai.AIPlayer(state.mover, 60).get_expectimax_move(state.for_agent())
    chance = 3 - state.mover
    after = -best_margin(state.apply(action), chance)
    assert after == pytest.approx(best_margin(state, chance))


@pytest.mark.parametrize("board", [(6, 8, 6), (3, 4, 1), (8, 10, 0)])
def test_its_tree_can_be_drawn(board: tuple[int, int, int]) -> None:
    state = played(empty(*board), 5, random.Random(2))
    setup = Setup(AgentName("ai", "ai"), state.mover, EXTENDED, 1.0, 1)
    nodes = explain(setup, state)
    best = [node for node in nodes if Flag.BEST in node.flags]
    assert [node.depth for node in best] == [0, 1, 2, 3]  # the last ply is read off the gains
    assert {node.value for node in best} == {nodes[0].value}


def test_check_finds_nothing_to_fix(tmp_path: Path) -> None:
    done = run("grader", "check", "--form-only", STUDENT_FILE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "The submission meets every required rule: 0 faults to fix" in done.stdout


def test_it_can_be_read_in_an_hour() -> None:
    lines = SOURCE.splitlines()
    assert len(lines) <= 480
    assert max(map(len, lines)) <= 100
    assert not re.search(r"[\w+/=!#$%&*;?@^`{|}~-]{40,}", SOURCE), "encoded text"
