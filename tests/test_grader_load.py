"""A busy machine is told from a slow agent: starved games are played again, then withheld."""

import os
import re
from pathlib import Path

import pytest

from tests.grading import SUBMISSIONS, burners, games, hand_in, rubric, start, stored_turns

LOOP = """class AIPlayer:
    def __init__(self, player_number, limit):
        pass

    def get_expectimax_move(self, state):
        while True:
            pass

    get_intelligent_move = get_expectimax_move
"""

CORE = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


def on_one_core() -> None:
    os.sched_setaffinity(0, {CORE})


pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")


@pytest.mark.slow
def test_an_endless_loop_is_not_excused_by_a_busy_machine(tmp_path: Path) -> None:
    """It has used the processor time of its whole limit, however long it waited for it."""
    rubric(tmp_path, seconds=0.3)
    hand_in(tmp_path, "eve", LOOP)

    arguments = ("grade", "eve", "--rubric", "rubric.toml", "--isolation", "process")
    with burners(CORE, 1):
        running = start(*arguments, cwd=tmp_path, preexec_fn=on_one_core)
        out, errors = running.communicate(timeout=100)
    assert running.returncode == 0, errors
    late = [turn for turn in stored_turns(tmp_path / "grade.db") if turn["outcome"] == "timeout"]
    assert len(late) >= 8
    assert any(turn["cpu_seconds"] < 0.25 for turn in late)  # the processor was shared indeed
    assert not any(turn["starved"] for turn in late)
    assert "lost turns in A: random: " in out


@pytest.mark.slow
def test_starved_games_are_played_three_times_then_withheld(tmp_path: Path) -> None:
    """The only core that the grader may use is shared with four processes that never rest."""
    rubric(tmp_path, seconds=0.15)
    source = (SUBMISSIONS / "works_hard.py").read_text(encoding="utf-8")
    hand_in(tmp_path / "class", "bo", "no Python\n")
    hand_in(tmp_path / "class", "ann", source)
    arguments = ("grade", "class", "--rubric", "rubric.toml", "--isolation", "process")
    arguments += ("--out", "marks")

    with burners(CORE, 4):
        running = start(*arguments, cwd=tmp_path, preexec_fn=on_one_core)
        out, errors = running.communicate(timeout=200)
    assert running.returncode == 3, errors
    assert re.search(r"other programs use \d+ % of the cores: end them before you grade\n", errors)
    busy = "the machine was too busy: an agent got too little processor time"
    assert re.search(
        rf"A: random, tiny.txt, as player \d, round 1: {busy}; it is played again\n", out
    )
    assert re.search(
        rf"\d+ games? failed repeatedly: {busy}; the points of the matches are withheld: "
        r"close other programs, or give --jobs 1; the same command plays what is missing\n",
        errors,
    )
    late = [turn for turn in stored_turns(tmp_path / "grade.db") if turn["outcome"] == "timeout"]
    assert late
    assert all(turn["starved"] for turn in late)
    starved = {key for key, game in games(tmp_path / "grade.db").items() if game[-1] == busy}
    assert starved
    assert all(games(tmp_path / "grade.db")[key][-2] == 3 for key in starved)
    assert re.search(r"\nann: incomplete: \d games? missing, points of A: random", out)
    assert f"are withheld ({busy})" in " ".join(out.split())
    page = (tmp_path / "marks" / "feedback" / "ann.html").read_text(encoding="utf-8")
    assert f"failed: {busy}" in page
    table = (tmp_path / "marks" / "grades.csv").read_text(encoding="utf-8")
    assert "; games that a busy machine ended: " in table
