"""Isolation as graded games have it: processes that do not die."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.grading import games, hand_in, id_of, rubric, searcher, start
from tests.seats import TRACER

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

HOG = """
import time as time_
from connect4.utils import get_valid_actions

class AIPlayer:
    def __init__(self, player_number, time):
        self.number, self.asked = player_number, False

    def get_intelligent_move(self, state):
        if not self.asked:
            self.asked = True
            return get_valid_actions(self.number, state)[0]
        self.kept = bytearray(b"x") * (200 << 20)
        time_.sleep(60)

    get_expectimax_move = get_intelligent_move
"""
"""Known by the memory that it keeps from its second turn on: the questions before play end."""


def find_hog(seconds: float) -> int:
    """Return the agent's process with the most memory, once there is one with 180 MB."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                is_agent = b"connect4 agent of" in (entry / "cmdline").read_bytes()
                resident = int((entry / "statm").read_text().split()[1]) * 4096
            except OSError:
                continue
            if is_agent and resident > 180 << 20:
                return int(entry.name)
        time.sleep(0.01)
    raise AssertionError("the hog has never played")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="root may read every file")
def test_who_leaves_a_process_behind_plays_no_more_and_the_others_are_graded(
    tmp_path: Path,
) -> None:
    path = rubric(tmp_path, seconds=2.0)
    hand_in(tmp_path / "class", "hog", HOG)
    hand_in(tmp_path / "class", "zoe", searcher(1, note="zoe"))
    arguments = ("grade", "class", "--rubric", path, "--jobs", "1", "--isolation", "process")
    running = start(*arguments, cwd=tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", TRACER, str(find_hog(60))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as tracer:
        assert tracer.stdout is not None
        assert tracer.stdout.readline() == b"held\n"
        out, errors = running.communicate()
        tracer.communicate()
    line = "hog: a process of its own could not be ended; its other games wait for the next run"
    assert line in out.splitlines(), errors
    marks = {line.split()[0]: line for line in out.splitlines() if line[:4] in ("hog ", "zoe ")}
    assert "incomplete" in marks["hog"]
    assert "incomplete" not in marks["zoe"]
    played = games(tmp_path / "grade.db").values()
    hog, zoe = (id_of(tmp_path / "grade.db", name) for name in ("hog", "zoe"))
    assert sum(zoe in game[:2] for game in played) == 4
    assert sum(hog in game[:2] for game in played) == 2  # two are handed out at once
