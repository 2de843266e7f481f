"""The limits of one agent: time, memory and other resources."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one agent gets. Memory, files and descriptors are limits of one process."""

    start_seconds: float = 10.0
    """For loading the file and constructing the player."""
    reload_seconds: float = 10.0
    """For all loading after the first in a game, where a process is not planned for each move."""
    margin_seconds: float = 0.005
    """Added to a move's seconds, for the measured time of communication."""
    memory_bytes: int = 1 << 30
    cpu_seconds: int = 3600
    """Processor time of one process, over all its turns."""
    tasks: int = 64
    """Threads; see `machine.tasks_of_user`."""
    file_bytes: int = 1 << 20
    open_files: int = 64
    log_bytes: int = 1 << 16
    """Of what the agent prints, this much is kept."""


def impose(limits: Limits) -> None:
    """Set the limits of this process that the kernel watches; raises `OSError`."""
    import resource  # not on Windows

    wanted = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 1,  # none; at 0 the kernel still starts a program that collects cores
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
        moves = name == "RLIMIT_NPROC"  # see `allow_tasks`; the filter keeps agents from it
        try:
            resource.setrlimit(number, (allowed, hard if moves else allowed))
        except (OSError, ValueError):
            if sys.platform == "linux":  # macOS has limits that it does not let anyone set
                raise


def allow_tasks(process: int, tasks: int) -> None:
    """Set how many threads the user of a process may run while that process starts one (Linux)."""
    import resource

    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):  # it has ended, or the system allows fewer
            hard = resource.prlimit(process, resource.RLIMIT_NPROC)[1]
            soft = tasks if hard == resource.RLIM_INFINITY else min(tasks, hard)
            resource.prlimit(process, resource.RLIMIT_NPROC, (soft, hard))
