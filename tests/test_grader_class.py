"""A class with hostile agents in it, graded while the grader is killed again and again."""

import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from grader.output.results import read_results
from grader.output.tables import clipped
from grader.results.store import Store
from tests.command import run
from tests.grading import (
    COMMAND,
    SUBMISSIONS,
    alive,
    class_of,
    count,
    descendants,
    games,
    hand_in,
    id_of,
    kill,
    rubric,
    searcher,
    start,
    stored_records,
    wait_until_gone,
)
from tests.hostile import source_of
from tests.marked import rows

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")


def grade_with_kills(folder: Path, kills: int, expected: int) -> None:
    """Grade the class below `folder`, killing the grader `kills` times on the way."""
    arguments = arguments_for("killed")
    rng = random.Random(kills)
    moments = sorted(rng.sample(range(expected), kills))
    results = folder / "killed.db"
    for moment in moments:
        running = start(*arguments, cwd=folder)
        deadline = time.monotonic() + 100
        while count(results) < moment and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        assert running.poll() is None, running.communicate()
        below = kill(running)
        assert wait_until_gone(below) == set() == alive(below)


def arguments_for(name: str) -> tuple[str, ...]:
    named = ("--rubric", "rubric.toml", "--results", f"{name}.db", "--out", name)
    return ("grade", "class", *named, "--jobs", "2", "--force-jobs", "--isolation", "process")


@pytest.mark.slow
def test_a_small_class_survives_two_kills(tmp_path: Path) -> None:
    """Everything comes out as in a run that nobody disturbs."""
    rubric(tmp_path, seconds=0.4, limits="time_margin = 0.1\n")
    hangs_once = (SUBMISSIONS / "hangs_once.py").read_text("utf-8")
    sources = hangs_once, source_of("segmentation_fault"), searcher(1)
    for number, source in enumerate(sources):
        hand_in(tmp_path / "class", f"student{number}", source)
    expected = 4 * len(sources)
    grade_with_kills(tmp_path, 2, expected)
    for name in ("calm", "killed"):
        run(COMMAND, *arguments_for(name), cwd=tmp_path, seconds=200, status=0)
    calm, killed = games(tmp_path / "calm.db"), games(tmp_path / "killed.db")
    assert len(calm) == expected
    assert calm == killed
    assert {game[-2] for game in killed.values()} == {1}, "a game was played twice"
    assert stored_records(tmp_path / "calm.db") == stored_records(tmp_path / "killed.db")
    for name in ("tables.txt", "grades.csv"):
        one, two = (read_marks(tmp_path / run_name / name) for run_name in ("calm", "killed"))
        assert one == two, name


def read_marks(path: Path) -> list[list[str]]:
    """Return a file's words, without how late turns were."""
    late = r" \(stopped [\d.]+ s over the limit; at most [\d.]+ s [^)]*\)"
    text = re.sub(late, "", path.read_text(encoding="utf-8"))
    return [line.split() for line in text.splitlines() if line.strip(" -")]


def _is_worker(number: int) -> bool:
    """Return whether a process plays games; the one that reads files has a limit of memory."""
    command = Path(f"/proc/{number}/cmdline").read_bytes()
    return b"grader.handin.worker" in command and command.endswith(b"\x000\x00")


SLOW_ONE = ("grade", "class", "--rubric", "rubric.toml", "--out", "marks", "--jobs", "1")


def grade_killing(
    folder: Path, number: signal.Signals, titles: str, most: int
) -> tuple[subprocess.CompletedProcess[str], int]:
    """Grade a class and kill the worker up to `most` times while what is under way is `titles`."""
    running = start(*SLOW_ONE, "--isolation", "process", cwd=folder)
    kills = kill_during(running, folder / "grade.db", titles, number, most)
    out, errors = running.communicate()
    return subprocess.CompletedProcess(SLOW_ONE, running.returncode, out, errors), kills


def remarks(folder: Path) -> dict[str, dict[str, str]]:
    """Return the lines of `grades.csv` by name."""
    return {row["Name"]: row for row in rows(folder / "marks" / "grades.csv")}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_somebody_kills_again_and_again_convicts_nobody(
    tmp_path: Path, number: signal.Signals
) -> None:
    class_of(tmp_path, "ann", "luckless", "zoe")
    done, kills = grade_killing(tmp_path, number, "(luckless, |proof )", 99)
    assert kills >= 6
    assert done.returncode == 3
    assert "it was killed from outside; the points of the matches are withheld" in done.stderr
    assert "the same command plays what is missing" in done.stderr
    row = remarks(tmp_path)["luckless"]
    assert row["Total"] == ""
    assert "killed from outside" in row["Withheld"]
    run(COMMAND, *SLOW_ONE, "--isolation", "process", cwd=tmp_path, status=0)
    assert {row["Remark"] for row in remarks(tmp_path).values()} == {""}
    whole = [game for game in games(tmp_path / "grade.db").values() if game[-1] is None]
    assert sum(id_of(tmp_path / "grade.db", "luckless") in game[:2] for game in whole) == 4


@pytest.mark.slow
def test_who_crashes_the_worker_in_a_trial_too_is_set_aside_and_tried_again_on_request(
    tmp_path: Path,
) -> None:
    """A crash of the worker in every game of one file, as for an error of Python or numpy."""
    class_of(tmp_path, "ann", "hog", "zoe")
    done, _ = grade_killing(tmp_path, signal.SIGSEGV, "(hog, |proof hog)", 99)
    assert done.returncode == 0, done.stderr
    marks = remarks(tmp_path)
    assert marks["hog"]["Remark"].startswith("set aside: the grader was ended by this: ")
    assert "it crashed with SIGSEGV" in marks["hog"]["Remark"]
    assert marks["hog"]["Total"] == "0.00"
    assert marks["ann"]["Remark"] == marks["zoe"]["Remark"] == ""
    again = run(COMMAND, *SLOW_ONE, "--isolation", "process", cwd=tmp_path)
    assert "0 games to play (8 have results)" in again.stderr
    last = run(
        COMMAND, *SLOW_ONE, "--isolation", "process", "--try-again", "hog", cwd=tmp_path, status=0
    )
    assert "set aside" not in last.stdout + last.stderr
    assert remarks(tmp_path)["hog"]["Remark"] == ""


@pytest.mark.slow
def test_a_crash_that_another_file_has_too_is_no_proof_and_has_a_way_out(tmp_path: Path) -> None:
    class_of(tmp_path, "ann", "luckless")
    done, _ = grade_killing(tmp_path, signal.SIGSEGV, "(luckless, |proof |stand-in )", 99)
    assert done.returncode == 3
    assert "no trial proves that a file does it; the points of the matches are withheld\n" in (
        done.stderr
    )
    assert "the same command does not play it again: `--try-again luckless` does" in done.stderr
    assert "no trial proves" in remarks(tmp_path)["luckless"]["Withheld"]
    words = (*SLOW_ONE, "--isolation", "process", "--try-again", "luckless")
    assert run(COMMAND, *words, cwd=tmp_path).returncode == 0
    assert remarks(tmp_path)["luckless"]["Remark"] == ""


@pytest.mark.slow
def test_two_whose_game_ends_the_worker_are_named_with_the_way_out(tmp_path: Path) -> None:
    class_of(tmp_path, "ann", "hog")
    arguments = ("tournament", "class", "--rubric", "rubric.toml", "--jobs", "1")
    running = start(*arguments, "--isolation", "process", cwd=tmp_path)
    crash = signal.SIGSEGV
    assert kill_during(running, tmp_path / "tournament.db", "(ann|hog), groups", crash, 99) >= 4
    _, errors = running.communicate()
    assert running.returncode == 3
    assert "their game ends the grader or its worker" in errors
    assert "ann and hog: " in errors or "hog and ann: " in errors
    assert "or take one of them out of the folder" in errors
    hand_in(tmp_path / "class", "zoe", searcher(1, note="zoe"))
    shutil.rmtree(tmp_path / "class" / "hog")
    done = run(COMMAND, *arguments, "--isolation", "process", cwd=tmp_path, status=0)
    assert "places" in done.stdout


def kill_during(
    running: subprocess.Popen[str], results: Path, titles: str, number: signal.Signals, most: int
) -> int:
    """Send a signal to the workers while only `titles` are under way; return how often."""
    kills = 0
    while running.poll() is None:
        under_way = begun(results)
        if under_way and all(re.match(titles, each) for each in under_way):
            for worker, _ in descendants(running.pid):
                with contextlib.suppress(OSError):
                    if kills < most and _is_worker(worker):
                        os.kill(worker, number)
                        kills += 1
        time.sleep(0.02)
    return kills


def begun(results: Path) -> list[str]:
    """Return what is under way: titles of games, `load NAME`, `proof NAME` and `stand-in NAME`."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(results)) as held:
        keys = [key for (key,) in held.execute("SELECT key FROM begun WHERE running = 1")]
        if keys:
            with Store(results, writing=False) as store:
                games = {game.key: game for game in read_results(store).games}
                names = {str(item.sha256): item.name for item in store.submissions()}
            titles = {key: f"{game.match.one.name}, {game.title}" for key, game in games.items()}
            for key in keys:
                kind, _, sha256 = key.rpartition(" ")
                titles.setdefault(key, f"{kind} {names.get(sha256, sha256)}")
            return [titles[key] for key in keys]
    return []


def test_a_long_error_of_one_student_makes_no_table_wide() -> None:
    """It is a remark among others in the tables and `grades.csv`; the page has all of it."""
    assert clipped("x" * 200) == "x" * 200
    assert clipped("ImportError: " + "x" * 2000) == "ImportError: " + "x" * 183 + " ..."
