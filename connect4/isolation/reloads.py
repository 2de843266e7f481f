"""How often an agent may be loaded again in a game, and what its author is told."""

from __future__ import annotations

from typing import Final

from connect4.games.base import Seconds
from connect4.isolation.limits import Limits

MADE_ANEW: Final = "A new AIPlayer is made for the next turn: what this one kept is gone."

FREE_LOADING: Final = 0.5
"""Seconds of loading for one move that are not on the clock, with a process for each move."""


class Reloads:
    """How often and how long an agent may be loaded again in a game, beyond what is planned."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._times = 0
        self._seconds = 0.0

    def allowed(self) -> Seconds:
        """Return how long the next one may take."""
        return min(self._limits.start_seconds, self._limits.reload_seconds - self._seconds)

    def add(self, seconds: Seconds) -> None:
        """Count one that took so long."""
        self._times += 1
        self._seconds += seconds

    def why_no_more(self, name: str) -> str | None:
        """Return why the agent `name` is not loaded again; None where it may be."""
        rest = "; the rest of its turns are lost"
        if self._times >= self._limits.restarts:
            return f"{name} was loaded again {self._times} times, the most in a game{rest}"
        if self._seconds >= self._limits.reload_seconds:
            most = f"{self._limits.reload_seconds:g} s in a game"
            return f"{name} took {self._seconds:.1f} s to be loaded again, at most {most}{rest}"
        return None
