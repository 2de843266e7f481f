"""The control group that limits the memory of a seat's processes, where root can make one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from connect4.isolation.limits import EXTRA_BYTES, MemoryGroup, hierarchy, memory_group
from connect4.isolation.seat import Limits
from connect4.players.base import Outcome
from tests.seats import board, processes, seat

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux"),
    pytest.mark.skipif(hierarchy() is None, reason="this machine allows fewer than one group"),
]

PEAK = ("memory.peak", "memory.max_usage_in_bytes")
LIMIT = ("memory.max", "memory.limit_in_bytes")
KILLS = ("memory.events", "memory.oom_control")


EARLIER: set[Path] = set()


@pytest.fixture(autouse=True)
def only_new_groups() -> None:
    """Have `groups` leave out what other tests of this process made."""
    EARLIER.clear()
    EARLIER.update(groups())


def value(folder: Path, names: tuple[str, ...]) -> int:
    text = next((folder / name).read_text() for name in names if (folder / name).exists())
    return int(text)


def kills(folder: Path) -> int:
    """Return how many processes of a group the kernel has killed for lack of memory."""
    text = next((folder / name).read_text() for name in KILLS if (folder / name).exists())
    return int(dict(line.split() for line in text.splitlines())["oom_kill"])


def groups() -> list[Path]:
    """Return the groups of this process, without those that earlier seats left behind."""
    parent = hierarchy()
    assert parent is not None
    return sorted(set(parent.glob(f"connect4-{os.getpid()}-*")) - EARLIER)


def test_a_seats_processes_are_in_a_group_of_their_own_that_goes_with_it() -> None:
    assert hierarchy() is not None
    opened = seat("plain")
    opened.ask(board(), 5.0)
    (folder,) = groups()
    inside = {int(pid) for pid in (folder / "cgroup.procs").read_text().split()}
    assert inside == set(processes())
    assert value(folder, LIMIT) == Limits().memory_bytes + EXTRA_BYTES
    opened.close()
    assert groups() == []


def test_what_takes_more_than_its_group_may_is_killed_alone() -> None:
    group = memory_group(0)
    assert group is not None
    took = "kept = [bytearray(1 << 24) for _ in range(100)]"
    with subprocess.Popen([sys.executable, "-c", f"input(); {took}"], stdin=subprocess.PIPE) as one:
        group.add(one.pid)
        one.communicate(b"go\n")
    assert kills(group.folder) == 1
    group.close()
    assert one.returncode == -9
    assert groups() == []


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("level", ["process", "strong"])
@pytest.mark.parametrize(
    ("agent", "outcome"),
    [
        ("fills_shared_memory", Outcome.PLAYED),
        ("reads_asynchronously", Outcome.PLAYED),
        ("fills_memory", Outcome.ERROR),
    ],
)
def test_agents_that_take_memory_do_not_reach_the_limit_of_their_group(
    agent: str, outcome: Outcome, level: str
) -> None:
    opened = seat(agent, level, limits=Limits(memory_bytes=1 << 28))  # type: ignore[arg-type]
    try:
        for _ in range(2):
            reply = opened.ask(board(), 100.0)
            assert reply.outcome is outcome, reply.detail
        (folder,) = groups()
        assert kills(folder) == 0
        assert value(folder, PEAK) < value(folder, LIMIT)
    finally:
        opened.close()
    assert groups() == []


def test_a_group_that_a_killed_referee_left_is_removed_by_the_next() -> None:
    parent = hierarchy()
    assert parent is not None
    with subprocess.Popen(["true"]) as ended:
        pass
    left = parent / f"connect4-{ended.pid}-0"
    left.mkdir()
    group = memory_group(1 << 28)
    assert group is not None
    group.close()
    end = time.monotonic() + 5
    while left.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not left.exists()


def test_a_group_in_use_stays_when_it_is_closed() -> None:
    group = memory_group(1 << 28)
    assert group is not None
    with subprocess.Popen(["sleep", "60"]) as sleeping:
        group.add(sleeping.pid)
        group.close()
        assert group.folder.exists()
        sleeping.kill()
    MemoryGroup(group.folder).close()
    assert groups() == []
