"""Detect this machine's protections from agents, and bubblewrap."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from connect4.isolation import sandbox, seccomp
from connect4.isolation.readable import PYTHON, SYSTEM_LIBRARIES, Files, readable_paths

APPARMOR: Final = (
    "; AppArmor of Ubuntu 23.10 and newer stops it: give /usr/bin/bwrap a profile, as "
    "docs/isolation.md shows"
)


def bubblewrap(files: Files = None, others: Iterable[Path] = ()) -> list[str]:
    """Return the prefix that runs a command inside bubblewrap.

    Inside there are Python, the kit or some `files` of it, `others`, empty `/tmp`, `/dev` and
    `/proc`, no network and no other process. Raises `FileNotFoundError` if bubblewrap is not
    installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise FileNotFoundError("bubblewrap (bwrap) is not installed")
    spaces = ["pid", "net", "ipc", "uts"]
    command = [program, *(f"--unshare-{space}" for space in spaces), "--unshare-cgroup-try"]
    command += ["--as-pid-1"]  # bubblewrap then waits for it, so no zombie is left
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    if os.geteuid() == 0:
        command += ["--cap-drop", "ALL"]
        for name in ("SETUID", "SETGID", "KILL", "DAC_READ_SEARCH", "DAC_OVERRIDE"):
            command += ["--cap-add", f"CAP_{name}"]
    return [*command, *_binds(files, tuple(others)), "--chdir", "/", "--"]


@cache
def _binds(files: Files, others: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the options that make Python, its libraries, the kit and `others` visible."""
    wanted = {
        *readable_paths(files),
        *others,
        *(Path(folder) for folder in SYSTEM_LIBRARIES if os.access(folder, os.R_OK)),
        PYTHON.parent,
        PYTHON.resolve().parent,
    }
    configuration = Path(sys.prefix, "pyvenv.cfg").resolve()
    if configuration.exists():
        wanted.add(configuration)
    options = []
    if os.geteuid() == 0:
        for parent in sorted({parent for path in wanted for parent in path.parents} - {Path("/")}):
            options += ["--perms", "0755", "--dir", str(parent)]
    for path in sorted(wanted):
        options += ["--ro-bind", str(path), str(path)]
    return tuple(options)


def why_same_user() -> str | None:
    """Return why agents started by root keep root's user id here; None if they do not.

    They play only where Landlock or bubblewrap keeps files from them; see `why_files_are_open`.
    """
    kept = sandbox.kept_capabilities(confined=True)
    return kept if isinstance(kept, str) else None


def _only_the_user_differs() -> bool:
    """Return whether nothing but its user keeps root's files from an agent at level process."""
    return sys.platform == "linux" and os.geteuid() == 0 and sandbox.landlock_abi() == 0


def why_files_are_open() -> str | None:
    """Return why an agent of root could read root's files at level process; None if it cannot."""
    kept = sandbox.kept_capabilities(confined=False) if _only_the_user_differs() else 0
    if not isinstance(kept, str):
        return None
    return f"agents could read every file of root: {kept}; the kernel has no Landlock"


def is_open_to_agents(path: Path) -> bool:
    """Return whether agents of root can read a file at level process, because every user can."""
    return _only_the_user_differs() and sandbox.closed_path((str(path.resolve()),)) is None


@cache
def shared_user() -> int | None:
    """Return the user of all agents here; None if each agent has its own user (Linux)."""
    if sys.platform != "linux":
        return None
    if os.geteuid() != 0:
        return os.geteuid()
    if why_same_user() is not None:
        return 0
    return None if sandbox.known_here(sandbox.FIRST_SLOT) else sandbox.NOBODY


def shares_user(strong: bool) -> bool:
    """Return whether the kernel counts an agent's threads together with others of its user."""
    return shared_user() is not None and not (strong and _counts_apart())


@cache
def _counts_apart() -> bool:
    """Return whether the threads inside bubblewrap are counted separately.

    Linux 5.14 and newer count the threads of each user namespace. Bubblewrap creates one unless it
    runs as root.
    """
    program = shutil.which("bwrap")
    if program is None or os.geteuid() == 0 or os.stat(program).st_mode & stat.S_ISUID:
        return False
    version = os.uname().release.split(".")
    return (int(version[0]), int(re.sub("[^0-9].*", "", version[1]))) >= (5, 14)


def tasks_of_user(but: int = 0) -> int:
    """Return the number of threads of the agents' user (Linux), to be added to `Limits.tasks`.

    Threads of the process `but` do not count. Returns 0 if each agent has its own user.
    """
    tasks, user = 0, shared_user()
    if user is not None:
        for process in Path("/proc").glob("[0-9]*/task"):
            try:
                found = process.stat()
            except OSError:
                continue
            if found.st_uid == user and process.parent.name != str(but):
                tasks += found.st_nlink - 2
    return tasks


@cache
def bubblewrap_works() -> str | None:
    """Return None if bubblewrap can run this Python here, else the reason why not."""
    try:
        command = [*bubblewrap(), str(PYTHON), "-I", "-S", "-c", ""]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
    denied = "uid map: Permission denied", "RTM_NEWADDR: Operation not permitted"
    cause = APPARMOR if any(text in lines[0] for text in denied) else ""
    return f"bubblewrap does not work here ({lines[0]}{cause})"


def missing() -> tuple[str, ...]:
    """Return a line for each protection that this machine lacks."""
    if sys.platform == "win32":
        return (
            "Windows: agents run in processes of their own under deadlines, but are not stopped "
            "while the other side thinks, and files, network and memory are not limited",
        )
    freely = "agents can read and write what you can, use the network and start processes"
    if sys.platform != "linux":
        return (f"this system has neither seccomp nor Landlock: {freely}",)
    if seccomp.machine() is None:
        return (f"no table of system calls for this machine ({os.uname().machine}): {freely}",)
    lines, whose = [], "you" if os.geteuid() else "every user"
    same_user = why_same_user() if os.geteuid() == 0 else None
    if same_user is not None:
        lines.append(f"agents keep the number of your user, who is root: {same_user}")
    if not seccomp.available():
        lines.append("the kernel has no seccomp: agents can use the network and start processes")
    if sandbox.landlock_abi() == 0:
        lines.append(f"the kernel has no Landlock: at level process agents read what {whose} can")
    return tuple(lines)
