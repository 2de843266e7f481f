"""Without a command, the grader says where a class stands; what it names next does lead on."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from grader.results.store import Store
from tests.grading import class_of
from tests.marked import agent, grade_without_playing, grader, write_class
from tests.sixty import LATE, Course
from tests.sixty_files import book, download

CALL = "python3 -m grader "


def desk(folder: Path) -> str:
    return grader(cwd=folder).stdout


def facts(folder: Path, subject: str) -> Any:
    """Return what scripts read of a subject, of the first file or folder."""
    return json.loads(grader("--json", cwd=folder).stdout)[0]["facts"][subject]


def go_on(folder: Path) -> str:
    """Give the command that comes next; return what is said then."""
    command = desk(folder).rpartition("  next: ")[2].strip().replace("--rubric ", "--rubric=")
    assert command.startswith(CALL)
    assert grader(*shlex.split(command)[3:], cwd=folder).returncode == 0
    return desk(folder)


def test_elsewhere_it_shows_the_help(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        grader(cwd=tmp_path)
    assert ended.value.code == 0
    assert json.loads(grader("--json", cwd=tmp_path).stdout) == []
    with pytest.raises(SystemExit) as ended:
        grader("--json", "fuel", cwd=tmp_path)
    assert ended.value.code == 2


@pytest.mark.slow
def test_each_step_leads_to_the_next_one_from_hand_ins_to_a_gradebook(tmp_path: Path) -> None:
    class_of(tmp_path, "ann", "bob")
    text = 'Student,ID,Section,Connect-4 (2)\nPoints Possible,,,100\n"ann",7,1,\n"bob",8,1,\n'
    (tmp_path / "canvas-export.csv").write_text(text, encoding="utf-8")
    (tmp_path / "rubric.toml").write_text(
        (tmp_path / "rubric.toml").read_text(encoding="utf-8").replace("seed = ", "# seed = ")
    )
    assert facts(tmp_path, "hand-ins") == {"found": 2, "not read": 0}
    (tmp_path / "roster.csv").write_text("name\nann\nbob\ncy\n", encoding="utf-8")
    said = go_on(tmp_path)
    assert "  roster: 2 matched, 0 not in it, 1 absent, 0 undecided\n" in said
    assert "games played" in said
    assert "--dry-run" not in said, "the dry run is over"
    said = go_on(tmp_path)
    assert "  games: 8 planned, 8 played, 0 failed\n" in said
    assert "  files: below marks/, 0 changed since\n  gradebooks: none\n" in said
    assert said.endswith(" --gradebook canvas-export.csv\n")
    said = go_on(tmp_path)
    assert "  gradebooks: canvas.csv filled\n" in said
    assert "next:" not in said
    options = ("correct", "ann", "--results", "marks.db", "--adjust", "1", "--reason", "an appeal")
    grader(*options, cwd=tmp_path)
    assert "1 changed since\n  gradebooks: canvas.csv filled\n  next: " in desk(tmp_path)
    os.utime(tmp_path / "marks/canvas.csv", (0, 0))
    assert "canvas.csv of earlier marks" in desk(tmp_path)
    assert "next:" not in go_on(tmp_path)
    assert '"zeros": {\n      "absent": [\n        "cy"\n' in grader("--json", cwd=tmp_path).stdout
    (tmp_path / "roster.csv").write_text("name,extension\nann,1\nbob\ncy\n", encoding="utf-8")
    assert "  to decide: whether marks follow the new roster: roster.csv\n" in desk(tmp_path)
    assert "to decide:" not in go_on(tmp_path)
    (tmp_path / "class/bob.py").write_text("x = 1\n", encoding="utf-8")
    assert "  to decide: whether marks follow the new hand-ins: bob (1 in all)\n" in desk(tmp_path)
    assert "to decide:" not in go_on(tmp_path)
    with (tmp_path / "rubric.toml").open("a", encoding="utf-8") as file:
        file.write('[late]\ndeadline = "2030-01-31 23:59"\nzone = "UTC"\npoints_a_day = 1.0\n')
    assert "  to decide: whether marks follow the new rubric: late.points_a_day was " in desk(
        tmp_path
    )
    assert "to decide:" not in go_on(tmp_path)


def test_a_game_that_is_missing_comes_first_and_a_grader_at_work_is_left_alone(
    tmp_path: Path,
) -> None:
    write_class(tmp_path / "class", {f"{name}.py": agent(3, name) for name in ("ann", "bob")})
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    with Store(tmp_path / "marks.db", writing=True) as store:
        store._database.execute("DELETE FROM game WHERE key = (SELECT min(key) FROM game)")
        assert "  next: wait; a grader is at work on it\n" in desk(tmp_path)
    games = facts(tmp_path, "games")
    assert games["planned"] - games["played"] == 1
    assert "  next: the command that began it goes on\n" in desk(tmp_path)


def test_of_a_class_with_its_mess_every_zero_and_every_doubt_is_counted(tmp_path: Path) -> None:
    course = Course(22, "canvas")
    (tmp_path / "class.zip").write_bytes(download(course))
    assert "  next: python3 -m grader grade class.zip --results marks.db " in desk(tmp_path)
    grade_without_playing(tmp_path / "class.zip", tmp_path / "marks.db", LATE)
    (tmp_path / "roster.csv").write_bytes(book(course, "roster"))
    grader("report", "marks.db", "--out", "out", "--roster", "roster.csv", cwd=tmp_path)
    lines = desk(tmp_path).splitlines()
    assert len(lines) <= 20
    assert lines[-2].startswith("  to decide: 1")
    assert lines[-2].endswith(" more; `python3 -m grader --json` has all")
    command = "  next: python3 -m grader report marks.db --out out/ --roster roster.csv  # "
    assert lines[-1].startswith(command)
    assert facts(tmp_path, "marks")["open"] > facts(tmp_path, "roster")["undecided"] > 0
    broken = sum(one.role == "broken" for one in course.pupils)
    assert facts(tmp_path, "zeros")["unplayable"] == broken
