"""OpenSpiel's own bots as agents of the kit: `env:connect4.envs.bots:mcts`, `...:minimax`."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, Final

import numpy as np

from connect4.envs import openspiel
from connect4.games.base import State

SIMULATIONS: Final = 1000
"""Simulations of `mcts` for one move."""

DEPTH: Final = 4
"""Depth of `minimax` in plies."""


def mcts(observation: object, state: State) -> int:
    """Return the action of OpenSpiel's Monte Carlo tree search with its default settings."""
    from open_spiel.python.algorithms.mcts import MCTSBot

    spiel = openspiel.state_at(state.game, state)
    bot = MCTSBot(spiel.get_game(), 2.0, SIMULATIONS, _evaluator(), random_state=_random())
    return int(bot.step(spiel))


@cache
def _evaluator() -> Any:
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

    return RandomRolloutEvaluator(1, _random())


@cache
def _random() -> np.random.RandomState:
    return np.random.RandomState(random.randrange(2**32))


def minimax(observation: object, state: State) -> int:
    """Return the action of OpenSpiel's alpha-beta; at its depth, every position has the value 0."""
    from open_spiel.python.algorithms.minimax import alpha_beta_search

    spiel = openspiel.state_at(state.game, state)
    me = spiel.current_player()
    _, action = alpha_beta_search(
        spiel.get_game(),
        state=spiel,
        maximum_depth=DEPTH,
        value_function=lambda later: later.returns()[me],
        maximizing_player_id=me,
    )
    return int(action)
