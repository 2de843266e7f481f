"""How long a run will take is told before it begins, whole, and too long a one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import run
from tests.grading import COMMAND, hand_in, rubric, searcher


def class_of(folder: Path, number: int) -> None:
    for place in range(number):
        hand_in(folder / "class", f"s{place}", searcher(1, note=str(place)))


@pytest.mark.slow
def test_the_dry_run_of_a_tournament_counts_the_stages_after_the_first(tmp_path: Path) -> None:
    """Five in groups of 2 and 3: 1 + 3 matches of 2 games; the two winners play one match more."""
    rubric(tmp_path)
    class_of(tmp_path, 5)
    arguments = ("tournament", "class", "--rubric", "rubric.toml")
    done = run(COMMAND, *arguments, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 games to play in stage 'groups', then 2 in 'final' (0 have results)" in done.stderr
    assert run(COMMAND, *arguments, "--jobs", "1", cwd=tmp_path).returncode == 0
    played = run(COMMAND, *arguments, "--dry-run", cwd=tmp_path)
    assert "0 games to play (10 have results)" in played.stderr


@pytest.mark.slow
def test_a_plan_of_too_many_hours_is_refused_without_yes(tmp_path: Path) -> None:
    rubric(tmp_path, seconds=3600)
    class_of(tmp_path, 2)
    for command in ("grade", "tournament"):
        arguments = (command, "class", "--rubric", "rubric.toml")
        done = run(COMMAND, *arguments, "--max-hours", "2.5", "--dry-run", cwd=tmp_path)
        assert done.returncode == 2
        assert (
            "core-hours are more than --max-hours 2.5; fewer boards, repeats or sec" in done.stderr
        )
        done = run(COMMAND, *arguments, "--max-hours", "2.5", "--yes", "--dry-run", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    wrong = run(COMMAND, "grade", "class", "--max-hours", "none", cwd=tmp_path)
    assert "'none' is no number above 0" in wrong.stderr


@pytest.mark.slow
def test_an_autograder_that_takes_too_long_is_refused_unless_told(tmp_path: Path) -> None:
    rubric(tmp_path)
    arguments = ("handout", "g.zip", "--gradescope", "--rubric")
    done = run(COMMAND, *arguments, "rubric.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "one submission: 4 games, at most 0.5 minutes on one core. Give the" in done.stdout
    assert "at least 1 CPU and 2.5 GB of memory" in done.stdout
    rubric(tmp_path, seconds=600)
    done = run(COMMAND, *arguments, "rubric.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "minutes for one submission are more than 30: name a --rubric with fewer" in done.stderr
    done = run(COMMAND, *arguments, "rubric.toml", "--max-minutes", "600", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
