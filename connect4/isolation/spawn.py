"""Start and end agents' processes, from the referee's side.

A `Warden` is a process of the kit that forks agents' processes. On a system that cannot fork, a
`DirectLauncher` starts each process from scratch. `process` uses them.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from connect4.errors import IsolationError
from connect4.isolation import machine
from connect4.isolation import worker as _compiled  # noqa: F401  # see `machine.worker_files`
from connect4.isolation.protocol import END, RULES, START, STATUS

PATIENCE: Final = 20.0
"""Seconds for steps that no agent can slow down, such as the start of a process."""

DEATH_PATIENCE: Final = 10.0
"""Seconds after which a killed process has ended, unless the kernel cannot end it."""

BOOT: Final = (
    "import gc, sys; sys.path[:] = [sys.argv[1], *sys.path, *sys.argv[2].splitlines()]; "
    "gc.disable(); "
    "kept = [__import__(name) for name in sys.argv[4].split()] and [*sys.modules]; gc.freeze(); "
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
    """The warden has closed the connection, because the seat was closed or something killed it."""

    def __init__(self, text: str = "the process that starts agents has ended") -> None:
        super().__init__(text)


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
    kit = str(machine.KIT.parent)
    options = ["-P"] if folders is None else ["-P", "-S"]
    words = [kit, "\n".join(folders or ()), handle, first, game, *modules, label]
    return [str(machine.PYTHON), *options, "-c", BOOT, *words]


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
        memory_bytes: int,
        folder: Path | None,
    ) -> None:
        """Start it, with the game's rules and `modules` loaded once for all its forks.

        `allowed` are the modules that a submission may import; None for an agent of the kit.
        Modules in `folder` are readable and can be imported. Raises `IsolationError`.
        """
        files = None if allowed is None else machine.worker_files(allowed)
        plain = machine.needs_no_package(allowed) and sys.platform == "linux"
        folders = machine.package_folders() if plain else None
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE)
        self.number = secrets.randbelow(SLOTS)
        self._group = machine.memory_group(memory_bytes)
        self.group = self._group if strong else None
        """The memory group that each fork has yet to join."""
        command = _command(str(theirs.fileno()), allowed, game, modules, folders)
        try:
            if strong:
                command = [*machine.bubblewrap(files, machine.importable(folder)), *command]
            rules = machine.rules(allowed, folder)
            self._process = _run(command, theirs.fileno())
            if not strong:  # takes milliseconds, in which it loads Python; its forks are members
                machine.join_group(self._group, self._process.pid)
        except OSError as error:
            self.control.close()
            machine.leave_group(self._group)
            raise IsolationError(f"no process can be started: {error}") from None
        finally:
            theirs.close()
        with contextlib.suppress(OSError):  # it has ended; `start` will detect that
            if rules is None:
                self.control.sendall(RULES)
            else:
                socket.send_fds(self.control, [RULES], [rules])

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

    def hang_up(self) -> None:
        """End every wait now; another thread may call this."""
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
        machine.leave_group(self._group)
        lines = self._said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _run(command: list[str], handle: int) -> subprocess.Popen[bytes]:
    """Start a warden that keeps this handle open; raises `OSError`."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        env=agent_environment(),
        pass_fds=[handle],
        start_new_session=True,  # only the referee receives Ctrl-C from the terminal
    )


class DirectLauncher:
    """Starts each agent's process from scratch, on a system without `fork` (Windows)."""

    control = None
    number = 0
    group = None

    def __init__(self, game: str, allowed: tuple[str, ...] | None) -> None:
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
        self.end()

    def close(self) -> str:
        self.end()
        return ""


Launcher: TypeAlias = Warden | DirectLauncher
"""Starts agents' processes, one at a time."""
