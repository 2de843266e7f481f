"""What the referee hears of an agent's process, and what it measures: messages, output, times.

The bytes from an agent's process are not trusted, and times that it reports are not used.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import socket
import struct
import sys
import time
from enum import Enum
from typing import Final, NamedTuple

from connect4.games.base import Seconds
from connect4.isolation.protocol import MAX_LINE
from connect4.isolation.spawn import PATIENCE, WardenGoneError


def words(path: str) -> list[str]:
    """Return the words of a file in `/proc`; for a `stat` file, only those after the name.

    Raises `OSError`.
    """
    handle = os.open(path, os.O_RDONLY)  # half of what `open` takes
    try:
        return os.read(handle, 4096).decode("latin-1").rpartition(")")[2].split()
    finally:
        os.close(handle)


def own_wait() -> Seconds:
    """Return how long this thread has waited for a processor; 0 if the system does not say so."""
    with contextlib.suppress(OSError):
        return int(words("/proc/thread-self/schedstat")[1]) / 1e9
    return 0.0


def thread_states(pid: int) -> str:
    """Return the state letters of the threads of a process; none if it has ended."""
    states = ""
    with contextlib.suppress(OSError):
        main = words(f"/proc/{pid}/stat")
        states = main[0]
        if main[17] != "1":  # the number of threads
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):  # unless it has ended
                    states += words(f"/proc/{pid}/task/{thread}/stat")[0]
    return states


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


class End(Enum):
    """What became of an agent in a turn."""

    RESTS = "it answered, and may be asked again"
    LAST = "it answered, and may not be asked again"
    RUNS_ON = "it answered, and a thread of it ran on"
    LATE = "it did not answer in time"
    STARVED = "the machine was too busy for it to answer in time"
    GONE = "it ended in place of an answer"


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
    end: End = End.LATE
    line: bytes = b""
    """The line with the answer, if there is one."""

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
        return self.waited > max(STARVED_SECONDS, STARVED_PART * self.wall)

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


MAX_LISTS: Final = 2_100_000
MAX_VALUES: Final = 12_000_000
"""More than the tree of a search has: an empty list takes two bytes, and 64 once it is read."""


def is_large(data: bytes) -> bool:
    """Return whether JSON would take too much memory once it is read."""
    return data.count(b"[") + data.count(b"{") > MAX_LISTS or data.count(b",") > MAX_VALUES


class NoAnswerError(Exception):
    """No line arrived before the deadline."""


class ProcessEndedError(Exception):
    """The agent's process has closed the connection."""


class Channel:
    """The referee's ends of both connections; `far_ends` are for the agent's process.

    `warden` is the connection to the process that starts agents, if there is one.
    """

    def __init__(self, log: Log, warden: socket.socket | None) -> None:
        self.sender = 0
        """The process that sent the first message, as the kernel reports it (Linux); 0 before."""
        self._log = log
        self._buffer = bytearray()
        self.waited_before = 0.0
        """How long this thread had waited for a processor when `receive` last went to sleep."""
        self._messages, messages = socket.socketpair()
        self._prints, prints = socket.socketpair()
        self.far_ends = messages, prints
        self._selector = selectors.DefaultSelector()
        if sys.platform == "linux":  # so that the kernel reports the sender's process number
            self._messages.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._messages.settimeout(PATIENCE)
        self._prints.setblocking(False)
        if sys.platform != "win32":  # read out-of-band data in line; it would block the reader
            for end in (self._messages, self._prints):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        self._selector.register(self._messages, selectors.EVENT_READ, self._hear)
        self._selector.register(self._prints, selectors.EVENT_READ, self.hear_prints)
        if warden is not None:
            self._selector.register(warden, selectors.EVENT_READ, self._hear_warden)

    def send(self, message: bytes, patience: Seconds = PATIENCE) -> None:
        """Send a message within `patience` seconds; raises `ProcessEndedError`."""
        try:
            self._messages.settimeout(patience)
            self._messages.sendall(message)
        except OSError:
            raise ProcessEndedError from None

    def receive(self, deadline: Seconds, most: int = MAX_LINE) -> bytes:
        """Return the next line without its end, or more than `most` bytes if there is none.

        `deadline` is a time of `time.monotonic`, or infinite. Raises `NoAnswerError`,
        `ProcessEndedError` or `WardenGoneError`.
        """
        searched = 0
        while True:
            end = self._buffer.find(b"\n", searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line
            searched = len(self._buffer)
            if searched > most:
                return bytes(self._buffer)
            self.waited_before = own_wait()
            left = None if deadline == math.inf else deadline - time.monotonic()
            answered = False
            for key, _ in self._selector.select(left):
                answered |= key.data() is True
            if not answered and time.monotonic() >= deadline:
                raise NoAnswerError

    def _hear(self) -> bool:
        data = b""
        with contextlib.suppress(OSError):
            if self.sender or sys.platform != "linux":
                data = self._messages.recv(MAX_LINE)
            else:
                data, notes, _, _ = self._messages.recvmsg(MAX_LINE, socket.CMSG_SPACE(12))
                self.sender = next((struct.unpack("=3i", sent)[0] for _, _, sent in notes), 0)
        if not data:
            raise ProcessEndedError
        self._buffer += data
        return True

    def hear_prints(self) -> None:
        """Read the output so far, without waiting for more."""
        with contextlib.suppress(OSError, KeyError):  # nothing more; it was closed before
            for _ in range(20):  # limited, as in `drain`, but more than the kernel keeps
                data = self._prints.recv(MAX_LINE)
                if not data:
                    self._selector.unregister(self._prints)
                    break
                self._log.add(data)

    def _hear_warden(self) -> bool:
        raise WardenGoneError

    def drain(self) -> None:
        """Discard unrequested messages; raises `ProcessEndedError` or `WardenGoneError`."""
        for _ in range(1000):  # limited, because not all systems can stop the agent
            ready = self._selector.select(0)
            for key, _ in ready:
                key.data()
            self._buffer.clear()
            if not ready:
                break

    def close(self) -> None:
        """Read the last output and close this end."""
        self._selector.close()
        self.hear_prints()
        self._messages.close()
        self._prints.close()


class Log:
    """The first and the last half of a limited output; the bytes in between are counted.

    A line `[turn 7]` precedes the output of turn 7, if `begin_turn` was called.
    """

    def __init__(self, limit: int) -> None:
        self._room = limit // 2
        self._first = bytearray()
        self._last = bytearray()
        self._left_out = 0
        self._mark = b""

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
        self._left_out += surplus
        del self._last[:surplus]

    def text(self) -> str:
        """Return the stored output, and how much was dropped."""
        self._drop()
        first, last = self._first, self._last
        if not self._left_out:
            return (first + last).decode("utf-8", "replace")
        middle = b"\n... (%d bytes left out)\n" % self._left_out
        return (first + middle + last).decode("utf-8", "replace")
