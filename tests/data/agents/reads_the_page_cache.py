"""Asks which pages of a library are in memory, and moves them in and out; answers with column 99 if that works."""

import ctypes
import fcntl
import mmap
import os

NOWAIT = 8
COLD, PAGEOUT, WILLNEED = 20, 21, 3
READAHEAD, MINCORE, SYNC = (187, 27, 162) if os.uname().machine == "x86_64" else (213, 232, 81)
CACHESTAT = 451
FILE = ctypes.__file__


def works():
    libc = ctypes.CDLL(None, use_errno=True)
    file = os.open(FILE, os.O_RDONLY)
    memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    buffer = bytearray(16)
    tries = [
        lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED),
        lambda: os.preadv(file, [buffer], 0, NOWAIT),
        lambda: os.open(FILE, os.O_RDONLY | os.O_DIRECT),
        lambda: os.open(FILE, os.O_RDONLY | os.O_NOATIME),
        lambda: fcntl.fcntl(file, fcntl.F_SETFL, os.O_DIRECT),
        lambda: mmap.mmap(file, 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED),
        *(lambda way=way: memory.madvise(way) for way in (COLD, PAGEOUT, WILLNEED)),
        *(
            lambda number=number: answered(libc.syscall(number, 0, 0, 0, 0))
            for number in (READAHEAD, MINCORE, SYNC, CACHESTAT)
        ),
        lambda: os.fsync(file),
    ]
    return any(done(one) for one in tries)
