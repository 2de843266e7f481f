"""Marks in the gradebooks of course systems: the teacher's export comes back, filled."""

import csv
import io
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from connect4.errors import InputError
from grader.handin import REMEDY, Matching, Person, keys
from grader.output.gradebooks import (
    SYSTEMS,
    Filling,
    grade_column,
    read_gradebook,
)
from tests.command import assert_refused
from tests.marked import agent, grade_without_playing, grader, write_class

CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Essay (11),Connect-4 (12),Final Score
    Points Possible,,,,,10,75,(read only)
"Lee, Ann",501,u501,alee,01,9,,80
"Müller, Ben",502,u502,bmueller,01,8,3,70
"Smith, Sam",503,u503,ssmith,01,7,,60
"Smith, Sam",504,u504,ssmith2,02,7,,60
"Student, Test",505,,x,01,,,
"""
COLUMN = "Connect-4 (12)"
BRIGHTSPACE = """OrgDefinedId,Username,Last Name,First Name,Email,\
Quiz Points Grade <Numeric MaxPoints:10 Weight:5>,\
Connect-4 Points Grade <Numeric MaxPoints:100 Weight:10>,End-of-Line Indicator
#00123,#amuller,Muller,Anna,a@x.edu,7,,#
#00124,#bstrom,Strom,Bjorn,b@x.edu,8,12,#
"""
BLACKBOARD = """"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t\
"Connect-4 [Total Pts: 100 Score] |456"\t"Connect-4 sum [Total Pts: up to 110 Score] |9"
"Muller"\t"Anna"\t"a@x.edu"\t"00123"\t""\t""\t"0"
"Strom"\t"Bjorn"\t"bstrom"\t"00124"\t""\t"12"\t"0"
"""
MOODLE = {
    "en": "First name,Last name,ID number,Email address,Assignment: Connect-4 (Real),Course total",
    "de": "Vorname,Nachname,ID-Nummer,E-Mail-Adresse,Aufgabe: Connect-4 (Punkte),Kurs gesamt",
    "fr": "Prénom,Nom de famille,Numéro d'identification,Adresse de courriel,"
    "Devoir : Connect-4 (Brut),Total du cours",
    "es": "Nombre,Apellido(s),Número de ID,Dirección de correo,Tarea: Connect-4 (Real),"
    "Total del curso",
}
"""The headers of Moodle's grades; columns for the marks are before the last one."""

WORKSHEET = {
    "en": "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments",
    "de": "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Bewertung kann "
    "geändert werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar",
    "fr": "Identifiant,Nom complet,Adresse de courriel,Statut,Note,Note maximale,La note peut être "
    "modifiée,Dernière modification (travail remis),Dernière modification (note),"
    "Feedback par commentaires",
    "es": "Identificador,Nombre completo,Dirección de correo,Estado,Calificación,Calificación "
    "máxima,La calificación puede ser cambiada,Última modificación (entrega),Última modificación "
    "(calificación),Comentarios de retroalimentación",
}
PARTICIPANT = {
    "en": "Participant 47",
    "de": "Teilnehmer/in47",
    "fr": "Participant(e)47",
    "es": "Participante 47",
}


def export(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "export.csv"
    path.write_bytes(text.encode(encoding))
    return path


Graded: TypeAlias = tuple[Person, tuple[float | None, str]]


class Done(NamedTuple):
    """A filled gradebook: its file, what is said of it, and who is who."""

    name: str
    content: bytes
    notices: list[str]
    told: dict[str, list[str]]
    matching: Matching

    @property
    def text(self) -> str:
        """Return the file's text."""
        return self.content.decode("utf-16" if self.content.startswith(b"\xff\xfe") else "utf-8")


def of(name: str, points: float | None = 40.0, remark: str = "", **known: str) -> Graded:
    return Person(name, keys(**known)), (points, remark)


def filled(
    tmp_path: Path,
    text: str,
    *graded: Graded,
    encoding: str = "utf-8",
    column: str | None = None,
    maximum: float | None = None,
    decided: Iterable[tuple[int, int]] = (),
) -> Done:
    """Return an export with marks out of 50."""
    book = read_gradebook(export(tmp_path, text, encoding))
    people, marks = zip(*graded, strict=True)
    filling = Filling(book, people, marks, 50.0, column, maximum, list(decided))
    return Done(*filling.fill(), filling.matching)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def ids(done: Done) -> list[str]:
    return [row["ID"] for row in rows(done.text)[1:]]


def test_canvas_gets_its_own_columns_and_the_assignment(tmp_path: Path) -> None:
    """As its import requires: Student, ID, SIS User ID, SIS Login ID, Section, one assignment."""
    done = filled(tmp_path, CANVAS, of("Ann Lee"), of("Ben M.", None, login="bmueller"))
    assert done.text.split("\r\n") == [
        f"Student,ID,SIS User ID,SIS Login ID,Section,{COLUMN}",
        "    Points Possible,,,,,75",
        '"Lee, Ann",501,u501,alee,01,60.00',
        '"Müller, Ben",502,u502,bmueller,01,3',
        "",
    ]
    assert done.name == "canvas.csv"
    same = [f"Smith, Sam (u50{n}, ssmith{s}, Canvas ID 50{n})" for n, s in ((3, ""), (4, "2"))]
    lists = {"unknown": [], "unmarked": same, "incomplete": ["Ben M. (bmueller)"], "capped": []}
    assert (done.notices, done.told) == ([], lists)


def test_canvas_may_write_both_halves_of_a_name(tmp_path: Path) -> None:
    text = "LastName,FirstName,ID,SIS Login ID,Section,Connect-4 (12)\n"
    text += "    Points Possible,,,,,100\nLee,Ann,501,alee,01,\nStudent,Test,502,x,01,\n"
    done = filled(tmp_path, text, of("Ann Lee"))
    assert done.text.splitlines()[1:] == [
        "    Points Possible,,,,,100",
        "Lee,Ann,501,alee,01,80.00",
    ]
    few = export(tmp_path, "Student,ID,Section\nAnn Lee,501,01\n")
    assert read_gradebook(few).people == [Person("Ann Lee", keys(canvas="501"))]


def test_of_two_students_with_one_name_none_gets_the_mark(tmp_path: Path) -> None:
    """Until a key or the teacher says whose it is; nothing is guessed from what is left."""
    graded = [of(name) for name in ("Sam Smith", "Zoe Who", "Ann Lee")]
    done = filled(tmp_path, CANVAS, *graded)
    assert ids(done) == ["501"]
    assert [(one.here, one.there) for one in done.matching.undecided] == [((0,), (2, 3))]
    assert ids(filled(tmp_path, CANVAS, *graded, decided=[(0, 3)])) == ["501", "504"]
    with pytest.raises(InputError, match=rf"nobody here \(Sam Smith; .*; {REMEDY}"):
        filled(tmp_path, CANVAS, of("Sam Smith"))


def test_a_column_is_chosen_by_its_title_or_its_name(tmp_path: Path) -> None:
    several = CANVAS.replace("Essay (11)", "Connect-4 draft (11)")
    listed = r"'Connect-4 draft \(11\)', 'Connect-4 \(12\)'"
    what = f"several columns 'Connect-4'; --gradebook-column names one of {listed}"
    with pytest.raises(InputError, match=what):
        filled(tmp_path, several, of("Ann Lee"))
    chosen = filled(tmp_path, several, of("Ann Lee"), column=COLUMN)
    assert COLUMN in rows(chosen.text)[0]
    renamed = CANVAS.replace(COLUMN, "Homework 3 (4711)")
    book = read_gradebook(export(tmp_path, renamed))
    assert grade_column(book, "homework 3") == "Homework 3 (4711)"
    for column in (None, "Homework", "ID"):
        shown = rf"no column '{column or 'Connect-4'}'; .* 'Essay \(11\)', 'Homework 3 \(4711\)'"
        with pytest.raises(InputError, match=shown):
            grade_column(book, column)
    without_number = CANVAS.replace(COLUMN, "Connect-4")
    assert grade_column(read_gradebook(export(tmp_path, without_number)), None) == "Connect-4"


@pytest.mark.parametrize(
    ("text", "column", "title", "cells"),
    [
        (CANVAS.replace(" (11)", "").replace(COLUMN, "Quiz"), None, "Connect-4", "50 40.00"),
        ("OrgDefinedId,End-of-Line Indicator\n#u501,#\n", None, "Connect-4 Points Grade", "40.00"),
        ("OrgDefinedId\n#u501\n", "Agent", "Agent Points Grade", "40.00"),
        ("ID number,Email address\nu501,a@x.org\n", "Homework", "Homework", "40.00"),
        ('Username,Student ID,Last Access\nx,u501,""\n', None, "Connect-4", "40.00"),
    ],
)
def test_an_export_without_an_assignment_gets_a_new_column(
    tmp_path: Path, text: str, column: str | None, title: str, cells: str
) -> None:
    done = filled(tmp_path, text, of("somebody", number="u501"), column=column)
    assert f"has no column {title!r}: the marks are in a new one" in done.notices[0]
    assert [row[title] for row in rows(done.text)] == cells.split()
    last = rows(done.text)[0].keys()
    assert list(last)[-1] == ("End-of-Line Indicator" if "Org" in text else title)
    assert (len(done.notices) == 1) == ("Points Possible" in text)


@pytest.mark.parametrize("language", MOODLE)
def test_moodles_grades_by_number_and_by_address(tmp_path: Path, language: str) -> None:
    header = MOODLE[language]
    text = f"{header}\nAnn,Lee,u501,Ann@example.org,-,-\nBen,Müller,u502,ben@example.org,-,-\n"
    graded = (of("x", number="U501"), of("y", 41.5, email="BEN@example.org"))
    done = filled(tmp_path, text, *graded, maximum=100.0)
    assert done.text.splitlines() == [
        header.rpartition(",")[0],
        "Ann,Lee,u501,Ann@example.org,80.00",
        "Ben,Müller,u502,ben@example.org,83.00",
    ]
    assert (done.name, done.notices) == ("moodle.csv", [])
    (told,) = filled(tmp_path, text, *graded).notices
    assert told == "states no maximum: marks are out of 50; --gradebook-maximum scales them"
    whole = header.split(",")[-2].rpartition(" (")[0]
    assert filled(tmp_path, text, *graded, column=whole).text.startswith(header[:60])
    by_name = filled(tmp_path, text, of("Lee, Ann"), of("ben_mueller"))
    assert by_name.matching.pairs == {0: 0, 1: 1}
    with pytest.raises(InputError, match="no column 'Quiz'; --gradebook-column names one of"):
        filled(tmp_path, text, *graded, column="Quiz")


@pytest.mark.parametrize("language", WORKSHEET)
def test_moodles_worksheet_by_participant_and_scaled_to_its_maximum(
    tmp_path: Path, language: str
) -> None:
    """The whole sheet comes back; only the grade and the remark of a student are new."""
    header, cells = WORKSHEET[language], '"1.000,00",Yes,"-","Monday, 7 January 2030, 10:00"'
    lines = [
        f"{PARTICIPANT[language]},Ann Lee,ann@x.org,ok,,{cells},",
        f'{PARTICIPANT[language][:-2]}48,Ben Müller,ben@x.org,=ok,7,{cells},"well\r\ndone"',
        f"{PARTICIPANT[language][:-2]}49,Cy Ode,cy@x.org,ok,3,{cells},",
    ]
    graded = (of("A. Lee", 30.0, "@SUM(A1)", moodle="47"), of("Cy Ode", None, "one\n=two; -3"))
    done = filled(tmp_path, "\n".join([header, *lines]), *graded)
    grade, _, _, _, _, remark = header.split(",")[4:]
    one, two, three = rows(done.text)
    assert (one[grade], one[remark]) == ("600.00", "'@SUM(A1)")
    assert (three[grade], three[remark]) == ("3", "one\n'=two; '-3")
    old = rows("\n".join([header, *lines]))
    assert two == old[1]
    unchanged = [title for title in header.split(",") if title not in (grade, remark)]
    for new, before in ((one, old[0]), (three, old[2])):
        assert [new[title] for title in unchanged] == [before[title] for title in unchanged]
    absent = ["Ben Müller (participant 48, ben@x.org)"]
    assert (done.name, done.told["unmarked"]) == ("worksheet.csv", absent)
    apart = unicodedata.normalize("NFD", header)  # letters and accents, as some systems write them
    assert read_gradebook(export(tmp_path, f"{apart}\n")).system.file == "worksheet"


def test_brightspace_gets_the_keys_the_item_and_the_end_of_line(tmp_path: Path) -> None:
    """`#` is no part of a key and stays; more than the item's points is cut by Brightspace."""
    graded = (of("x", 25.0, number="00123"), of("y", 60.0, login="bstrom"))
    done = filled(tmp_path, BRIGHTSPACE, *graded)
    column = "Connect-4 Points Grade <Numeric MaxPoints:100 Weight:10>"
    assert done.text.splitlines() == [
        f"OrgDefinedId,Username,{column},End-of-Line Indicator",
        "#00123,#amuller,50.00,#",
        "#00124,#bstrom,120.00,#",
    ]
    assert (done.name, done.told["capped"]) == ("brightspace.csv", ["y (bstrom)"])
    only = "Username,Quiz Points Grade\nbstrom,\n"
    assert filled(tmp_path, only, of("bstrom", login="bstrom"), column="quiz").text == (
        "Username,Quiz Points Grade,End-of-Line Indicator\r\nbstrom,40.00,#\r\n"
    )


@pytest.mark.parametrize(
    ("tabs", "encoding", "name"),
    [(True, "utf-16", "blackboard.xls"), (False, "utf-8-sig", "blackboard.csv")],
)
def test_blackboard_gets_its_file_as_it_came(
    tmp_path: Path, tabs: bool, encoding: str, name: str
) -> None:
    """The number after the bar in the title must stay; a computed column is not the assignment."""
    text = BLACKBOARD if tabs else BLACKBOARD.replace("\t", ",")
    graded = (of("x", email="a@x.edu"), of("Strom, Bjorn", None))
    done = filled(tmp_path, text, *graded, encoding=encoding)
    assert done.name == name
    assert done.content.startswith("\ufeff".encode("utf-16")[:2]) == tabs
    lines = [line.split("\t" if tabs else ",") for line in done.text.splitlines()]
    kept = [line[:4] for line in csv.reader(text.splitlines(), delimiter="\t" if tabs else ",")]
    marks = ("Connect-4 [Total Pts: 100 Score] |456", "80.00", "12")
    assert lines == [
        [f'"{cell}"' for cell in (*cells, mark)] for cells, mark in zip(kept, marks, strict=True)
    ]


@pytest.mark.parametrize(
    ("possible", "separator", "maximum", "mark", "of_all"),
    [
        ("75", ",", None, "60.00", "75"),
        ("20,00", ",", 100.0, "16.00", "20"),
        ("12.5", ",", None, "10.00", "12.5"),
        ("1,000.00", ",", None, "800.00", "1000"),
        ("1.000", ";", None, "800.00", "1000"),
        ("1 000,5", ";", None, "800.40", "1000.5"),
        ("", ",", 150.0, "120.00", "150"),
        ("0", ",", None, "40.00", "50"),
        ("(lecture seule)", ",", None, "40.00", "50"),
    ],
)
def test_marks_are_scaled_to_the_points_possible(
    tmp_path: Path, possible: str, separator: str, maximum: float | None, mark: str, of_all: str
) -> None:
    """40 of 50 points; the line that states the maximum comes back in a form that is clear."""
    out = io.StringIO()
    cells = list(csv.reader(CANVAS.removeprefix("\ufeff").splitlines()))
    cells[1][6] = possible
    csv.writer(out, delimiter=separator).writerows(cells)
    done = filled(tmp_path, out.getvalue(), of("Ann Lee"), maximum=maximum)
    assert [row[COLUMN] for row in rows(done.text)] == [of_all, mark]
    assert not done.notices


WORKSHEET_OF_ONE = f'{WORKSHEET["en"]}\nParticipant 47,Ann Lee,a@x.org,,,"MAX",Yes,-,-,\n'


@pytest.mark.parametrize(
    ("text", "maximum", "where"),
    [
        (CANVAS.replace(",10,75,", ',10,"MAX",'), "a lot", "line 2"),
        (CANVAS.replace(",10,75,", ',10,"MAX",'), "-5", "line 2"),
        (CANVAS.replace(",10,75,", ',10,"MAX",').replace(",8,3,", ',8,"2,5",'), "1,000", "line 2"),
        (CANVAS.replace(",10,75,", ",10,MAX,").replace(",", ";"), "1,000", "line 2"),
        (WORKSHEET_OF_ONE, "hundred", "line 2"),
        (BRIGHTSPACE.replace("MaxPoints:100", "MaxPoints:MAX"), "1..0", "'Connect-4 Points Grade"),
        (BLACKBOARD.replace("100", "MAX"), "1,000", "'Connect-4 [Total Pts: 1,000 Score] |456'"),
    ],
)
def test_a_maximum_that_is_not_clear_is_refused_with_its_cell(
    tmp_path: Path, text: str, maximum: str, where: str
) -> None:
    """`1,000` may be a thousand or one: where neither column nor separator tells, it is nothing."""
    with pytest.raises(InputError) as caught:
        filled(tmp_path, text.replace("MAX", maximum), of("Ann Lee"), of("Muller, Anna"))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'export.csv'}: {where}")
    assert message.endswith(f": maximum {maximum!r}: expected a number, such as 100 or 1000")


@pytest.mark.parametrize(
    ("name", "cell"),
    [("=SUM(1)", "=SUM(1)"), ("=SUM(1)", '="=SUM(1)"'), ("-Ann @Lee", "-Ann @Lee")],
)
def test_a_name_that_begins_like_a_formula_stays_as_it_was(
    tmp_path: Path, name: str, cell: str
) -> None:
    """The import must find it; Canvas itself writes such a name as `="=SUM(1)"`."""
    quoted = cell.replace('"', '""')
    text = CANVAS.replace("Lee, Ann", quoted).replace("alee", "+alee")
    line = rows(filled(tmp_path, text, of(name)).text)[1]
    assert (line["Student"], line["SIS Login ID"], line[COLUMN]) == (cell, "+alee", "60.00")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "sep=;", "sep=|"])
def test_an_export_that_a_spreadsheet_saved_is_read(
    tmp_path: Path, encoding: str, end: str, separator: str
) -> None:
    """Also with separators in a quoted title, which are more than those of columns."""
    out = io.StringIO()
    cells = list(csv.reader(CANVAS.removeprefix("\ufeff").splitlines()))
    cells[0][5] = "Essay: a, b, c, d, e, f, g; h; i | j | k (11)"
    first = f"{separator}{end}" if "sep=" in separator else ""
    csv.writer(out, delimiter=separator[-1], lineterminator=end).writerows(cells)
    done = filled(tmp_path, first + out.getvalue(), of("Müller, Ben"), encoding=encoding)
    assert rows(done.text)[1]["Student"] == "Müller, Ben"
    assert rows(done.text)[1][COLUMN] == "60.00"


@pytest.mark.parametrize(
    "header",
    [
        "name,points",
        "name,id,email",
        "Student,ID,SIS Login ID",
    ],
)
def test_a_header_of_no_known_system_is_refused_with_those_that_are(
    tmp_path: Path, header: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_gradebook(export(tmp_path, f"{header}\n"))
    message = str(caught.value)
    assert ": expected Canvas's gradebook (Student, ID, Section), Moodle's grading" in message
    assert message.endswith(f"; there are {header.replace(',', ', ')}")
    assert all(system.name in message for system in SYSTEMS)


def test_a_report_fills_every_gradebook_and_says_what_is_to_be_known(tmp_path: Path) -> None:
    write_class(tmp_path / "class", {"alee.py": agent(20)})
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    words = ("report", "marks.db", "--out", "out", "--gradebook")
    early = ("grade", "class", "--rubric", "rubric.toml", "--out", "out", "--gradebook", "no.csv")
    assert_refused(grader(*early, cwd=tmp_path), "no.csv: cannot be read")
    text = f"Student,ID,SIS Login ID,Section,{COLUMN}\n    Points Possible,,,,100\n"
    others = "".join(f'"Lee, Ann {n}",{n}01,s{n},1,\n' for n in range(11))
    export(tmp_path, f"{text}Ann Lee,501,alee,1,\n{others}")
    done = grader(*words, "export.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = "students there without a mark here: 11 names, listed in out/unmatched.csv"
    assert f"export.csv: {told}\n" in done.stderr
    unmarked = rows((tmp_path / "out/unmatched.csv").read_text(encoding="utf-8-sig"))
    assert [row["Hand-in of"] for row in unmarked] == [
        f"Lee, Ann {n} (s{n}, Canvas ID {n}01)" for n in range(11)
    ]
    assert {row["Why"] for row in unmarked} == {"students there without a mark here"}
    assert rows((tmp_path / "out/canvas.csv").read_text(encoding="utf-8"))[1][COLUMN] == "52.00"
    (tmp_path / "moodle.csv").write_text("Username,Email address,Connect-4\nalee,a@x.org,-\n")
    done = grader(*words, "moodle.csv", cwd=tmp_path)
    assert "moodle.csv: states no maximum: marks are out of 50; --gradebook-max" in done.stderr
    assert "out/canvas.csv" not in done.stderr, "it has the same marks"
