"""The training of the reference agent: its copy of the search in C plays the agent's game."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import numpy as np
import pytest

from benchmarks.exact import compiled
from benchmarks.games import GAME, empty, played
from benchmarks.training.__main__ import SOURCE
from benchmarks.training.fit import agent_numbers, packed, write_weights
from connect4.games.extended import ExtendedState
from connect4.reference import AIPlayer
from connect4.reference.alphabeta import AlphaBeta
from connect4.reference.evaluation import LEARNED
from connect4.reference.lines import ME, Budget

BOARDS = ("6x8+6", "4x6", "8x10+4", "5x2+3", "12x12", "10x10+10", "9x10+1", "3x4+2")
NODES = 250


def written(state: ExtendedState) -> str:
    """Return a position as `selfplay judge` reads it."""
    cells = "".join(map(str, state.board()[::-1].ravel().tolist()))
    return " ".join(map(str, (*state.shape, *state.popouts, state.mover, cells))) + "\n"


@pytest.mark.slow
@pytest.mark.compiler
def test_the_generator_evaluates_and_searches_as_the_agent_does(tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    write_weights(weights, agent_numbers())
    rng = Random(2)
    starts = [empty(board) for board in 8 * BOARDS]
    plies = [start.shape[0] * start.shape[1] + 2 * sum(start.popouts) for start in starts]
    states = [played(s, rng.randrange(n), rng) for s, n in zip(starts, plies, strict=True)]
    states = [state for state in states if len(state.legal_actions()) > 1]
    command = [compiled(SOURCE, tmp_path), "judge", str(NODES), weights]
    text = "".join(map(written, states))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    same, sets = 0, set()
    for state, answer in zip(states, answers, strict=True):
        total, beside, in_hand, _, _, action = answer.split()
        search, position = AIPlayer(state.mover, 1)._prepare(state.for_agent(), AlphaBeta)
        assert isinstance(search, AlphaBeta)
        chosen = search.lines.move(search.choose(position, Budget(1, NODES)).action)
        assert position[2] == pytest.approx(float(total), abs=1e-5)
        judged = search.evaluation.judge(position, search.lines.actions(position))
        assert -judged.added == pytest.approx(float(beside), abs=1e-3)
        held = search.evaluation.in_hand(judged, ME, *position[5:])
        assert held == pytest.approx(float(in_hand), abs=1e-4)
        sets.add((judged.phase, any(state.popouts)))
        same += GAME.format_action(chosen) == action
    assert len(sets) == 6, "each phase with and without pop-outs"
    assert same >= 0.9 * len(states), "the tables of positions may differ in rare collisions"


def test_the_packed_numbers_are_those_that_the_agent_reads() -> None:
    found = packed(agent_numbers())
    assert found.keys() == LEARNED.keys()
    for name, numbers in found.items():
        assert numbers.dtype == LEARNED[name].dtype
        assert np.array_equal(numbers, LEARNED[name]), name
