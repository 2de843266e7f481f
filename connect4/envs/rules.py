"""Shared code of both environments: actions as indices, rewards, the start position."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Final

import numpy as np

from connect4.errors import InputError
from connect4.games import begin as first
from connect4.games import load_start
from connect4.games.base import Action, Game, State

EXTRA: Final = "pip install -e '.[env]'"


class Rules:
    """One game from one start, as environments use it."""

    def __init__(
        self,
        game: Game,
        begin: State | str | os.PathLike[str] | None = None,
        rows: int | None = None,
        columns: int | None = None,
        **options: Any,
    ) -> None:
        """Raise `InputError` if there is no such start, or it excludes another argument."""
        if begin is None:
            self.start = first(game, rows, columns, options)
        elif rows or columns or options:
            raise InputError("a start has its own size and options; name them or a start")
        else:
            self.start = begin if isinstance(begin, State) else load_start(game, os.fspath(begin))
        self.game = game
        self.actions: tuple[Action | None, ...] = game.actions(self.start)
        self.numbers: dict[Action | None, int] = {
            action: number for number, action in enumerate(self.actions)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return Rules, (self.game, self.start)

    def legal(self, state: State) -> list[int]:
        """Return the mover's legal actions as indices, ascending; empty if the game is over."""
        numbers = self.numbers
        legal = [numbers[action] for action in state.legal_actions()]
        if not legal and not state.is_over():
            return [numbers[None]]
        return legal

    def apply(self, state: State, number: int) -> State:
        """Return the position after an action; raises `IllegalAction`."""
        action = self.actions[number]
        return state.skip() if action is None else state.apply(action)

    @cached_property
    def most(self) -> int:
        """The points of a board full of one player's tokens; 1 if only winning counts."""
        if not self.game.counts_points:
            return 1
        full = np.ones_like(self.start.board()).tolist()
        return self.game.from_json({**self.start.to_json(), "board": full}).scores()[0] or 1

    def reward(self, state: State) -> float:
        """Return player 1's reward at the end of a game, from -1 to 1; player 2 has the negative.

        If points decide, it is the margin divided by `most`, otherwise the sign of the winner.
        """
        if self.game.counts_points:
            return state.margin(1) / self.most
        return float(self.sign(state))

    @staticmethod
    def sign(state: State) -> int:
        """Return 1 if player 1 has won, -1 if player 2 has won, 0 for a draw."""
        return (0, 1, -1)[state.winner() or 0]
