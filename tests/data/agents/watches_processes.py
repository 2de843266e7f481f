"""Asks what other processes do; answers with column 99 if that works."""

import ctypes
import os
import resource
import time

X86 = os.uname().machine == "x86_64"
SYSINFO, ROBUST_LIST, GETRLIMIT = (99, 274, 97) if X86 else (179, 100, 163)
PR_SET_NAME = 15


def works():
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getppid()
    tries = [
        lambda: os.getsid(parent),
        lambda: os.getpgid(parent),
        lambda: os.getpriority(os.PRIO_PROCESS, parent),
        lambda: os.getpriority(os.PRIO_USER, 0),
        lambda: os.sched_getaffinity(parent),
        lambda: os.sched_getscheduler(parent),
        lambda: os.sched_getparam(parent),
        lambda: resource.prlimit(parent, resource.RLIMIT_AS),
        lambda: resource.getrlimit(resource.RLIMIT_NPROC),
        lambda: answered(libc.syscall(GETRLIMIT, resource.RLIMIT_NPROC, bytes(16))),
        lambda: time.clock_gettime(~parent << 3 | 2),
        lambda: time.clock_getres(~parent << 3 | 2),
        lambda: os.kill(parent, 0),
        lambda: os.kill(0, 0),
        lambda: os.kill(-1, 0),
        lambda: os.statvfs("/"),
        lambda: answered(libc.syscall(SYSINFO, bytes(200))),
        lambda: answered(libc.syscall(ROBUST_LIST, parent, bytes(8), bytes(8))),
        lambda: answered(libc.prctl(PR_SET_NAME, b"a note", 0, 0, 0)),
    ]
    return any(done(one) for one in tries)
