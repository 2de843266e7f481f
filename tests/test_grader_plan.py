"""How long a run will take is told before it begins, whole; `--budget` makes it fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connect4.errors import InputError
from connect4.isolation.wasm.speed import USUAL
from grader.commands.budget import described
from grader.marks.budget import Plan, make_plan, planned_values
from grader.output.report import read_results
from grader.play.progress import duration
from grader.play.schedule import (
    START_SECONDS,
    fuel_a_second,
    grade_games,
    submitted,
    timed_turns,
    worth,
)
from grader.results.store import Store
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric
from tests.command import assert_refused, run
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
    assert "'none' is not a number above 0" in wrong.stderr


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


STUDENTS = [submitted(f"s{number}", f"{number:064x}") for number in range(20)]
RUBRIC = rubrics.read()


def applied(plan: Plan) -> Rubric:
    return rubrics.from_values(planned_values(RUBRIC.values, plan), "rubric", None)


@pytest.mark.parametrize("hours", [1.0, 4.0, 40.0])
def test_a_plan_plays_no_longer_than_its_hours(hours: float) -> None:
    """The games that the schedule lists under the plan are added up one by one."""
    plan = make_plan("grade", STUDENTS, hours, RUBRIC)
    rubric = applied(plan)
    one = grade_games(STUDENTS[:1], rubric)
    seconds = 20 * sum(START_SECONDS + timed_turns(game) * game.time_limit for game in one)
    assert seconds == pytest.approx(plan.core_seconds)
    assert 0.8 * hours * 3600 < seconds <= hours * 3600
    assert RUBRIC.budget.least_time_limit <= rubric.match.time_limit <= RUBRIC.match.time_limit


def test_more_hours_make_a_plan_more_certain_and_never_slower_than_the_rubric() -> None:
    plans = [make_plan("grade", STUDENTS, hours, RUBRIC) for hours in (0.5, 2, 8, 32, 128, 512)]
    spreads = [plan.spread for plan in plans]
    assert spreads == sorted(spreads, reverse=True)
    assert len(set(spreads)) == len(spreads)
    assert plans[-1].sections[0].pairs > len(RUBRIC.part_a.boards)
    assert plans[-1].spread < plans[-1].whole_spread < plans[2].spread


def test_hidden_boards_are_the_last_to_be_left_out_but_for_one_that_is_shown(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rubric.toml"
    (tmp_path / "secret.txt").write_text("0\n" + "0 0 0 0 0 0 0 0 0 0 0 0\n" * 12)
    boards = '["empty8x10", "mid8x10", "secret.txt"]'
    path.write_text(
        f'[match]\nhidden = ["secret.txt"]\n[part_a]\nboards = {boards}\n'
        f"[budget]\nleast_pairs = 1\n"
    )
    rubric = rubrics.read(path)
    short = make_plan("grade", STUDENTS, 0.3, rubric)
    assert short.sections[0].boards == ("mid8x10",)
    longer = make_plan("grade", STUDENTS, 0.6, rubric)
    assert longer.sections[0].boards == ("mid8x10", "secret.txt")


def test_fewer_hours_than_the_floor_takes_are_refused_and_the_floor_is_named() -> None:
    with pytest.raises(InputError) as raised:
        make_plan("grade", STUDENTS, 0.1, RUBRIC)
    assert str(raised.value) == (
        "--budget 0.1h: the shortest plan that [budget] of rubric.toml allows takes 0.35 "
        "core-hours; a lower least_time_limit (now 0.05 s) or least_pairs (now 2) shortens it"
    )
    floor = replace(RUBRIC.budget, least_pairs=1, least_time_limit=0.01)
    assert make_plan("grade", STUDENTS, 0.1, replace(RUBRIC, budget=floor)).half_width is None


def test_a_plan_by_fuel_fits_the_real_hours(tmp_path: Path) -> None:
    """A virtual second takes several real ones: how many depends on the machine."""
    hours = 4.0 * USUAL / fuel_a_second()
    path = tmp_path / "fuel.toml"
    path.write_text("[match]\nfuel = 5e9\n", encoding="utf-8")
    rubric = rubrics.read(path)
    plan = make_plan("grade", STUDENTS, hours, rubric)
    values = planned_values(rubric.values, plan)
    games = grade_games(STUDENTS[:1], rubrics.from_values(values, "rubric", None))
    assert 0.8 * hours * 3600 < 20 * sum(map(worth, games)) <= hours * 3600
    (first, *_) = described(plan, rubric)
    assert first.startswith(f"plan for {duration(hours * 3600)} of one core: at most ")
    assert any("of games in each match, fuel " in line for line in described(plan, rubric))


def test_a_tournaments_plan_counts_every_stage() -> None:
    plan = make_plan("tournament", STUDENTS, 20, RUBRIC)
    assert [section.name for section in plan.sections] == ["groups", "final"]
    assert plan.core_seconds <= 20 * 3600
    stages = applied(plan).tournament.stages
    assert [stage.time_limit for stage in stages] == [item.time_limit for item in plan.sections]
    assert stages[0].time_limit < RUBRIC.tournament.stages[0].time_limit


QUICKLY = ("--jobs", "1", "--isolation", "process")


@pytest.mark.slow
def test_a_plan_is_made_once_and_every_later_run_uses_it(tmp_path: Path) -> None:
    """A student who hands in later is marked by the same plan."""
    floor = "least_time_limit = 0.5\nmost_repeats = 1\n"
    rubric(tmp_path, seconds=20.0, budget=floor)
    class_of(tmp_path, 1)
    arguments = ("grade", "class", "--rubric", "rubric.toml", *QUICKLY)
    dry = run(COMMAND, *arguments, "--budget", "1m", "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert not (tmp_path / "grade.db").exists()
    first = run(COMMAND, *arguments, "--budget", "1m", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    plan = [line for line in first.stderr.splitlines() if line.startswith("  part")]
    assert len(plan) == 2
    assert set(plan) <= set(dry.stderr.splitlines())
    limit = stored_limit(tmp_path)
    assert 0.5 <= limit < 20
    hand_in(tmp_path / "class", "late", searcher(2))
    again = run(COMMAND, *arguments, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "grade.db: its plan is used" in again.stderr
    assert set(plan) <= set(again.stderr.splitlines())
    assert stored_limit(tmp_path) == limit
    other = run(COMMAND, *arguments, "--budget", "3h", cwd=tmp_path)
    assert_refused(other, "--budget 3h: grade.db has a plan for", "the same for the whole class")
    rubric(tmp_path, seconds=10.0, budget=floor)
    changed = run(COMMAND, *arguments, cwd=tmp_path)
    assert_refused(changed, "grade.db: its plan was made for other boards, repeats, time limits")


def stored_limit(folder: Path) -> float:
    with Store(folder / "grade.db", writing=False) as store:
        assert store.meta_json("plan")["plan"]["kind"] == "grade"
        return read_results(store).rubric.match.time_limit


@pytest.mark.slow
def test_a_plan_for_a_file_that_has_games_without_one_is_refused(tmp_path: Path) -> None:
    rubric(tmp_path)
    class_of(tmp_path, 1)
    arguments = ("grade", "class", "--rubric", "rubric.toml", *QUICKLY)
    assert run(COMMAND, *arguments, cwd=tmp_path).returncode == 0
    done = run(COMMAND, *arguments, "--budget", "8h", cwd=tmp_path)
    assert_refused(done, "--budget: grade.db has games without a plan; --results names a new file")
    both = run(COMMAND, *arguments, "--budget", "8h", "--quick", cwd=tmp_path)
    assert_refused(both, "--quick and --budget exclude each other")
    wrong = run(COMMAND, *arguments, "--budget", "8d", cwd=tmp_path)
    assert "'8d': expected hours such as 8h, or 90m" in wrong.stderr
