"""Marks after a hand-in has changed, been renamed or withdrawn: what is played, what stays."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grader.play.replays import renamed
from tests.command import run
from tests.grading import COMMAND, games, hand_in, rubric, searcher

ARGUMENTS = ("grade", "class", "--rubric", "rubric.toml", "--out", "marks", "--records")


def grade(folder: Path) -> subprocess.CompletedProcess[str]:
    done = run(COMMAND, *ARGUMENTS, cwd=folder)
    assert done.returncode == 0, done.stderr
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


def test_a_hand_in_under_a_new_name_has_its_games_already(folder: Path) -> None:
    before = games(folder / "grade.db")
    (folder / "class" / "ann").rename(folder / "class" / 'Ann [Arbor] "A"')
    done = grade(folder)
    assert "0 games to play (8 have results)" in done.stderr
    assert games(folder / "grade.db") == before
    page = (folder / "marks" / "feedback" / "Ann _Arbor_ _A_.html").read_text(encoding="utf-8")
    assert '"names":["Ann [Arbor] \\"A\\"","random"]' in page.replace("&#x27;", "'")
    assert '"ann"' not in page


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


@pytest.mark.parametrize("name", ["bo", 'a "quoted" \\ one', "</script>", 'x"],"facts":'])
def test_names_in_a_replay_are_replaced_whatever_they_hold(name: str) -> None:
    first = renamed('0 {"names":["a","b"],"facts":[]}', [name, "random"])
    assert renamed(first, ["a", "b"]) == '0 {"names":["a","b"],"facts":[]}'
    assert "<" not in first


def test_a_changed_limit_is_named_as_the_reason_for_playing_again(folder: Path) -> None:
    rubric(folder, limits="memory_mb = 900\n")
    done = run(COMMAND, *ARGUMENTS, "--dry-run", cwd=folder)
    assert "8 games to play (0 have results)" in done.stderr
    assert (
        "grade.db: [limits] memory_mb was 1024 and is 900: games under other limits are other "
        "games, and are played anew" in grade(folder).stderr
    )
