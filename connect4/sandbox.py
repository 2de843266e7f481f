"""What an agent's process may do: limits, another user, Landlock, seccomp.

`enter` runs inside the agent's process, before a line of the agent is read. `docs/isolation.md`
says what each means denies; `protections` is the referee's side.
"""

from __future__ import annotations

import ctypes
import os
import site
import stat
import struct
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import numpy as np

from connect4 import seccomp
from connect4.players.names import STUDENT_FILE

KIT: Final = Path(__file__).resolve().parent

SYSTEM_LIBRARIES: Final = (
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
)
"""Where the interpreter's own shared libraries are, beside the folders of Python."""

FIRST_SLOT: Final = 2_000_000_000
"""User ids above those of people and of containers; one for each process number."""

NOBODY: Final = 65534
"""For containers that know only the first 65536 user ids."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one agent gets. Memory, files and descriptors are limits of one process."""

    start_seconds: float = 10.0
    """For loading the file and constructing the player."""
    margin_seconds: float = 0.05
    """Added to a move's seconds for the way there and back before the agent is killed."""
    memory_bytes: int = 1 << 30
    cpu_seconds: int = 3600
    """Processor time of one process, over all its turns."""
    tasks: int = 64
    """Threads; see `tasks_of_user`."""
    file_bytes: int = 1 << 20
    open_files: int = 64
    log_bytes: int = 1 << 16
    """Of what the agent prints, this much is kept."""


def prepare() -> None:
    """Do once what `enter` would do in each process that is forked from this one."""
    import resource  # noqa: F401

    readable_paths()
    if os.geteuid() == 0:
        how_python_stays_readable()


def enter(limits: Limits, slot: int, core: int | None) -> None:
    """Give up everything an agent does not need, for good; raises `OSError`.

    `slot` is a number that no other living agent has; `core` is the processor to stay on.
    """
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    if sys.platform == "win32":
        return
    _limit(limits)
    landlocked = landlock_abi() > 0
    if os.geteuid() == 0:
        _become_another_user(FIRST_SLOT + slot)
    if sys.platform != "linux":
        return
    prctl(PR_SET_PDEATHSIG, 9)  # after the change of user, which clears it
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if landlocked:
        _landlock()
    if seccomp.available():
        seccomp.install(landlocked)


def _limit(limits: Limits) -> None:
    import resource  # not on Windows

    wanted = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 0,
        "RLIMIT_NPROC": limits.tasks,
    }
    for name, value in wanted.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        hard = resource.getrlimit(number)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(number, (allowed, allowed))
        except (OSError, ValueError):
            if sys.platform == "linux":  # macOS has limits that it does not let anyone set
                raise


# -- another user (root only)

CAP_DAC_READ_SEARCH: Final = 2
CAPABILITY_VERSION: Final = 0x20080522
PR_SET_PDEATHSIG: Final = 1
PR_SET_KEEPCAPS: Final = 8
PR_SET_NO_NEW_PRIVS: Final = 38


def prctl(option: int, value: int) -> None:
    """Set one property of this process (Linux); raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _capabilities(effective: int) -> None:
    """Keep these capabilities alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    data = struct.pack("=6I", effective, effective, 0, 0, 0, 0)
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


def _has_read_capability() -> bool:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapPrm:"):
            return bool(int(line.split()[1], 16) >> CAP_DAC_READ_SEARCH & 1)
    return False


@cache
def how_python_stays_readable() -> Literal["as it is", "capability", "same user"]:
    """Return how a process of root reads Python after it has given root up.

    Python under a folder that root alone may enter (a 0700 home) is read with the one capability
    to read, narrowed by Landlock; a container without that capability keeps its user instead, who
    then has no capability at all.
    """
    if all(_open_to_all(path) for path in readable_paths()):
        return "as it is"
    return "capability" if _has_read_capability() else "same user"


def _open_to_all(path: Path) -> bool:
    wanted = stat.S_IROTH | stat.S_IXOTH if path.is_dir() else stat.S_IROTH
    if path.stat().st_mode & wanted != wanted:
        return False
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)


def _become_another_user(user: int) -> None:
    if sys.platform != "linux":
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return
    way = how_python_stays_readable()
    if way == "capability":
        prctl(PR_SET_KEEPCAPS, 1)
    for candidate in () if way == "same user" else (user, NOBODY):
        try:
            os.setgroups([])
            os.setresgid(candidate, candidate, candidate)
            os.setresuid(candidate, candidate, candidate)
            break
        except OSError:  # a container that does not know that user
            continue
    _capabilities(1 << CAP_DAC_READ_SEARCH if way == "capability" else 0)


# -- files that an agent may read


@cache
def readable_paths() -> tuple[Path, ...]:
    """Return Python, its libraries and the kit, without students' files and the grader.

    An agent's own source is sent to it, so that no submission has to be readable.
    """
    known = sysconfig.get_paths()
    folders = [known[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), f"{sys.base_prefix}/lib", f"{sys.base_prefix}/lib64"]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    numeric = Path(np.__file__).resolve().parent
    wanted = [Path(folder) for folder in (*folders, *SYSTEM_LIBRARIES)]
    wanted += [numeric, numeric.with_name("numpy.libs")]
    found = {path.resolve() for path in wanted if os.access(path, os.R_OK)}
    return tuple(sorted({part for path in found for part in _without_kit(path)} | set(_kit())))


def _without_kit(path: Path) -> Iterator[Path]:
    """Yield the path, or what is in it where the kit is installed among it."""
    if path not in KIT.parents:
        yield path
        return
    for entry in path.iterdir():
        if entry in KIT.parents:
            yield from _without_kit(entry)
        elif entry != KIT and entry.name != "grader":
            yield entry


def _kit() -> Iterator[Path]:
    """Yield the kit, but not the file (nor its compiled form) that belongs to a student."""
    for entry in KIT.iterdir():
        if entry == STUDENT_FILE.parent:
            yield from (path for path in entry.glob("*.py") if path != STUDENT_FILE)
        else:
            yield entry


# -- Landlock

CREATE_RULESET: Final = 444
ADD_RULE: Final = 445
RESTRICT_SELF: Final = 446
RULE_PATH_BENEATH: Final = 1
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3


def _syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(number), *arguments))


def landlock_abi() -> int:
    """Return the version of the kernel's Landlock; 0 where there is none."""
    if sys.platform != "linux" or seccomp.machine() is None:
        return 0
    return max(0, _syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _landlock() -> None:
    """Allow reading `readable_paths()` and nothing else of files; no TCP, no signals to others."""
    abi = landlock_abi()
    files = (1 << 13) - 1  # what version 1 knows, then renaming, truncating, device control
    for since, right in ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15)):
        files |= right if abi >= since else 0
    attributes = struct.pack("=QQQ", files, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = _syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock: no ruleset")
    try:
        for path in readable_paths():
            _allow(ruleset, path, READ_FILE | READ_DIR)
        _allow(ruleset, Path("/dev/urandom"), READ_FILE)
        _allow(ruleset, Path("/dev/null"), READ_FILE | WRITE_FILE)
        if _syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)):
            raise OSError(ctypes.get_errno(), "Landlock: the ruleset was refused")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there, so nothing to allow
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= ~READ_DIR
        rule = struct.pack("=Qi", rights, handle)
        if _syscall(
            ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(RULE_PATH_BENEATH),
            rule,
            ctypes.c_uint32(0),
        ):
            raise OSError(ctypes.get_errno(), f"Landlock: no rule for {path}")
    finally:
        os.close(handle)
