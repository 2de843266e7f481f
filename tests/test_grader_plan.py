"""How long a run will take is told before it begins, whole, and what would make it shorter."""

from pathlib import Path

import pytest

from grader.commands.grade import speed_text
from grader.commands.run import hours_text
from grader.handin import Submission
from grader.handin.roster import assign
from grader.output.results import Results
from grader.rubric import reading as rubrics
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
    done = run(COMMAND, *arguments, "--dry-run", cwd=tmp_path, status=0)
    assert "8 games to play in stage 'groups', then 2 in 'final' (0 have results)" in done.stderr
    assert run(COMMAND, *arguments, "--jobs", "1", cwd=tmp_path).returncode == 0
    played = run(COMMAND, *arguments, "--dry-run", cwd=tmp_path)
    assert "0 games to play (10 have results)" in played.stderr


@pytest.mark.slow
def test_a_plan_of_too_many_hours_is_refused_without_yes(tmp_path: Path) -> None:
    rubric(tmp_path, seconds=360000)
    class_of(tmp_path, 2)
    for command in ("grade", "tournament"):
        arguments = (command, "class", "--rubric", "rubric.toml")
        done = run(COMMAND, *arguments, "--dry-run", cwd=tmp_path, status=2)
        assert "core-hours are more than 100; fewer boards, repeats or seconds a" in done.stderr
        run(COMMAND, *arguments, "--yes", "--dry-run", cwd=tmp_path, status=0)


@pytest.mark.slow
def test_an_autograder_says_what_one_submission_takes(tmp_path: Path) -> None:
    rubric(tmp_path)
    arguments = ("handout", "g.zip", "--gradescope", "--rubric")
    done = run(COMMAND, *arguments, "rubric.toml", cwd=tmp_path, status=0)
    assert "one submission: 4 games, at most 0.5 minutes on one core. Give the" in done.stdout
    assert "at least 1 CPU and 2.5 GB of memory" in done.stdout


GRADING = """\
rubric.toml takes 57.1 core-hours if submissions use all their time.
Core-hours with another limit and other `repeats`:
a move  1 pair on each board  2 pairs on each board
------  --------------------  ---------------------
   5 s                  57.1                  114.2
   2 s                  23.0                   45.9
   1 s                  11.6                   23.2
"""

TOURNAMENT = """\
rubric.toml takes 131.8 core-hours if submissions use all their time.
Core-hours with another limit and other `repeats`:
a move  1 pair on each board  2 pairs on each board
------  --------------------  ---------------------
   5 s                  47.0                   94.0
   2 s                  18.9                   37.7
   1 s                   9.5                   19.0
"""


@pytest.mark.slow
def test_the_dry_run_prints_the_core_hours_of_other_limits_and_pairs(tmp_path: Path) -> None:
    """Also where the rubric takes too long: then they are needed most."""
    class_of(tmp_path, 20)
    done = run(COMMAND, "grade", "class", "--dry-run", cwd=tmp_path, status=0)
    assert done.stdout == GRADING
    assert "720 games to play (0 have results): about 57.1 h of one core" in done.stderr
    refused = run(COMMAND, "tournament", "class", "--dry-run", cwd=tmp_path, status=2)
    assert refused.stdout == TOURNAMENT
    assert "in 'final' (0 have results): about 131.8 h of one core" in refused.stderr


def test_by_fuel_the_dry_run_names_fuel_and_real_hours(tmp_path: Path) -> None:
    path = tmp_path / "fuel.toml"
    path.write_text("[match]\nfuel = 5e9\n", encoding="utf-8")
    files = [Submission(f"s{number}", "", b"%d" % number) for number in range(20)]
    foreseen = Results("grade", rubrics.read(path), files, {}, {}, assign(files, ()))
    first, _, _, _, *rows = hours_text(foreseen).splitlines()
    assert [row.split()[0] for row in rows] == ["20G", "5G", "1G"]
    assert first.startswith(f"{path} takes {rows[1].split()[1]} core-hours if")


def test_the_command_fuel_says_what_each_budget_takes_here() -> None:
    text = speed_text({"a search": [1e9, 4e9, 1.5e9, 2e9, 3e9]}, 2e9, 2 * 10**9)
    rows = [line.split() for line in text.splitlines()]
    assert ["a", "search", "1.00", "2.00", "4.00"] in rows
    budgets = {row[0]: row[2:] for row in rows if row and row[0] in ("1G", "2G", "5G", "20G")}
    assert list(budgets) == ["1G", "2G", "5G", "20G"]
    assert budgets["2G"] == ["1.0", "to", "1.0", "90"]
