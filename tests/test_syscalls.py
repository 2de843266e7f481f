"""The filter of system calls: its answer to each call, on every machine that it knows."""

import errno
import os
import signal

import pytest

from connect4.isolation import seccomp
from connect4.isolation.seccomp import ALLOW, CALLS, CONDITIONAL, ERROR, KILL, MACHINES, Machine

PID = 4711
OTHER = 4712

REFUSED = ERROR | errno.EPERM
NO_SUCH_CALL = ERROR | errno.ENOSYS
AT_ONCE = ERROR | errno.EAGAIN


def verdict(
    machine: Machine, number: int, arguments: tuple[int, ...] = (), landlocked: bool = True
) -> int:
    """Run the filter as the kernel does; return what it returns."""
    data = {seccomp.NUMBER_AT: number, seccomp.MACHINE_AT: machine.audit}
    for place, value in enumerate((*arguments, *(0,) * (6 - len(arguments)))):
        data[seccomp.ARGUMENTS_AT + 8 * place] = value & 0xFFFFFFFF
    steps = seccomp.program(machine, PID, landlocked)
    held, place = 0, 0
    while True:
        code, if_true, if_false, constant = steps[place]
        place += 1
        if code == seccomp.RETURN:
            return constant
        if code == seccomp.LOAD:
            held = data[constant]
        elif code == seccomp.AND:
            held &= constant
        else:
            holds = {
                seccomp.EQUAL: held == constant,
                seccomp.GREATER: held > constant,
                seccomp.AT_LEAST: held >= constant,
                seccomp.ANY_BIT: bool(held & constant),
            }[code]
            place += if_true if holds else if_false


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("landlocked", [True, False])
def test_what_is_not_in_the_tables_is_refused(name: str, landlocked: bool) -> None:
    machine = MACHINES[name]
    allowed = {numbers[machine.column] for numbers in CALLS.values()}
    conditional = {numbers[machine.column] for numbers in CONDITIONAL.values()}
    for number in range(seccomp.LAST_KNOWN + 100):
        if number in conditional:
            continue
        unknown = number in machine.unused or number > seccomp.LAST_KNOWN
        expected = NO_SUCH_CALL if unknown else ALLOW if number in allowed else REFUSED
        assert verdict(machine, number, (), landlocked) == expected, number


@pytest.mark.parametrize("name", MACHINES)
def test_calls_of_another_architecture_end_the_process(name: str) -> None:
    machine = MACHINES[name]
    steps = seccomp.program(machine, PID, True)
    assert steps[:3] == [
        (seccomp.LOAD, 0, 0, seccomp.MACHINE_AT),
        (seccomp.EQUAL, 1, 0, machine.audit),
        (seccomp.RETURN, 0, 0, KILL),
    ]
    x32 = 0x40000000
    assert verdict(machine, x32 | 39) == NO_SUCH_CALL


THREAD = 0x3D0F00
"""What the GNU C library starts a thread with; the other is musl's."""

BY_ARGUMENTS = [
    ("openat", (-100, 0, os.O_RDONLY), ALLOW),
    ("openat", (-100, 0, os.O_RDONLY | 0x40000), REFUSED),
    ("openat", (-100, 0, os.O_DIRECT), REFUSED),
    *[("close_range", (3, 9, flags), ALLOW) for flags in (0, 4)],
    *[("close_range", (3, 9, flags), REFUSED) for flags in (2, 6)],
    ("pipe2", (4096, os.O_CLOEXEC | os.O_NONBLOCK), ALLOW),
    *[("pipe2", (4096, flags), REFUSED) for flags in (os.O_EXCL, 0x4000)],
    ("preadv2", (3, 0, 1, 0, 0, 0), ALLOW),
    ("preadv2", (3, 0, 1, 0, 0, 8), REFUSED),
    *[("fcntl", (3, command), ALLOW) for command in (0, 1, 2, 3, 4, 1030)],
    *[("fcntl", (3, command), REFUSED) for command in (5, 6, 8, 10, 37, 1024, 1026, 1031)],
    ("fcntl", (3, 4, os.O_NONBLOCK), ALLOW),
    ("fcntl", (3, 4, 0x2000), REFUSED),
    ("fcntl", (3, 4, os.O_DIRECT), REFUSED),
    *[("ioctl", (0, command), ALLOW) for command in (0x5401, 0x5413, 0x5421, 0x5451)],
    *[("ioctl", (0, command), REFUSED) for command in (0x5402, 0x5412, 0x8912, 0x40086602)],
    ("mmap", (0, 4096, 3, 0x22), ALLOW),
    ("mmap", (0, 4096, 3, 0x21), REFUSED),
    ("mmap", (0, 4096, 3, 0x28), REFUSED),
    ("mmap", (0, 4096, 3, 0x40022), REFUSED),
    ("mremap", (4096, 4096, 8192, 1), ALLOW),
    ("mremap", (4096, 0, 8192, 3), REFUSED),
    *[("madvise", (4096, 4096, advice), ALLOW) for advice in (0, 4, 14)],
    *[("madvise", (4096, 4096, advice), REFUSED) for advice in (3, 12, 20, 21, 22)],
    ("clone", (THREAD,), ALLOW),
    ("clone", (signal.SIGCHLD,), REFUSED),
    ("clone", (THREAD | 0x40000000,), REFUSED),
    ("clone3", (0,), NO_SUCH_CALL),
    ("futex", (4096, 128), ALLOW),
    ("futex", (4096, 0x109), AT_ONCE),
    ("futex", (4096, 0), AT_ONCE),
    ("futex", (4096, 1), REFUSED),
    ("kill", (PID, signal.SIGTERM), ALLOW),
    ("kill", (PID, signal.SIGCONT), REFUSED),
    *[("kill", (pid, 0), REFUSED) for pid in (0, -1, -PID, 1, OTHER)],
    ("tgkill", (PID, OTHER, signal.SIGUSR1), ALLOW),
    ("tgkill", (PID, PID, signal.SIGCONT), REFUSED),
    ("tgkill", (OTHER, OTHER, signal.SIGUSR1), REFUSED),
    ("prctl", (16,), ALLOW),
    *[("prctl", (option,), REFUSED) for option in (1, 4, 15, 22, 36, 0x59616D61)],
    ("getpriority", (0, 0), ALLOW),
    ("getpriority", (0, OTHER), REFUSED),
    ("getpriority", (2, 0), REFUSED),
    *[(name, (pid,), ALLOW) for name in seccomp.OF_A_PROCESS for pid in (0, PID)],
    *[(name, (pid,), REFUSED) for name in seccomp.OF_A_PROCESS for pid in (1, OTHER)],
    *[(name, (clock,), ALLOW) for name in seccomp.OF_A_CLOCK for clock in (0, 1, 2, 3, 7, 11)],
    *[(name, (~pid << 3 | 2,), REFUSED) for name in seccomp.OF_A_CLOCK for pid in (PID, OTHER)],
    *[(name, (14,), REFUSED) for name in seccomp.OF_A_CLOCK],
]


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(("call", "arguments", "expected"), BY_ARGUMENTS)
def test_some_calls_are_judged_by_their_arguments(
    name: str, call: str, arguments: tuple[int, ...], expected: int
) -> None:
    machine = MACHINES[name]
    number = CONDITIONAL[call][machine.column]
    assert number is not None
    assert verdict(machine, number, arguments) == expected


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC])
def test_files_are_opened_for_writing_only_where_landlock_judges(name: str, flags: int) -> None:
    machine = MACHINES[name]
    number = CONDITIONAL["openat"][machine.column] or 0
    assert verdict(machine, number, (-100, 0, flags), landlocked=True) == ALLOW
    assert verdict(machine, number, (-100, 0, flags), landlocked=False) == REFUSED
