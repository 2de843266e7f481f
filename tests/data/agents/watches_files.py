"""Watches files and folders that others open; answers with column 99 if that works."""

import ctypes
import os

NUMBERS = (294, 254, 300, 301) if os.uname().machine == "x86_64" else (26, 27, 262, 263)
EPERM = 1


def works():
    libc = ctypes.CDLL(None, use_errno=True)
    for number in NUMBERS:
        if libc.syscall(number, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != EPERM:
            return True
    return False
