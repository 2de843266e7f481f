"""The control group that limits the memory of a seat's processes, where root can make one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from connect4.isolation.machine import EXTRA_BYTES, hierarchy, join_group, leave_group, memory_group
from connect4.isolation.seat import Level, Limits
from connect4.players.base import Outcome
from tests.command import ROOT, environment
from tests.seats import board, process_of, processes, seat

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux"),
    pytest.mark.skipif(hierarchy() is None, reason="this machine allows fewer than one group"),
]

PEAK = ("memory.peak", "memory.max_usage_in_bytes")
LIMIT = ("memory.max", "memory.limit_in_bytes")
KILLS = ("memory.events", "memory.oom_control")


def value(folder: Path, names: tuple[str, ...]) -> int:
    text = next((folder / name).read_text() for name in names if (folder / name).exists())
    return int(text)


def kills(folder: Path) -> int:
    """Return how many processes of a group the kernel has killed for lack of memory."""
    text = next((folder / name).read_text() for name in KILLS if (folder / name).exists())
    return int(dict(line.split() for line in text.splitlines())["oom_kill"])


def groups() -> list[Path]:
    """Return the groups of this process."""
    parent = hierarchy()
    assert parent is not None
    return sorted(parent.glob(f"connect4-{os.getpid()}-*"))


@pytest.mark.parametrize("level", ["process", pytest.param("strong", marks=pytest.mark.sandbox)])
def test_an_agent_is_in_a_group_of_its_own_that_goes_with_it(level: Level) -> None:
    opened = seat("plain", level)
    opened.ask(board(), 5.0)
    (folder,) = groups()
    inside = {int(pid) for pid in (folder / "cgroup.procs").read_text().split()}
    assert process_of(opened).pid in inside <= set(processes())
    assert value(folder, LIMIT) == Limits().memory_bytes + EXTRA_BYTES
    opened.close()
    assert groups() == []


def test_what_takes_more_than_its_group_may_is_killed_alone() -> None:
    group = memory_group(0)
    assert group is not None
    took = "kept = [bytearray(1 << 24) for _ in range(100)]"
    with subprocess.Popen([sys.executable, "-c", f"input(); {took}"], stdin=subprocess.PIPE) as one:
        join_group(group, one.pid)
        one.communicate(b"go\n")
    assert kills(group) == 1
    leave_group(group)
    assert one.returncode == -9
    assert groups() == []


IN_MANY = """
import sys
from contextlib import closing
from tests.seats import board, seat
with closing(seat("fills_memory_in_many_processes", sys.argv[1], seconds=60.0)) as opened:
    print(opened.ask(board(), 60.0).outcome, opened.log)
"""


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("level", ["process", "strong"])
def test_without_seccomp_many_processes_share_the_memory_of_one_agent(level: str) -> None:
    """Ten of them ask for 200 MB each; 1280 MB are enough for six. Nothing else limits them."""
    command = [sys.executable, "-m", "tests.denied", "seccomp", "--", sys.executable, "-c", IN_MANY]
    done = subprocess.run(
        [*command, level], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == "played processes with memory: 6\n\n", done.stderr


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
    leave_group(memory_group(1 << 28))
    assert not left.exists()
