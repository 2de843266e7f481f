"""An agent's limits: time, memory, threads, files, printed text.

A memory group is a control group (cgroup) that limits memory; root can create one. It is for a
kernel without seccomp: there an agent may start `Limits.tasks` processes, and nothing else limits
the memory of all of them together.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

MAX_LINE: Final = 1 << 16
"""The maximum length of an answer in bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one agent; `impose` has those that are the same for every agent."""

    start_seconds: float = 10.0
    """For loading the file and creating the player."""
    reload_seconds: float = 10.0
    """For all reloads in a game, unless each move has its own process."""
    margin_seconds: float = 0.005
    """Added to a move's time limit, for the measured time of communication."""
    memory_bytes: int = 1 << 30
    """Address space of one process."""
    tasks: int = 64
    """Threads; see `machine.tasks_of_user`."""
    log_bytes: int = 1 << 16
    """Maximum size of the agent's stored output."""


def impose(limits: Limits) -> None:
    """Set the limits of this process that the kernel enforces; raises `OSError`."""
    import resource  # not on Windows

    wanted = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": 3600,
        "RLIMIT_FSIZE": 1 << 20,
        "RLIMIT_NOFILE": 64,
        "RLIMIT_CORE": 1,  # at 0 the kernel still starts a program that collects cores
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
"""What the kernel may need in addition to an agent's limit.

With seccomp, no agent reaches the limit of its group: it has one process, and no shared memory.
"""

NAME: Final = "connect4-"

_numbers = count()
_left: set[Path] = set()


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


def memory_group(memory_bytes: int) -> Path | None:
    """Return the folder of a new group for an agent with that much memory.

    Returns None if none can be created. Removes the groups of seats and referees that are gone.
    """
    parent = hierarchy()
    if parent is None:
        return None
    for folder in parent.glob(f"{NAME}[0-9]*-*"):
        owner = folder.name.removeprefix(NAME).partition("-")[0]
        if folder in _left or not os.path.exists(f"/proc/{owner}"):
            with contextlib.suppress(OSError):
                folder.rmdir()
    folder = parent / f"{NAME}{os.getpid()}-{next(_numbers)}"
    limit = str(memory_bytes + EXTRA_BYTES)
    try:
        folder.mkdir()
        names = ("memory.max", "memory.limit_in_bytes")
        _write(next(folder / name for name in names if (folder / name).exists()), limit)
    except OSError:
        leave_group(folder)
        return None
    for name, value in (("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", limit)):
        with contextlib.suppress(OSError):  # missing if the kernel does not count swap
            _write(folder / name, value)
    return folder


def join_group(folder: Path | None, process: int) -> None:
    """Put a process into a group, with all that it starts from now on, unless it has ended."""
    if folder is not None:
        with contextlib.suppress(OSError):
            _write(folder / "cgroup.procs", str(process))


def leave_group(folder: Path | None) -> None:
    """Remove a group; if one of its processes is still ending, the next seat removes it."""
    if folder is not None:
        _left.add(folder)
        with contextlib.suppress(OSError):
            folder.rmdir()


def _write(path: Path, value: str) -> None:
    with path.open("r+", encoding="ascii") as file:  # never creates one
        file.write(value)
