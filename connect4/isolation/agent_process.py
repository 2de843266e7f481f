"""One agent's process from the referee's side: its messages, its output and its times.

The bytes from an agent's process are not trusted.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import socket
import struct
import sys
import time
from typing import Any, Final

from connect4.games.base import Seconds, State
from connect4.isolation.limits import MAX_LINE
from connect4.isolation.measuring import (
    Spent,
    Timed,
    busy_and_waited,
    own_wait,
    thread_states,
)
from connect4.isolation.protocol import STACK_SIGNAL, line_of
from connect4.isolation.reloaded import Log
from connect4.isolation.spawn import PATIENCE, Launcher, WardenGoneError

STACK_PATIENCE: Final = 0.05
"""Seconds that a process has to report its stack before it is killed."""

MAX_STACK: Final = 1 << 15
"""The maximum size of that report in bytes."""

STACK_ENDS: Final = (b'File "<string>", line 1 in <module>\n', b"\n  ...\n")
"""The end of a report by `faulthandler`: the frame of `BOOT`, or a mark for too many frames."""

STOP_PATIENCE: Final = 1.0
"""Seconds in which every thread of a process must stop; otherwise the process is ended."""

QUICK_LOOKS: Final = 20
"""The number of checks without a pause."""

LOOK_AGAIN: Final = 0.01
"""The minimum interval in seconds at which the processor time of a late agent is checked."""

PATIENT: Final = 5
"""A late agent may run for up to this many limits to get the processor time of one."""

MAX_ANSWER: Final = 1 << 27
"""The maximum length of an answer to `AgentProcess.call` in bytes."""

MAX_LISTS: Final = 2_100_000
MAX_VALUES: Final = 12_000_000
"""More than the tree of a search has: an empty list takes two bytes, and 64 once it is read."""

REQUEST_PATIENCE: Final = 1.0
"""Seconds to send a request. It fits into the buffer unless the agent left earlier ones unread."""


def is_large(text: str | bytes) -> bool:
    """Return whether JSON would take too much memory once it is read."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
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
        self._waited = 0.0
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

    def send(self, message: dict[str, Any], patience: Seconds = PATIENCE) -> None:
        """Send one line within `patience` seconds; raises `ProcessEndedError`."""
        try:
            self._messages.settimeout(patience)
            self._messages.sendall(line_of(message))
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
            self._waited = own_wait()
            left = None if deadline == math.inf else deadline - time.monotonic()
            answered = [key.data() for key, _ in self._selector.select(left)]
            if not any(answered) and time.monotonic() >= deadline:
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

    def woken_late(self) -> Seconds:
        """Return how long this thread waited for a processor since `receive` last went to sleep.

        Earlier waits do not count, because an agent can wake the referee at will by printing.
        """
        return own_wait() - self._waited

    def close(self) -> None:
        """Read the last output and close this end."""
        self._selector.close()
        self.hear_prints()
        self._messages.close()
        self._prints.close()


class AgentProcess:
    """One agent's process, whose group can be stopped, measured and killed."""

    def __init__(self, launcher: Launcher, log: Log) -> None:
        """Start the process; raises `WardenGoneError`."""
        self.pid = 0
        """The number of the process, 0 before it has sent anything."""
        self._stack, stack = os.pipe()
        if sys.platform != "win32":
            os.set_blocking(self._stack, False)
        self.channel = Channel(log, launcher.control)
        try:
            launcher.start(*self.channel.far_ends, stack)
        except BaseException:  # also on Ctrl-C, so that no process stays behind
            self.close()
            raise
        finally:
            for end in self.channel.far_ends:
                end.close()
            os.close(stack)

    def ask(self, state: State, limit: Seconds | None, loading: Seconds, margin: Seconds) -> Timed:
        """Request a move; return the answer and the times of the turn.

        `loading` of the turn's time has passed already. A process without an answer `margin`
        seconds after the limit keeps running until it is killed, so that it can report its stack.
        """
        before, own_busy, sent = self.spent(), time.thread_time(), 0.0
        line, ended, rests = None, False, True
        left = None if limit is None else limit - loading
        deadline = math.inf if left is None else left + margin
        began = time.monotonic()
        try:
            request = {"state": state.to_json(), "seconds": left}
            self.channel.send(request, REQUEST_PATIENCE)
            began = time.monotonic()
            self._signal("SIGCONT")
            sent = time.monotonic() - began
            line = self.channel.receive(began + deadline)
        except (NoAnswerError, ProcessEndedError) as end:
            ended = isinstance(end, ProcessEndedError)
        took = time.monotonic() - began
        own_busy, woken = time.thread_time() - own_busy, self.channel.woken_late()
        if line is not None:
            rests = self.stop()
        after = self.spent()  # including the kernel's remaining work for it
        busy = max(0.0, after.busy - before.busy)
        waited = after.waited_since(before, woken - own_busy)
        timed = Timed(took, busy, sent + woken, waited, loading, False, line, ended, rests)
        if line is None and not ended and left is not None and timed.starved:
            timed = timed._replace(used_up=self._uses_up(before.busy, timed, left))
        return timed

    def call(self, method: str, state: State, seconds: Seconds) -> bytes:
        """Call a method of an `AIPlayer` other than for a move; return the line of its answer.

        Raises `NoAnswerError` or `ProcessEndedError`.
        """
        self.channel.send({"state": state.to_json(), "method": method})
        self._signal("SIGCONT")
        return self.channel.receive(time.monotonic() + seconds, MAX_ANSWER)

    def _uses_up(self, busy: Seconds, timed: Timed, limit: Seconds) -> bool:
        """Return whether a late agent used its whole limit itself, running or idle.

        It runs on until it has an answer or ends, has been on a processor for the limit (since its
        process was `busy` that long), or has had `PATIENT` times the limit.
        """
        before, began, woken, answered = self.spent(), time.monotonic(), 0.0, False
        deadline = began + PATIENT * limit
        while not answered and (now := time.monotonic()) < deadline:
            missing = busy + limit - self.spent().busy
            if missing <= 0:
                return True
            try:
                self.channel.receive(min(deadline, now + max(missing, LOOK_AGAIN)))
                answered = True
            except NoAnswerError:
                pass
            except ProcessEndedError:
                return True
            woken += self.channel.woken_late()
        more = Timed(time.monotonic() - began, waited=self.spent().waited_since(before, woken))
        return timed.own + more.own > limit

    def stop(self) -> bool:
        """Stop the agent, read its output; return False if a thread runs for `STOP_PATIENCE` more.

        The kernel first completes the current call of a thread, which may take long. Threads are
        checked on Linux only.
        """
        self._signal("SIGSTOP")
        end, looks = time.monotonic() + STOP_PATIENCE, 0
        while any(state not in "TtZX" for state in thread_states(self.pid)):
            if time.monotonic() > end:
                return False
            looks += 1
            if looks < QUICK_LOOKS:
                os.sched_yield()
            else:
                time.sleep(0.0002)
        self.channel.hear_prints()
        return True

    def is_alive(self) -> bool:
        """Return whether the process exists and is not a zombie, as far as Linux reports it."""
        return self.pid > 0 and next(thread_states(self.pid), "X") not in "ZX"

    def outlives(self, seconds: Seconds) -> bool:
        """Return whether a killed process still exists after that many seconds."""
        end = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() > end:
                return True
            time.sleep(0.01)
        return False

    def stack(self) -> bytes:
        """Return the stack of a process, as the process itself reports it before it is killed.

        The report is not trustworthy, and may be empty, because an agent can ignore the signal. The
        wait is at most `STACK_PATIENCE`.
        """
        number = STACK_SIGNAL
        if number is None or not self.pid:
            return b""
        said = bytearray()
        with contextlib.suppress(OSError), selectors.DefaultSelector() as ready:
            ready.register(self._stack, selectors.EVENT_READ)
            if ready.select(0):
                os.read(self._stack, MAX_STACK)  # discard an unrequested report
            os.kill(self.pid, number)
            self._signal("SIGCONT")  # it may have stopped itself
            end = time.monotonic() + STACK_PATIENCE
            while len(said) < MAX_STACK and not said.endswith(STACK_ENDS):
                if not ready.select(end - time.monotonic()):
                    break
                data = os.read(self._stack, MAX_STACK)
                if not data:
                    break
                said += data
        return bytes(said)

    def kill(self) -> None:
        """Kill its process group; `Launcher.end` handles the rest."""
        self._signal("SIGKILL")

    def _signal(self, name: str) -> None:
        """Send a signal to its process group, if the system has that signal."""
        number = getattr(signal, name, None)
        if self.pid and number is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def spent(self) -> Spent:
        """Return the processor times of its process; zeros if the system does not report them."""
        if sys.platform == "linux" and self.pid:
            with contextlib.suppress(OSError):
                main_busy, main_waited = busy_and_waited(str(self.pid))
                return Spent(time.clock_gettime(~self.pid << 3 | 2), main_busy, main_waited)
        return Spent()

    def close(self) -> None:
        """Close this end; its `Launcher` ends the process."""
        self.channel.close()
        with contextlib.suppress(OSError):
            os.close(self._stack)
            self._stack = -1
