"""The system calls that an agent may not make, as a filter that the kernel runs (Linux).

Runs inside an agent's process. What is not named here is allowed: an agent computes, starts
threads and reads files. A call that is denied fails with `EPERM`, so that an agent can go on.
Numbers are those of the kernel's `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
import sys
from typing import Final, NamedTuple, TypeAlias

Instruction: TypeAlias = tuple[int, int, int, int]
"""Code, jump if true, jump if false, constant: one `struct sock_filter` of classic BPF."""

DENIED: Final = {
    # processes and namespaces
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    # signals to others, and their memory; `kill` and `tgkill` are below. A timer could send the
    # signal that wakes a stopped process
    "timer_create": (222, 107),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "process_mrelease": (448, 448),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "kcmp": (312, 272),
    # network; io_uring would do all of it unseen
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # more than a fair share of the processor
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    # changes of files that Landlock does not cover everywhere
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    # memory that outlives a process or counts as none of its own
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "syslog": (103, 116),
}
"""Denied whatever the arguments; the numbers for x86_64 and aarch64."""

DENIED_WITHOUT_LANDLOCK: Final = {
    "creat": (85, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "openat2": (437, 437),
}
"""So that at least nothing is written where the kernel cannot tell one path from another."""


class Machine(NamedTuple):
    """One architecture: its audit number, its column in the tables, the calls with conditions."""

    audit: int
    column: int
    clone: int
    clone3: int
    kill: int
    tgkill: int
    prctl: int
    prlimit: int
    fcntl: int
    ioctl: int
    opens: tuple[tuple[int, int], ...]
    """Numbers of the calls that open files, with the place of their flags."""


MACHINES: Final = {
    "x86_64": Machine(0xC000003E, 0, 56, 435, 62, 234, 157, 302, 72, 16, opens=((2, 1), (257, 2))),
    "aarch64": Machine(0xC00000B7, 1, 220, 435, 129, 131, 167, 261, 25, 29, opens=((56, 2),)),
}
LAST_KNOWN: Final = 466
"""Calls above this number were unknown when the tables were made; they fail with `ENOSYS`."""

LOAD: Final = 0x20
EQUAL: Final = 0x15
GREATER: Final = 0x25
ANY_BIT: Final = 0x45
RETURN: Final = 0x06

ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
NO: Final = 0x00050000 | errno.EPERM
UNKNOWN: Final = 0x00050000 | errno.ENOSYS

NUMBER_AT: Final = 0
MACHINE_AT: Final = 4
ARGUMENTS_AT: Final = 16

CLONE_THREAD: Final = 0x10000
WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
PRCTL_DENIED: Final = (1, 36)
"""`PR_SET_PDEATHSIG` and `PR_SET_CHILD_SUBREAPER`: who dies with whom."""
FCNTL_DENIED: Final = (8, 10, 15, 1024)
"""`F_SETOWN`, `F_SETSIG` and `F_SETOWN_EX` send signals, `F_SETLEASE` holds up who opens a file."""
IOCTL_DENIED: Final = (0x8901, 0x8902)
"""`FIOSETOWN` and `SIOCSPGRP`: the same for sockets."""

PR_GET_SECCOMP: Final = 21
PR_SET_SECCOMP: Final = 22
SECCOMP_MODE_FILTER: Final = 2


def machine() -> Machine | None:
    """Return this machine's entry; None where the tables do not know it."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    return MACHINES.get(os.uname().machine)


def available() -> bool:
    """Return whether `install` can work here."""
    if machine() is None:
        return False
    return int(ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def _if_called(number: int, argument: int, *body: Instruction) -> list[Instruction]:
    """Return `body`, run with that argument's low half loaded if the call is `number`."""
    block = [(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), *body, (LOAD, 0, 0, NUMBER_AT)]
    return [(EQUAL, 0, len(block), number), *block]


def _deny_values(number: int, argument: int, values: tuple[int, ...]) -> list[Instruction]:
    checks = [step for value in values for step in ((EQUAL, 0, 1, value), (RETURN, 0, 0, NO))]
    return _if_called(number, argument, *checks)


def program(own_pid: int, landlocked: bool) -> list[Instruction]:
    """Return the filter for the process `own_pid`, which alone it may send signals to."""
    here = machine()
    assert here is not None
    steps: list[Instruction] = [
        (LOAD, 0, 0, MACHINE_AT),
        (EQUAL, 1, 0, here.audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (GREATER, 0, 1, LAST_KNOWN),
        (RETURN, 0, 0, UNKNOWN),
        (EQUAL, 0, 1, here.clone3),  # its flags are out of reach; the C library takes clone then
        (RETURN, 0, 0, UNKNOWN),
    ]
    names = DENIED if landlocked else DENIED | DENIED_WITHOUT_LANDLOCK
    for numbers in names.values():
        number = numbers[here.column]
        if number is not None:
            steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, NO)]
    steps += _if_called(here.clone, 0, (ANY_BIT, 1, 0, CLONE_THREAD), (RETURN, 0, 0, NO))
    for number, which in ((here.kill, 1), (here.tgkill, 2)):
        steps += _if_called(number, 0, (EQUAL, 1, 0, own_pid), (RETURN, 0, 0, NO))
        steps += _deny_values(number, which, (signal.SIGCONT,))  # only the referee wakes it
    steps += _if_called(here.prlimit, 0, (EQUAL, 1, 0, 0), (RETURN, 0, 0, NO))
    steps += _deny_values(here.prctl, 0, PRCTL_DENIED)
    steps += _deny_values(here.fcntl, 1, FCNTL_DENIED)
    steps += _deny_values(here.ioctl, 1, IOCTL_DENIED)
    if not landlocked:
        for number, flags in here.opens:
            steps += _if_called(number, flags, (ANY_BIT, 0, 1, WRITING), (RETURN, 0, 0, NO))
    steps.append((RETURN, 0, 0, ALLOW))
    return steps


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install(landlocked: bool) -> None:
    """Put the filter on this process for good; it must have `no_new_privs`. Raises `OSError`."""
    steps = program(os.getpid(), landlocked)
    packed = b"".join(struct.pack("=HBBI", *step) for step in steps)
    libc = ctypes.CDLL(None, use_errno=True)
    filter_ = _Program(len(steps), packed)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp: the filter was refused")
