"""Agents' processes as the referee starts, hears and ends them.

A `Warden` is a process of the kit that forks agents' processes. On a system that cannot fork, a
`DirectLauncher` starts each process from scratch. A `Channel` has the messages and the output of a
process, which are not trusted. `process` uses them.
"""

import base64
import contextlib
import math
import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from connect4.errors import IsolationError
from connect4.games.base import Seconds
from connect4.isolation import machine
from connect4.isolation import worker as _compiled  # noqa: F401  # see `machine.worker_files`
from connect4.isolation.levels import Log, own_wait
from connect4.isolation.protocol import END, MAX_LINE, RULES, START, STATUS

PATIENCE: Final = 20.0
"""Seconds for steps that no agent can slow down, such as the start of a process."""

DEATH_PATIENCE: Final = 10.0
"""Seconds after which a killed process has ended, unless the kernel cannot end it."""

BOOT: Final = (
    "import gc, sys; sys.path.insert(0, sys.argv[1]); gc.disable(); "
    "kept = [__import__(name) for name in sys.argv[3].split()] and [*sys.modules]; gc.freeze(); "
    "from connect4.isolation import worker; worker.main(sys.argv, kept)"
)
"""Imports the modules that a submission may use first: all modules loaded by then may stay.

They are frozen, so that a later garbage collection does not traverse all of numpy. With `disable`
and `freeze` a start takes 118 to 124 ms of processor time, without them 133 to 147.
"""

SLOTS: Final = 100_000_000

FORKS: Final = hasattr(os, "fork")

KEPT_VARIABLES: Final = (
    *("PATH", "HOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP"),
    *("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
)
SET_VARIABLES: Final = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "PYTHONIOENCODING": "utf-8:backslashreplace",
    "MALLOC_ARENA_MAX": "1",  # an arena per thread would take 64 MB of address space
    **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "BLIS", "NUMEXPR")},
    "VECLIB_MAXIMUM_THREADS": "1",
}


class WardenGoneError(IsolationError):
    """The warden has closed the connection: something killed it."""

    def __init__(self, text: str = "the process that starts agents has ended") -> None:
        super().__init__(text)


def agent_environment() -> dict[str, str]:
    """Return an agent's environment variables: only those that Python needs."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    numeric = str(Path(np.__file__).parent.parent)
    if numeric in folders:
        kept["PYTHONPATH"] = os.path.realpath(numeric)
    return kept | SET_VARIABLES


def _command(
    handle: str, allowed: tuple[str, ...] | None, game: str, modules: Sequence[str] = ()
) -> list[str]:
    """Return Python's command; its last word is a label for people who list processes."""
    first = "" if allowed is None else " ".join(("connect4", *allowed))
    label = f"connect4 agent of {os.getpid()}"
    words = [str(machine.KIT.parent), handle, first, game, *modules, label]
    return [str(machine.PYTHON), "-P", "-c", BOOT, *words]


class Warden:
    """A process of the kit, inside bubblewrap if necessary, that forks agents' processes.

    `number` is random and in practice unique. A process number would tell agents how many processes
    the machine has started.
    """

    _said = b""
    """Its output on standard error."""
    _patience = DEATH_PATIENCE
    """Seconds to wait for its end."""

    def __init__(
        self,
        strong: bool,
        game: str,
        modules: Sequence[str],
        allowed: tuple[str, ...] | None,
        folder: Path | None,
    ) -> None:
        """Start it, with the game's rules and `modules` loaded once for all its forks.

        `allowed` are the modules that a submission may import; None for an agent of the kit.
        Modules in `folder` are readable and can be imported. Raises `IsolationError`.
        """
        files = None if allowed is None else machine.worker_files(allowed)
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE)
        self.number = secrets.randbelow(SLOTS)
        command = _command(str(theirs.fileno()), allowed, game, modules)
        try:
            if strong:
                command = [*machine.bubblewrap(files, machine.importable(folder)), *command]
            rules = machine.rules(allowed, folder)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd="/",
                env=agent_environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # only the referee receives Ctrl-C from the terminal
            )
        except OSError as error:
            self.control.close()
            raise IsolationError(f"no process can be started: {error}") from None
        finally:
            theirs.close()
        with contextlib.suppress(OSError):  # it has ended; `start` will detect that
            if rules is None:
                self.control.sendall(RULES)
            else:
                socket.send_fds(self.control, [RULES], [rules])

    def start(self, messages: socket.socket, prints: socket.socket) -> None:
        """Fork an agent's process that has these ends; the caller closes its own copies."""
        try:
            socket.send_fds(self.control, [START], [messages.fileno(), prints.fileno()])
        except OSError:
            raise WardenGoneError from None

    def end(self) -> int:
        """End the process and all that it started; return its status as `subprocess` does.

        Raises `TimeoutError` if that takes too long; only `close` may be called then.
        """
        try:
            self.control.settimeout(DEATH_PATIENCE)
            self.control.sendall(END)
            answer = self.control.recv(STATUS.size, socket.MSG_WAITALL)
        except TimeoutError:
            self._patience = 0.5
            raise
        except OSError:
            raise WardenGoneError from None
        if len(answer) < STATUS.size:
            raise WardenGoneError
        status: int = STATUS.unpack(answer)[0]
        return status

    def close(self) -> str:
        """End everything; return the last line of the warden's errors, if any."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)
        self.control.close()
        if self._process.returncode is None:
            try:
                self._process.wait(self._patience)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(self._patience)
            assert self._process.stderr is not None
            with self._process.stderr as stream:
                if self._process.returncode is not None:
                    self._said = stream.read()
        lines = self._said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


class DirectLauncher:
    """Starts each agent's process from scratch, on a system without `fork` (Windows)."""

    control = None
    number = 0

    def __init__(self, game: str, allowed: tuple[str, ...] | None) -> None:
        self._game = game
        self._allowed = allowed
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, messages: socket.socket, prints: socket.socket) -> None:
        shares = hasattr(messages, "share")
        self._process = subprocess.Popen(
            _command("shared", self._allowed, self._game),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=agent_environment(),
            pass_fds=() if shares else [messages.fileno(), prints.fileno()],
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            for end in (messages, prints):
                word = (
                    base64.b64encode(end.share(self._process.pid))  # type: ignore[attr-defined]
                    if shares
                    else str(end.fileno()).encode()
                )
                stream.write(word + b"\n")

    def end(self) -> int:
        if self._process is None:
            return 0
        self._process.kill()
        return self._process.wait()

    def close(self) -> str:
        self.end()
        return ""


# -- what a process says

MAX_STACK: Final = 1 << 18
"""The maximum size of the output with a report of a stack in bytes."""

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

    def read_stack(self, ends: tuple[bytes, ...], seconds: Seconds) -> bytes:
        """Return what is printed from now on, up to one of `ends` or for `seconds` at most.

        It is not added to the log.
        """
        said, deadline = bytearray(), time.monotonic() + seconds
        with contextlib.suppress(OSError), selectors.DefaultSelector() as ready:
            ready.register(self._prints, selectors.EVENT_READ)
            while len(said) < MAX_STACK and not any(end in said for end in ends):
                if not ready.select(deadline - time.monotonic()):
                    break
                data = self._prints.recv(MAX_LINE)
                if not data:
                    break
                said += data
        return bytes(said)

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
