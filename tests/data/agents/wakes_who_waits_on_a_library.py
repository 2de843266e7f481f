"""Wakes and waits where its opponent could: at a page of the same library; answers with column 99 if that works."""

import ctypes
import os
import struct

FUTEX = 202 if os.uname().machine == "x86_64" else 98
WAIT, WAKE, REQUEUE, WAIT_BITSET = 0, 1, 3, 9
WAITV, NEW_WAKE = 449, 454
REFUSED = (1, 11)
"""`EPERM`, and `EAGAIN` at once, as for a thread that has ended."""


def works():
    libc = ctypes.CDLL(None, use_errno=True)
    page = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095
    value = ctypes.c_uint32.from_address(page).value
    moment = struct.pack("qq", 0, 1000)
    for command in (WAIT, WAKE, REQUEUE, WAIT_BITSET):
        arguments = (ctypes.c_void_p(page), command, value, moment, 0, -1)
        if libc.syscall(FUTEX, *arguments) >= 0 or ctypes.get_errno() not in REFUSED:
            return True
    for number in (WAITV, NEW_WAKE):
        if libc.syscall(number, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != 1:
            return True
    return False
