"""Runs a command on a machine without some protections.

`python3 -m tests.denied landlock seccomp bubblewrap -- COMMAND ...` (Linux on x86_64 or aarch64).
A filter of system calls that the command inherits makes the kernel answer as one without Landlock
or without seccomp does; bubblewrap is hidden by a PATH without it. Without `locks` it
answers as some network drives do. Without `capabilities`, root has those of Docker's
default, with which bubblewrap cannot work. Root's command runs in a mount namespace in which every
user can read Python, as in a container.
"""

import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
LOAD, EQUALS, ANSWER = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16
NO_NEW_PRIVS, GET_SECCOMP, SET_SECCOMP = 38, 21, 22
SECCOMP, PRCTL = (317, 157) if os.uname().machine == "x86_64" else (277, 167)
FLOCK = 73 if os.uname().machine == "x86_64" else 32
LANDLOCK = 444
NEW_MOUNTS = 0x00020000
DROP_CAPABILITY = 24
OF_DOCKER = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}
"""The capabilities of a container's root, by their numbers."""


DENIALS = {
    "landlock": [
        step
        for number in range(LANDLOCK, LANDLOCK + 3)
        for step in ((EQUALS, 0, 1, number), (ANSWER, 0, 0, ERROR | errno.ENOSYS))
    ],
    "seccomp": [
        (EQUALS, 0, 1, SECCOMP),
        (ANSWER, 0, 0, ERROR | errno.ENOSYS),
        (EQUALS, 0, 4, PRCTL),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (EQUALS, 1, 0, GET_SECCOMP),
        (EQUALS, 0, 1, SET_SECCOMP),
        (ANSWER, 0, 0, ERROR | errno.EINVAL),
    ],
    "locks": [(EQUALS, 0, 1, FLOCK), (ANSWER, 0, 0, ERROR | errno.ENOLCK)],
}
"""What the filter does with the number of a call: (code, jump if true, jump if false, value)."""


def filter_of(names: set[str]) -> list[tuple[int, int, int, int]]:
    """Return the filter's instructions."""
    steps = []
    for name in names & DENIALS.keys():
        steps += [(LOAD, 0, 0, NUMBER_AT), *DENIALS[name]]
    return [*steps, (ANSWER, 0, 0, ALLOW)]


def install(names: set[str]) -> None:
    """Put the filter on this process and all that it starts, and drop root's capabilities."""
    packed = b"".join(struct.pack("=HBBI", *step) for step in filter_of(names))
    kept = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("@HP", len(packed) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_SECCOMP, 2, ctypes.c_char_p(header), 0, 0) != 0:  # as an ordinary user
        assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        assert libc.prctl(SET_SECCOMP, 2, ctypes.c_char_p(header), 0, 0) == 0, ctypes.get_errno()
    if "capabilities" in names:
        for number in set(range(64)) - OF_DOCKER:
            libc.prctl(DROP_CAPABILITY, number, 0, 0, 0)


def path_without(program: str, folder: Path) -> str:
    """Return a PATH whose folders with a program are replaced by `folder`, with links to others."""
    places = []
    for place in os.environ["PATH"].split(os.pathsep):
        if not Path(place, program).exists():
            places.append(place)
            continue
        for path in Path(place).glob("*"):
            link = folder / path.name
            if path.name != program and not link.is_symlink():
                link.symlink_to(path)
        places.append(str(folder))
    return os.pathsep.join(places)


def closed_folder(path: Path) -> Path | None:
    """Return the topmost folder above a path that others may not enter."""
    for parent in reversed(path.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            return parent
    return None


def bind(source: Path, target: Path) -> None:
    """Show a folder at another place too, there for reading alone."""
    subprocess.run(["mount", "-o", "bind,ro", source, target], check=True)


def open_the_way(paths: list[Path], spare: Path) -> None:
    """Lay an open folder over each closed one, with nothing in it but what is wanted."""
    subprocess.run(["mount", "-t", "tmpfs", "tests", spare], check=True)
    hidden = {path: closed_folder(path) for path in paths}
    for place, path in enumerate(paths):
        (spare / str(place)).mkdir()
        bind(path, spare / str(place))
    for folder in set(hidden.values()) - {None}:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tests", str(folder)], check=True)
    for place, path in enumerate(paths):
        if hidden[path] is not None:
            path.mkdir(parents=True, exist_ok=True)
            bind(spare / str(place), path)


def make_python_readable(spare: Path) -> None:
    """Let every user read this Python and this checkout, in this process's mount namespace."""
    wanted = {CHECKOUT, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    if any(map(closed_folder, wanted)):
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        open_the_way(sorted(wanted), spare)


def main(arguments: list[str]) -> int:
    """Become the command."""
    names, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    with tempfile.TemporaryDirectory() as spare, tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if "bubblewrap" in names:
            os.chmod(folder, 0o755)
            environment["PATH"] = path_without("bwrap", Path(folder))
        child = os.fork()
        if child == 0:
            if os.geteuid() == 0:
                ctypes.CDLL(None).unshare(NEW_MOUNTS)
                make_python_readable(Path(spare))
            install(set(names))
            os.execvpe(command[0], command, environment)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
