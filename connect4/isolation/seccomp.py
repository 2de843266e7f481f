"""The system calls that an agent may make, as a filter that the kernel runs (Linux).

Runs inside an agent's process. Every call that is not listed here is refused: with `EPERM`, so that
an agent can continue, or with `ENOSYS` if the call was unknown when the tables were made, so that
a C library falls back to an older one. A call of another architecture ends the process. The calls
are those that CPython, the C library and numpy need; `benchmarks/syscalls.py` says how that was
found. A filter sees numbers, not the data behind a pointer: Landlock checks the names of files.
The numbers are those of the kernel's `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

import ctypes
import errno
import os
import signal
import struct
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

Instruction: TypeAlias = tuple[int, int, int, int]
"""Code, jump if true, jump if false, constant: one `struct sock_filter` of classic BPF."""

CALLS: Final = {
    # files that are open: imports, output, pipes between threads
    "read": (0, 63), "readv": (19, 65), "pread64": (17, 67), "preadv": (295, 69), "write": (1, 64),
    "writev": (20, 66), "pwrite64": (18, 68), "pwritev": (296, 70), "lseek": (8, 62),
    "close": (3, 57), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None),
    # imports search for files and list folders; Landlock restricts what is opened and listed
    "stat": (4, None), "lstat": (6, None), "fstat": (5, 80), "newfstatat": (262, 79),
    "statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "getdents64": (217, 61), "getcwd": (79, 17),
    "chdir": (80, 49), "fchdir": (81, 50),
    # waiting for descriptors: `select`, `selectors`
    "select": (23, None), "pselect6": (270, 72), "poll": (7, None), "ppoll": (271, 73),
    "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    # the connection to the referee, which is open; an agent cannot create another
    "sendto": (44, 206), "recvfrom": (45, 207),
    # memory, the stacks of threads, shared libraries
    "brk": (12, 214), "munmap": (11, 215), "mprotect": (10, 226),
    # threads start and end, and the kernel resumes an interrupted wait
    "set_robust_list": (273, 99), "rseq": (334, 293), "gettid": (186, 178),
    "sched_yield": (24, 124), "getcpu": (309, 168), "exit": (60, 93), "exit_group": (231, 94),
    "restart_syscall": (219, 128),
    # `signal`, with which agents set alarms for themselves; `faulthandler`
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "pause": (34, None), "alarm": (37, None), "getitimer": (36, 102),
    "setitimer": (38, 103),
    # `time`, `resource`
    "time": (201, None), "gettimeofday": (96, 169), "nanosleep": (35, 101), "times": (100, 153),
    "getrusage": (98, 165),
    # `random`, `secrets`, `numpy.random`
    "getrandom": (318, 278),
    # the process and the system: `os`, `site`, `platform`, `tempfile`
    "getpid": (39, 172), "getppid": (110, 173), "getpgrp": (111, None), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148),
    "getresgid": (120, 150), "getgroups": (115, 158), "uname": (63, 160),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
}  # fmt: skip
"""Allowed with any arguments; the numbers for x86_64 and aarch64, None if there is none."""

CHANGES: Final = {
    "mkdir": (83, None), "mkdirat": (258, 34), "unlink": (87, None), "unlinkat": (263, 35),
    "rmdir": (84, None), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "ftruncate": (77, 46),
}  # fmt: skip
"""Allowed with a temporary folder, the only place where Landlock then allows changes."""

CONDITIONAL: Final = {
    "close_range": (436, 436), "pipe2": (293, 59), "open": (2, None), "openat": (257, 56),
    "preadv2": (327, 286), "pwritev2": (328, 287), "fcntl": (72, 25), "ioctl": (16, 29),
    "mmap": (9, 222), "mremap": (25, 216), "madvise": (28, 233), "clone": (56, 220),
    "clone3": (435, 435), "futex": (202, 98), "kill": (62, 129), "tgkill": (234, 131),
    "prctl": (157, 167), "getrlimit": (97, 163), "setrlimit": (160, 164),
    "prlimit64": (302, 261), "getpgid": (121, 155), "getsid": (124, 156),
    "getpriority": (140, 141), "sched_getaffinity": (204, 123),
    "sched_getscheduler": (145, 120), "sched_getparam": (143, 121), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
}  # fmt: skip
"""Allowed only with some arguments; see `_conditions`."""

OF_A_PROCESS: Final = (
    *("prlimit64", "getpgid", "getsid"),
    *("sched_getaffinity", "sched_getscheduler", "sched_getparam"),
)
"""Their first argument must be this process."""
RLIMIT_NPROC: Final = 6
OF_A_CLOCK: Final = ("clock_gettime", "clock_getres", "clock_nanosleep")


class Machine(NamedTuple):
    """One architecture: its audit number, its column in the tables, numbers without a call."""

    audit: int
    column: int
    unused: range


MACHINES: Final = {
    "x86_64": Machine(0xC000003E, 0, range(337, 424)),
    "aarch64": Machine(0xC00000B7, 1, range(295, 424)),
}
LAST_KNOWN: Final = 469
"""Calls above this number were unknown when the tables were made; they fail with `ENOSYS`."""

LOAD: Final = 0x20
AND: Final = 0x54
EQUAL: Final = 0x15
GREATER: Final = 0x25
AT_LEAST: Final = 0x35
ANY_BIT: Final = 0x45
RETURN: Final = 0x06

ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
ERROR: Final = 0x00050000
NO: Final = ERROR | errno.EPERM
UNKNOWN: Final = ERROR | errno.ENOSYS
AGAIN: Final = ERROR | errno.EAGAIN

NUMBER_AT: Final = 0
MACHINE_AT: Final = 4
ARGUMENTS_AT: Final = 16

WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CLOSE_RANGE_CLOEXEC: Final = 4
"""Without `CLOSE_RANGE_UNSHARE`, which would give each thread the file limit of the process."""
PIPE_FLAGS: Final = os.O_CLOEXEC | os.O_NONBLOCK

FCNTL_ALLOWED: Final = (0, 1, 2, 3, 1030)
"""`F_DUPFD`, `F_GETFD`, `F_SETFD`, `F_GETFL`, `F_DUPFD_CLOEXEC`: no locks, leases or signals."""
F_SETFL: Final = 4
IOCTL_ALLOWED: Final = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""`TCGETS` and `TCGETS2` (`isatty`), `TIOCGWINSZ`, `FIONREAD`, `FIONBIO`, `FIONCLEX`, `FIOCLEX`."""
PRCTL_ALLOWED: Final = (16,)
"""`PR_GET_NAME`."""
MADVISE_ALLOWED: Final = (0, 4, 8, 14, 15, 16, 18, 102, 103)
"""Normal, don't need, free, huge pages and none, no dump, wipe on fork, guards: what `malloc`,
numpy and the C library's stacks ask for. Nothing that reads files ahead or pages them out."""

MAP_PRIVATE: Final = 0x02
MAP_REGARDED: Final = 0x0F | 0x2000 | 0x40000
"""The type of a mapping, and that it is locked or of huge pages from the machine's reserve."""
MREMAP_MAYMOVE: Final = 1

THREAD: Final = 0x00010F00
"""`CLONE_VM`, `_FS`, `_FILES`, `_SIGHAND` and `_THREAD`: what every thread is started with."""
THREADS_MAY: Final = THREAD | 0x016C0000 | 0x00100000
"""Also `_SYSVSEM`, `_SETTLS`, `_DETACHED` and the flags that write or clear the thread's number."""

FUTEX_PRIVATE: Final = 0x80
FUTEX_COMMANDS: Final = 0x7F
FUTEX_WAITS: Final = (0, 9)
"""`FUTEX_WAIT` and `FUTEX_WAIT_BITSET`."""

LAST_CLOCK: Final = 11
"""No clock of a process, a thread or a device: those have numbers below 0."""

PR_GET_SECCOMP: Final = 21
PR_SET_SECCOMP: Final = 22
SECCOMP_MODE_FILTER: Final = 2


def machine() -> Machine | None:
    """Return this machine's entry; None if the tables lack it."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    return MACHINES.get(os.uname().machine)


def available() -> bool:
    """Return whether `install` can work here."""
    if machine() is None:
        return False
    return int(ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


# -- pieces of conditions


def _load(argument: int) -> Instruction:
    """Load the low half of an argument, which is all that the kernel uses of those checked here."""
    return (LOAD, 0, 0, ARGUMENTS_AT + 8 * argument)


def _none_of(argument: int, values: Sequence[int]) -> list[Instruction]:
    """Refuse if the argument is one of the values; else continue."""
    checks = [step for value in values for step in ((EQUAL, 0, 1, value), (RETURN, 0, 0, NO))]
    return [_load(argument), *checks]


def _only(argument: int, values: Sequence[int], mask: int = 0xFFFFFFFF) -> list[Instruction]:
    """Refuse unless the argument's bits under the mask are one of the values; else continue."""
    checks = [(EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_load(argument), (AND, 0, 0, mask), *checks, (RETURN, 0, 0, NO)]


def _without(argument: int, bits: int) -> list[Instruction]:
    """Refuse if the argument has any of the bits; else continue."""
    return _only(argument, (0,), bits)


def _futex() -> list[Instruction]:
    """Continue if the futex is private to this process.

    Another process can wait on a page of the same library file. Only `pthread_join` waits on a
    futex that is not private, for the end of a thread; it polls instead of sleeping.
    """
    return [
        _load(1),
        (ANY_BIT, 0, 1, FUTEX_PRIVATE),
        (RETURN, 0, 0, ALLOW),
        (AND, 0, 0, FUTEX_COMMANDS),
        *[step for wait in FUTEX_WAITS for step in ((EQUAL, 0, 1, wait), (RETURN, 0, 0, AGAIN))],
        (RETURN, 0, 0, NO),
    ]


def _conditions(own_pid: int, landlocked: bool) -> dict[str, list[Instruction]]:
    """Return the checks of each call in `CONDITIONAL`; a call that passes them is allowed."""
    unseen = os.O_DIRECT | os.O_NOATIME | os.O_ASYNC
    opening = unseen if landlocked else unseen | WRITING
    own = (0, own_pid)
    fixed_clock = [_load(0), (GREATER, 0, 1, LAST_CLOCK), (RETURN, 0, 0, NO)]
    set_flags = [_load(1), (EQUAL, 0, 5, F_SETFL), *_without(2, unseen), (RETURN, 0, 0, ALLOW)]
    return {
        "close_range": _only(2, (0, CLOSE_RANGE_CLOEXEC)),
        "pipe2": _without(1, 0xFFFFFFFF ^ PIPE_FLAGS),  # no notification pipes
        # no read that bypasses the page cache or leaves no access time; no writing if no Landlock
        "open": _without(1, opening),
        "openat": _without(2, opening),
        # `RWF_NOWAIT` reveals what is in the page cache
        "preadv2": _only(5, (0,)),
        "pwritev2": _only(5, (0,)),
        "fcntl": [*set_flags, *_only(1, FCNTL_ALLOWED)],
        # no inode flags, terminals or network interfaces
        "ioctl": _only(1, IOCTL_ALLOWED),
        # no limit counts shared memory after it is unmapped
        "mmap": _only(3, (MAP_PRIVATE,), MAP_REGARDED),
        "mremap": _without(3, 0xFFFFFFFF ^ MREMAP_MAYMOVE),  # no duplicate of a mapping
        "madvise": _only(2, MADVISE_ALLOWED),
        # threads: no processes, no namespaces
        "clone": [*_without(0, 0xFFFFFFFF ^ THREADS_MAY), *_only(0, (THREAD,), THREAD)],
        "clone3": [(RETURN, 0, 0, UNKNOWN)],  # a filter cannot see its flags; libraries use clone
        "futex": _futex(),
        "kill": [*_only(0, (own_pid,)), *_none_of(1, (signal.SIGCONT,))],  # the referee wakes it
        "tgkill": [*_only(0, (own_pid,)), *_none_of(2, (signal.SIGCONT,))],
        # no name that others see, no permission to trace it, no signal when its parent ends
        "prctl": _only(0, PRCTL_ALLOWED),
        # which other processes run, and how, is no agent's business
        "getpriority": [*_only(0, (os.PRIO_PROCESS,)), *_only(1, own)],
        **dict.fromkeys(OF_A_PROCESS, _only(0, own)),
        "setrlimit": _none_of(0, (RLIMIT_NPROC,)),  # only the referee may change it
        "getrlimit": _none_of(0, (RLIMIT_NPROC,)),  # it depends on other processes of the user
        "prlimit64": [*_only(0, own), *_none_of(1, (RLIMIT_NPROC,))],
        # the fixed clocks, and its own processor time; not that of other processes
        **dict.fromkeys(OF_A_CLOCK, fixed_clock),
    }


def program(
    here: Machine, own_pid: int, landlocked: bool, temporary: bool = False
) -> list[Instruction]:
    """Return the filter for the process `own_pid`, the only one that it may send signals to."""
    steps = [
        (LOAD, 0, 0, MACHINE_AT),
        (EQUAL, 1, 0, here.audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (GREATER, 0, 1, LAST_KNOWN),
        (RETURN, 0, 0, UNKNOWN),
        (AT_LEAST, 0, 2, here.unused.start),
        (AT_LEAST, 1, 0, here.unused.stop),
        (RETURN, 0, 0, UNKNOWN),
    ]
    conditions = _conditions(own_pid, landlocked)
    for name, numbers in (CONDITIONAL | CALLS | (CHANGES if temporary else {})).items():
        number = numbers[here.column]
        if number is not None:
            verdict = [*conditions.get(name, ()), (RETURN, 0, 0, ALLOW)]
            steps += [(EQUAL, 0, len(verdict), number), *verdict]
    return [*steps, (RETURN, 0, 0, NO)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install(landlocked: bool, temporary: bool = False) -> None:
    """Apply the filter to this process permanently; requires `no_new_privs`. Raises `OSError`."""
    here = machine()
    assert here is not None
    steps = program(here, os.getpid(), landlocked, temporary)
    packed = b"".join(struct.pack("=HBBI", *step) for step in steps)
    libc = ctypes.CDLL(None, use_errno=True)
    filter_ = _Program(len(steps), packed)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp: the filter was refused")
