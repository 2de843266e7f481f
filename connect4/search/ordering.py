"""The orders in which a search tries moves, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from connect4.games.base import State
from connect4.search.moves import PASS, Move, Order, ascending


def center(state: State) -> Sequence[Move]:
    """Return the moves by distance from the middle; ties keep the game's order."""
    actions, distances = state.legal_actions(), state.distances
    return (sorted(actions, key=distances.__getitem__) if distances else actions) or PASS


ORDERS: Final[dict[str, Order]] = {"center": center, "ascending": ascending}
