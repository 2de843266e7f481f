"""Takes memory that its limit does not count, in pieces of 16 MB and 192 MB at most; answers with column 99 if that works."""

import ctypes
import mmap
import os

PIECE = 1 << 24
PAGE = 4096


def works():
    libc = ctypes.CDLL(None)
    for map_one in (
        lambda: mmap.mmap(-1, PIECE),
        lambda: mmap.mmap(os.memfd_create("m"), PIECE),
        lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), PIECE),
        lambda: mmap.mmap(-1, PIECE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000),
    ):
        try:
            kept = []
            for _ in range(12):
                kept.append(map_one())
                for place in range(0, PIECE, PAGE):
                    kept[-1][place] = 1
            return True
        except OSError:
            continue
    return libc.mlockall(3) == 0
