"""The random player: any valid action, all equally likely."""

from __future__ import annotations

from random import Random

from connect4.games.base import Action, Seconds, State
from connect4.players.base import Setup


class RandomPlayer:
    """Plays uniformly at random; the same seed gives the same moves."""

    def __init__(self, setup: Setup) -> None:
        self._random = Random(setup.derived_seed())

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        return self._random.choice(state.legal_actions())
