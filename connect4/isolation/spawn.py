"""Start, stop, measure and end an agent's process, from the referee's side.

A `Warden` is a process of the kit that forks agents' processes. On a system that cannot fork, a
`DirectLauncher` starts each process from scratch. `channel` handles the lines to the process.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, TypeAlias

import numpy as np

from connect4.errors import IsolationError
from connect4.games.base import Seconds
from connect4.isolation import machine, readable, sandbox
from connect4.isolation.channel import PATIENCE, Channel, WardenGoneError
from connect4.isolation.limits import Limits, memory_group
from connect4.isolation.measuring import Log, ProcessFiles, Spent
from connect4.isolation.protocol import END, SIZE, STACK_SIGNAL, START, STATUS

DEATH_PATIENCE: Final = 10.0
"""Seconds after which a killed process has ended, unless the kernel cannot end it."""

BOOT: Final = (
    "import gc, sys; sys.path[:] = [sys.argv[1], *sys.path, *sys.argv[2].splitlines()]; "
    "gc.disable(); "
    "kept = [__import__(name) for name in sys.argv[4].split()] and [*sys.modules]; gc.freeze(); "
    "from connect4.isolation import worker; worker.main(sys.argv, kept)"
)
"""Imports the modules that a submission may use first: all modules loaded by then may stay.

They are frozen, so that a later garbage collection does not traverse all of numpy.
"""

STACK_PATIENCE: Final = 0.05
"""Seconds that a process has to report its stack before it is killed."""

MAX_STACK: Final = 1 << 15
"""The maximum size of that report in bytes."""

STACK_ENDS: Final = (b'File "<string>", line 1 in <module>\n', b"\n  ...\n")
"""The end of a report by `faulthandler`: the frame of `BOOT`, or a mark for too many frames."""

SLOTS: Final = 100_000_000

FORKS: Final = hasattr(os, "fork")
STOPS: Final = hasattr(signal, "SIGSTOP")

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

STOP_PATIENCE: Final = 1.0
"""Seconds in which every thread of a process must stop; otherwise the process is ended."""

QUICK_LOOKS: Final = 20
"""The number of checks without a pause."""


class ProcessStuckError(Exception):
    """A process that was killed has not ended, because the kernel waits for something."""


def agent_environment() -> dict[str, str]:
    """Return an agent's environment variables: only those that Python needs."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    numeric = str(Path(np.__file__).parent.parent)
    if numeric in folders:
        kept["PYTHONPATH"] = os.path.realpath(numeric)
    return kept | SET_VARIABLES


def _command(
    handle: str,
    allowed: tuple[str, ...] | None,
    game: str,
    modules: Sequence[str] = (),
    folders: Sequence[str] | None = None,
) -> list[str]:
    """Return Python's command; its last word is a label for people who list processes.

    With `folders`, those of installed packages, Python does not search for them itself (`-S`). The
    search takes a tenth of the start, and longer if packages hook into it.
    """
    first = "" if allowed is None else " ".join(("connect4", *allowed))
    label = f"connect4 agent of {os.getpid()}"
    kit = str(readable.KIT.parent)
    options = ["-P"] if folders is None else ["-P", "-S"]
    words = [kit, "\n".join(folders or ()), handle, first, game, *modules, label]
    return [str(readable.PYTHON), *options, "-c", BOOT, *words]


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
        allowed: tuple[str, ...] | None = None,
        memory_bytes: int = Limits().memory_bytes,
        folder: Path | None = None,
    ) -> None:
        """Start it, with the game's rules and `modules` loaded once for all its forks.

        `allowed` are the modules that a submission may import; None for an agent of the kit.
        Modules in `folder` are readable and can be imported. Raises `IsolationError`.
        """
        self._group = memory_group(memory_bytes)
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE)
        files = None if allowed is None else readable.worker_files(allowed)
        plain = allowed is not None and readable.needs_no_package(allowed)
        folders = readable.package_folders() if plain and sys.platform == "linux" else None
        others = () if folder is None else readable.importable(folder)
        paths = (*readable.readable(allowed), *map(str, others))
        command = _command(str(theirs.fileno()), allowed, game, modules, folders)
        number, inside = os.pipe()
        handles = [theirs.fileno()]
        if strong:
            program, *options = machine.bubblewrap(files, others)
            command = [program, "--info-fd", str(inside), *options, *command]
            handles.append(inside)
        made = None
        try:
            made = readable.handle(allowed) if folder is None else sandbox.rules(paths)
            self._process = _run(command, handles)
        except OSError as error:
            self.control.close()
            os.close(number)
            self._close_group()
            _close(made)
            raise IsolationError(f"no process can be started: {error}") from None
        finally:
            theirs.close()
            os.close(inside)
        with open(number, "rb") as told:
            self._limit_memory(_inside_bubblewrap(told) if strong else self._process.pid)
        self._tell(paths, made)
        self.number = secrets.randbelow(SLOTS)

    def _tell(self, paths: Sequence[str], made: int | None) -> None:
        """Send the readable paths and the rules for them, and close the rules here."""
        named = json.dumps(paths).encode()
        size = SIZE.pack(len(named))
        with contextlib.suppress(OSError):  # it has ended; `start` will detect that
            if made is None:
                self.control.sendall(size)
            else:
                socket.send_fds(self.control, [size], [made])
            self.control.sendall(named)
        _close(made)

    def start(self, channel: socket.socket, log: socket.socket, stack: int) -> None:
        """Fork an agent's process that has these handles; the caller closes its own copies."""
        try:
            socket.send_fds(self.control, [START], [channel.fileno(), log.fileno(), stack])
        except OSError:
            raise WardenGoneError from None

    def end(self) -> int:
        """End the process and all that it started; return its status as `subprocess` does.

        Raises `ProcessStuckError` if that takes too long; only `close` may be called then.
        """
        try:
            self.control.settimeout(DEATH_PATIENCE)
            self.control.sendall(END)
            answer = self.control.recv(STATUS.size, socket.MSG_WAITALL)
        except TimeoutError:
            self._patience = 0.5
            raise ProcessStuckError from None
        except OSError:
            raise WardenGoneError from None
        if len(answer) < STATUS.size:
            raise WardenGoneError
        status: int = STATUS.unpack(answer)[0]
        return status

    def _limit_memory(self, first: int | None) -> None:
        """Put the warden, which is process `first`, and all its forks into the group."""
        if self._group is not None and first is not None:
            self._group.add(first)  # takes milliseconds, while the warden loads Python

    def _close_group(self) -> None:
        if self._group is not None:
            self._group.close()

    def hang_up(self) -> None:
        """Make every wait end now; may be called from another thread."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)

    def close(self) -> str:
        """End everything; return the last line of the warden's errors, if any."""
        self.hang_up()
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
        self._close_group()
        lines = self._said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)


def _run(command: list[str], handles: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a warden that keeps these handles open; raises `OSError`."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        env=agent_environment(),
        pass_fds=handles,
        start_new_session=True,  # only the referee receives Ctrl-C from the terminal
    )


def _inside_bubblewrap(told: IO[bytes]) -> int | None:
    """Return the number of the process that bubblewrap started; None if there is none."""
    found = re.search(rb'"child-pid": *([0-9]+)', told.read())
    return None if found is None else int(found[1])


class DirectLauncher:
    """Starts each agent's process from scratch, on a system without `fork` (Windows)."""

    control = None
    number = 0

    def __init__(self, game: str, allowed: tuple[str, ...] | None = None) -> None:
        self._game = game
        self._allowed = allowed
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, channel: socket.socket, log: socket.socket, stack: int) -> None:
        shares = hasattr(channel, "share")
        self._process = subprocess.Popen(
            _command("shared", self._allowed, self._game),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=agent_environment(),
            pass_fds=() if shares else [channel.fileno(), log.fileno(), stack],
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            for end in (channel, log):
                word = (
                    base64.b64encode(end.share(self._process.pid))  # type: ignore[attr-defined]
                    if shares
                    else str(end.fileno()).encode()
                )
                stream.write(word + b"\n")
            stream.write(b"%d\n" % (-1 if shares else stack))

    def end(self) -> int:
        if self._process is None:
            return 0
        self._process.kill()
        return self._process.wait()

    def hang_up(self) -> None:
        if self._process is not None:
            self._process.kill()

    def close(self) -> str:
        self.end()
        return ""


Launcher: TypeAlias = Warden | DirectLauncher
"""Starts agents' processes, one at a time."""


class AgentProcess:
    """One agent's process, whose group can be stopped, measured and killed."""

    def __init__(self, launcher: Launcher, log: Log) -> None:
        """Start the process; raises `WardenGoneError`."""
        self._pid = 0
        self._seen = ProcessFiles(0)
        self._stack, stack = os.pipe()
        if STOPS:
            os.set_blocking(self._stack, False)
        self.channel = Channel(log, launcher.control)
        try:
            launcher.start(*self.channel.far_ends, stack)
        except BaseException:  # also on Ctrl-C, so that no process stays behind
            self.close()
            raise
        finally:
            self.channel.close_far_ends()
            os.close(stack)

    @property
    def pid(self) -> int:
        """The number of the process, 0 before it has sent anything."""
        return self.channel.sender or self._pid

    def known_as(self, pid: int) -> None:
        """Set the number that the process sent, if the kernel has not reported it."""
        self._pid = pid

    def stop(self) -> None:
        """Stop all threads of the agent; `rests` waits for that."""
        if STOPS:
            self._signal(signal.SIGSTOP)

    def rests(self) -> bool:
        """Wait until every thread is stopped; return False if that takes over `STOP_PATIENCE`.

        The kernel first completes the current call of a thread, which may take long. Threads are
        checked on Linux only.
        """
        if sys.platform != "linux":
            return True
        end, looks = time.monotonic() + STOP_PATIENCE, 0
        while any(state not in "TtZX" for state in self._files().states()):
            if time.monotonic() > end:
                return False
            looks += 1
            if looks < QUICK_LOOKS:
                os.sched_yield()
            else:
                time.sleep(0.0002)
        return True

    def _files(self) -> ProcessFiles:
        if self._seen.pid != self.pid:
            self._seen = ProcessFiles(self.pid)
        return self._seen

    def go(self) -> None:
        """Let the process continue."""
        if STOPS:
            self._signal(signal.SIGCONT)

    def is_alive(self) -> bool:
        """Return whether the process exists and is not a zombie, as far as Linux reports it."""
        return self.pid > 0 and next(self._files().states(), "X") not in "ZX"

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
            self.go()  # it may have stopped itself
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
        if STOPS:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def spent(self) -> Spent:
        """Return the processor times of its process; zeros if the system does not report them."""
        if sys.platform == "linux" and self.pid:
            with contextlib.suppress(OSError):
                main_busy, main_waited = self._files().times()
                return Spent(time.clock_gettime(~self.pid << 3 | 2), main_busy, main_waited)
        return Spent()

    def close(self) -> None:
        """Close this end; its `Launcher` ends the process."""
        self.channel.close()
        self._seen.close()
        with contextlib.suppress(OSError):
            os.close(self._stack)
            self._stack = -1
