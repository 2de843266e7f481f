"""Marks in the gradebooks of Canvas and Moodle: the teacher's export comes back, filled."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.handin.submission import Member, Submission
from grader.marks.points import Mark, marks
from grader.output.exports import Filled, filled, read_export
from grader.rubric import reading as rubrics
from tests.command import assert_refused, run
from tests.grading import hand_in, rubric, searcher

RUBRIC = rubrics.read()

CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Essay (11),Connect-4 (12),Final Score
    Points Possible,,,,,10,75,(read only)
"Lee, Ann",501,u501,alee,01,9,,80
"Müller, Ben",502,u502,bmueller,01,8,3,70
"Smith, Sam",503,u503,ssmith,01,7,,60
"Smith, Sam",504,u504,ssmith2,02,7,,60
"Student, Test",505,,x,01,,,
"""
MOODLE = """First name,Last name,ID number,Email address,Assignment: Connect-4 (Real),Course total
Ann,Lee,u501,ann@example.org,-,-
Ben,Müller,u502,ben@example.org,-,-
"""
WORKSHEET = (
    "Identifier;Full name;Email address;Status;Grade;Maximum Grade;Feedback comments\n"
    "Participant 9001;Ann Lee;ann@example.org;Submitted;;100,00;\n"
    "Participant 9002;Ben Müller;ben@example.org;No submission;;100,00;\n"
)


def export(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "export.csv"
    path.write_text(text, encoding="utf-8")
    return path


def of(*members: Member, name: str | None = None) -> Mark:
    """Return a mark without a match: 0 points."""
    submission = Submission(name or members[0].name, "", problem="no file", members=members)
    return marks([submission], {}, RUBRIC, {})[0]


def fill(tmp_path: Path, text: str, *found: Mark, column: str | None = None) -> Filled:
    placement = {mark.submission.name: 41.5 for mark in found}
    return filled(read_export(export(tmp_path, text)), column, found, placement, RUBRIC)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_canvas_gets_its_own_columns_and_the_assignment(tmp_path: Path) -> None:
    """As its import requires: Student, ID, SIS User ID, SIS Login ID, Section, one assignment."""
    done = fill(tmp_path, CANVAS, of(Member("Ann Lee")), of(Member("bmueller")))
    header = "Student,ID,SIS User ID,SIS Login ID,Section,Connect-4 (12)"
    assert done.text.splitlines()[:2] == [header, "    Points Possible,,,,,75"]
    assert [(row["ID"], row["Connect-4 (12)"]) for row in rows(done.text)[1:]] == [
        ("501", "41.50"),
        ("502", "41.50"),
    ]
    assert (done.name, done.unmatched, done.without) == ("canvas.csv", [], 2)


def test_a_name_of_two_students_is_nobodys(tmp_path: Path) -> None:
    done = fill(tmp_path, CANVAS, of(Member("Sam Smith")), of(Member("Zoe Who")))
    assert done.unmatched == ["Sam Smith", "Zoe Who"]
    assert rows(done.text)[1:] == []
    by_number = fill(tmp_path, CANVAS, of(Member("Sam Smith", "u504")))
    assert [row["ID"] for row in rows(by_number.text)[1:]] == ["504"]


def test_both_members_of_a_team_get_the_mark(tmp_path: Path) -> None:
    team = of(Member("Ann Lee"), Member("Ben Muller"), name="team 3")
    done = fill(tmp_path, CANVAS, team)
    assert [row["ID"] for row in rows(done.text)[1:]] == ["501", "502"]


def test_canvas_may_have_several_columns_or_none(tmp_path: Path) -> None:
    several = CANVAS.replace("Essay (11)", "Connect-4 draft (11)")
    with pytest.raises(InputError, match="--gradebook-column names one of them"):
        fill(tmp_path, several)
    chosen = fill(tmp_path, several, of(Member("alee")), column="Connect-4 (12)")
    assert "Connect-4 (12)" in rows(chosen.text)[0]
    none = fill(tmp_path, CANVAS.replace("Connect-4 (12)", "Quiz (12)"), of(Member("alee")))
    header, possible = none.text.splitlines()[:2]
    assert header.endswith(",Connect-4")  # Canvas reads the maximum from the next row
    assert possible.endswith(f",{sum_of_points():g}")


def sum_of_points() -> float:
    return sum([RUBRIC.part_a.points, *(step.points for step in RUBRIC.part_b.baselines)])


def test_an_incomplete_mark_leaves_the_cell_as_it_was(tmp_path: Path) -> None:
    waiting = marks([Submission("bmueller", "", "x = 1")], {}, RUBRIC, {})[0]
    assert waiting.incomplete
    done = fill(tmp_path, CANVAS, waiting)
    assert done.withheld == ["bmueller"]
    assert rows(done.text)[1]["Connect-4 (12)"] == "3"


def test_moodles_grades_by_number_and_by_mail(tmp_path: Path) -> None:
    column = "Assignment: Connect-4 (Real)"
    found = (of(Member("somebody", "u501")), of(Member("else", "", "BEN@example.org")))
    done = fill(tmp_path, MOODLE, *found, column=column)
    assert done.text.splitlines() == [
        f"First name,Last name,ID number,Email address,{column}",
        "Ann,Lee,u501,ann@example.org,41.50",
        "Ben,Müller,u502,ben@example.org,41.50",
    ]
    with pytest.raises(InputError, match="no column 'Quiz'; there are First name"):
        fill(tmp_path, MOODLE, column="Quiz")


def test_moodles_worksheet_by_participant_and_scaled_to_its_maximum(tmp_path: Path) -> None:
    done = fill(tmp_path, WORKSHEET, of(Member("A. Lee", "9001")))
    one, two = rows(done.text)
    assert one["Grade"] == f"{41.5 * 100 / sum_of_points():.2f}"
    assert one["Feedback comments"] == "no file"
    assert (two["Identifier"], two["Grade"]) == ("Participant 9002", "")
    assert done.name == "worksheet.csv"


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected the gradebook that Canvas exports"):
        read_export(export(tmp_path, "name,points\nann,3\n"))
    with pytest.raises(InputError, match=r"no readable CSV \(field larger than field limit"):
        read_export(export(tmp_path, f"Student,ID\n{'x' * 200_000},1\n"))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_export(tmp_path / "none.csv")


def test_options_that_need_each_other(tmp_path: Path) -> None:
    done = run("grader", "report", "x.db", "--gradebook", "export.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "--gradebook: --out names the folder" in done.stderr


@pytest.mark.slow
def test_a_class_is_graded_into_canvas(tmp_path: Path) -> None:
    """The mark that arrives is the total of grades.csv; a bad export is refused before playing."""
    own = rubric(tmp_path)
    hand_in(tmp_path / "class", "alee", searcher())
    options = ["--rubric", own, "--out", "out", "--gradebook", "export.csv"]
    refused = run("grader", "grade", "class", *options, cwd=tmp_path)
    assert_refused(refused, "export.csv: cannot be read")
    export(tmp_path, CANVAS)
    done = run("grader", "grade", "class", *options, cwd=tmp_path, seconds=110)
    assert done.returncode == 0, done.stderr
    assert "export.csv: 3 students there have no mark here" in done.stderr
    grades = rows((tmp_path / "out/grades.csv").read_text(encoding="utf-8-sig"))
    imported = rows((tmp_path / "out/canvas.csv").read_text(encoding="utf-8"))
    assert imported[1]["SIS Login ID"] == "alee"
    assert imported[1]["Connect-4 (12)"] == grades[0]["Total"]
