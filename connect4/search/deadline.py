"""When a search must stop: at a time, after a number of nodes, or never."""

from __future__ import annotations

import math
import time
from typing import Final

from connect4.games.base import Seconds

STRIDE: Final = 64
"""Nodes between two looks at the clock: a few milliseconds at most."""


class OutOfBudgetError(Exception):
    """The search has used up its time or its nodes."""


class Deadline:
    """A budget that starts now: `seconds` (by `time.monotonic`), `nodes`, both or neither.

    A search counts its nodes and calls `check` when the count reaches `next_check`.
    """

    def __init__(
        self, seconds: Seconds | None = None, nodes: int | None = None, stride: int = STRIDE
    ) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._nodes = math.inf if nodes is None else nodes
        self._stride = stride
        self.next_check = min(stride, self._nodes + 1)

    def check(self, nodes: int) -> None:
        """Raise `OutOfBudgetError` if `nodes` exceeds the budget or the time is up."""
        if nodes > self._nodes or time.monotonic() >= self._end:
            raise OutOfBudgetError
        self.next_check = min(nodes + self._stride, self._nodes + 1)

    def seconds_left(self) -> Seconds:
        """Return the seconds that are left; infinity if there is no time limit."""
        return self._end - time.monotonic()
