"""A policy of another package as an agent, with the name `env:MODULE:FUNCTION`.

The function receives an observation, as in PettingZoo's environments (see docs/api.md), and the
position. It returns the number of an action. This module requires neither PettingZoo nor OpenSpiel;
the function's own module may import anything.
"""

from __future__ import annotations

import importlib
import operator
import os
import random
import sys

import numpy as np

from connect4.errors import AgentError, IllegalAction
from connect4.games.base import Action, Seconds, State, quoted
from connect4.players.base import Setup
from connect4.players.local import failure


class PolicyAgent:
    """Calls the function for each move; raises `AgentError` if there is no such function."""

    def __init__(self, setup: Setup) -> None:
        self._game = setup.game
        self._name = setup.agent.rest
        random.seed(setup.derived_seed())
        np.random.seed(setup.derived_seed() % 2**32)
        module, _, function = self._name.partition(":")
        sys.path.append(setup.folder or os.getcwd())  # last, so that it hides no module of Python's
        try:
            self._policy = getattr(importlib.import_module(module), function)
        except Exception as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            if missing and f"{module}.".startswith(f"{missing}."):
                text = f"no module {missing!r}, neither installed nor in the current folder"
                raise AgentError(text) from None
            raise failure(self._name, "could not be loaded", error) from None

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return the policy's action; raises `IllegalAction` if its number is invalid."""
        actions = self._game.actions(state)
        legal = set(state.legal_actions())
        mask = np.array([action in legal for action in actions], dtype=np.int8)
        observation = {"observation": state.planes(), "action_mask": mask}
        try:
            answer = self._policy(observation, state)
        except Exception as error:
            raise failure(self._name, "failed", error) from None
        try:
            number = operator.index(answer)
        except TypeError:
            raise IllegalAction(f"{quoted(answer)} is no number of an action") from None
        if not 0 <= number < len(actions):
            raise IllegalAction(f"action {quoted(number)} is outside 0..{len(actions) - 1}")
        return actions[number]
