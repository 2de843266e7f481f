"""The referee's measurements of an agent: time, process, loading, output.

Times that an agent's process reports are not used.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
import threading
from collections.abc import Iterator
from typing import Final, NamedTuple

from connect4.games.base import Seconds
from connect4.isolation.limits import Limits


class KeptFile:
    """A file of the kernel that stays open."""

    def __init__(self, path: str) -> None:
        self._handle = -1
        with contextlib.suppress(OSError):  # no such process
            self._handle = os.open(path, os.O_RDONLY)

    def fields(self) -> list[str]:
        """Return its current words, in a `stat` file those after the name; raises `OSError`."""
        return os.pread(self._handle, 4096, 0).decode("latin-1").rpartition(")")[2].split()

    def close(self) -> None:
        """Close it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def busy_and_waited(file: KeptFile) -> tuple[Seconds, Seconds]:
    """Return how long a thread ran and waited, from its `schedstat`; raises `OSError`."""
    busy, waited, _ = file.fields()
    return int(busy) / 1e9, int(waited) / 1e9


class ProcessFiles:
    """The files of one process in `/proc`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.times = KeptFile(f"/proc/{pid}/schedstat")
        """Of its first thread."""
        self._state = KeptFile(f"/proc/{pid}/stat")

    def states(self) -> Iterator[str]:
        """Yield the state letter of each thread; nothing if the process has ended."""
        with contextlib.suppress(OSError):
            found = self._state.fields()
            yield found[0]
            if found[17] != "1":  # the number of threads
                for thread in os.listdir(f"/proc/{self.pid}/task"):
                    yield _state_of(f"/proc/{self.pid}/task/{thread}/stat")

    def close(self) -> None:
        """Close the files."""
        self.times.close()
        self._state.close()


def _state_of(path: str) -> str:
    """Return the state letter of one thread."""
    file = KeptFile(path)
    try:
        return file.fields()[0]
    except OSError:  # it has ended
        return "X"
    finally:
        file.close()


class OwnWait:
    """How long the calling thread has waited for a processor; works in any thread."""

    def __init__(self) -> None:
        self._thread = 0
        self._file = KeptFile("")

    def seconds(self) -> Seconds:
        """Return the time; 0 if the system does not report it."""
        if sys.platform == "linux":
            thread = threading.get_native_id()
            if thread != self._thread:
                self.close()
                self._thread = thread
                self._file = KeptFile(f"/proc/self/task/{thread}/schedstat")
            with contextlib.suppress(OSError):
                return busy_and_waited(self._file)[1]
        return 0.0

    def close(self) -> None:
        """Close the file."""
        self._file.close()


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
    try:
        core = int(ctypes.CDLL(None).sched_getcpu())
    except AttributeError:  # the C library lacks it
        return None
    return core if core >= 0 else None


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


MADE_ANEW: Final = "A new AIPlayer is made for the next turn: what this one kept is gone."

NO_PLAYER: Final = "without a player: "
"""The beginning of the detail of a turn after the loading time was used up."""

TOO_LITTLE: Final = 0.001
"""Less loading time than this, in seconds, counts as none."""

FREE_LOADING: Final = 0.5
"""Free seconds of loading for each move, if each move has its own process."""


class Reloads:
    """The time for reloading an agent in a game, apart from planned starts."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seconds = 0.0
        self.free = False
        """Whether the next reload does not count, because the machine caused it."""

    def allowed(self) -> Seconds:
        """Return the time limit of the next reload."""
        left = self._limits.reload_seconds - self._seconds
        return self._limits.start_seconds if self.free else min(self._limits.start_seconds, left)

    def add(self, seconds: Seconds) -> None:
        """Add the time of a reload, unless it is free."""
        self._seconds += 0.0 if self.free else seconds
        self.free = False

    @property
    def used_up(self) -> str | None:
        """Why the agent is not reloaded; None if it may be."""
        if self.free or self._limits.reload_seconds - self._seconds > TOO_LITTLE:
            return None
        return f"its loading time of {self._limits.reload_seconds:g} s was used up"

    @property
    def without_player(self) -> str | None:
        """The detail of a turn without a player; None if the agent may be reloaded."""
        return self.used_up and f"{NO_PLAYER}{self.used_up}"

    @property
    def after_loss(self) -> str:
        """The note for the author after a turn that ended the agent's process."""
        return f"No new AIPlayer is made: {self.used_up}." if self.used_up else MADE_ANEW


class Log:
    """The first and the last half of a limited output; the bytes in between are counted.

    A line `[turn 7]` precedes the output of turn 7, if `begin_turn` was called.
    """

    def __init__(self, limit: int) -> None:
        self._first_room = limit // 2
        self._last_room = limit - self._first_room
        self._first = bytearray()
        self._last = bytearray()
        self._size = 0
        self._turn: int | None = None
        self._begins: dict[int, int] = {}
        """The turns with output, and the position of their first byte."""

    def begin_turn(self, number: int) -> None:
        """Mark what follows as the output of that turn."""
        self._turn = number

    def add(self, data: bytes) -> None:
        """Append output; keep its beginning and its end."""
        if data and self._turn is not None:
            self._begins.setdefault(self._turn, self._size)
        room = self._first_room - len(self._first)
        self._first += data[:room]
        self._last += data[room:]
        self._size += len(data)
        if len(self._last) > 2 * self._last_room:  # not each time, because it moves the bytes
            self._last = self._end()

    def _end(self) -> bytearray:
        return self._last[max(0, len(self._last) - self._last_room) :]

    def text(self) -> str:
        """Return the stored output, and how much was dropped."""
        last = self._end()
        after = self._size - len(last)
        left_out = after - len(self._first)
        if not left_out:
            return self._marked(self._first + last, 0)
        first = self._marked(self._first, 0)
        return f"{first}\n... ({left_out} bytes left out)\n{self._marked(last, after)}"

    def _marked(self, data: bytearray, begin: int) -> str:
        """Return the bytes from `begin` on as text, with lines that mark the turns."""
        cuts: dict[int, int] = {}
        for turn, place in self._begins.items():
            if place < begin + len(data):
                cuts[max(0, place - begin)] = turn
        text, done = "", 0
        for place, turn in cuts.items():
            text += data[done:place].decode("utf-8", "replace")
            text += "\n" if text and not text.endswith("\n") else ""
            text += f"[turn {turn}]\n"
            done = place
        return text + data[done:].decode("utf-8", "replace")
