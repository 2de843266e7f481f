"""The values that a search maximises: an estimate during the game, the exact value at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from connect4.games.base import State

WIN: Final = 1_000_000_000
"""Beyond every heuristic value."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How positions at the end of a search are valued, always for their mover.

    `leaf(state)` estimates a position that goes on; `final(state, depth)` is the value of one that
    is over with `depth` plies of the search to go.
    """

    leaf: Callable[[State], float]
    final: Callable[[State, int], float]


def win_or_loss(state: State, depth: int) -> float:
    """Value a game that only winning counts in: the sooner won and the later lost, the better.

    A win with `depth` plies of the search to go is worth `WIN + depth`. So the value depends on the
    position and on the depth that it is searched to, not on the way that led to it, and a
    transposition table may keep it.
    """
    margin = state.margin(state.mover)
    if not margin:
        return 0
    return WIN + depth if margin > 0 else -WIN - depth


def points(worth: float = 1) -> Callable[[State, int], float]:
    """Return the value of a game that points decide: the margin, each point at its `worth`."""
    return lambda state, depth: worth * state.margin(state.mover)
