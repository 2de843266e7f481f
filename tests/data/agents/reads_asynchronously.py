"""Prepares reads that go on when it is killed; answers with column 99 if that works."""

import ctypes
import os

SETUP, SUBMIT, GETEVENTS = (206, 209, 208) if os.uname().machine == "x86_64" else (0, 2, 4)
EPERM = 1


def works():
    libc = ctypes.CDLL(None, use_errno=True)
    context = ctypes.c_ulong(0)
    tries = (
        (SETUP, 1, ctypes.byref(context)),
        (SUBMIT, 0, 0, 0),
        (GETEVENTS, 0, 0, 0, 0, 0),
        (425, 1, 0),
    )
    for number, *arguments in tries:
        done = libc.syscall(number, *arguments)
        if done >= 0 or ctypes.get_errno() != EPERM:
            return True
    return False
