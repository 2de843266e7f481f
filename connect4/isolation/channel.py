"""The lines between the referee and one agent's process: messages, and the agent's output.

The bytes from an agent's process are not trusted.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import socket
import struct
import sys
import time
from typing import Any, Final

from connect4.games.base import Seconds
from connect4.isolation.measuring import Log, OwnWait
from connect4.isolation.protocol import line_of

PATIENCE: Final = 20.0
"""Seconds for steps that no agent can slow down, such as the start of a process."""

REQUEST_PATIENCE: Final = 1.0
"""Seconds to send a request. It fits into the buffer unless the agent left earlier ones unread."""

MAX_LINE: Final = 1 << 16
"""The maximum length of an answer in bytes."""


class NoAnswerError(Exception):
    """No line arrived before the deadline."""


class ProcessEndedError(Exception):
    """The agent's process has closed the connection."""


class WardenGoneError(Exception):
    """The warden has closed the connection, because the seat was closed or something killed it."""


class Channel:
    """The referee's ends of both connections; `far_ends` are for the agent's process.

    `warden` is the connection to the process that starts agents, if there is one.
    """

    def __init__(self, log: Log, warden: socket.socket | None) -> None:
        self.sender = 0
        """The process that sent the first message, as the kernel reports it (Linux); 0 before."""
        self._log = log
        self._buffer = bytearray()
        self._own_wait = OwnWait()
        self._waited = 0.0
        self._messages, messages = socket.socketpair()
        self._prints, prints = socket.socketpair()
        self.far_ends = messages, prints
        self._selector = selectors.DefaultSelector()
        if sys.platform == "linux":  # so that the kernel reports the sender's process number
            self._messages.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._messages.settimeout(PATIENCE)
        if sys.platform != "win32":  # read out-of-band data in line; it would block the reader
            for end in (self._messages, self._prints):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        self._selector.register(self._messages, selectors.EVENT_READ, self._hear)
        self._selector.register(self._prints, selectors.EVENT_READ, self._hear_print)
        if warden is not None:
            self._selector.register(warden, selectors.EVENT_READ, self._hear_warden)

    def send(self, message: dict[str, Any], patience: Seconds = PATIENCE) -> None:
        """Send one line within `patience` seconds; raises `ProcessEndedError`."""
        try:
            self._messages.settimeout(patience)
            self._messages.sendall(line_of(message))
        except OSError:
            raise ProcessEndedError from None

    def receive(self, deadline: Seconds) -> bytes:
        """Return the next line without its end, or over `MAX_LINE` bytes without a line end.

        `deadline` is a time of `time.monotonic`, or infinite. Raises `NoAnswerError`,
        `ProcessEndedError` or `WardenGoneError`.
        """
        while True:
            line, end, rest = self._buffer.partition(b"\n")
            if end:
                self._buffer = rest
                return bytes(line)
            if len(self._buffer) > MAX_LINE:
                return bytes(self._buffer)
            self._waited = self._own_wait.seconds()
            left = None if deadline == math.inf else deadline - time.monotonic()
            answered = False
            for key, _ in self._selector.select(left):
                answered |= key.data()
            if not answered and time.monotonic() >= deadline:
                raise NoAnswerError

    def _hear(self) -> bool:
        try:
            if self.sender or sys.platform != "linux":
                data = self._messages.recv(MAX_LINE)
            else:
                data = self._hear_whose()
        except OSError:
            data = b""
        if not data:
            raise ProcessEndedError
        self._buffer += data
        return True

    def _hear_whose(self) -> bytes:
        """Return the first bytes and note which process sent them."""
        form = struct.Struct("=3i")
        data, notes, _, _ = self._messages.recvmsg(MAX_LINE, socket.CMSG_SPACE(form.size))
        for level, kind, value in notes:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                self.sender = form.unpack(value)[0]
        return data

    def _hear_print(self) -> bool:
        data = b""
        with contextlib.suppress(OSError):
            data = self._prints.recv(MAX_LINE)
        if data:
            self._log.add(data)
        else:
            self._selector.unregister(self._prints)
        return False

    def hear_prints(self) -> None:
        """Read the output so far, without waiting for more."""
        self._prints.setblocking(False)
        with contextlib.suppress(OSError):
            for _ in range(1000):  # limited, as in `drain`
                data = self._prints.recv(MAX_LINE)
                if not data:
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
        return self._own_wait.seconds() - self._waited

    def close_far_ends(self) -> None:
        """Close the ends that belong to the agent's process."""
        for end in self.far_ends:
            end.close()

    def close(self) -> None:
        """Read the last output and close this end."""
        self._selector.close()
        self._own_wait.close()
        self.hear_prints()
        self._messages.close()
        self._prints.close()
