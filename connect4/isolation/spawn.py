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
"""Seconds in which a process that was killed is dead, unless the kernel cannot end it."""

BOOT: Final = (
    "import gc, sys; sys.path[:] = [sys.argv[1], *sys.path, *sys.argv[2].splitlines()]; "
    "gc.disable(); "
    "kept = [__import__(name) for name in sys.argv[4].split()] and [*sys.modules]; gc.freeze(); "
    "from connect4.isolation import worker; worker.main(sys.argv, kept)"
)
"""Loads what a submission may import before anything else: all that is there then may stay.

It is frozen, so that what is collected later is found without a walk through all of numpy.
"""

STACK_PATIENCE: Final = 0.05
"""Seconds that a process which is to be killed has got to say where its code is."""

MAX_STACK: Final = 1 << 15
"""Bytes of that which are read."""

STACK_ENDS: Final = (b'File "<string>", line 1 in <module>\n', b"\n  ...\n")
"""How `faulthandler` ends: with the frame of `BOOT`, or where there are too many."""

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
    "MALLOC_ARENA_MAX": "1",  # each thread's own one would take 64 MB of the address space
    **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "BLIS", "NUMEXPR")},
    "VECLIB_MAXIMUM_THREADS": "1",
}

STOP_PATIENCE: Final = 1.0
"""Seconds in which every thread of a process is stopped, or the process is ended."""

QUICK_LOOKS: Final = 20
"""So often that is examined without a pause."""


class ProcessStuckError(Exception):
    """A process that was killed does not end: the kernel waits for something."""


def agent_environment() -> dict[str, str]:
    """Return what an agent may know of the referee's environment: nothing but Python's needs."""
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
    """Return Python's command; the last word tells a person who looks at the processes.

    With `folders`, those of installed packages, Python does not look for such folders itself
    (`-S`): that takes a tenth of the time of a start, and more where packages hook into it.
    """
    first = "" if allowed is None else " ".join(("connect4", *allowed))
    label = f"connect4 agent of {os.getpid()}"
    kit = str(readable.KIT.parent)
    options = ["-P"] if folders is None else ["-P", "-S"]
    words = [kit, "\n".join(folders or ()), handle, first, game, *modules, label]
    return [str(readable.PYTHON), *options, "-c", BOOT, *words]


class Warden:
    """A process of the kit's own, perhaps inside bubblewrap, that forks agents' processes.

    `number` is random and in practice unique; a process number would tell agents
    how many processes the machine has started.
    """

    _said = b""
    """What it wrote to its standard error."""
    _patience = DEATH_PATIENCE
    """Seconds in which it ends once it is told to."""

    def __init__(
        self,
        strong: bool,
        game: str,
        modules: Sequence[str],
        allowed: tuple[str, ...] | None = None,
        memory_bytes: int = Limits().memory_bytes,
        folder: Path | None = None,
    ) -> None:
        """Start it, with the game's rules and `modules` loaded once for all that it forks.

        Raises `IsolationError`.
        `allowed` are the modules that a submission may import; None for an agent of the kit's own.
        What can be imported from `folder` can be read too.
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
        """Send what agents may read, and the rules for it, which are closed here."""
        named = json.dumps(paths).encode()
        size = SIZE.pack(len(named))
        with contextlib.suppress(OSError):  # it has ended, which `start` will find out
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

        Raises `ProcessStuckError` where that takes too long; only `close` may be called then.
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
        """Put the warden, which is process `first`, and all that it forks into the group."""
        if self._group is not None and first is not None:
            self._group.add(first)  # takes milliseconds, in which the warden loads Python

    def _close_group(self) -> None:
        if self._group is not None:
            self._group.close()

    def hang_up(self) -> None:
        """Make whatever is waited for end now; may be called from another thread."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)

    def close(self) -> str:
        """Leave nothing behind; return the last line that the warden had to say, if any."""
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
        start_new_session=True,  # a Ctrl-C in the terminal is the referee's alone
    )


def _inside_bubblewrap(told: IO[bytes]) -> int | None:
    """Return the number of the process that bubblewrap started; None where there is none."""
    found = re.search(rb'"child-pid": *([0-9]+)', told.read())
    return None if found is None else int(found[1])


class DirectLauncher:
    """Starts each agent's process from nothing, where a system cannot fork (Windows)."""

    control = None
    number = 0

    def __init__(self, game: str, allowed: tuple[str, ...] | None = None) -> None:
        self._game = game
        self._allowed = allowed
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, channel: socket.socket, log: socket.socket, stack: int) -> None:
        """See `Warden.start`."""
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
        """See `Warden.end`."""
        if self._process is None:
            return 0
        self._process.kill()
        return self._process.wait()

    def hang_up(self) -> None:
        """See `Warden.hang_up`."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> str:
        """See `Warden.close`."""
        self.end()
        return ""


Launcher: TypeAlias = Warden | DirectLauncher
"""Where agents' processes come from, one at a time."""


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
        except BaseException:  # Ctrl-C too: no process stays behind
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
        """Take the number that the process gave, where the kernel has not given it."""
        self._pid = pid

    def stop(self) -> None:
        """Let no thread of the agent run on; `rests` has when that is so."""
        if STOPS:
            self._signal(signal.SIGSTOP)

    def rests(self) -> bool:
        """Wait until every thread is stopped; return whether that was so within `STOP_PATIENCE`.

        The kernel first completes the call that a thread has made, which may take long. Threads are
        examined on Linux alone.
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
        """Let it run again."""
        if STOPS:
            self._signal(signal.SIGCONT)

    def is_alive(self) -> bool:
        """Return whether the process exists and is no zombie, as far as Linux reports it."""
        return self.pid > 0 and next(self._files().states(), "X") not in "ZX"

    def outlives(self, seconds: Seconds) -> bool:
        """Return whether a process that was killed is still there after so long."""
        end = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() > end:
                return True
            time.sleep(0.01)
        return False

    def stack(self) -> bytes:
        """Return where the code of a process is, as the process reports it before it is killed.

        Nobody vouches for that, and there may be none: an agent can ignore the signal. The wait is
        `STACK_PATIENCE` at most, whatever is written.
        """
        number = STACK_SIGNAL
        if number is None or not self.pid:
            return b""
        said = bytearray()
        with contextlib.suppress(OSError), selectors.DefaultSelector() as ready:
            ready.register(self._stack, selectors.EVENT_READ)
            if ready.select(0):
                os.read(self._stack, MAX_STACK)  # written unasked
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
        """Kill its process group; `Launcher.end` has the rest."""
        if STOPS:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def spent(self) -> Spent:
        """Return what its process has had so far; zeros where the system does not say."""
        if sys.platform == "linux" and self.pid:
            with contextlib.suppress(OSError):
                main_busy, main_waited = self._files().times()
                return Spent(time.clock_gettime(~self.pid << 3 | 2), main_busy, main_waited)
        return Spent()

    def close(self) -> None:
        """Close this end; the process is ended by its `Launcher`."""
        self.channel.close()
        self._seen.close()
        with contextlib.suppress(OSError):
            os.close(self._stack)
            self._stack = -1
