"""How long a move may take, in seconds or in nodes of the search."""

from __future__ import annotations

import time as clock
from math import inf


class BudgetSpentError(Exception):
    """The time or the nodes of this move are used up."""


class Budget:
    """How long a move may take: seconds, or nodes of the search in their place."""

    LOOKS = 0.125, 0.25, 0.5
    """At these shares of the time alpha-beta looks whether its move is settled, if it `may_end`."""

    def __init__(self, seconds: float, nodes: int | None, may_end: bool = False):
        margin = min(0.1 * seconds + 0.02, 0.6 * seconds)  # for a machine with other work to do
        self.begin, self.seconds = clock.monotonic(), seconds
        self.deadline = self.begin + seconds - margin if nodes is None else inf
        self.may_end = may_end and nodes is None
        self.looks = [*self.LOOKS] if self.may_end else []
        self.limit = inf if nodes is None else nodes
        self.nodes = 0

    def spend(self) -> None:
        """Count one node; raise `BudgetSpentError` if it was one too many."""
        self.nodes += 1
        if self.nodes > self.limit or clock.monotonic() > self.deadline:
            raise BudgetSpentError

    def spent(self) -> float:
        """Return the seconds since the move began."""
        return clock.monotonic() - self.begin

    def looks_now(self) -> bool:
        """Return whether it is time for the next look at whether the move is settled."""
        share = self.spent() / self.seconds
        due = bool(self.looks) and share >= self.looks[0]
        self.looks = [look for look in self.looks if look > share]
        return due
