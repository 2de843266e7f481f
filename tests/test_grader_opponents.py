"""Opponents of the rubric that fail give no points; boards without a move are refused."""

from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.rubric import reading as rubrics
from tests.command import run
from tests.grading import COMMAND, games, hand_in, rubric, searcher
from tests.marked import rows

FAILS = """\
class AIPlayer:
    def __init__(self, player_number, limit):
        pass

    def get_intelligent_move(self, state):
        raise RuntimeError("out of ideas")
"""


def grade(folder: Path, *more: str) -> str:
    """Grade the class; return what went to standard error."""
    done = run(COMMAND, "grade", "class", "--rubric", "rubric.toml", *more, cwd=folder)
    return f"{done.returncode}\n{done.stderr}"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('["tiny.txt"]', '["full.txt"]', "board 'full.txt': the game is over before the first"),
        ("[match]", '[match]\nopponent_faults = "count"', "match.opponent_faults: is gone: such"),
    ],
)
def test_a_board_without_a_move_and_a_key_that_is_gone_are_refused(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    path = rubric(tmp_path)
    (tmp_path / "full.txt").write_text("0\n1 2\n2 1\n", encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=why):
        rubrics.read(path)


@pytest.mark.slow
def test_games_that_a_baseline_loses_by_its_own_fault_count_for_nobody(tmp_path: Path) -> None:
    rubric(tmp_path)
    (tmp_path / "baseline.py").write_text(FAILS)
    hand_in(tmp_path / "class", "ann", searcher(1))
    hand_in(tmp_path / "class", "bo", searcher(1, -1))
    said = grade(tmp_path, "--out", "marks")
    assert said.startswith("3\n")
    assert "count for nobody: fix the opponent that" in said
    for row in rows(tmp_path / "marks" / "grades.csv"):
        assert row["Total"] == ""
        assert "incomplete" in row["Remark"]
        told = "the opponent ai:baseline.py lost 7 turns by its own fault: RuntimeError: out of"
        assert told in row["Withheld"]
    alone = ("grade", "class/ann/ai.py", "--rubric", "rubric.toml", "--results", "alone.db")
    told = run(COMMAND, *alone, "--isolation", "process", cwd=tmp_path, status=3)
    assert "count for nobody: close other programs and give the same command again\n" in told.stderr


@pytest.mark.slow
def test_a_run_stops_when_the_first_ten_games_against_an_opponent_fail(tmp_path: Path) -> None:
    """Instead of playing all games of a class three times."""
    rubric(tmp_path)
    (tmp_path / "baseline.py").write_text(FAILS)
    for number in range(8):
        hand_in(tmp_path / "class", f"s{number}", searcher(1, note=str(number)))
    said = grade(tmp_path, "--jobs", "1")
    assert said.startswith("3\n")
    assert "not all games could be played; the opponent ai:baseline.py lost" in said
    assert "the same command continues where it stopped" in said
    failed = [game for game in games(tmp_path / "grade.db").values() if game[-1] is not None]
    assert 10 <= len(failed) < 16
