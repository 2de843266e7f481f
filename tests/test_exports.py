"""Marks in the gradebooks of Canvas and Moodle: the teacher's export comes back, filled."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.handin.submission import Member, Submission
from grader.marks.points import Mark, marks
from grader.output.exports import Filled, filled, read_export
from grader.rubric import reading as rubrics
from tests.command import assert_refused, run
from tests.grading import all_records, hand_in, rubric, searcher

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


def fill(
    tmp_path: Path,
    text: str,
    *found: Mark,
    column: str | None = None,
    maximum: float | None = None,
) -> Filled:
    placement = {mark.submission.name: 41.5 for mark in found}
    return filled(read_export(export(tmp_path, text)), column, found, placement, RUBRIC, maximum)


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
    assert (done.name, done.unmatched) == ("canvas.csv", [])
    assert done.without == ["Smith, Sam", "Smith, Sam"]


@pytest.mark.parametrize(
    ("name", "identity", "found"),
    [
        ("Ann Lee", "", "501"),
        ("Lee, Ann", "", "501"),
        ("ann_lee", "", "501"),
        ("Ben Muller", "", "502"),
        ("leeann_501_77_ai", "", "501"),
        ("smithsam_LATE_504_78_ai-1", "", "504"),
        ("mullerben_999_79_ai", "", "502"),
        ("leeann", "", "501"),
        ("503", "", "503"),
        ("u503", "", "503"),
        ("ssmith2", "", "504"),
        ("x", "u502", "502"),
        ("ann", "", None),
        ("smithsam", "", None),
    ],
)
def test_how_canvas_students_are_found(
    tmp_path: Path, name: str, identity: str, found: str | None
) -> None:
    if found is None:
        with pytest.raises(InputError, match=rf"nobody here \({name}; ...\) is one of its 4 stud"):
            fill(tmp_path, CANVAS, of(Member(name, identity)))
        return
    done = fill(tmp_path, CANVAS, of(Member(name, identity)))
    assert [row["ID"] for row in rows(done.text)[1:]] == [found]


def test_a_name_of_two_students_is_nobodys(tmp_path: Path) -> None:
    done = fill(tmp_path, CANVAS, *(of(Member(name)) for name in ("Sam Smith", "Zoe Who", "alee")))
    assert done.unmatched == ["Sam Smith", "Zoe Who"]
    assert [row["ID"] for row in rows(done.text)[1:]] == ["501"]
    by_number = fill(tmp_path, CANVAS, of(Member("Sam Smith", "u504")))
    assert [row["ID"] for row in rows(by_number.text)[1:]] == ["504"]


def test_both_members_of_a_team_get_the_mark(tmp_path: Path) -> None:
    team = of(Member("Ann Lee"), Member("Ben Muller"), name="team 3")
    done = fill(tmp_path, CANVAS, team)
    assert [row["ID"] for row in rows(done.text)[1:]] == ["501", "502"]


def test_canvas_may_have_several_columns_or_none(tmp_path: Path) -> None:
    several = CANVAS.replace("Essay (11)", "Connect-4 draft (11)")
    listed = r"'Connect-4 draft \(11\)', 'Connect-4 \(12\)'"
    with pytest.raises(InputError, match=f"--gradebook-column names one of {listed}"):
        fill(tmp_path, several)
    chosen = fill(tmp_path, several, of(Member("alee")), column="Connect-4 (12)")
    assert "Connect-4 (12)" in rows(chosen.text)[0]
    renamed = CANVAS.replace("Connect-4 (12)", "Homework 3 (4711)")
    titled = fill(tmp_path, renamed, of(Member("alee")), column="Homework 3")
    assert "Homework 3 (4711)" in rows(titled.text)[0]
    for column in (None, "Homework"):
        shown = rf"no column '{column or 'Connect-4'}'; .* 'Essay \(11\)', 'Homework 3 \(4711\)'"
        with pytest.raises(InputError, match=shown):
            fill(tmp_path, renamed, of(Member("alee")), column=column)
    without = CANVAS.replace("Essay (11)", "Essay").replace("Connect-4 (12)", "Quiz")
    none = fill(tmp_path, without, of(Member("alee")))
    header, possible = none.text.splitlines()[:2]
    assert header.endswith(",Connect-4")  # Canvas reads the maximum from the next row
    assert possible.endswith(f",{sum_of_points():g}")


def sum_of_points() -> float:
    return sum([RUBRIC.part_a.points, *(step.points for step in RUBRIC.part_b.baselines)])


def test_moodles_grades_by_number_and_by_mail(tmp_path: Path) -> None:
    column = "Assignment: Connect-4 (Real)"
    found = (of(Member("somebody", "u501")), of(Member("else", "", "BEN@example.org")))
    done = fill(tmp_path, MOODLE, *found, column=column)
    assert done.text.splitlines() == [
        f"First name,Last name,ID number,Email address,{column}",
        "Ann,Lee,u501,ann@example.org,41.50",
        "Ben,Müller,u502,ben@example.org,41.50",
    ]
    with pytest.raises(InputError, match=r"no column 'Quiz'; .* 'Assignment: Connect-4 \(Real\)'"):
        fill(tmp_path, MOODLE, column="Quiz")


def test_moodles_worksheet_by_participant_and_scaled_to_its_maximum(tmp_path: Path) -> None:
    done = fill(tmp_path, WORKSHEET, of(Member("A. Lee", "9001")))
    one, two = rows(done.text)
    assert one["Grade"] == f"{41.5 * 100 / sum_of_points():.2f}"
    assert one["Feedback comments"] == "no file"
    assert (two["Identifier"], two["Grade"]) == ("Participant 9002", "")
    assert done.name == "worksheet.csv"


@pytest.mark.parametrize(
    ("possible", "maximum", "mark", "of_all"),
    [
        ("75", None, "41.50", "75"),
        ("100", None, "55.33", "100"),
        ("20,00", 100.0, "11.07", "20"),
        ("", 150.0, "83.00", "150"),
        ("(read only)", None, "41.50", "75"),
    ],
)
def test_canvas_marks_are_scaled_to_the_points_possible(
    tmp_path: Path, possible: str, maximum: float | None, mark: str, of_all: str
) -> None:
    text = CANVAS.replace(",10,75,", f',10,"{possible}",')
    done = fill(tmp_path, text, of(Member("alee")), maximum=maximum)
    assert [row["Connect-4 (12)"] for row in rows(done.text)] == [of_all, mark]
    assert not done.unscaled


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_an_export_that_a_spreadsheet_saved_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(CANVAS.removeprefix("\ufeff").encode(encoding))
    assert read_export(path).rows[2]["Student"] == "Müller, Ben"
    path.write_bytes(b"Student,ID,Section\r\n\x81,1,2\r\n")
    with pytest.raises(InputError, match="cannot be read; save it as CSV in UTF-8"):
        read_export(path)


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
    """The total of grades.csv arrives, scaled from 50 to 75; a bad export is refused early."""
    own = rubric(tmp_path)
    hand_in(tmp_path / "class", "alee", searcher())
    options = ["--rubric", own, "--out", "out", "--gradebook", "export.csv"]
    refused = run("grader", "grade", "class", *options, cwd=tmp_path)
    assert_refused(refused, "export.csv: cannot be read")
    export(tmp_path, CANVAS)
    done = run("grader", "grade", "class", *options, cwd=tmp_path, seconds=110)
    assert done.returncode == 0, done.stderr
    assert f"{own}: outside the assignment's limits (5 to 20 s a move, 15 " in done.stderr
    told = "students there without a mark here: Müller, Ben; Smith, Sam; Smith, Sam"
    assert f"export.csv: {told}\n" in done.stderr
    grades = rows((tmp_path / "out/grades.csv").read_text(encoding="utf-8-sig"))
    imported = rows((tmp_path / "out/canvas.csv").read_text(encoding="utf-8"))
    assert imported[1]["SIS Login ID"] == "alee"
    assert float(imported[1]["Connect-4 (12)"]) == float(grades[0]["Total"]) * 75 / 50
    (tmp_path / "moodle-export.csv").write_text("Username,Connect-4\nalee,-\n", encoding="utf-8")
    options = ["--out", "out", "--gradebook", "moodle-export.csv"]
    told = run("grader", "report", "grade.db", *options, cwd=tmp_path)
    what = "states no maximum: marks are out of 50; --gradebook-maximum scales them"
    assert f"moodle-export.csv: {what}\n" in told.stderr
    assert "out/canvas.csv is from an earlier run; give --gradebook again\n" in told.stderr
    export(tmp_path, CANVAS.replace(" (11)", "").replace("Connect-4 (12)", "Agent"))
    told = run(
        "grader", "report", "grade.db", "--out", "out", "--gradebook", "export.csv", cwd=tmp_path
    )
    what = "the marks are in a new one; --gradebook-column names another"
    assert f"export.csv: has no column 'Connect-4': {what}\n" in told.stderr


def clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def marks_by_hand(results: Path) -> dict[str, tuple[float, float]]:
    """Return both parts of each student's mark, computed from the records alone."""
    scores: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for record in all_records(results).values():
        sides = [player["sha256"] for player in record["players"]]
        agents = [player["agent"] for player in record["players"]]
        own = next(n for n, agent in enumerate(agents) if agent.startswith("ai:submissions/"))
        pair = record["result"]["scores"]
        games = scores.setdefault((sides[own], agents[1 - own]), [])
        games.append((pair[own], pair[1 - own]))
    found: dict[str, dict[str, float]] = {}
    for (student, opponent), games in scores.items():
        one, two = (sum(game[side] for game in games) for side in (0, 1))
        assert len(games) == 2
        if opponent == "random":
            found.setdefault(student, {})["A"] = 40 * clamped(100 * (one - two) / two, 0, 50) / 50
        else:
            found.setdefault(student, {})["B"] = 10 * (clamped((one - two) / 2, -10, 10) + 10) / 20
    return {student: (parts["A"], parts["B"]) for student, parts in found.items()}


@pytest.mark.slow
def test_every_figure_of_a_class_follows_from_its_records(tmp_path: Path) -> None:
    """Ten students, two of them with a file without code; three gradebooks with other maxima."""
    own = rubric(tmp_path)
    (tmp_path / "tiny.txt").write_text("1\n" + "0 0 0 0 0 0\n" * 4, encoding="utf-8")
    sources = {f"s{n}": searcher(1 + n % 3, 1 if n < 5 else -1, note=str(n)) for n in range(8)}
    sources |= {"s8": "", "s9": "\n"}
    for name, source in sources.items():
        hand_in(tmp_path / "class", name, source)
    everybody = [f"s{n}" for n in range(21)]
    column = "Connect-4 (12)"
    books = {
        "canvas": f"Student,ID,SIS Login ID,Section,{column}\n    Points Possible,,,,100\n"
        + "".join(f'"Lee, Ann {n}",{n}01,{name},1,\n' for n, name in enumerate(everybody)),
        "moodle": f"Username,{column}\n" + "".join(f"{name},-\n" for name in everybody),
        "worksheet": "Identifier;Username;Grade;Maximum Grade\n"
        + "".join(f"Participant {n}01;{name};;20,00\n" for n, name in enumerate(everybody)),
    }
    options = []
    for name, text in books.items():
        (tmp_path / f"{name}-export.csv").write_text(text, encoding="utf-8")
        options += ["--gradebook", f"{name}-export.csv"]
    options += ["--gradebook-column", column, "--gradebook-maximum", "10", "--out", "out"]
    words = ["grade", "class", "--rubric", own, "--isolation", "process", *options]
    done = run("grader", *words, cwd=tmp_path, seconds=110)
    assert done.returncode == 0, done.stderr
    told = "students there without a mark here: 11 names, listed in out/canvas-unmarked.txt"
    assert f"canvas-export.csv: {told}\n" in done.stderr
    unmarked = (tmp_path / "out/canvas-unmarked.txt").read_text(encoding="utf-8")
    assert unmarked.splitlines() == [f"Lee, Ann {n}" for n in range(10, 21)]

    by_hand = marks_by_hand(tmp_path / "grade.db")
    assert len(by_hand) == 8
    grades = rows((tmp_path / "out/grades.csv").read_text(encoding="utf-8-sig"))
    filled_in = {
        name: {
            row.get("SIS Login ID") or row.get("Username"): row[key]
            for row in rows((tmp_path / f"out/{name}.csv").read_text(encoding="utf-8"))
        }
        for name, key in (("canvas", column), ("moodle", column), ("worksheet", "Grade"))
    }
    for row in grades:
        name = row["Name"]
        a, b = by_hand.get(row["SHA-256"], (0.0, 0.0))
        assert (row["Part A"], row["Part B"], row["Total"]) == (
            f"{a:.2f}",
            f"{b:.2f}",
            f"{a + b:.2f}",
        )
        assert filled_in["canvas"][name] == f"{(a + b) / 50 * 100:.2f}"
        assert filled_in["worksheet"][name] == f"{(a + b) / 50 * 20:.2f}"
        assert filled_in["moodle"][name] == f"{(a + b) / 50 * 10:.2f}"
        score = json.loads((tmp_path / f"out/results/{name}.json").read_text())["score"]
        assert f"{score:.2f}" == row["Total"]
        page = (tmp_path / f"out/feedback/{name}.html").read_text(encoding="utf-8")
        assert f"<b>{a + b:.2f}</b> / 50" in page
        assert (f"Part A {a:.2f}, part B {b:.2f}." in page) == (name not in ("s8", "s9"))


@pytest.mark.slow
def test_no_file_a_broken_one_and_a_failed_game_are_the_same_everywhere(tmp_path: Path) -> None:
    """The first two are 0 with their reason; what the machine is to blame for stays empty."""
    for name in ("alee", "bmueller"):
        hand_in(tmp_path / "class", name, searcher(note=name))
    hand_in(tmp_path / "class", "ssmith", "x = (\n")
    export(tmp_path, CANVAS)
    (tmp_path / "roster.csv").write_text("Name;ID\n;ssmith2\n;alee\n", encoding="utf-8")
    options = ["--out", "out", "--gradebook", "export.csv", "--roster", "roster.csv"]
    words = ["class", "--rubric", rubric(tmp_path), *options]
    done = run("grader", "grade", *words, cwd=tmp_path, seconds=110)
    assert done.returncode == 0, done.stderr
    assert "roster.csv: not in it: bmueller; ssmith\n" in done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "grade.db")) as database, database:
        failed = "UPDATE game SET status = 'INFRA', fault = 'the worker died' WHERE player1 = ?"
        database.execute(failed, ("bmueller",))
    done = run("grader", "report", "grade.db", *options, cwd=tmp_path)
    assert done.returncode == 3
    grades = rows((tmp_path / "out/grades.csv").read_text(encoding="utf-8-sig"))
    book = rows((tmp_path / "out/canvas.csv").read_text(encoding="utf-8"))
    filled_in = {row["SIS Login ID"]: row["Connect-4 (12)"] for row in book[1:]}
    whole = (tmp_path / "out/class.html").read_text(encoding="utf-8")
    total = {"ssmith": "0.00", "ssmith2": "0.00", "bmueller": "incomplete"}
    why = {"ssmith": "cannot be loaded", "ssmith2": "nothing was handed in", "bmueller": "died"}
    for name, shown in total.items():
        row = next(row for row in grades if row["Submission"] == name)
        page = (tmp_path / f"out/feedback/{name}.html").read_text(encoding="utf-8")
        line = next(line for line in done.stdout.splitlines() if line.startswith(f"{name} "))
        assert row["Total"] == (shown if name != "bmueller" else "")
        assert filled_in[name] == (shown if name != "bmueller" else "3")
        assert shown in line
        assert shown in next(part for part in whole.split("<tr") if f">{name}<" in part)
        assert f"<b>{shown}" in page
        assert why[name] in row["Remark"] + row["Withheld"]
        assert why[name] in page
