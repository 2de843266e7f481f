"""What both searches share: the budget of a move, the result, and the keys of positions."""

from __future__ import annotations

import time as clock
from math import inf
from typing import Final, NamedTuple

from connect4.reference.lines import Position

DEEPEST: Final = 200
"""Plies: what keeps the recursion of a search far from Python's limit."""

OWN_KEY, OTHER_KEY = 0x9E3779B97F4A7C1, 0xD1B54A32D192ED0
"""Numbers without a pattern, which keep positions apart that differ in the pop-outs left."""


class BudgetSpentError(Exception):
    """The time or the nodes of this move are used up."""


class Budget:
    """How long a move may take: seconds, or nodes of the search in their place."""

    def __init__(self, seconds: float, nodes: int | None):
        margin = min(0.1 * seconds + 0.02, 0.6 * seconds)  # for a machine with other work to do
        self.seconds = seconds
        self.deadline = clock.monotonic() + seconds - margin if nodes is None else inf
        self.limit = inf if nodes is None else nodes
        self.nodes = 0

    def spend(self) -> None:
        """Count one node; raise `BudgetSpentError` if it was one too many."""
        self.nodes += 1
        if self.nodes > self.limit or clock.monotonic() > self.deadline:
            raise BudgetSpentError


class Found(NamedTuple):
    """The result of a search."""

    action: int
    values: tuple[tuple[int, float], ...] = ()
    """Each depth that was searched whole, with the margin found there for the action chosen."""
    solved: bool = False
    """Whether the last depth reached the end of the game."""


def slot_of(position: Position) -> int:
    """Return the number that a table knows a position by."""
    _, _, _, key, _, own, other = position
    return key ^ own * OWN_KEY ^ other * OTHER_KEY
