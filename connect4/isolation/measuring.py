"""What the referee measures of an agent: time, process, loading, output.

Times that an agent's process reports are not used.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final, NamedTuple

from connect4.games.base import Seconds, State
from connect4.isolation.limits import Limits
from connect4.isolation.protocol import setup_to_json
from connect4.players.base import PlayerLeftError, Reply, Setup
from connect4.players.names import student_file


class KeptFile:
    """A file of the kernel that stays open."""

    def __init__(self, path: str) -> None:
        self._handle = -1
        with contextlib.suppress(OSError):  # no such process
            self._handle = os.open(path, os.O_RDONLY)

    def fields(self) -> list[str]:
        """Return its current words; for a `stat` file, only those after the name.

        Raises `OSError`.
        """
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
                    path = f"/proc/{self.pid}/task/{thread}/stat"
                    with contextlib.suppress(OSError), contextlib.closing(KeptFile(path)) as file:
                        yield file.fields()[0]  # unless it has ended

    def close(self) -> None:
        """Close the files."""
        self.times.close()
        self._state.close()


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
    with open("/proc/thread-self/stat", encoding="latin-1") as file:
        return int(file.read().rpartition(")")[2].split()[36])


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
    """The time for reloading an agent in a game; planned starts do not count."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.reload_seconds
        self.free = False
        """Whether the next reload does not count, because the machine caused it."""

    def allowed(self) -> Seconds:
        """Return the time limit of the next reload."""
        start = self._limits.start_seconds
        return start if self.free else min(start, self._left)

    def add(self, seconds: Seconds) -> None:
        """Add the time of a reload, unless it is free."""
        self._left -= 0.0 if self.free else seconds
        self.free = False

    @property
    def used_up(self) -> str | None:
        """Why the agent is not reloaded; None if it may be."""
        if self.free or self._left > TOO_LITTLE:
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


class ReloadedSeat(ABC):
    """A seat whose agent runs apart from the referee, and is reloaded after a failure.

    It is reloaded outside the clock, as far as `Reloads` allows. With `lifetime` move it is loaded
    for each turn, and long loading counts on the clock. An agent that could not be loaded at first
    has a `load_failure` and fails on every turn; a later failure costs one turn. If another thread
    closes the seat, the current turn raises `PlayerLeftError`.
    """

    left_behind: int | None = None
    """The number of a process that was killed but has not ended."""

    def __init__(self, setup: Setup, limits: Limits, lifetime: str) -> None:
        self._game = setup.game
        self._setup = setup_to_json(setup)
        source = self._setup["source"]
        self._source = None if source is None else source.encode("latin-1")
        self._name = setup.agent.kind if source is None else student_file(setup.agent).name
        self._limits = limits
        self._lifetime = lifetime
        self._reloads = Reloads(limits)
        self._log = Log(limits.log_bytes)
        self._asking = threading.RLock()
        self._closed = self._never_loaded = False
        self.load_failure: str | None = None

    def _load_first(self) -> None:
        try:
            self._start(self._limits.start_seconds)
        except BaseException:  # also on Ctrl-C, so that nothing of the agent is left
            self.close()
            raise
        self._never_loaded = self.load_failure is not None

    @property
    def log(self) -> str:
        """The output of the agent so far; see `Log`."""
        return self._log.text()

    def begin_turn(self, number: int) -> None:
        self._log.begin_turn(number)

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply to a request with a time limit, or with none.

        Raises `PlayerLeftError` if the seat is closed, `IsolationError` if the machine fails.
        """
        with self._asking:
            try:
                if not self._closed:
                    return self._ask(state, seconds)
            except Exception:
                if not self._closed:
                    self.close()
                    raise
            except BaseException:  # on Ctrl-C: this request must not be answered later
                self._end()
                raise
        raise PlayerLeftError("the seat was closed")

    def _load_again(self) -> Seconds:
        """Load the agent, or note why it is not loaded; return the time that the turn pays."""
        self.load_failure = None
        if self._lifetime == "move":
            return max(0.0, self._start(self._limits.start_seconds) - FREE_LOADING)
        self.load_failure = self._reloads.without_player
        if self.load_failure is None:
            self._reloads.add(self._start(self._reloads.allowed()))
            if self.load_failure is not None and self._reloads.without_player is not None:
                self.load_failure = f"{self._reloads.without_player}\n{self.load_failure}"
        return 0.0

    def _memory_gone(self) -> list[str]:
        """Return the note for the author of an agent that is about to be reloaded."""
        if self._source is None or self._lifetime == "move":
            return []
        return [self._reloads.after_loss]

    @abstractmethod
    def _ask(self, state: State, seconds: Seconds | None) -> Reply: ...

    @abstractmethod
    def _start(self, limit: Seconds) -> Seconds:
        """Load the agent, or note why that failed; return the time it took."""

    @abstractmethod
    def _end(self) -> object:
        """End the agent, if it is loaded."""

    @abstractmethod
    def close(self) -> None:
        """End everything, even during a turn that another thread waits for."""


MARK: Final = re.compile(rb"^\[turn [0-9]+\]\n", re.MULTILINE)


class Log:
    """The first and the last half of a limited output; the bytes in between are counted.

    A line `[turn 7]` precedes the output of turn 7, if `begin_turn` was called. It also precedes
    the last half, if that begins within the output of turn 7.
    """

    def __init__(self, limit: int) -> None:
        self._room = limit // 2
        self._first = bytearray()
        self._last = bytearray()
        self._left_out = 0
        self._mark = self._last_mark = b""

    def begin_turn(self, number: int) -> None:
        """Mark what follows as the output of that turn."""
        self._mark = b"[turn %d]\n" % number

    def add(self, data: bytes) -> None:
        """Append output; keep its beginning and its end."""
        if data and self._mark:
            before = self._last or self._first
            line_end = b"\n" if before and not before.endswith(b"\n") else b""
            data, self._mark = line_end + self._mark + data, b""
        room = self._room - len(self._first)
        self._first += data[:room]
        self._last += data[room:]
        if len(self._last) > 2 * self._room:  # not each time, because it moves the bytes
            self._drop()

    def _drop(self) -> None:
        """Drop all but the end of the last half."""
        surplus = max(0, len(self._last) - self._room)
        marks = MARK.findall(self._last[:surplus])
        self._last_mark = marks[-1] if marks else self._last_mark
        self._left_out += surplus
        del self._last[:surplus]

    def text(self) -> str:
        """Return the stored output, and how much was dropped."""
        self._drop()
        first, last = self._first, self._last
        if not self._left_out:
            return (first + last).decode("utf-8", "replace")
        middle = b"\n... (%d bytes left out)\n%s" % (self._left_out, self._last_mark)
        return (first + middle + last).decode("utf-8", "replace")
