"""How long an agent may be loaded again in a game, and what its author is told."""

from __future__ import annotations

from typing import Final

from connect4.games.base import Seconds
from connect4.isolation.limits import Limits

MADE_ANEW: Final = "A new AIPlayer is made for the next turn: what this one kept is gone."

NO_PLAYER: Final = "without a player: "
"""The detail of a turn begins with it after the loading time has been used up."""

TOO_LITTLE: Final = 0.001
"""Seconds of loading time that are as good as none."""

FREE_LOADING: Final = 0.5
"""Seconds of loading for one move that are not on the clock, with a process for each move."""


class Reloads:
    """How long an agent may be loaded again in a game, beyond what is planned."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seconds = 0.0
        self.free = False
        """Whether the next one does not count: the machine caused it."""

    def allowed(self) -> Seconds:
        """Return how long the next one may take."""
        left = self._limits.reload_seconds - self._seconds
        return self._limits.start_seconds if self.free else min(self._limits.start_seconds, left)

    def add(self, seconds: Seconds) -> None:
        """Count one that took so long, unless it was free."""
        self._seconds += 0.0 if self.free else seconds
        self.free = False

    @property
    def used_up(self) -> str | None:
        """Why the agent is not loaded again, in words; None if it may be."""
        if self.free or self._limits.reload_seconds - self._seconds > TOO_LITTLE:
            return None
        return f"its loading time of {self._limits.reload_seconds:g} s was used up"

    @property
    def without_player(self) -> str | None:
        """The detail of a turn without a player; None if the agent may be loaded again."""
        return self.used_up and f"{NO_PLAYER}{self.used_up}"

    @property
    def after_loss(self) -> str:
        """What an author should know after a turn that ended the agent's process."""
        return f"No new AIPlayer is made: {self.used_up}." if self.used_up else MADE_ANEW
