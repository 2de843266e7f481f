"""A class with a roster: late days, groups and corrections, and what a roster may look like."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.handin import Kind
from grader.handin.lists import read_roster as read
from grader.handin.roster import Change, Correction, Student
from grader.rubric import reading as rubrics
from tests.command import run
from tests.grading import hand_in, hand_in_each, rubric
from tests.marked import agent, grade_without_playing, grader, points, rows, write_class
from tests.test_gradebooks import BLACKBOARD, BRIGHTSPACE, CANVAS, PARTICIPANT, WORKSHEET

LATE = (
    '[late]\ndeadline = "2030-03-30 23:59"\nzone = "Europe/Berlin"\npercent_a_day = 2\n'
    "grace_days = 1\ncap_percent = 5\n"
)
"""One of the 50 points for each day after the first, 2.5 at most. Clocks change on the 31st."""

ROSTER = """\
Name;Section;Group;Extension (days);Adjust;Reason;Submitted;Tutor
Ann Lee;a;1;;;;30.03.2030 23:59;T
Ben Müller;a;1;;;;;T
Eve Kim;a;;;;;01.04.2030 23:59;T
Fay Zhu;a;;2;;;04.04.2030 00:00;T
Gil Ode;a;;;;;09.04.2030 08:30;T
Hal Roy;b;;2,5;;;02.04.2030 11:00;T
Ida Sol;b;;;-1,25;=a late report;29.03.2030 10:00;T
Lou Lee;b;;;;;;T
"""

BY_HAND = {
    **{"Ann Lee": ("0", 0, 10), "Ben Müller": ("0", 0, 10), "Eve Kim": ("2", 1, 20)},
    **{"Fay Zhu": ("3", 2, 30), "Gil Ode": ("10", 2.5, 40), "Hal Roy": ("0", 0, 50)},
    **{"Ida Sol": ("0", 0, 45)},
}
"""Days late, the points for them, and the margin of the hand-in."""


def test_late_days_groups_and_corrections_make_the_marks_made_by_hand(tmp_path: Path) -> None:
    files = {
        f"{name}.py": agent(margin)
        for name, (_, _, margin) in BY_HAND.items()
        if name != "Ben Müller"
    }
    write_class(tmp_path / "class", files)
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db", LATE)
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8-sig")
    words = ("report", "marks.db", "--roster", "roster.csv", "--out", "out")
    done = grader(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "roster.csv: columns that are not used: Tutor\n" in done.stderr
    assert "roster.csv: nothing was handed in, 0 points: Lou Lee\n" in done.stderr
    assert "not in it" not in done.stderr
    assert "no time known" not in done.stderr
    grades = {row["Name"]: row for row in rows(tmp_path / "out/grades.csv")}
    assert grades.pop("Lou Lee")["Total"] == "0.00"
    assert grades.keys() == BY_HAND.keys()
    for name, (days, deducted, margin) in BY_HAND.items():
        adjust = -1.25 if name == "Ida Sol" else 0
        row, total = grades[name], float(points(margin)) - deducted + adjust
        assert (row["Late Days"], row["Late Deduction"]) == (days, f"{deducted:.2f}"), name
        assert (row["Adjust"], row["Total"]) == (f"{adjust:.2f}", f"{total:.2f}"), name
    pages = tmp_path / "out" / "feedback"
    assert "10 days late, 2.50" in (pages / "Gil Ode.html").read_text(encoding="utf-8")
    assert "-1.25: =a" in (pages / "Ida Sol.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Vorname;Note\nAnn;1\n", "expected a roster with a column name, id or e-mail"),
        ("", "expected a roster with a column name, id or e-mail"),
        ("name;id\n;\n", "no student in this roster"),
        ("name;section\nAnn;1\n;2\n", "line 3: expected a name, an id or an e-mail address"),
        ("name;adjust\nAnn;1\nBen;two\n", "line 3: adjust 'two': expected a number"),
        ("name;adjust\nAnn;1,000\n", "line 2: adjust '1,000': expected a number"),
        ("name,percent\nAnn,nan\n", "line 2: percent 'nan': expected a number"),
        ("name,adjust,Adjust\nAnn,2,3\n", "expected one column for adjust, not 'adjust' and 'Adju"),
        ("name,id\nA\0nn,7\n", "cannot be read; save it as CSV in UTF-8"),
        ("name,mark\nAnn,-1\n", "line 2: mark -1: expected points from 0"),
        ("name;extension\nAnn;-1\n", "line 2: extension -1: expected days from 0"),
        ("name;extension\nAnn;4501234\n", "line 2: extension 4501234: expected days from 0 to 999"),
        ("[match]\nboards = [1, 2]\n", "expected a roster with a column name, id or e-mail"),
        ("name,section\nLee, Ann,1\n", "line 2: 3 cells, and the header has 2"),
        ("name;submitted\nAnn;2030-01-31\n", "line 2: expected a time such as 2030-01-31 23:59"),
        ("name;submitted\nAnn;1/2/2030 8:00\n", "line 2: expected a time such as"),
        ("name;submitted\nAnn;7. Foo 2030, 8:00\n", "line 2: expected a time such as"),
        ("name;submitted\nAnn;31. Februar 2030, 8:00\n", "line 2: expected a time such as"),
    ],
)
def test_what_a_roster_must_not_have_is_said_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("times", "read_as"),
    [
        (["31.01.2030 23:59", "2030-01-31 23:59:30"], "2030-01-31T23:59:00 2030-01-31T23:59:30"),
        (["Monday, 7 January 2030, 10:00 AM", "-"], "2030-01-07T10:00:00"),
        (["Monday, January 7, 2030, 10:00 PM"], "2030-01-07T22:00:00"),
        (["Montag, 7. Januar 2030, 10:00", "8. März 2030, 0:05"], "2030-01-07T10 2030-03-08T00:05"),
        (["lundi 4 février 2030, 10:00", "1 août 2030, 9:00"], "2030-02-04T10 2030-08-01T09"),
        (["lunes, 7 de enero de 2030, 22:30"], "2030-01-07T22:30"),
        (["martes, 1 de octubre de 2030, 02:30 p. m."], "2030-10-01T14:30"),
    ],
)
def test_times_are_read_in_several_languages(
    tmp_path: Path, times: list[str], read_as: str
) -> None:
    path = tmp_path / "roster.csv"
    lines = "".join(f"{number};{time}\n" for number, time in enumerate(times))
    path.write_text(f"id;submitted\n{lines}", encoding="utf-8")
    found = [one.submitted for one in read(path)[0] if one.submitted]
    assert len(found) == len(read_as.split())
    for one, begin in zip(found, read_as.split(), strict=True):
        assert one.startswith(begin)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("name,id\nAnn,00123\nBen,7\nAnn,00123\n", 4, "number '00123' as line 2"),
        ("name,e-mail\nAnn,a@x.edu\nBen,A@x.edu\n", 3, "e-mail address 'A@x.edu' as line 2"),
        ("name,login\nAnn,ann\n\nBen,ann\n", 4, "login 'ann' as line 2"),
        ('name,login\n"Ann\nLee",ann\nBen,ann\n', 4, "login 'ann' as line 2"),
        ("sep=;\nname;id;email\nAnn;a@x.org;\nBen;;a@x.org\n", 4, "'a@x.org' as line 3"),
        ("Name,Identifier\nAnn,Participant 7\nBen,Participant 7\n", 3, "participant '7' as"),
        ("name,SID\nAnn,7\nBen,7\n", 3, "SID '7' as line 2"),
    ],
)
def test_two_lines_with_one_key_are_refused_with_both_numbers(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    path = tmp_path / "dupmail.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: line {line}: the same ")
    assert what in str(caught.value)


def test_two_students_may_have_one_name_and_numbers_that_differ_in_zeros(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("name,id\nKim Lee,0123\nKim Lee,123\n", encoding="utf-8")
    assert [one.identity for one in read(path)[0]] == ["0123", "123"]


def test_the_columns_of_a_roster_are_all_read(tmp_path: Path) -> None:
    header = "Name;ID;Login;E-mail;Canvas ID;Participant;SID;Section;Group;Extension (days)"
    header += ";hand_in;Adjust;Percent;Mark;Reason;Tutor;Room"
    lines = (
        "Ann Lee;00123;alee;a@x.org;501;47;9;A;Team 1;2,5;x/ann.py;-1,25;-20 %;0;late report;T;\n"
    )
    lines += "Bo Roy;bo.roy;;;;;;;;;;0;;;no reason;T;1\n"
    path = tmp_path / "roster.csv"
    path.write_text(f"{header}\n{lines}", encoding="utf-8")
    (ann, bo), unused = read(path)
    known = ("00123", "alee", "a@x.org", "501", "47", "9")
    assert dict(ann.keys) == dict(zip(Kind, known, strict=True))
    assert (ann.section, ann.group, ann.extension, ann.hand_in) == ("A", "Team 1", 2.5, "x/ann.py")
    assert ann.corrections == tuple(
        Correction(kind, amount, "late report")
        for kind, amount in zip(Change, (-1.25, -20.0, 0.0), strict=True)
    )
    assert set(bo.keys) == {(Kind.NUMBER, "bo.roy"), (Kind.LOGIN, "bo.roy")}
    assert (bo.corrections, unused) == ((), ["Tutor", "Room"])


@pytest.mark.parametrize(
    "text",
    [
        "Last Name,First Name,ID number,Email address\nMüller,Anna,00123,a@x.edu\n",
        "Nachname;Vorname;Matrikelnummer;E-Mail\nMüller;Anna;00123;a@x.edu\n",
        "Name;Vorname;Matrikel-Nr.;E-Mail-Adresse\nMüller;Anna;00123;a@x.edu\n",
        "Nom;Prénom;Numéro d'étudiant;Courriel\nMüller;Anna;00123;a@x.edu\n",
        "Apellido(s)\tNombre\tNúmero de ID\tDirección de correo\nMüller\tAnna\t00123\ta@x.edu\n",
        "OrgDefinedId|Last Name|First Name|Email\n#00123|Müller|Anna|a@x.edu\n",
        'name,id,e-mail\n"Müller, Anna","=""00123""",a@x.edu\n',
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_names_numbers_and_addresses_are_found_in_four_languages(
    tmp_path: Path, text: str, end: str, encoding: str
) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.replace("\n", end).encode(encoding))
    ((anna,), unused) = read(path)
    assert anna.name in ("Anna Müller", "Müller, Anna")
    assert anna.keys == ((Kind.NUMBER, "00123"), (Kind.EMAIL, "a@x.edu"))
    assert unused == []


@pytest.mark.parametrize("language", WORKSHEET)
def test_a_worksheet_of_moodle_is_a_roster_in_four_languages(tmp_path: Path, language: str) -> None:
    time = {
        "en": "Monday, 7 January 2030, 10:00 AM",
        "de": "Montag, 7. Januar 2030, 10:00",
        "fr": "lundi 7 janvier 2030, 10:00",
        "es": "lunes, 7 de enero de 2030, 10:00",
    }[language]
    cells = f'{PARTICIPANT[language]},Ann Lee,ann@x.org,ok,12,"100,00",Yes,"{time}",-,\n'
    path = tmp_path / "roster.csv"
    path.write_text(f"{WORKSHEET[language]}\n{cells}", encoding="utf-8")
    ((ann,), unused) = read(path)
    assert set(ann.keys) == {(Kind.MOODLE, "47"), (Kind.EMAIL, "ann@x.org")}
    assert (ann.name, ann.submitted) == ("Ann Lee", "2030-01-07T10:00:00")
    assert (ann.corrections, len(unused)) == ((), 6)


def test_exports_of_canvas_brightspace_and_blackboard_are_rosters(tmp_path: Path) -> None:
    """The lines that Canvas adds are no students; its `ID` is not the university's number."""
    path = tmp_path / "roster.csv"
    path.write_text(CANVAS, encoding="utf-8")
    students, unused = read(path)
    assert [one.name for one in students] == ["Lee, Ann", "Müller, Ben", *["Smith, Sam"] * 2]
    expected = {(Kind.CANVAS, "501"), (Kind.NUMBER, "u501"), (Kind.LOGIN, "alee")}
    assert (set(students[0].keys), students[0].section) == (expected, "01")
    assert unused == ["Essay (11)", "Connect-4 (12)", "Final Score"]
    path.write_text(CANVAS.replace("alee", "alee@x.org"), encoding="utf-8")
    assert read(path)[0][0].email == "alee@x.org"
    path.write_text("Student,ID,Section\nAnn,501,1\n", encoding="utf-8")
    assert read(path)[0][0].keys == ((Kind.NUMBER, "501"),)  # Canvas always has a login
    path.write_text(BRIGHTSPACE, encoding="utf-8")
    expected = {(Kind.NUMBER, "00123"), (Kind.LOGIN, "amuller"), (Kind.EMAIL, "a@x.edu")}
    assert (read(path)[0][0].name, set(read(path)[0][0].keys)) == ("Anna Muller", expected)
    path.write_text(BLACKBOARD, encoding="utf-16")
    students, _ = read(path)
    assert set(students[0].keys) == {(Kind.NUMBER, "00123"), (Kind.EMAIL, "a@x.edu")}
    assert set(students[1].keys) == {(Kind.NUMBER, "00124"), (Kind.LOGIN, "bstrom")}


@pytest.mark.parametrize(
    ("lines", "submitted", "extension", "late"),
    [
        ("points_a_day = 4", "2030-03-30T22:59:59+00:00", 0, (0, 0)),
        ("points_a_day = 4", "2030-03-31T21:59:00+00:00", 0, (1, 4)),  # a day of 23 hours
        ("points_a_day = 4", "2030-04-01T00:00:00", 0, (2, 8)),
        ("points_a_day = 4", "2030-04-01T00:00:00", 1.5, (0, 0)),
        ("percent_a_day = 10\ncap_percent = 50", "2031-04-01T00:00:00", 0, (367, 37.5)),
        ("points_a_day = 4", "late", 0, (None, 0)),
    ],
)
def test_late_days_count_on_the_clocks_of_the_deadlines_zone(
    tmp_path: Path, lines: str, submitted: str, extension: float, late: tuple[int | None, float]
) -> None:
    from grader.marks import lateness

    path = tmp_path / "late.toml"
    zone = 'deadline = "2030-03-30 23:59"\nzone = "Europe/Berlin"'
    path.write_text(f"[late]\n{zone}\n{lines}\n", encoding="utf-8")
    student = Student("Ann", submitted=submitted, extension=extension)
    found = lateness([student], rubrics.read(path))
    assert (found.days, found.points) == late


def test_a_correction_of_one_member_is_not_shown_to_the_others() -> None:
    from grader.handin import Submission
    from grader.marks import Mark
    from grader.output.tables import remark

    team = Submission("team", "", problem="no file")
    entry = Correction(Change.ADJUST, -2.0, "copied", "2030-01-31")
    one, two = Student("Ann", corrections=(entry,)), Student("Ben")
    mark = Mark(team, students=(one, two))
    assert remark(mark) == remark(mark, two) == "no file"
    assert remark(mark, one) == "no file; corrected by -2: copied (2030-01-31)"
    assert "copied" in remark(replace(mark, students=(one, replace(one, name="Ben"))))


def test_late_days_take_no_more_than_there_is_and_the_remark_says_what() -> None:
    from grader.handin import Submission
    from grader.marks import Lateness, Mark
    from grader.output.tables import grades_csv

    mark = Mark(
        Submission("Ann", "", report=""),
        students=(Student("Ann"),),
        late=Lateness("2030-03-30 23:59", 1, 5.0),
    )
    for placement, taken in ((0.0, "0.00"), (3.0, "3.00"), (9.0, "5.00")):
        placed = replace(mark, placement=placement)
        (row,) = csv.DictReader(grades_csv([placed], more=True)[1:].splitlines())
        assert row["Late Deduction"] == taken
        assert row["Remark"] == f"1 day late, {taken} points less"


def test_a_roster_in_which_nobody_handed_in_is_refused(tmp_path: Path) -> None:
    hand_in_each(tmp_path / "class", "ann", "bo")
    (tmp_path / "roster.csv").write_text("name\nCy\n")
    refused = run("grader", "grade", "class", "--roster", "roster.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "roster.csv: nobody here (ann; ...) is one of its 1 students (Cy; ...)" in refused.stderr


def test_a_dry_run_reads_the_roster_and_a_shorter_one_says_what_goes(tmp_path: Path) -> None:
    own = rubric(tmp_path)
    own.write_text(f"{own.read_text(encoding='utf-8')}[late]\ndeadline = 2030-01-31T23:59:00\n")
    for name in ("ann", "bo"):
        hand_in(tmp_path / "class", name, "x = 1\n")
    (tmp_path / "all.csv").write_text("name,adjust,extension\nann,,\nbo,,\ncy,-2,\ndi,,1\n")
    (tmp_path / "one.csv").write_text("name\nann\nbo\n")
    grade = ("grade", "class", "--rubric", own, "--isolation", "process", "--roster")
    refused = run("grader", *grade, "rubric.toml", "--dry-run", cwd=tmp_path)
    assert (refused.returncode, "expected a roster with a column" in refused.stderr) == (2, True)
    for more in (["--dry-run"], []):
        done = run("grader", *grade, "all.csv", *more, cwd=tmp_path)
        assert "all.csv: nothing was handed in, 0 points: cy; di\n" in done.stderr
        assert "percent_a_day are missing or 0, so nothing is deducted\n" in done.stderr
    done = run("grader", "report", "grade.db", "--roster", "one.csv", cwd=tmp_path)
    gone = "no longer in it: cy; di (2 in all)"
    assert f"one.csv replaces the stored roster; {gone}\n" in done.stderr
