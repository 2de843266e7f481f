"""What the referee measures of an agent: the states of its threads, its times.

Times that an agent's process reports are not used.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from connect4.games.base import Seconds


def words(path: str) -> list[str]:
    """Return the words of a file in `/proc`; for a `stat` file, only those after the name.

    Raises `OSError`.
    """
    handle = os.open(path, os.O_RDONLY)  # half of what `open` takes
    try:
        return os.read(handle, 4096).decode("latin-1").rpartition(")")[2].split()
    finally:
        os.close(handle)


def busy_and_waited(process: str) -> tuple[Seconds, Seconds]:
    """Return how long the main thread of a process in `/proc`, or a thread, ran and waited.

    Raises `OSError`.
    """
    busy, waited, _ = words(f"/proc/{process}/schedstat")
    return int(busy) / 1e9, int(waited) / 1e9


def own_wait() -> Seconds:
    """Return how long this thread has waited for a processor; 0 if the system does not say so."""
    with contextlib.suppress(OSError):
        return busy_and_waited("thread-self")[1]
    return 0.0


def thread_states(pid: int) -> Iterator[str]:
    """Yield the state letter of each thread of a process; nothing if it has ended."""
    with contextlib.suppress(OSError):
        main = words(f"/proc/{pid}/stat")
        yield main[0]
        if main[17] != "1":  # the number of threads
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):  # unless it has ended
                    yield words(f"/proc/{pid}/task/{thread}/stat")[0]


PARALLEL: Final = 1.05
"""Processor seconds per second of wall time; a turn with more processor time counts as longer."""

STARVED_SECONDS: Final = 0.05
STARVED_PART: Final = 0.02
"""A turn is starved if it waited longer than both: these seconds, and this fraction of its time."""


def one_core() -> int | None:
    """Return this thread's current processor; None if it may use only one anyway.

    The scheduler puts a thread on an idle processor, if there is one.
    """
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) == 1:
        return None
    return int(words("/proc/thread-self/stat")[36])


class Spent(NamedTuple):
    """The processor time of an agent's process so far, in seconds."""

    busy: Seconds = 0.0
    """Time on a processor of all its threads, including those that have ended."""
    main_busy: Seconds = 0.0
    main_waited: Seconds = 0.0
    """Of its main thread, which runs the agent: time on a processor, and time waiting for one."""

    def waited_since(self, before: Spent, referee: Seconds = 0.0) -> Seconds:
        """Return how long the turn waited for a processor, apart from the agent's own threads.

        `referee` is how long the referee waited for one, which those threads may also have caused.
        """
        others = (self.busy - before.busy) - (self.main_busy - before.main_busy)
        return max(0.0, self.main_waited - before.main_waited + referee - others)


class Timed(NamedTuple):
    """The measures of one turn."""

    wall: Seconds
    """From the start of the agent to the end of reading its answer."""
    busy: Seconds = 0.0
    """Processor time of all its threads in that time."""
    transport: Seconds = 0.0
    """The part of `wall` in which the referee was sending, or waited for a processor to read."""
    waited: Seconds = 0.0
    """The part of `wall` in which the agent or the referee waited for a busy processor."""
    loading: Seconds = 0.0
    """Loading time that counts as part of the turn."""
    used_up: bool = False
    """Whether the agent took more than the whole limit itself, running or idle."""
    line: bytes | None = None
    """The line with the answer; None without one."""
    ended: bool = False
    """Whether its process ended in place of an answer."""
    rests: bool = True
    """Whether all its threads stopped after the answer."""

    @property
    def seconds(self) -> Seconds:
        """The turn's time; several threads do not get more processor time than one."""
        return max(self.wall, self.busy / PARALLEL) + self.loading

    @property
    def own(self) -> Seconds:
        """The time that the agent itself took: it ran or was idle, and did not wait."""
        return max(0.0, self.wall - self.waited)

    @property
    def starved(self) -> bool:
        """Whether the machine was too busy, rather than the agent too slow."""
        return not self.used_up and self.waited > max(STARVED_SECONDS, STARVED_PART * self.wall)

    def is_late(self, limit: Seconds, margin: Seconds) -> bool:
        """Return whether the turn exceeded the limit, minus its transport of at most `margin`."""
        return self.seconds - min(self.transport, margin) > limit

    @property
    def starved_text(self) -> str:
        """Return the reason for a turn that was `starved`."""
        had = f"it got {self.busy:.2f} s of processor in {self.wall:.2f} s"
        return f"the machine was too busy: {had}"

    def late_text(self, limit: Seconds, answered: bool, margin: Seconds = 0.0) -> str:
        """Return the first line about a late turn; `margin` is that of `is_late`."""
        if self.starved:
            return self.starved_text
        begin = f"no answer within {limit:g} s"
        if self.busy / PARALLEL > self.wall:
            return (
                f"{begin} of one processor (its threads used {self.busy:.2f} s in "
                f"{self.wall:.2f} s; only the time of one processor is allowed)"
            )
        what = "it came" if answered else "stopped"
        over = math.ceil((self.seconds - limit) * 1000) / 1000
        allowed = f"; at most {margin:g} s of communication is allowed" if margin else ""
        return f"{begin} ({what} {over:.3f} s over the limit{allowed})"
