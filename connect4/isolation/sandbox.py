"""Restrict an agent's process: limits, a separate user, Landlock, seccomp.

`enter` runs inside the agent's process before any code of the agent is read. `docs/isolation.md`
describes what each means prevents; `protections` is the referee's side.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import site
import stat
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np

from connect4.isolation import landlock, seccomp
from connect4.isolation.limits import Limits, impose
from connect4.players.names import STUDENT_FILE

KIT: Final = Path(__file__).resolve().parents[1]

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
"""User ids above those of people and of containers; one for each agent that is alive."""

NOBODY: Final = 65534
"""For containers that know only the first 65536 user ids."""


Files: TypeAlias = tuple[Path, ...] | None
"""What may be read of the kit; None for all but the students' file."""


def prepare(files: Files = None) -> None:
    """Do once what `enter` would do in each process that is forked from this one."""
    import resource  # noqa: F401

    readable_paths(files)
    if os.geteuid() == 0:
        why_same_user()


def denies() -> bool:
    """Return whether agents are denied files, processes and sockets on this machine."""
    return landlock.abi() > 0 and seccomp.available()


def rules(readable: Sequence[Path], listable: Sequence[Path] = ()) -> int | None:
    """Return rules for `enter`: these paths may be read, and of `listable` folders the names.

    They can be made once for many processes. None without Landlock. Raises `OSError`.
    """
    return landlock.ruleset(readable, listable) if landlock.abi() > 0 else None


def enter(limits: Limits, slot: int, core: int | None, files: int | None) -> None:
    """Give up everything an agent does not need, for good; raises `OSError`.

    `slot` is a number that no other living agent has; `core` is the processor to stay on; `files`
    are `rules` of what may be read.
    """
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    if sys.platform == "win32":
        return
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # where memory is short, agents go first
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    impose(limits)
    if os.geteuid() == 0:
        _become_another_user(FIRST_SLOT + slot)
    if sys.platform != "linux":
        return
    prctl(PR_SET_PDEATHSIG, 9)  # after the change of user, which clears it
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if files is not None:
        landlock.restrict(files)
    if seccomp.available():
        seccomp.install(landlocked=files is not None)


# -- another user (root only)

CAP_DAC_READ_SEARCH: Final = 2
CAP_SETGID: Final = 6
CAP_SETUID: Final = 7
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


def _has_capabilities(*numbers: int) -> bool:
    wanted = sum(1 << number for number in numbers)
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("CapPrm:"):
            return int(line.split()[1], 16) & wanted == wanted
    return False


def _known_here(user: int) -> bool:
    """Return whether this container knows a user and a group of that number."""
    for table in ("uid_map", "gid_map"):
        lines = Path("/proc/self", table).read_text(encoding="ascii").splitlines()
        rows = [list(map(int, line.split())) for line in lines]
        if not any(first <= user < first + count for first, _, count in rows):
            return False
    return True


@cache
def why_same_user() -> str | None:
    """Return why agents that root starts keep root's number here; None where they do not."""
    if sys.platform != "linux":
        return None
    if not _has_capabilities(CAP_SETUID, CAP_SETGID):
        return "this container may not change users"
    if not any(map(_known_here, (FIRST_SLOT, NOBODY))):
        return "this container knows no other user"
    if how_python_stays_readable() == "same user":
        return "no other user can read this Python"
    return None


@cache
def shared_user() -> int | None:
    """Return the user that all agents run as here; None where each has one of its own (Linux)."""
    if sys.platform != "linux":
        return None
    if os.geteuid() != 0:
        return os.geteuid()
    if why_same_user() is not None:
        return 0
    return None if _known_here(FIRST_SLOT) else NOBODY


@cache
def how_python_stays_readable() -> Literal["as it is", "capability", "same user"]:
    """Return how a process of root reads Python after it has given root up.

    Python under a folder that root alone may enter (a 0700 home) is read with the one capability
    to read, narrowed by Landlock; a container without that capability keeps its user instead, who
    then has no capability at all.
    """
    if all(_open_to_all(path) for path in readable_paths()):
        return "as it is"
    return "capability" if _has_capabilities(CAP_DAC_READ_SEARCH) else "same user"


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
    if why_same_user() is not None:  # which the referee has said
        _capabilities(0)
        return
    way = how_python_stays_readable()
    if way == "capability":
        prctl(PR_SET_KEEPCAPS, 1)
    number = user if _known_here(user) else NOBODY
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
    _capabilities(1 << CAP_DAC_READ_SEARCH if way == "capability" else 0)


# -- files that an agent may read


@cache
def readable_paths(files: Files = None) -> tuple[Path, ...]:
    """Return Python, its libraries and the kit or some `files` of it, without the grader.

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
    return tuple(
        sorted(
            {part for path in found for part in _without_kit(path)}
            | set(_kit() if files is None else files)
        )
    )


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


WORKER_FILES: Final = (
    "__init__.py",
    "config.py",
    "errors.py",
    "games",
    "isolation/__init__.py",
    "isolation/landlock.py",
    "isolation/limits.py",
    "isolation/protocol.py",
    "isolation/sandbox.py",
    "isolation/seccomp.py",
    "isolation/serving.py",
    "isolation/submission.py",
    "isolation/warden.py",
    "isolation/worker.py",
    "players/__init__.py",
    "players/base.py",
    "players/names.py",
    "players/student.py",
    "utils.py",
)
"""What the process that starts a submission loads of the kit, before the submission can look."""


def needs_no_package(allowed: Sequence[str]) -> bool:
    """Return whether the modules that may be imported all belong to the kit, Python or numpy."""
    known = {"connect4", "numpy", *sys.stdlib_module_names}
    return all(name.partition(".")[0] in known for name in allowed)


def worker_files(allowed: Sequence[str]) -> Files:
    """Return `WORKER_FILES`, compiled ones too.

    None where `allowed` names other modules of the kit: those are narrowed down once loaded.
    """
    paths = [KIT / name for name in WORKER_FILES]
    for name in allowed:
        if (
            f"{name}.".startswith("connect4.")
            and KIT.parent.joinpath(*name.split(".")).with_suffix(".py") not in paths
        ):
            return None
    compiled = (Path(cache_from_source(str(path))) for path in paths if path.suffix)
    return (*paths, *(path for path in compiled if path.exists()))
