"""Measure a turn on the referee's side: wall clock, processor time, waiting.

Times that an agent's process reports are not used.
"""

from __future__ import annotations

import ctypes
import math
import os
from typing import Final, NamedTuple

from connect4.games.base import Seconds

PARALLEL: Final = 1.05
"""So much processor time goes with a second of wall time; what is beyond it counts as longer."""

STARVED_SECONDS: Final = 0.05
STARVED_PART: Final = 0.02
"""A turn is starved if it waited for a processor longer than both, the latter part of it."""


def one_core() -> int | None:
    """Return the processor that this thread is on; None where it may use no other anyway.

    A thread that runs is on a processor which nobody else uses right now, if there is one.
    """
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) == 1:
        return None
    try:
        core = int(ctypes.CDLL(None).sched_getcpu())
    except AttributeError:  # a C library without it
        return None
    return core if core >= 0 else None


class Spent(NamedTuple):
    """What an agent's process has had of the processor so far, in seconds."""

    busy: Seconds = 0.0
    """On a processor, all its threads, also those that have ended."""
    main_busy: Seconds = 0.0
    main_waited: Seconds = 0.0
    """Its first thread, which the agent is asked in: on a processor, and waiting for one."""

    def waited_since(self, before: Spent, referee: Seconds = 0.0) -> Seconds:
        """Return how long the turn waited for a processor, but for the agent's own threads.

        `referee` is how long the referee waited for one; that too may be their doing.
        """
        others = (self.busy - before.busy) - (self.main_busy - before.main_busy)
        return max(0.0, self.main_waited - before.main_waited + referee - others)


class Timed(NamedTuple):
    """The measures of one turn."""

    wall: Seconds
    """From the moment that the agent may run to the moment that its answer has been read."""
    busy: Seconds = 0.0
    """Processor time of all its threads meanwhile."""
    transport: Seconds = 0.0
    """Part of `wall` in which the referee was sending, or could have read but had no processor."""
    waited: Seconds = 0.0
    """Part of `wall` in which agent or referee waited for a processor that others had."""
    loading: Seconds = 0.0
    """What the clock had already counted when the agent could be asked."""
    used_up: bool = False
    """Whether there was no answer even after as much processor time as the whole limit."""

    @property
    def seconds(self) -> Seconds:
        """The turn's time: more threads than one are no more time."""
        return max(self.wall, self.busy / PARALLEL) + self.loading

    @property
    def starved(self) -> bool:
        """Whether the machine was too busy, rather than the agent too slow."""
        return not self.used_up and self.waited > max(STARVED_SECONDS, STARVED_PART * self.wall)

    def is_late(self, limit: Seconds, margin: Seconds) -> bool:
        """Return whether the limit was over, `margin` being the most that transport can pay."""
        return self.seconds - min(self.transport, margin) > limit

    @property
    def starved_text(self) -> str:
        """Return why the machine is to blame, for a turn that was `starved`."""
        had = f"it got {self.busy:.2f} s of processor in {self.wall:.2f} s"
        return f"the machine was too busy: {had}"

    def late_text(self, limit: Seconds, answered: bool, margin: Seconds = 0.0) -> str:
        """Return the first line about a turn that was late; `margin` is that of `is_late`."""
        if self.starved:
            return self.starved_text
        begin = f"no answer within {limit:g} s"
        if self.busy / PARALLEL > self.wall:
            return (
                f"{begin} of one processor (its threads used {self.busy:.2f} s in "
                f"{self.wall:.2f} s; what one processor has is allowed)"
            )
        what = "it came" if answered else "stopped"
        over = math.ceil((self.seconds - limit) * 1000) / 1000
        allowed = f"; at most {margin:g} s of communication is allowed" if margin else ""
        return f"{begin} ({what} {over:.3f} s over the limit{allowed})"
