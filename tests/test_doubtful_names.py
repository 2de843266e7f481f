"""Doubtful persons: whoever cannot be told from another one has no mark, and nobody else's."""

import json
import os
import pty
import sys
import zipfile
from pathlib import Path

import pytest

from grader.commands.report import _pairs
from grader.handin import Person
from grader.output.results import PLACEMENT
from grader.results.store import Store
from tests.command import environment
from tests.grading import COMMAND
from tests.marked import agent, grader, points, rows, stored
from tests.test_names import CANVAS, MOODLE, WORKSHEET, Class, bytes_of, mark


@pytest.mark.parametrize(
    "roster",
    [
        "name,id,hand_in,adjust\nBob Ode,12,submission_1,-5\nAnn Lee,11,,\n",
        "name,id,hand_in,adjust\nBob Ode,12,submission_1,-5\nAnn Lee,11,submission_1,\n",
        "name,hand_in,adjust\nBob Ode,submission_1,-5\nAnn Lee,submission_1,\n",
        "name,hand_in,adjust\nRobert O.,submission_1,-5\nAnn Lee,submission_1,\n",
        "name,hand_in,adjust\nRobert O.,submission_1,-5\nAnn Lee,,\n",
    ],
)
def test_a_line_that_names_the_hand_in_of_a_pair_is_one_of_them(
    tmp_path: Path, roster: str
) -> None:
    lines = "---\nsubmission_1:\n  :submitters:\n"
    for name, number in (("Ann Lee", 11), ("Bob Ode", 12)):
        lines += f"  - :name: {name}\n    :sid: '{number}'\n    :email: e{number}@x.org\n"
    files = {"submission_1/ai.py": agent(30), "submission_metadata.yml": lines}
    files |= {"submission_2/ai.py": agent(20)}
    course = Class(tmp_path, files)
    moodle = MOODLE + "Ann,Lee,,e11@x.org,\nBob,Ode,,e12@x.org,\n"
    done = course.report("--yes", roster=roster, moodle=moodle)
    assert done.returncode == 0, done.stderr
    filled = {row["First name"]: row["Assignment: Connect-4 (Real)"]
        for row in course.filled("moodle")}  # fmt: skip
    assert filled == {"Ann": mark(30), "Bob": f"{points(30) - 5:.2f}"}


def test_lines_that_name_one_hand_in_of_strangers_give_nobody_a_correction(tmp_path: Path) -> None:
    """Nobody can tell which of the two has which address."""
    lines = "---\nsubmission_1:\n  :submitters:\n"
    for name, number in (("foo", 11), ("bar", 12)):
        lines += f"  - :name: {name}\n    :email: e{number}@x.org\n"
    files = {"submission_1/ai.py": agent(30), "submission_metadata.yml": lines}
    course = Class(tmp_path, {**files, "submission_2/ai.py": agent(20)})
    roster = "name,hand_in,adjust\nBob Ode,submission_1,-5\nAnn Lee,submission_1,\n"
    course.report("--yes", roster=roster, moodle=MOODLE + "A,L,,e11@x.org,\nB,O,,e12@x.org,\n")
    assert course.totals == {
        **{"Bob Ode": f"{points(30) - 5:.2f}", "Ann Lee": mark(30), "submission_2": mark(20)}
    }
    assert not (tmp_path / "out/moodle.csv").exists()


def test_what_is_said_of_others_names_nobody_who_is_forgotten(tmp_path: Path) -> None:
    files = {"ann.py": agent(10), "Bo Ode.py": agent(20), "di.py": agent(30)}
    course = Class(tmp_path, files)
    roster = (
        "name,id,group,adjust,reason\nJosé Ruiz,77001,,1,ill\nBo Ode,2,José Ruiz,2,with José Ruiz\n"
        "Cy,3,José Ruiz,,\nann,4,,,\ndi,5,-,,\nElla,6,-,,\n"
    )
    course.report(roster=roster)
    correct = ("correct", "ann", "--results", "marks.db", "--adjust", "1")
    grader(*correct, "--reason", "from 77001", cwd=tmp_path)
    forget = ("forget", "José Ruiz", "--results", "marks.db", "--out", "out", "--yes")
    done = grader(*forget, cwd=tmp_path)
    assert (done.returncode, "the same file" in done.stdout) == (0, False)
    left = bytes_of(tmp_path / "marks.db", tmp_path / "out")
    assert [text for text in ("José Ruiz", "Jos\\u00e9", "77001") if text.encode() in left] == []
    assert course.totals == {
        **{"ann 4": f"{points(10) + 1:.2f}", "Bo Ode 2": f"{points(20) + 2:.2f}", "Cy 3": mark(20)},
        **{"di 5": mark(30), "Ella 6": "0.00"},
    }


def test_a_partner_is_named_who_loses_the_mark_of_a_hand_in(tmp_path: Path) -> None:
    files = {f"{name}_{n}_assignsubmission_file_/ai.py": agent(10 * n) for n, name in
        enumerate(("Ann Lee", "Bo Ode", "Di Fox"), 1)}  # fmt: skip
    course = Class(tmp_path, files)
    course.report("--feedback-zip", "out/z.zip", roster="name,id,group\nAnn Lee,1,7\nCy Ray,2,7\n")
    forget = ("forget", "Ann Lee", "--results", "marks.db", "--out", "out", "--yes")
    done = grader(*forget, cwd=tmp_path)
    assert "the mark of Cy Ray (2) (1 in all) is from this hand-in, and goes too" in done.stderr
    assert "left: out/z.zip still holds the name" in done.stdout


MOODLES = "Kim Lee_{0}_assignsubmission_file_/{1}"


def test_pages_of_namesakes_are_all_in_the_zip(tmp_path: Path) -> None:
    """Moodle takes them back by the participants' numbers."""
    pages = [MOODLES.format(n, "feedback.html") for n in (1, 2)]
    course = Class(tmp_path, {MOODLES.format(n, "ai.py"): agent(10 + n) for n in (1, 2)})
    course.report("--feedback-zip", "pages.zip")
    with zipfile.ZipFile(tmp_path / "pages.zip") as zipped:
        assert sorted(zipped.namelist()) == sorted(pages)
        for n, name in enumerate(pages):
            assert f"<b>{mark(11 + n)}</b>" in zipped.read(name).decode()


def test_a_mark_that_a_correction_may_change_stays_open(tmp_path: Path) -> None:
    """The gradebook knows who it is; the roster, where the correction stands, does not."""
    course = Class(tmp_path, {"sunnylee_5_9001_ai.py": agent(10), "bo_6_9002_ai.py": agent(20)})
    canvas = CANVAS + '"Lee, Ann",5,,al,S,\nBo,6,,bo,S,\n'
    course.report("--yes", roster="name,percent\nAnn Lee,-20\nBo,\n", canvas=canvas)
    assert course.totals == {"Ann Lee": "", "Bo 6": mark(20), "sunnylee 5": ""}
    assert [row["Connect-4 (55)"] for row in course.filled("canvas")[1:]] == ["", mark(20)]
    course.report("--yes", roster="name,percent\nAnn Lee,\nBo,\n", canvas=canvas)
    assert [row["Connect-4 (55)"] for row in course.filled("canvas")[1:]] == [mark(10), mark(20)]


def test_what_is_not_decided_names_nobody_to_the_students(tmp_path: Path) -> None:
    files = {f"Kim Lee_{n}_assignsubmission_file_/ai.py": agent(10 + n) for n in (1, 2)}
    course = Class(tmp_path, files)
    sheet = WORKSHEET.replace("\n", ",Feedback comments\n")
    sheet += "".join(f"Participant {n},Kim Lee,k{n}@x,,50,-,\n" for n in (1, 3, 4))
    done = course.report("--yes", roster="name,id\nKim Lee,7001\nKim Lee,7002\n", sheet=sheet)
    assert "to decide who is who, write the name of the file or its folder" in done.stderr
    texts = [path.read_text("utf-8") for path in (tmp_path / "out").glob("feedback/*")]
    texts += [path.read_text("utf-8") for path in (tmp_path / "out").glob("results/*")]
    texts += [row["Feedback comments"] for row in course.filled("worksheet")]
    assert any("not decided: it is not clear" in text for text in texts)
    assert not any(key in text for text in texts for key in ("7001", "7002", "the hand-in of"))


def test_a_renamed_student_keeps_the_place_and_nobody_stands_for_the_forgotten(
    tmp_path: Path,
) -> None:
    """Ann and Zoe have the same file, so only their names tell whose place it is."""
    course = Class(tmp_path, {"ann.py": agent(10), "zed.py": agent(10), "bo.py": agent(20)})
    entries = [([Person(name)], number) for number, name in ((9, "ann"), (7, "zed"), (4, "bo"))]
    points_of = [
        {"people": [one.to_json() for one in people], "sha256": f"{number}", "points": number}
        for people, number in [*entries, ([], 2)]
    ]
    with Store(tmp_path / "marks.db", writing=True) as store:
        store.set_meta({PLACEMENT: json.dumps({"file": "t.db", "points": points_of})})
    done = course.report(roster="name,hand_in\nann,\nZoe Lee,zed\nbo,\n")
    assert done.returncode == 0, done.stderr
    assert "earned points" not in done.stderr
    placed = {row["Name"]: row["Placement"] for row in rows(tmp_path / "out/grades.csv")}
    assert placed == {"ann": "9.00", "Zoe Lee": "7.00", "bo": "4.00"}


def test_a_correction_of_somebody_who_cannot_be_told_from_another_is_refused(
    tmp_path: Path,
) -> None:
    files = {f"471{n}-8 - Kim Lee - Jan 31, 2030 1159 PM/ai.py": agent(10 + n) for n in (1, 2)}
    course = Class(tmp_path, {"index.html": "", **files})
    correct = ("correct", "Kim Lee (4711)", "--results", "marks.db", "--adjust", "5")
    done = grader(*correct, "--reason", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "Kim Lee cannot be told from another student; a roster with numbers" in done.stderr
    course.report(roster="name,id,hand_in\nKim Lee,71,Kim Lee (4711)\nKim Lee,72,Kim Lee (4712)\n")
    done = grader(*correct, "--reason", "x", cwd=tmp_path)
    assert f"{mark(11)} -> {points(11) + 5:.2f} (" in done.stderr
    course.report()
    assert course.totals == {"Kim Lee 71": f"{points(11) + 5:.2f}", "Kim Lee 72": mark(12)}


def test_two_rosters_may_not_contradict_each_other(tmp_path: Path) -> None:
    course = Class(tmp_path, {"ann.py": agent(10), "bo.py": agent(20)})
    (tmp_path / "more.csv").write_text("name,adjust\nann,5\n", encoding="utf-8")
    done = course.report("--roster", "more.csv", roster="name,id,adjust\nann,1,2\nbo,2,\n")
    assert done.returncode == 2
    assert "more.csv: corrections of ann (1) differs from the roster before it" in done.stderr


@pytest.mark.parametrize(
    ("answer", "pairs"),
    [
        ("1=2 3=1", [(1, 2), (3, 1)]),
        (" 1 = 2,3=1 ", [(1, 2), (3, 1)]),
        *((text, None) for text in ("1=2 2=2", "1=1 1=2", "1=1 x", "1=1=2", "-1=1", "0=1")),
        *((text, None) for text in ("1=3", "4=1", "", "=", "y 1=1", "\u0661=1")),
    ],
)
def test_an_answer_names_each_person_once(answer: str, pairs: list[tuple[int, int]] | None) -> None:
    assert _pairs(answer, 3, 2) == pairs


def answered(folder: Path, answer: str, *words: str) -> tuple[int, str]:
    """Call the grader on a pseudo-terminal; return its exit status and what it printed."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(sys.executable, [sys.executable, "-m", COMMAND, *words], environment())
    os.write(terminal, answer.encode())
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how a terminal says that nobody writes to it any more
            part = b""
        if not part:
            break
        shown += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode()


@pytest.mark.slow
def test_an_answer_at_the_terminal_is_kept_and_used_by_the_next_run(tmp_path: Path) -> None:
    Class(tmp_path, {"batman.py": agent(10), "robin.py": agent(20), "bo.py": agent(30)})
    lines = CANVAS + "Bruce Wayne,1,,bw,S,\nDick Grayson,2,,dg,S,\nBo,3,,bo,S,\n"
    (tmp_path / "canvas.csv").write_text(lines, encoding="utf-8")
    report = ("report", "marks.db", "--out", "out", "--gradebook", "canvas.csv")
    written = tmp_path / "out/canvas.csv"
    for nonsense in ("1=2 2=2\n", "1=1 and so on\n", "\n", "1=1\n"):
        status, shown = answered(tmp_path, f"{nonsense}n\n", *report)
        assert (status, "canvas.csv: not filled" in shown) == (3, True)
        assert not written.exists()
        assert stored(tmp_path / "marks.db", "decision") == []
    assert answered(tmp_path, "1=2\n1=1\ny\n", *report)[0] == 0
    for _ in range(2):
        filled = {row["ID"]: row["Connect-4 (55)"] for row in rows(written)[1:]}
        assert filled == {"1": mark(20), "2": mark(10), "3": mark(30)}
        written.unlink()
        done = grader(*report, cwd=tmp_path)
        assert (done.returncode, "hand-ins of nobody" in done.stderr) == (0, False)
        assert ": batman is Dick Grayson (dg, Canvas ID 2); robin is Bruce" in done.stderr
    done = grader(*report, "--pairs", "none", cwd=tmp_path)
    assert (done.returncode, "hand-ins of nobody" in done.stderr) == (3, True)
