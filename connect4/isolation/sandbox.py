"""Restrict an agent's process: limits, a separate user, Landlock, seccomp.

`enter` runs inside the agent's process before any code of the agent is read. Landlock (Linux 5.13)
denies a process all files except those in its rules. `docs/isolation.md` describes what each
restriction prevents.
"""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from connect4.isolation import seccomp

FIRST_SLOT: Final = 2_000_000_000
"""User ids above those of people and of containers; one for each living agent."""

NOBODY: Final = 65534
"""For containers that have only the first 65536 user ids."""

TEMPORARY: Final = "/dev/shm"
"""Where an agent's temporary folder is mounted; no file of Python or the kit is there."""

TEMPORARY_BYTES: Final = 10 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one agent; `impose` has those that are the same for every agent."""

    start_seconds: float = 10.0
    """For loading the file and creating the player."""
    reload_seconds: float = 10.0
    """For all reloads in a game, unless each move has its own process."""
    margin_seconds: float = 0.005
    """Measured time of communication that does not count in a turn, at most; see `is_late`."""
    memory_bytes: int = 1024 * 1_000_000
    """Address space of one process."""
    tasks: int = 64
    """Threads; see `machine.tasks_of_user`."""
    log_bytes: int = 1 << 16
    """Maximum size of the agent's stored output."""


def impose(limits: Limits, file_bytes: int = 1 << 20) -> None:
    """Set the limits of this process that the kernel enforces; raises `OSError`."""
    import resource  # not on Windows

    wanted = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": 3600,
        "RLIMIT_FSIZE": file_bytes,
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


def denies() -> bool:
    """Return whether this machine denies agents files, processes and sockets."""
    return landlock_abi() > 0 and seccomp.available()


def enter(
    limits: Limits,
    slot: int,
    core: int | None,
    files: int | None,
    folder: str | None,
    strong: bool,
    temporary: bool,
) -> None:
    """Give up, permanently, every right that an agent does not need; raises `OSError`.

    `slot` is a number that no other living agent has, `core` the processor to stay on, `files` the
    `rules` of readable files, `folder` the one that it may import from; `strong` means inside
    bubblewrap, `temporary` that it gets a temporary folder, if the system can give it one.
    """
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    if sys.platform == "win32":
        return
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # out of memory, the kernel kills agents first
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    temporary = temporary and files is not None and _mount_temporary(files)
    impose(limits, TEMPORARY_BYTES if temporary else 1 << 20)
    if files is not None and folder is not None:  # which is another one inside bubblewrap
        allow(files, folder, READ_DIR)
    if os.geteuid() == 0:
        confined = strong or files is not None
        _become(identity(confined, folder), slot, confined)
    if sys.platform != "linux":
        return
    prctl(PR_SET_PDEATHSIG, 9)  # after the change of user, which clears it
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if files is not None:
        if _syscall(RESTRICT_SELF, ctypes.c_int(files), ctypes.c_uint32(0)):
            raise OSError(ctypes.get_errno(), "Landlock: the ruleset was refused")
        os.close(files)
    if seccomp.available():
        seccomp.install(landlocked=files is not None, temporary=temporary)


CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUSER: Final = 0x10000000
MS_NOSUID_NODEV_NOEXEC: Final = 2 | 4 | 8
MS_REC_PRIVATE: Final = 1 << 14 | 1 << 18


def _mount_temporary(files: int) -> bool:
    """Give this process alone an empty folder of `TEMPORARY_BYTES`, which vanishes with it.

    Only root can do that without a user namespace. Returns False if the system refuses it.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", CLONE_NEWNS | (CLONE_NEWUSER if user else 0))
        if user:
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
        _call("mount", None, b"/", None, MS_REC_PRIVATE, None)
        options = f"size={TEMPORARY_BYTES},nr_inodes=1000,mode=1777".encode()
        _call("mount", b"tmpfs", TEMPORARY.encode(), b"tmpfs", MS_NOSUID_NODEV_NOEXEC, options)
        allow(files, TEMPORARY, CHANGES & _rights(landlock_abi()))
    except OSError:
        return False
    finally:
        if user:  # a new namespace comes with every capability in it
            _capabilities(0)
    os.environ["TMPDIR"] = TEMPORARY
    return True


# -- another user (root only)

CAP_DAC_OVERRIDE: Final = 1
CAP_DAC_READ_SEARCH: Final = 2
CAP_SETGID: Final = 6
CAP_SETUID: Final = 7
CAPABILITY_VERSION: Final = 0x20080522
PR_SET_PDEATHSIG: Final = 1
PR_SET_KEEPCAPS: Final = 8
PR_SET_NO_NEW_PRIVS: Final = 38


def _call(function: str, *arguments: int | bytes | None) -> None:
    """Call a function of the C library that returns 0 if it succeeds; raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, function)(*arguments):
        raise OSError(ctypes.get_errno(), f"{function} {arguments[0]!r}")


def prctl(option: int, value: int) -> None:
    """Set one property of this process (Linux); raises `OSError`."""
    _call("prctl", option, value, 0, 0, 0)


def _capabilities(effective: int) -> None:
    """Keep only these capabilities."""
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    _call("capset", header, struct.pack("=6I", effective, effective, 0, 0, 0, 0))


def _has_capabilities(*numbers: int) -> bool:
    wanted = sum(1 << number for number in numbers)
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("CapPrm:"):
            return int(line.split()[1], 16) & wanted == wanted
    return False


def known_here(user: int) -> bool:
    """Return whether this container has a user and a group of that number."""
    for table in ("uid_map", "gid_map"):
        lines = Path("/proc/self", table).read_text(encoding="ascii").splitlines()
        rows = [list(map(int, line.split())) for line in lines]
        if not any(first <= user < first + count for first, _, count in rows):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Identity:
    """Who an agent is to the kernel; with root's user it has no capabilities."""

    user: int
    """`FIRST_SLOT` if each agent has a user of its own."""
    capability: int = 0
    """The only one that it keeps, to read."""
    why: str | None = None
    """Why it keeps root's user."""


@cache
def identity(confined: bool, folder: str | None = None) -> Identity:
    """Return who an agent is that this process becomes or starts.

    If others may not read Python, the kit or `folder` (in a 0700 home), an agent of root keeps one
    capability, but only if `confined`: if Landlock or bubblewrap restricts what there is to read.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return Identity(os.geteuid() or NOBODY)
    users = [user for user in (FIRST_SLOT, NOBODY) if known_here(user)]
    if not _has_capabilities(CAP_SETUID, CAP_SETGID):
        return Identity(0, why="this container may not change users")
    if not users:
        return Identity(0, why="this container knows no other user")
    closed = closed_path((sys.executable, os.__file__, np.__file__, __file__, folder or "/"))
    if closed is None:
        return Identity(users[0])
    for number in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE):  # Docker's root has the second alone
        if confined and _has_capabilities(number):
            return Identity(users[0], 1 << number)
    return Identity(0, why=f"no other user can read {closed}")


def closed_path(paths: Sequence[str]) -> str | None:
    """Return one of the paths, or a folder above them, that not every user can read or enter."""
    parents: set[Path] = set()
    for path in paths:
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:  # not shown inside bubblewrap
            continue
        wanted = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if mode & wanted != wanted:
            return path
        parents.update(Path(path).parents)
    closed = (str(parent) for parent in parents if not parent.stat().st_mode & stat.S_IXOTH)
    return min(closed, default=None)


def _become(who: Identity, slot: int, confined: bool) -> None:
    if who.user == 0 and not confined:
        raise PermissionError(f"nothing keeps files from it: {who.why}")
    if who.user != 0:  # otherwise, the referee has reported why
        if who.capability:
            prctl(PR_SET_KEEPCAPS, 1)
        number = who.user + slot if who.user == FIRST_SLOT else who.user
        os.setgroups([])
        os.setgid(number)
        os.setuid(number)
    if sys.platform == "linux":
        _capabilities(who.capability)


CREATE_RULESET: Final = 444
ADD_RULE: Final = 445
RESTRICT_SELF: Final = 446
RULE_PATH_BENEATH: Final = 1
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
CHANGES: Final = WRITE_FILE | READ_FILE | READ_DIR | 0b1_1011_0000 | 0b11 << 13
"""To make, write, rename, truncate and remove files and folders."""


@cache
def _function() -> Any:
    """Return the C library's `syscall`, cached because there are hundreds of rules."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def _syscall(number: int, *arguments: object) -> int:
    return int(_function()(ctypes.c_long(number), *arguments))


def landlock_abi() -> int:
    """Return the version of the kernel's Landlock; 0 if there is none."""
    if sys.platform != "linux" or seccomp.machine() is None:
        return 0
    return max(0, _syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _rights(version: int) -> int:
    """Return all rights on files that a version of Landlock knows."""
    rights = (1 << 13) - 1  # what version 1 knows, then renaming, truncating, device control
    for since, right in ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15)):
        rights |= right if version >= since else 0
    return rights


def rules(readable: Iterable[str], listable: Iterable[str] = ()) -> int | None:
    """Return a descriptor of rules: read these paths, no other files; no TCP, no signals to others.

    The names in `listable` folders may be read. One descriptor serves many processes. None without
    Landlock. Raises `OSError`.
    """
    version = landlock_abi()
    if version == 0:
        return None
    handled = _rights(version)
    attributes = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    if rules < 0:
        raise OSError(ctypes.get_errno(), "Landlock: no ruleset")
    for path in readable:
        allow(rules, path)
    for path in listable:
        allow(rules, path, READ_DIR)
    allow(rules, "/dev/urandom", READ_FILE)
    allow(rules, "/dev/null", READ_FILE | WRITE_FILE)
    return rules


def allow(rules: int, path: str, rights: int = READ_FILE | READ_DIR) -> None:
    """Add a path to rules; a missing path is ignored. Raises `OSError`."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # missing, so nothing to allow
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= ~READ_DIR
        rule = struct.pack("=Qi", rights, handle)
        if _syscall(
            ADD_RULE, ctypes.c_int(rules), ctypes.c_int(RULE_PATH_BENEATH), rule, ctypes.c_uint32(0)
        ):
            raise OSError(ctypes.get_errno(), f"Landlock: no rule for {path}")
    finally:
        os.close(handle)
