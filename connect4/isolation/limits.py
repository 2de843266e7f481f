"""An agent's limits: time, memory, threads, files, printed text.

`MemoryGroup` is a control group (cgroup) that limits memory; root can create one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

MAX_LINE: Final = 1 << 16
"""The maximum length of an answer in bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one agent. Memory, files and descriptors are limits of one process."""

    start_seconds: float = 10.0
    """For loading the file and creating the player."""
    reload_seconds: float = 10.0
    """For all reloads in a game, unless each move has its own process."""
    margin_seconds: float = 0.005
    """Added to a move's time limit, for the measured time of communication."""
    memory_bytes: int = 1 << 30
    cpu_seconds: int = 3600
    """Processor time of one process, over all its turns."""
    tasks: int = 64
    """Threads; see `machine.tasks_of_user`."""
    file_bytes: int = 1 << 20
    open_files: int = 64
    log_bytes: int = 1 << 16
    """Maximum size of the agent's stored output."""


def impose(limits: Limits) -> None:
    """Set the limits of this process that the kernel enforces; raises `OSError`."""
    import resource  # not on Windows

    wanted = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 1,  # at 0 the kernel still starts a program that collects cores
        "RLIMIT_SIGPENDING": limits.tasks,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NPROC": limits.tasks,
    }
    for name, value in wanted.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        hard = resource.getrlimit(number)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        moves = name == "RLIMIT_NPROC"  # see `allow_tasks`; the filter denies it to agents
        try:
            resource.setrlimit(number, (allowed, hard if moves else allowed))
        except (OSError, ValueError):
            if sys.platform == "linux":  # macOS has limits that nobody can set
                raise


def allow_tasks(process: int, tasks: int) -> None:
    """Set how many threads the user of a process may run when that process starts one (Linux)."""
    import resource

    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):  # it has ended, or the system allows fewer
            hard = resource.prlimit(process, resource.RLIMIT_NPROC)[1]
            soft = tasks if hard == resource.RLIM_INFINITY else min(tasks, hard)
            resource.prlimit(process, resource.RLIMIT_NPROC, (soft, hard))


EXTRA_BYTES: Final = 256 << 20
"""What the warden and the kernel may need in addition to an agent's limit."""

NAME: Final = "connect4-"

_numbers = count()
_closed: set[Path] = set()


@cache
def hierarchy() -> Path | None:
    """Return the cgroup folder with a memory controller; None if we cannot use one."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            folder = Path(before.split()[4])
            if kind == "cgroup" and "memory" in options.split(","):
                return folder
            if kind == "cgroup2":
                controllers = (folder / "cgroup.subtree_control").read_text(encoding="ascii")
                if "memory" in controllers.split():
                    return folder
    return None


class MemoryGroup:
    """One control group; `add` puts a process into it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The group's folder in the file system of the kernel."""
        return self._folder

    def add(self, process: int) -> None:
        """Put a process into this group, with all that it starts from now on.

        A process that has ended is ignored.
        """
        with contextlib.suppress(OSError):
            (self._folder / "cgroup.procs").write_text(str(process), encoding="ascii")

    def close(self) -> None:
        """Remove the group; if one of its processes is still ending, a later call removes it."""
        try:
            self._folder.rmdir()
        except FileNotFoundError:
            _closed.discard(self._folder)
        except OSError:
            _closed.add(self._folder)
        else:
            _closed.discard(self._folder)


def memory_group(memory_bytes: int) -> MemoryGroup | None:
    """Return a new group for an agent with that much memory; None if none can be created."""
    parent = hierarchy()
    if parent is None:
        return None
    for left in _left_behind(parent):
        MemoryGroup(left).close()
    folder = parent / f"{NAME}{os.getpid()}-{next(_numbers)}"
    with contextlib.suppress(OSError):
        folder.mkdir()
        names = ("memory.max", "memory.limit_in_bytes")
        limit = next(folder / name for name in names if (folder / name).exists())
        limit.write_text(str(memory_bytes + EXTRA_BYTES), encoding="ascii")
        for name, value in (
            ("memory.swap.max", 0),
            ("memory.memsw.limit_in_bytes", memory_bytes + EXTRA_BYTES),
        ):
            with contextlib.suppress(OSError):  # missing if the kernel does not count swap
                if (folder / name).exists():
                    (folder / name).write_text(str(value), encoding="ascii")
        return MemoryGroup(folder)
    with contextlib.suppress(OSError):
        folder.rmdir()
    return None


def _left_behind(parent: Path) -> Iterator[Path]:
    """Yield the groups of referees that were killed, and our own that outlived their seats."""
    yield from tuple(_closed)
    for folder in parent.glob(f"{NAME}*-*"):
        owner = folder.name.removeprefix(NAME).partition("-")[0]
        if owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
            yield folder
