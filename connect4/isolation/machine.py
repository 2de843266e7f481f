"""This machine: the files that an agent may read here, its protections from agents, bubblewrap.

An agent may read Python, its libraries, and the files of the kit that it loads. The referee creates
the kernel's rules once for all wardens, and sends them to the agents' processes. A rule belongs to
a file, so it also holds inside bubblewrap.
"""

import inspect
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from connect4.isolation import sandbox, seccomp

KIT: Final = Path(__file__).resolve().parents[1]

GRADER: Final = KIT.with_name("grader")

PYTHON: Final = Path(sys.executable).parent.resolve() / Path(sys.executable).name
"""The interpreter, by a path without `..` or linked folders, which a sandbox lacks.

If it is a link itself, it stays one, because Python finds its environment next to it.
"""

LIBRARY_FOLDERS: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")

OF_THE_SYSTEM: Final = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")

SYSTEM_LIBRARIES: Final = (
    *LIBRARY_FOLDERS,
    *("/usr/lib32", "/usr/libexec", "/nix/store"),
    *OF_THE_SYSTEM,
)
"""The paths of the interpreter's shared libraries, in addition to the folders of Python."""

Files: TypeAlias = tuple[Path, ...] | None
"""The readable files of the kit; None for all but the student's file."""


def library_folders() -> list[Path]:
    """Return the folders of the standard library and of numpy."""
    numeric = Path(np.__file__).parent
    folders = [Path(sysconfig.get_path("stdlib"))]
    folders += [Path(sysconfig.get_config_var("DESTSHARED") or "")]
    folders += [numeric, numeric.with_name("numpy.libs")]
    found = (folder.resolve() for folder in folders if folder.is_absolute() and folder.is_dir())
    return list(dict.fromkeys(found))


@cache
def readable_paths(files: Files = None) -> tuple[Path, ...]:
    """Return Python, its libraries and the kit or some `files` of it, without the grader.

    Submissions need not be readable, because an agent receives its source by message.
    """
    folders: list[str | Path] = [*library_folders(), *SYSTEM_LIBRARIES]
    folders += [entry for entry in sys.path if "-packages" in entry]
    folders += [Path(np.__file__).parents[1], f"{sys.base_prefix}/lib", f"{sys.base_prefix}/lib64"]
    found = {Path(folder).resolve() for folder in folders if os.access(folder, os.R_OK)}
    parts = {part for path in found for part in _without(path, KIT, GRADER)}
    students = (KIT / "players" / name for name in ("ai.py", "report.txt", "__pycache__"))
    kit = _without(KIT, *students) if files is None else files
    return tuple(sorted({*parts, *kit}))


def _without(path: Path, *hidden: Path) -> Iterator[Path]:
    """Yield the path, unless it is hidden; if one of these is below it, yield its other entries."""
    if any(path in each.parents for each in hidden):
        for entry in path.iterdir():
            yield from _without(entry, *hidden)
    elif path not in hidden:
        yield path


def importable(folder: Path | None) -> tuple[Path, ...]:
    """Return the modules and packages in a folder, except the kit, for a policy to import."""
    if folder is None:
        return ()
    entries = set(folder.iterdir()) - {KIT, GRADER}
    packages = {entry for entry in entries if (entry / "__init__.py").is_file()}
    modules = {entry for entry in entries if entry.is_file() and inspect.getmodulename(entry)}
    return tuple(sorted(packages | modules))


SUBMISSION_FILES: Final = (
    *("__init__.py", "config.py", "errors.py", "games", "utils.py"),
    *(f"isolation/{name}.py" for name in ("__init__", "protocol")),
    *(f"players/{name}.py" for name in ("__init__", "base", "student", "thoughts")),
)
"""The modules of the kit, and the folder, that load and call a student's file."""

WORKER_FILES: Final = (
    *SUBMISSION_FILES,
    *(f"isolation/{name}.py" for name in ("sandbox", "seccomp", "worker")),
)
"""Those that are loaded before a submission runs in a process."""


@cache
def worker_files(allowed: tuple[str, ...]) -> Files:
    """Return `WORKER_FILES` with their compiled forms, which no process in bubblewrap can write.

    Returns None if `allowed` names other modules of the kit; the list is then reduced once they are
    loaded.
    """
    paths = [KIT / name for name in WORKER_FILES]
    own = [name.split(".") for name in allowed if name.partition(".")[0] == "connect4"]
    if any(KIT.parent.joinpath(*parts).with_suffix(".py") not in paths for parts in own):
        return None
    found = (Path(cache_from_source(str(path))) for path in paths if path.suffix)
    return (*paths, *(path for path in found if path.exists()))


PACKAGES: Final = ("site-packages", "dist-packages")
"""Folders of Python that no agent may read."""


@cache
def python_paths() -> tuple[str, ...]:
    """Return the paths that Landlock lets a submission read, folders with all their contents."""
    standard, *others = library_folders()
    more = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders = (f"{sys.base_prefix}/lib", *LIBRARY_FOLDERS, *filter(None, more))
    paths = [*others, *map(Path, OF_THE_SYSTEM)]
    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        for pattern in ("*.so*", "*-linux-*/*.so*"):
            paths += Path(folder).glob(pattern)
    paths += [PYTHON, Path(sys.prefix, "pyvenv.cfg")]
    with os.scandir(standard) as entries:
        paths += [Path(entry.path) for entry in entries if entry.name not in PACKAGES]
    return tuple(sorted({str(path) for path in paths if path.exists()}))


@cache
def rules(allowed: tuple[str, ...] | None, folder: Path | None) -> int | None:
    """Return a descriptor of the rules, which stays open; None without Landlock.

    `allowed` are the modules that a submission may import; None for an agent of the kit, which may
    import modules of `folder`, too. A warden adds files of the kit. A submission may also list the
    library's folder, in which Python looks up modules. Raises `OSError`.
    """
    known = {"connect4", "numpy", *sys.stdlib_module_names}
    if allowed is not None and known.issuperset(name.partition(".")[0] for name in allowed):
        return sandbox.rules(python_paths(), [str(library_folders()[0])])
    paths = readable_paths(None if allowed is None else ())
    return sandbox.rules(map(str, (*paths, *importable(folder))))


# -- bubblewrap, and what this machine lacks

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
        mounts = ["SYS_ADMIN"] if others else []  # see `sandbox._mount_temporary`
        for name in ("SETUID", "SETGID", "KILL", "DAC_READ_SEARCH", "DAC_OVERRIDE", *mounts):
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


def _only_the_user_differs() -> bool:
    """Return whether nothing but its user keeps root's files from an agent at level process."""
    return sys.platform == "linux" and os.geteuid() == 0 and sandbox.landlock_abi() == 0


def why_files_are_open() -> str | None:
    """Return why an agent of root could read root's files at level process; None if it cannot."""
    why = sandbox.identity(confined=False).why if _only_the_user_differs() else None
    return why and f"agents could read every file of root: {why}; the kernel has no Landlock"


def is_open_to_agents(path: Path) -> bool:
    """Return whether agents of root can read a file at level process, because every user can."""
    return _only_the_user_differs() and sandbox.closed_path((str(path.resolve()),)) is None


def shared_user() -> int | None:
    """Return the user of all agents here; None if each agent has its own user (Linux)."""
    if sys.platform != "linux":
        return None
    user = sandbox.identity(confined=True).user
    return None if user == sandbox.FIRST_SLOT else user


def shares_user(strong: bool) -> bool:
    """Return whether the kernel counts an agent's threads together with others of its user."""
    program = shutil.which("bwrap") if strong else None
    if shared_user() is None:
        return False
    # Linux 5.14 counts the threads of each user namespace; bubblewrap creates one if not root
    if program is None or os.geteuid() == 0 or os.stat(program).st_mode & stat.S_ISUID:
        return True
    version = os.uname().release.split(".")
    return (int(version[0]), int(re.sub("[^0-9].*", "", version[1]))) < (5, 14)


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
    who = sandbox.identity(confined=True)
    if who.why is not None:
        lines.append(f"agents keep the number of your user, who is root: {who.why}")
    if not seccomp.available():
        lines.append("the kernel has no seccomp: agents can use the network and start processes")
    if sandbox.landlock_abi() == 0:
        lines.append(f"the kernel has no Landlock: at level process agents read what {whose} can")
    return tuple(lines)
