"""The values that a search maximises: an estimate during the game, the exact value at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from connect4.games.base import State

WIN: Final = 1_000_000_000
"""Greater than every heuristic value."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The values of the positions at the end of a search, from their mover's view.

    `leaf(state)` estimates an unfinished position. `final(state, depth)` is the value of a finished
    one that is reached with `depth` plies of the search left.
    """

    leaf: Callable[[State], float]
    final: Callable[[State, int], float]


def win_or_loss(state: State, depth: int) -> float:
    """Return the value of a finished game in which only winning counts.

    A win with `depth` plies of the search left is worth `WIN + depth`, so fast wins and slow losses
    are better. The value depends on the position and the search depth, not on the moves that led to
    it, so a transposition table may store it.
    """
    margin = state.margin(state.mover)
    if not margin:
        return 0
    return WIN + depth if margin > 0 else -WIN - depth


def points(worth: float = 1) -> Callable[[State, int], float]:
    """Return the value of a finished game that points decide: the margin times `worth`."""
    return lambda state, depth: worth * state.margin(state.mover)
