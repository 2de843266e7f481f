"""Landlock: the kernel denies a process all files except those that it names (Linux 5.13)."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from connect4.isolation import seccomp

CREATE_RULESET: Final = 444
ADD_RULE: Final = 445
RESTRICT_SELF: Final = 446
RULE_PATH_BENEATH: Final = 1
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3


@cache
def _function() -> Any:
    """Return the C library's `syscall`, looked up once: there are hundreds of rules."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def _syscall(number: int, *arguments: object) -> int:
    return int(_function()(ctypes.c_long(number), *arguments))


def abi() -> int:
    """Return the version of the kernel's Landlock; 0 where there is none."""
    if sys.platform != "linux" or seccomp.machine() is None:
        return 0
    return max(0, _syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def ruleset(readable: Iterable[str], listable: Iterable[str] = ()) -> int:
    """Return a descriptor of rules: read these paths, no other files; no TCP, no signals to others.

    Of `listable` folders the names may be read. Raises `OSError`.
    """
    version = abi()
    handled = (1 << 13) - 1  # what version 1 knows, then renaming, truncating, device control
    for since, right in ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15)):
        handled |= right if version >= since else 0
    attributes = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    if rules < 0:
        raise OSError(ctypes.get_errno(), "Landlock: no ruleset")
    rules = moved_up(rules)
    for path in readable:
        allow(rules, path)
    for path in listable:
        allow(rules, path, READ_DIR)
    allow(rules, "/dev/urandom", READ_FILE)
    allow(rules, "/dev/null", READ_FILE | WRITE_FILE)
    return rules


def moved_up(handle: int) -> int:
    """Return another number for a descriptor: the low ones are for the lines to the referee."""
    import fcntl  # not on Windows

    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 32)
    finally:
        os.close(handle)


def restrict(rules: int) -> None:
    """Put the rules of `ruleset` on this process for good, and close them; raises `OSError`."""
    try:
        if _syscall(RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)):
            raise OSError(ctypes.get_errno(), "Landlock: the ruleset was refused")
    finally:
        os.close(rules)


def allow(rules: int, path: str, rights: int = READ_FILE | READ_DIR) -> None:
    """Add a path to rules; one that is not there is left out. Raises `OSError`."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there, so nothing to allow
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
