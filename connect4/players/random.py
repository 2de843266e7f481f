"""The random player: any valid action, all equally likely."""

from __future__ import annotations

import random
from typing import Any

from connect4.games.base import Action, Seconds, State
from connect4.players.base import Setup
from connect4.utils import Integer, get_valid_actions


class RandomPlayer:
    """Plays uniformly at random; the same seed gives the same moves."""

    def __init__(self, player_number: int, seed: int | None = None) -> None:
        self.player_number = player_number
        self.type = "random"
        self.player_string = f"Player {player_number}:random"
        self._random = random.Random(seed)

    def get_move(self, state: tuple[Any, dict[int, Integer]]) -> tuple[int, bool]:
        """Return a valid action for a state in the form that students' agents receive."""
        return self._random.choice(get_valid_actions(self.player_number, state))

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        return self._random.choice(state.legal_actions())


def random_player(setup: Setup) -> RandomPlayer:
    """Return `random`."""
    return RandomPlayer(setup.player, setup.derived_seed())
