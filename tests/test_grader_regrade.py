"""Marks after a hand-in has changed, been renamed or withdrawn: what is played, what stays."""

import shutil
import subprocess
from pathlib import Path

import pytest

from grader.results import STARVED
from tests.command import run
from tests.grading import COMMAND, execute, games, hand_in, id_of, rubric, searcher
from tests.marked import rows as table_of

ARGUMENTS = ("grade", "class", "--rubric", "rubric.toml", "--out", "marks", "--records")


def grade(folder: Path) -> subprocess.CompletedProcess[str]:
    done = run(COMMAND, *ARGUMENTS, cwd=folder, status=0)
    return done


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two whose marks and records have been written."""
    folder = tmp_path_factory.mktemp("regrade")
    rubric(folder)
    hand_in(folder / "class", "ann", searcher(1, note="ann"))
    hand_in(folder / "class", "bo", searcher(1, -1, note="bo"))
    grade(folder)
    return folder


@pytest.fixture
def folder(marked: Path, tmp_path: Path) -> Path:
    """Return a copy of that class, to be changed."""
    return Path(shutil.copytree(marked, tmp_path / "copy"))


@pytest.mark.slow
def test_a_hand_in_under_a_new_name_has_its_games_already(folder: Path) -> None:
    before = games(folder / "grade.db")
    (folder / "class" / "ann").rename(folder / "class" / 'Ann [Arbor] "A"')
    done = grade(folder)
    assert "0 games to play (8 have results)" in done.stderr
    assert games(folder / "grade.db") == before
    page = (folder / "marks" / "feedback" / "Ann _Arbor_ _A_.html").read_text(encoding="utf-8")
    assert '"names":["Ann [Arbor] \\"A\\"","random"]' in page.replace("&#x27;", "'")
    assert '"ann"' not in page


@pytest.mark.slow
def test_a_new_name_keeps_the_evidence_of_earlier_versions(folder: Path) -> None:
    """A late namesake gives a student another name; a complaint may come after that."""
    (folder / "class" / "ann").rename(folder / "class" / "Ann (1)")
    assert "ann (1 in all) had results there" in grade(folder).stderr
    hand_in(folder / "class", "Ann (1)", searcher(1, note="changed"))
    grade(folder)
    rows = [row for row in index(folder) if row["Submission"] == "Ann (1)"]
    assert sorted(row["Now"] for row in rows) == 4 * ["no"] + 4 * ["yes"]
    assert all((folder / "marks" / row["File"]).is_file() for row in rows)


@pytest.mark.slow
def test_two_equal_hand_ins_play_one_set_of_games_and_have_equal_marks(folder: Path) -> None:
    hand_in(folder / "class", "cy", searcher(1, note="ann"))
    done = grade(folder)
    assert "0 games to play (8 have results)" in done.stderr
    rows = (folder / "marks" / "grades.csv").read_text(encoding="utf-8-sig").splitlines()
    marks = {row.split(",")[0]: row.split(",")[4:8] for row in rows[1:]}
    assert marks["ann"] == marks["cy"]
    assert '"names":["cy","random"]' in (folder / "marks" / "feedback" / "cy.html").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_a_changed_limit_is_named_as_the_reason_for_playing_again(folder: Path) -> None:
    rubric(folder, limits="memory_mb = 900\n")
    done = run(COMMAND, *ARGUMENTS, "--dry-run", cwd=folder)
    assert "8 games to play (0 have results)" in done.stderr
    told = "grade.db: the rubric is not the stored one: limits.memory_mb was 1024 and is 900\n"
    assert told in grade(folder).stderr


def index(folder: Path) -> list[dict[str, str]]:
    return table_of(folder / "marks" / "records" / "index.csv")


@pytest.mark.slow
def test_records_of_old_and_new_versions_stand_apart_each_with_its_source(folder: Path) -> None:
    before = index(folder)
    assert len(before) == 8
    hand_in(folder / "class", "bo", searcher(1, -1, note="better"))
    assert "4 games to play (4 have results)" in grade(folder).stderr
    rows = index(folder)
    old = [row for row in rows if row["Submission"] == "bo" and row["Now"] == "no"]
    new = [row for row in rows if row["Submission"] == "bo" and row["Now"] == "yes"]
    assert (len(old), len(new), len(rows)) == (4, 4, 12)
    assert {row["File"] for row in rows if row["Submission"] == "ann"} == {
        row["File"] for row in before if row["Submission"] == "ann"
    }
    for row in (old[0], new[0]):
        turn = "1" if row["Side"] == "1" else "2"
        done = run(
            "connect4.ConnectFour",
            "--replay-turn",
            f"{row['File']}:{turn}",
            cwd=folder / "marks",
            status=0,
        )
        assert "The answer is the recorded one." in done.stdout
        source = folder / "marks" / "submissions" / row["SHA-256"][:32] / "ai.py"
        assert ("better" in source.read_text(encoding="utf-8")) == (row["Now"] == "yes")


@pytest.mark.slow
def test_one_file_that_is_graded_alone_removes_nobody_elses_page(folder: Path) -> None:
    before = {path for path in (folder / "marks").rglob("*") if path.is_file()}
    alone = ("grade", "class/ann/ai.py", "--rubric", "rubric.toml", "--out", "marks")
    done = run(COMMAND, *alone, "--name", "ann", cwd=folder, status=0)
    assert "bo (1 in all) had results there" in done.stderr
    now = {path for path in (folder / "marks").rglob("*") if path.is_file()}
    assert now - before == {folder / "marks" / "results.json"} and before <= now
    run(COMMAND, *alone, "--results", "other.db", cwd=folder, status=0)
    assert before <= {path for path in (folder / "marks").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_record_of_a_starved_game_is_written_and_does_not_count(folder: Path) -> None:
    """Until it is played again: then the new one counts, and the old one goes from the results."""
    results = folder / "grade.db"
    named = "SELECT key FROM game WHERE player1 = ? LIMIT 1"
    ((key,),) = execute(results, named, id_of(results, "bo"))
    changed = "UPDATE game SET timeouts1 = 1, starved1 = 1, fault = ? WHERE key = ?"
    execute(results, changed, STARVED, key)
    before = run(COMMAND, "report", "grade.db", "--out", "marks", "--records", cwd=folder, status=3)
    assert "1 game has no result yet (the machine was too busy: an agent got" in before.stderr
    assert "incomplete: 1 game missing" in before.stdout
    assert {row["Counts"] for row in index(folder) if key[:8] in row["File"]} == {"no"}
    assert "1 games to play" in grade(folder).stderr
    (row,) = (row for row in index(folder) if key[:8] in row["File"])
    assert (row["Attempt"], row["Counts"]) == ("2", "yes")
    assert (folder / "marks" / row["File"]).is_file()
