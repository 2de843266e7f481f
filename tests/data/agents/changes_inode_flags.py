"""Writes a version and flags onto a file that it may only read; answers with column 99 if that works."""

import ctypes
import fcntl
import os
import struct
import termios

GETVERSION, SETVERSION, SETFLAGS = 0x80087601, 0x40087602, 0x40086602
FSGETXATTR, SIOCGIFCONF, TIOCSTI = 0x801C581F, 0x8912, 0x5412


def works():
    file = os.open(ctypes.__file__, os.O_RDONLY)
    tries = [
        lambda: fcntl.ioctl(file, SETVERSION, struct.pack("i", 7)),
        lambda: fcntl.ioctl(file, SETFLAGS, struct.pack("i", 0x80)),
        lambda: fcntl.ioctl(file, GETVERSION, bytes(8)),
        lambda: fcntl.ioctl(file, FSGETXATTR, bytes(28)),
        lambda: fcntl.ioctl(3, SIOCGIFCONF, bytes(16)),
        lambda: fcntl.ioctl(0, TIOCSTI, b"x"),
        lambda: fcntl.ioctl(0, termios.TCSETS, bytes(60)),
        lambda: os.getxattr(ctypes.__file__, "user.note"),
    ]
    return any(done(one) for one in tries)
