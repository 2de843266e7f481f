"""Each way in which a mark went to the wrong person, or to nobody: what the command does now."""

import subprocess
from pathlib import Path

import pytest

from grader.results.store import Store
from tests.grading import rubric
from tests.marked import (
    agent,
    grade_without_playing,
    grader,
    points,
    rows,
    stored,
    totals,
    write_class,
)

CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Connect-4 (55)\n    Points Possible,,,,,50\n"
WORKSHEET = "Identifier,Full name,Email address,Grade,Maximum Grade,Last modified (grade)\n"
MOODLE = "First name,Last name,ID number,Email address,Assignment: Connect-4 (Real)\n"


class Class:
    """A graded class in a folder of its own, and what `report` says and writes."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        write_class(folder / "class", files)
        grade_without_playing(folder / "class", folder / "marks.db")

    def report(self, *words: str, **files: str) -> subprocess.CompletedProcess[str]:
        """Write files, call `report`, and return what it printed."""
        for name, text in files.items():
            (self.folder / f"{name}.csv").write_text(text, encoding="utf-8")
        rosters = ["--roster", "roster.csv"] if "roster" in files else []
        given = [
            word for name in files if name != "roster" for word in ("--gradebook", f"{name}.csv")
        ]
        return grader("report", "marks.db", "--out", "out", *rosters, *given, *words,
            cwd=self.folder,
        )  # fmt: skip

    @property
    def totals(self) -> dict[str, str]:
        """Return the totals of `grades.csv`."""
        return totals(self.folder / "out")

    def filled(self, name: str) -> list[dict[str, str]]:
        """Return the lines of a gradebook that was filled."""
        return rows(self.folder / "out" / f"{name}.csv")


def mark(margin: int) -> str:
    return f"{points(margin):.2f}"


def test_of_two_namesakes_nobody_takes_the_only_line(tmp_path: Path) -> None:
    """Moodle's download of two Kim Lee, one of them on the roster; the worksheet knows both."""
    files = {f"Kim Lee_{n}_assignsubmission_file_/ai.py": agent(10 + n) for n in (1, 2)}
    sheet = WORKSHEET + "".join(f"Participant {n},Kim Lee,,,50,-\n" for n in (2, 1))
    course = Class(tmp_path, files)
    done = course.report(roster="name,id\nKim Lee,7001\n", worksheet=sheet)
    assert done.returncode == 0, done.stderr
    assert "not in it: Kim Lee (participant 1) (may be Kim Lee (7001)); Kim Lee (" in done.stderr
    assert "roster.csv: not decided, no mark yet: Kim Lee (7001)\n" in done.stderr
    found = [(row["ID"], row["Total"]) for row in rows(tmp_path / "out/grades.csv")]
    assert found == [("", mark(11)), ("", mark(12)), ("7001", "")], "no participant among numbers"
    assert [row["Grade"] for row in course.filled("worksheet")] == [mark(12), mark(11)]
    (doubt, other) = rows(tmp_path / "out/unmatched.csv")
    assert (doubt["Hand-in of"], doubt["May be"]) == ("Kim Lee (participant 1)", "Kim Lee (7001)")
    assert (other["Hand-in of"], other["Why"]) == ("Kim Lee (participant 2)", "several fit")
    decided = "name,id,hand_in\nKim Lee,7001,Kim Lee_2_assignsubmission_file_\n"
    assert course.report(roster=decided).returncode == 0
    assert course.totals == {"Kim Lee": mark(11), "Kim Lee 7001": mark(12)}


@pytest.mark.parametrize("packed", ["team7.py", "team7/ai.py"])
def test_what_a_student_names_within_a_hand_in_is_no_hand_in_of_the_roster(
    tmp_path: Path, packed: str
) -> None:
    """Else Bo's file would be Ann's, and Bo would have handed in nothing."""
    places = (f"Bo_8_assignsubmission_file_/{packed}", "Cy_9_assignsubmission_file_/ai.py")
    course = Class(tmp_path, {place: agent(20 + n) for n, place in enumerate(places)})
    roster = "name,id,hand_in\nAnn Lee,1001,team7\nBo,1002,\nCy,1003,Cy_9_assignsubmission_file_\n"
    assert course.report(roster=roster).returncode == 0
    assert course.totals == {"Ann Lee 1001": "0.00", "Bo 1002": mark(20), "Cy 1003": mark(21)}


def test_a_line_without_a_hand_in_is_shown_beside_the_hand_in_without_a_line(
    tmp_path: Path,
) -> None:
    course = Class(tmp_path, {"batman.py": agent(10), "bo.py": agent(20)})
    canvas = CANVAS + "Ann Lee,1,,alee,S,\nBo,2,,bo,S,\n"
    done = course.report(canvas=canvas)
    assert done.returncode == 3
    assert "hand-ins of nobody there, and students there without a hand-in:\n" in done.stderr
    assert "  1  batman    1  Ann Lee (alee, Canvas ID 1)\n" in done.stderr
    assert "canvas.csv: not filled: " in done.stderr
    assert done.stderr.endswith("Everything else is in out\n")
    assert not (tmp_path / "out/canvas.csv").exists()
    assert course.report("--yes", canvas=canvas).returncode == 0
    assert [row["ID"] for row in course.filled("canvas")] == ["", "2"]
    done = course.report(canvas=canvas.replace("Ann Lee,1,,alee,S,\n", ""))
    assert "students there without a hand-in:\n  1  batman\n" in done.stderr


def bytes_of(*places: Path) -> bytes:
    """Return all that is in some files and folders."""
    files = [file for place in places for file in (place.rglob("*") if place.is_dir() else [place])]
    return b"".join(file.name.encode() + file.read_bytes() for file in files if file.is_file())


@pytest.mark.parametrize(
    ("who", "gone", "stays"),
    [
        ("Ann Lee", ["Ann Lee", "77001", "ann@x.org"], ["Bo Ode", "Cy Ray"]),
        ("bo@x.org", ["Bo Ode", "77002", "bo@x.org"], ["Ann Lee", "Cy Ray"]),
        ("77003", ["Cy Ray", "77003", "# margin 30"], ["Ann Lee", "Bo Ode"]),
        ("77004", ["77004", "kim4@x.org"], ["Kim Lee", "77005", "kim5@x.org"]),
        ("Di Fox", ["Di Fox", "77006"], ["Kim Lee", "77005"]),
    ],
)
def test_whoever_is_forgotten_leaves_nothing(
    tmp_path: Path, who: str, gone: list[str], stays: list[str]
) -> None:
    """A member of a group, a single author, a twin and a line of the roster alone."""
    files = {
        "team/ai.py": agent(10), "team/report.txt": "Ann Lee, 77001 and Bo Ode, 77002\n",
        "Cy Ray/ai.py": agent(30), "Cy Ray/report.txt": "Cy Ray\n",
    }  # fmt: skip
    course = Class(tmp_path, files)
    roster = (
        "name,id,email,group,reason,adjust\nAnn Lee,77001,ann@x.org,team,late,-1\n"
        "Bo Ode,77002,bo@x.org,team,,\nCy Ray,77003,cy@x.org,,,\n"
        "Kim Lee,77004,kim4@x.org,,,\nKim Lee,77005,kim5@x.org,,,\nDi Fox,77006,,,,\n"
    )
    assert course.report(roster=roster, canvas=CANVAS + "Ann Lee,1,77001,al,S,\n").returncode == 3
    assert course.report("--yes", canvas=CANVAS + "Ann Lee,1,77001,al,S,\n").returncode == 0
    out = tmp_path / "out"
    grader("correct", who, "--results", "marks.db", "--adjust", "1", "--reason", "x",
        cwd=tmp_path)  # fmt: skip
    before = bytes_of(tmp_path / "marks.db", out)
    assert all(text.encode() in before for text in gone)
    done = grader("forget", who, "--results", "marks.db", "--out", "out", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (out / "canvas.csv").exists(), "another export has the name in two columns"
    left = bytes_of(tmp_path / "marks.db", out)
    assert [text for text in gone if text.encode() in left] == []
    assert [text for text in stays if text.encode() not in left] == []
    assert not list(tmp_path.glob("marks.db-*"))


def test_changes_of_marks_are_said_with_their_reason(tmp_path: Path) -> None:
    course = Class(tmp_path, {"ann.py": agent(10), "bo.py": agent(20)})
    assert "differ" not in course.report().stderr
    done = course.report(roster="name,adjust\nann,2.5\nbo,\n")
    assert "1 mark differs from those written last, by 2.50 at most: see out/changes" in done.stderr
    (row,) = rows(tmp_path / "out/changes.csv")
    why = row.pop("Why")
    assert row == {"Name": "ann", "Before": mark(10), "After": "20.50"}
    assert why.startswith("corrected by +2.5 (20")
    assert "differ" not in course.report().stderr
    words = ("--results", "marks.db", "--mark", "9", "--reason", "game 12 was starved")
    grader("correct", "bo", *words, cwd=tmp_path)
    course.report()
    (row,) = rows(tmp_path / "out/changes.csv")
    assert row["Why"].startswith("set to 9: game 12 was starved (20")


def test_the_keys_of_a_new_rubric_are_the_reason_of_new_marks(tmp_path: Path) -> None:
    course = Class(tmp_path, {"ann.py": agent(10), "bo.py": agent(-20)})
    course.report()
    path = tmp_path / "rubric.toml"
    text = path.read_text(encoding="utf-8")
    assert "low = -10.0" in text
    text = text.replace("low = -10.0", "low = -30.0") + "[ladder]\nwidth = 50.0\n"
    path.write_text(text, encoding="utf-8")
    words = ("class", "--rubric", "rubric.toml", "--results", "marks.db")
    told = "the rubric is not the stored one: part_b.baselines[1].low was -10.0 and is -30.0; "
    assert told in grader("grade", *words, "--dry-run", cwd=tmp_path).stderr
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    with Store(tmp_path / "marks.db", writing=True) as store:
        store._database.execute("DELETE FROM game WHERE key = (SELECT min(key) FROM game)")
    assert course.report().returncode == 3, (
        "as after Ctrl-C: the marks before it are still compared"
    )
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    course.report()
    (row,) = rows(tmp_path / "out/changes.csv")
    assert (row["Name"], row["Before"]) == ("bo", mark(-20))
    assert row["Why"] == "rubric: part_b.baselines[1].low was -10.0 and is -30.0"


@pytest.mark.parametrize(("pages", "remark"), [(0, ""), (2, "no report.txt")])
def test_no_report_is_missed_where_the_rubric_asks_for_none(
    tmp_path: Path, pages: int, remark: str
) -> None:
    write_class(tmp_path / "class", {"ann.py": agent(10)})
    more = f"[submission]\nreport_pages = {pages}\n"
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db", more)
    grader("report", "marks.db", "--out", "out", cwd=tmp_path)
    (row,) = rows(tmp_path / "out/grades.csv")
    assert row["Remark"] == remark


def test_a_mark_that_was_open_is_known_once_the_roster_names_the_hand_in(tmp_path: Path) -> None:
    files = {f"Kim Lee_{n}_assignsubmission_file_/ai.py": agent(10 + n) for n in (1, 2)}
    course = Class(tmp_path, files)
    roster = "name,id,hand_in\nKim Lee,7001,{}\nKim Lee,7002,{}\n"
    course.report(roster=roster.format("", ""))
    for wrong in ("Kim Lee (3)", "Kim"):
        done = course.report(roster=roster.format(wrong, "Kim Lee (1)"))
        assert f"Kim Lee (7001): hand_in '{wrong}' is no hand-in here, or several" in done.stderr
    course.report(roster=roster.format("", ""))
    done = course.report(roster=roster.format("Kim Lee (2)", ""))
    assert "2 marks differ from those written last: see" in done.stderr
    found = rows(tmp_path / "out/changes.csv")
    assert [(row["Before"], row["Why"]) for row in found] == 2 * [("", "it was open")]
    assert {(row["Name"], row["After"]) for row in found} == {
        ("Kim Lee (7002, participant 1)", mark(11)),
        ("Kim Lee (7001, participant 2)", mark(12)),
    }


def test_a_person_is_named_as_messages_show_the_person(tmp_path: Path) -> None:
    places = ("José Ruiz_8", "Jose Ruiz_9", "Cy_7001")
    files = {f"{place}_assignsubmission_file_/ai.py": agent(n) for n, place in enumerate(places)}
    course = Class(tmp_path, files)
    roster = "name,id,hand_in\nJOSE RUIZ,7001,{}\nJOSE RUIZ,7002,{}\nCy,7003,\n"
    told = course.report(roster=roster.format("", "")).stderr
    assert "José Ruiz (participant 8) (may be JOSE RUIZ (7001) or JOSE RUIZ (7002))" in told
    told = course.report(roster=roster.format("José Ruiz (8)", "Jose Ruiz (9)")).stderr
    assert "hand_in" not in told
    totals = {"JOSE RUIZ 7001": mark(0), "JOSE RUIZ 7002": mark(1), "Cy 7003": mark(2)}
    assert course.totals == totals
    words = ("--results", "marks.db", "--adjust", "1", "--reason", "late bus")
    told = grader("correct", "7001", *words, cwd=tmp_path).stderr
    assert "may be Cy (7003, participant 7001); JOSE RUIZ (7001, participant 8); give" in told
    for name in ("Cy (7003, participant 7001)", "Cy (7003)"):
        assert "-> " in grader("correct", name, *words, cwd=tmp_path).stderr


def test_a_mark_is_corrected_with_a_reason_and_the_day(tmp_path: Path) -> None:
    course = Class(tmp_path, {"ann.py": agent(10), "bo.py": agent(20)})
    correct = ("correct", "ann", "--results", "marks.db", "--reason", "=late bus")
    for words, total in (
        (("--percent", "-50"), "9.00"), (("--adjust", "1.5"), "10.50"), (("--mark", "33"), "33.00"),
        (("--adjust", "0"), "33.00"), (("--unset-mark",), "10.50"), (("--percent", "50"), "19.50"),
        (("--mark", "33"), "33.00"),
    ):  # fmt: skip
        done = grader(*correct, *words, cwd=tmp_path)
        assert f"-> {total} (" in done.stderr
    course.report()
    row = rows(tmp_path / "out/grades.csv")[0]
    found = [row[title] for title in ("Total", "Adjust", "Percent", "Mark")]
    assert found == ["33.00", "1.50", "'-50; 50", "33; none; 33"]
    assert row["Reason"].startswith("'=late bus; ")
    page = (tmp_path / "out/feedback/ann.html").read_text(encoding="utf-8")
    assert "set to 33: =late bus (20" in page
    assert "=late bus" in (tmp_path / "out/class.html").read_text(encoding="utf-8")
    assert "=late bus" not in (tmp_path / "out/feedback/bo.html").read_text(encoding="utf-8")
    refused = grader(*correct, "--mark", "1", "--adjust", "1", cwd=tmp_path)
    assert "give one of --adjust, --percent and --mark" in refused.stderr


def test_a_roster_and_a_worksheet_complete_each_other_and_none_removes_them(tmp_path: Path) -> None:
    course = Class(tmp_path, {"ann.py": agent(10), "bo.py": agent(20)})
    (tmp_path / "sheet.csv").write_text(
        "Identifier,Full name,Grade,Last modified (submission),Last modified (grade)\n"
        "Participant 5,ann,,2030-01-31 10:00,-\n", encoding="utf-8"
    )  # fmt: skip
    course.report("--roster", "sheet.csv", roster="name,id,section\nann,7,b\nbo,8,c\n")
    row = rows(tmp_path / "out/grades.csv")[0]
    assert (row["ID"], row["Section"], row["Submitted"]) == ("7", "b", "2030-01-31T10:00:00")
    course.report("--roster", "none")
    assert stored(tmp_path / "marks.db", "roster") == []
    assert "Section" not in rows(tmp_path / "out/grades.csv")[0]


def test_a_results_file_that_is_moved_during_a_run_claims_nothing(tmp_path: Path) -> None:
    from connect4.errors import InputError
    from grader.results.store import Store

    rubric(tmp_path)
    Class(tmp_path, {"ann.py": agent(10)})
    with Store(tmp_path / "marks.db", writing=True) as store:
        (tmp_path / "marks.db").rename(tmp_path / "moved.db")
        with pytest.raises(InputError, match="moved or replaced during the run: nothing more"):
            store.set_meta({"x": "y"})
    assert [row[0] for row in stored(tmp_path / "moved.db", "meta")].count("x") == 0
    assert len(stored(tmp_path / "moved.db", "game")) == 4
