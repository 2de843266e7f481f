"""Locks a library file that its opponent can see locked; answers with column 99 if that works."""

import ctypes
import fcntl
import os
import struct

GET_OFD, SET_OFD, SET_LEASE, NOTIFY, PIPE_SIZE = 36, 37, 1024, 1026, 1031


def works():
    file = os.open(ctypes.__file__, os.O_RDONLY)
    folder = os.open(os.path.dirname(ctypes.__file__), os.O_RDONLY)
    pipe = os.pipe()[0]
    lock = struct.pack("hhqqi", 0, 0, 0, 0, 0)
    tries = [
        lambda: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
        lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
        lambda: fcntl.fcntl(file, fcntl.F_GETLK, lock),
        lambda: fcntl.fcntl(file, GET_OFD, lock),
        lambda: fcntl.fcntl(file, SET_OFD, lock),
        lambda: fcntl.fcntl(file, SET_LEASE, 0),
        lambda: fcntl.fcntl(folder, NOTIFY, 0),
        lambda: fcntl.fcntl(pipe, PIPE_SIZE, 1 << 20),
    ]
    return any(done(one) for one in tries)
