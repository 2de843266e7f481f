"""Runs a command on a machine without some protections.

`python3 -m tests.denied landlock seccomp bubblewrap -- COMMAND ...` (Linux on x86_64 or aarch64).
A filter of system calls that the command inherits makes the kernel answer as one without Landlock
or without seccomp does; bubblewrap is hidden by a PATH without it. Without `locks` or `shared`
memory it answers as a network drive does.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import tempfile
from pathlib import Path

LOAD, EQUALS, HAS, ANSWER = 0x20, 0x15, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER_AT, FIRST_ARGUMENT_AT, FOURTH_ARGUMENT_AT = 0, 16, 40
NO_NEW_PRIVS, GET_SECCOMP, SET_SECCOMP = 38, 21, 22
SECCOMP, PRCTL = (317, 157) if os.uname().machine == "x86_64" else (277, 167)
FLOCK, MMAP = (73, 9) if os.uname().machine == "x86_64" else (32, 222)
LANDLOCK = 444
MAP_SHARED = 1


DENIALS = {
    "landlock": [(EQUALS, 0, 1, LANDLOCK), (ANSWER, 0, 0, ERROR | errno.ENOSYS)],
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
    "shared": [
        (EQUALS, 0, 3, MMAP),
        (LOAD, 0, 0, FOURTH_ARGUMENT_AT),
        (HAS, 0, 1, MAP_SHARED),
        (ANSWER, 0, 0, ERROR | errno.ENODEV),
    ],
}
"""What the filter does with the number of a call: (code, jump if true, jump if false, value)."""


def filter_of(names: set[str]) -> list[tuple[int, int, int, int]]:
    """Return the filter's instructions."""
    steps = []
    for name in names & DENIALS.keys():
        steps += [(LOAD, 0, 0, NUMBER_AT), *DENIALS[name]]
    return [*steps, (ANSWER, 0, 0, ALLOW)]


def install(names: set[str]) -> None:
    """Put the filter on this process and all that it starts."""
    packed = b"".join(struct.pack("=HBBI", *step) for step in filter_of(names))
    kept = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("@HP", len(packed) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(SET_SECCOMP, 2, ctypes.c_char_p(header), 0, 0) == 0, ctypes.get_errno()


def path_without(program: str, folder: Path) -> str:
    """Return a PATH of one folder with a link to every program but one."""
    for place in os.environ["PATH"].split(os.pathsep):
        for path in Path(place).glob("*") if Path(place).is_dir() else ():
            link = folder / path.name
            if path.name != program and not link.exists() and not link.is_symlink():
                link.symlink_to(path)
    return str(folder)


def main(arguments: list[str]) -> int:
    """Become the command."""
    names, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    with tempfile.TemporaryDirectory(prefix="denied-") as folder:
        environment = dict(os.environ)
        if "bubblewrap" in names:
            os.chmod(folder, 0o755)
            environment["PATH"] = path_without("bwrap", Path(folder))
        child = os.fork()
        if child == 0:
            install(set(names))
            os.execvpe(command[0], command, environment)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
