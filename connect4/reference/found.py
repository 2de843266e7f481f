"""What a search of the root returns, and how positions are told apart in its table."""

from __future__ import annotations

from typing import Final, NamedTuple

from connect4.reference.lines import Position

DEEPEST: Final = 200
"""Plies: what keeps the recursion of a search far from Python's limit."""

OWN_KEY, OTHER_KEY = 0x9E3779B97F4A7C1, 0xD1B54A32D192ED0
"""Numbers without a pattern, which keep positions apart that differ in the pop-outs left."""


class Found(NamedTuple):
    """The result of a search."""

    action: int
    values: tuple[tuple[int, float], ...] = ()
    """Each depth that was searched whole, with the margin found there for the action chosen."""
    solved: bool = False
    """Whether the last depth reached the end of the game."""
    settled: bool = False
    """Whether more time would hardly change the action."""


def slot_of(position: Position) -> int:
    """Return the number that a table knows a position by."""
    _, _, _, key, _, own, other = position
    return key ^ own * OWN_KEY ^ other * OTHER_KEY
