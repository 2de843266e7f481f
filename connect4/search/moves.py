"""Moves in the searches: an action, or a pass if the mover has no action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from connect4.games.base import Action, State

Move: TypeAlias = Action | None
"""An action, or None for the pass of a mover without a legal action."""

Order: TypeAlias = Callable[[State], Sequence[Move]]
"""Returns every move of an unfinished position, in search order."""

PASS: Final[tuple[Move]] = (None,)


def after(state: State, move: Move) -> State:
    """Return the position after the mover's `move`."""
    return state.skip() if move is None else state.apply(move)


def ascending(state: State) -> Sequence[Move]:
    """Return the moves in the order of the game: columns from left to right."""
    return state.legal_actions() or PASS
