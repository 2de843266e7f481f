"""Opponents of the rubric that fail: before the run they are refused, in it they give no points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import run
from tests.grading import COMMAND, games, hand_in, rubric, searcher

FAILS = """from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, limit):
        self.player_number = player_number
        self.limit = limit

    def get_intelligent_move(self, state):
        {move}
        return get_valid_actions(self.player_number, state)[0]
"""


def grade(folder: Path, *more: str) -> str:
    """Grade the class; return what went to standard error."""
    done = run(COMMAND, "grade", "class", "--rubric", "rubric.toml", *more, cwd=folder)
    return f"{done.returncode}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("move", "why"),
    [("raise RuntimeError('no table')", "RuntimeError: no table"), ("return 17, False", "")],
)
def test_a_baseline_that_fails_its_trial_game_is_refused_before_anybody_is_marked(
    tmp_path: Path, move: str, why: str
) -> None:
    rubric(tmp_path)
    (tmp_path / "baseline.py").write_text(FAILS.format(move=move))
    hand_in(tmp_path / "class", "ann", searcher(1))
    said = grade(tmp_path)
    assert said.startswith("2\n")
    failed = "agent 'ai:baseline.py' fails its trial game: board 'tiny.txt': turn 1 is lost: "
    assert f"error: rubric.toml: {failed}{why}" in said
    assert games(tmp_path / "grade.db") == {}


@pytest.mark.slow
def test_a_board_on_which_nobody_can_move_is_refused(tmp_path: Path) -> None:
    path = rubric(tmp_path)
    (tmp_path / "full.txt").write_text("0\n1 2\n2 1\n", encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('["tiny.txt"]', '["tiny.txt", "full.txt"]', 1), encoding="utf-8")
    hand_in(tmp_path / "class", "ann", searcher(1))
    assert "board 'full.txt': the game is over before the first move" in grade(tmp_path)


@pytest.mark.slow
def test_games_that_a_baseline_loses_by_its_own_fault_count_when_the_teacher_says_so(
    tmp_path: Path,
) -> None:
    """It fails only in games with the class's time limit, so that its trial game was sound."""
    path = rubric(tmp_path)
    late_failure = "if self.limit > 0.5: raise RuntimeError('out of ideas')"
    (tmp_path / "baseline.py").write_text(FAILS.format(move=late_failure))
    hand_in(tmp_path / "class", "ann", searcher(1))
    said = grade(tmp_path, "--out", "marks")
    assert said.startswith("3\n")
    assert 'count them as they are with [match] opponent_faults = "count"' in said
    mark = "the opponent ai:baseline.py lost 7 turns by its own fault: RuntimeError: out of ideas"
    results = json.loads((tmp_path / "marks" / "results.json").read_text(encoding="utf-8"))
    assert results["tests"][1]["score"] == 0
    row = (tmp_path / "marks" / "grades.csv").read_text(encoding="utf-8-sig").splitlines()[1]
    assert "incomplete" in row
    assert mark in row
    alone = ("grade", "class/ann/ai.py", "--rubric", "rubric.toml", "--results", "alone.db")
    told = run(COMMAND, *alone, "--isolation", "process", cwd=tmp_path)
    assert told.returncode == 3
    assert "do not count: close other programs and give the same command again\n" in told.stderr
    assert "opponent_faults" not in told.stderr
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[match]", '[match]\nopponent_faults = "count"'))
    before = games(tmp_path / "grade.db")
    said = grade(tmp_path, "--out", "marks")
    assert said.startswith("0\n"), said
    assert "0 games to play" in said
    assert games(tmp_path / "grade.db") == before
    results = json.loads((tmp_path / "marks" / "results.json").read_text(encoding="utf-8"))
    assert results["tests"][1]["score"] > 0
