"""Seats for hostile and broken agents, and what they could leave behind."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from connect4.games.extended import EXTENDED, ExtendedState, read
from connect4.isolation.process import AgentProcess
from connect4.isolation.seat import IsolatedSeat, Level, Lifetime, Limits, open_seat
from connect4.players.base import AgentName, Setup
from connect4.players.registry import parse_agent
from tests.hostile import source_of

SEED = 739184265
"""One that is found again where it should not be."""


TRACER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
seize, trace_exit = 0x4206, 0x40
assert libc.ptrace(seize, int(sys.argv[1]), None, trace_exit) == 0, ctypes.get_errno()
print("held", flush=True)
sys.stdin.read()
"""
"""Holds a process at its very end, as the kernel does that waits for a disk."""


def board(text: str = "1\n0 0\n0 0\n") -> ExtendedState:
    """Return a position, a board of 2 by 2 unless said otherwise."""
    return read(text, "the test")


def setup(agent: Path | str, player: int = 1, seconds: float = 5.0) -> Setup:
    """Return the setup of a student's file, or of the hostile agent so called."""
    if isinstance(agent, Path):
        name, source = parse_agent(f"ai:{agent}"), None
    else:
        name, source = AgentName(f"ai:{agent}", "ai", f"{agent}.py"), source_of(agent).encode()
    return Setup(name, player, EXTENDED, seconds, SEED, "intelligent", source=source)


def seat(
    agent: Path | str,
    level: Level = "process",
    player: int = 1,
    seconds: float = 5.0,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    lifetime: Lifetime = "game",
) -> IsolatedSeat:
    """Return an open seat."""
    opened = open_seat(setup(agent, player, seconds), level, limits, lifetime)
    assert isinstance(opened, IsolatedSeat)
    return opened


def process_of(opened: IsolatedSeat) -> AgentProcess:
    """Return the process of the agent behind a seat."""
    assert isinstance(opened.agent, AgentProcess)
    return opened.agent


def limits_for(agent: str) -> Limits:
    """Return limits under which each turn of a hostile agent has the same outcome."""
    return Limits(
        start_seconds=0.3 if agent == "import_never_ends" else 10.0,
        reload_seconds=1000.0,
        memory_bytes=1 << (28 if agent == "fills_memory" else 30),
    )


def processes(owner: int | None = None) -> dict[int, str]:
    """Return the state letter of each process that was started for agents by process `owner`."""
    label = f"connect4 agent of {owner or os.getpid()}\0".encode()
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if label in (entry / "cmdline").read_bytes():
                text = (entry / "stat").read_text(encoding="latin-1")
                found[int(entry.name)] = text.rpartition(")")[2].split()[0]
        except OSError:
            continue
    return found


def sessions(pids: Iterable[int]) -> set[int]:
    """Return the sessions of these processes."""
    return {os.getsid(pid) for pid in pids}


def members(of: set[int]) -> list[int]:
    """Return every process of these sessions, zombies too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            session = int(entry.read_text(encoding="latin-1").rpartition(")")[2].split()[3])
        except OSError:
            continue
        if session in of:
            found.append(int(entry.parent.name))
    return found


def wait_for_none(owner: int, seconds: float = 10.0) -> None:
    """Wait until nothing is left of what a process that was killed had started."""
    end = time.monotonic() + seconds
    while (left := processes(owner)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left
