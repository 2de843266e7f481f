"""The copy in memory that submissions see in graded games, and the libraries that belong to it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from connect4.isolation import libraries, memory_copy
from connect4.isolation.memory_copy import UnavailableError
from connect4.players.base import Outcome
from tests.command import ROOT, environment
from tests.seats import agent_file, board, seat

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

FOLDER = Path("/dev/shm", f"connect4-{os.geteuid()}")

HOLDER = """
import sys
from connect4.isolation import memory_copy
print(memory_copy.shared(), flush=True)
sys.stdin.read()
"""

NOTES = """
import encodings, os, time

def look_up(name):
    began = time.perf_counter_ns()
    try:
        os.stat(os.path.join(os.path.dirname(encodings.__file__), name))
    except OSError:
        pass
    return time.perf_counter_ns() - began

class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_intelligent_move(self, state):
        for number in range(200):
            look_up(f"warm-up-{TAG}-{number}-{os.getpid()}")
        if BITS is None:
            print(*[look_up(f"note-{TAG}-{number}") for number in range(256)])
        else:
            for number in BITS:
                look_up(f"note-{TAG}-{number}")
        return 0, False
"""


def test_the_libraries_of_a_program_are_those_that_the_loader_finds() -> None:
    found = libraries.loaded_by([Path(sys.executable).resolve()])
    names = {path.name.partition(".so")[0] for path in found}
    assert "libgcc_s" in names
    mapped = {
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        if "/libc.so" in line or "/libpython" in line or "/ld-" in line or "/libc-" in line
    }
    assert mapped
    assert mapped <= {str(path.resolve()) for path in found}


def test_what_is_no_program_loads_nothing(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 100, b"#!/bin/sh\n"):
        (tmp_path / "file").write_bytes(content)
        assert libraries.needs(tmp_path / "file") == libraries.Needs()


def test_the_copy_has_what_agents_may_read_and_no_more() -> None:
    copied = {str(path) for path in memory_copy.files()}
    assert os.path.join(sysconfig.get_path("stdlib"), "random.py") in copied
    assert str(ROOT / "connect4" / "utils.py") in copied
    for name in ("connect4/search", "connect4/players/ai.py", "connect4/players/agents.py"):
        assert not any(path.startswith(str(ROOT / name)) for path in copied)
    assert not any("/pytest/" in path or f"{ROOT}/grader" in path for path in copied)


def hold() -> tuple[subprocess.Popen[str], Path]:
    """Start a process that holds the copy; return it and the copy's root."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], cwd=ROOT, env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.mark.slow
def test_processes_share_the_copy_and_the_last_one_removes_it() -> None:
    if memory_copy.use() is not None:
        pytest.skip("this machine allows fewer than it needs in memory")
    memory_copy.release()
    first, root = hold()
    second, same = hold()
    assert root == same
    assert root.parent.stat().st_mode & 0o777 == 0o700
    first.communicate()
    assert (root / "proc").is_dir()
    second.kill()  # leaves it behind
    second.communicate()
    assert root.exists()
    third, _ = hold()  # which takes it over
    third.communicate()
    assert not root.exists()


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_kit_that_lies_in_tmp_is_in_the_copy(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "connect4", tmp_path / "kit" / "connect4")
    play = (
        "import sys\n"
        "from connect4.isolation import memory_copy\n"
        "from connect4.isolation.seat import open_seat\n"
        "from connect4.games import load_start\n"
        "from connect4.games.extended import EXTENDED\n"
        "from connect4.players.base import Setup\n"
        "from connect4.players.registry import parse_agent\n"
        "print(memory_copy.use())\n"
        "setup = Setup(parse_agent('ai:' + sys.argv[1]), 1, EXTENDED, 5.0, 7, 'intelligent')\n"
        "seat = open_seat(setup, 'strong')\n"
        "print(seat.ask(load_start(EXTENDED, 'case1'), 5.0).outcome)\n"
        "seat.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", play, str(agent_file("plain"))], cwd=tmp_path / "kit",
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["None", "played"], done.stderr


def test_without_room_in_memory_the_reason_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_copy, "SPARE_BYTES", 1 << 60)
    with pytest.raises(UnavailableError, match=r"^no folder in memory \(a tmpfs such"):
        memory_copy._memory_folder(1)


@pytest.mark.slow
@pytest.mark.sandbox
def test_no_agent_leaves_notes_in_lookups_for_a_later_game(tmp_path: Path) -> None:
    if memory_copy.use() is not None:
        pytest.skip("this machine allows fewer than it needs in memory")
    tag = time.time_ns()
    left = set(random.Random(tag).sample(range(256), 128))
    for name, bits in (("leaves", left), ("reads", None)):
        text = NOTES.replace("TAG", str(tag)).replace("BITS", str(bits))
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        opened = seat(tmp_path / f"{name}.py", "strong")
        reply = opened.ask(board(), 5.0)
        opened.close()
        assert reply.outcome is Outcome.PLAYED, reply.detail
    took = list(map(int, opened.log.split()))
    sooner = sorted(range(256), key=took.__getitem__)[:128]
    assert len(left.intersection(sooner)) < 96  # 64 are chance; from disk 128 of 128 are read


@pytest.mark.slow
@pytest.mark.sandbox
def test_an_agent_can_import_at_every_level_while_copies_come_and_go() -> None:
    for level in ("strong", "process", "strong"):
        if memory_copy.use() is not None:
            pytest.skip("this machine allows fewer than it needs in memory")
        for _ in range(2):  # with the copy, and after its end without
            opened = seat("lazy_imports", level)
            reply = opened.ask(board(), 5.0)
            opened.close()
            assert reply.outcome is Outcome.PLAYED, (level, reply.detail)
            memory_copy.release()
