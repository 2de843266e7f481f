"""Marks in the gradebooks of course systems: the teacher's export comes back, filled."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.handin import REMEDY, Kind, Person, keys
from grader.output.gradebooks import (
    SYSTEMS,
    Filled,
    Graded,
    fill,
    grade_column,
    matched,
    maxima,
    read_gradebook,
)
from tests.command import assert_refused, run
from tests.grading import all_records, hand_in, rubric, searcher

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


def of(name: str, points: float | None = 40.0, remark: str = "", **known: str) -> Graded:
    return Graded(Person(name, keys(**known)), points, remark)


def filled(
    tmp_path: Path,
    text: str,
    *graded: Graded,
    encoding: str = "utf-8",
    column: str | None = None,
    maximum: float | None = None,
    decided: Iterable[tuple[int, int]] = (),
) -> Filled:
    """Return an export with marks out of 50."""
    book = read_gradebook(export(tmp_path, text, encoding))
    return fill(book, graded, 50.0, column, maximum, decided)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def text_of(done: Filled) -> str:
    return done.content.decode("utf-16" if done.content.startswith(b"\xff\xfe") else "utf-8")


def ids(done: Filled) -> list[str]:
    return [row["ID"] for row in rows(text_of(done))[1:]]


def test_canvas_gets_its_own_columns_and_the_assignment(tmp_path: Path) -> None:
    """As its import requires: Student, ID, SIS User ID, SIS Login ID, Section, one assignment."""
    done = filled(tmp_path, CANVAS, of("Ann Lee"), of("Ben M.", None, login="bmueller"))
    assert text_of(done).split("\r\n") == [
        f"Student,ID,SIS User ID,SIS Login ID,Section,{COLUMN}",
        "    Points Possible,,,,,75",
        '"Lee, Ann",501,u501,alee,01,60.00',
        '"Müller, Ben",502,u502,bmueller,01,3',
        "",
    ]
    assert done.name == "canvas.csv"
    assert [one.name for one in done.without] == ["Smith, Sam", "Smith, Sam"]
    assert [one.name for one in done.withheld] == ["Ben M."]
    assert (done.unscaled, done.new_column, done.capped) == (False, "", [])


def test_canvas_may_write_both_halves_of_a_name(tmp_path: Path) -> None:
    text = "LastName,FirstName,ID,SIS Login ID,Section,Connect-4 (12)\n"
    text += "    Points Possible,,,,,100\nLee,Ann,501,alee,01,\nStudent,Test,502,x,01,\n"
    done = filled(tmp_path, text, of("Ann Lee"))
    assert text_of(done).splitlines()[1:] == [
        "    Points Possible,,,,,100",
        "Lee,Ann,501,alee,01,80.00",
    ]
    assert len(done.there) == 1
    few = export(tmp_path, "Student,ID,Section\nAnn Lee,501,01\n")
    assert read_gradebook(few).people == [Person("Ann Lee", keys(canvas="501"))]


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("Ann Lee", {}, "501"),
        ("Lee, Ann", {}, "501"),
        ("leeann", {}, "501"),
        ("x", {"number": "U502"}, "502"),
        ("x", {"login": "ssmith2"}, "504"),
        ("x", {"canvas": "503"}, "503"),
        ("Sam Smith", {"canvas": "504"}, "504"),
        ("x", {"number": "503"}, None),  # the number of Canvas, not of the university
        ("x", {"moodle": "503"}, None),
        ("ssmith", {}, None),  # a name is no login
        ("ann", {}, None),
        ("Sam Smith", {}, None),
    ],
)
def test_how_students_are_found(
    tmp_path: Path, name: str, known: dict[str, str], found: str | None
) -> None:
    if found is None:
        with pytest.raises(InputError, match=rf"nobody here \({name}; ...\) is one of its 4 stud"):
            filled(tmp_path, CANVAS, of(name, **known))
        return
    assert ids(filled(tmp_path, CANVAS, of(name, **known))) == [found]


def test_of_two_students_with_one_name_none_gets_the_mark(tmp_path: Path) -> None:
    """Until a key or the teacher says whose it is; nothing is guessed from what is left."""
    graded = [of(name) for name in ("Sam Smith", "Zoe Who", "Ann Lee")]
    done = filled(tmp_path, CANVAS, *graded)
    assert ids(done) == ["501"]
    assert [(one.here, one.there) for one in done.matching.undecided] == [((0,), (2, 3))]
    assert done.matching == matched(read_gradebook(tmp_path / "export.csv"), graded)
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
    assert COLUMN in rows(text_of(chosen))[0]
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
    assert done.new_column == title
    assert [row[title] for row in rows(text_of(done))] == cells.split()
    last = rows(text_of(done))[0].keys()
    assert list(last)[-1] == ("End-of-Line Indicator" if "Org" in text else title)
    assert done.unscaled == ("Points Possible" not in text)


@pytest.mark.parametrize("language", MOODLE)
def test_moodles_grades_by_number_and_by_address(tmp_path: Path, language: str) -> None:
    header = MOODLE[language]
    text = f"{header}\nAnn,Lee,u501,Ann@example.org,-,-\nBen,Müller,u502,ben@example.org,-,-\n"
    graded = (of("x", number="U501"), of("y", 41.5, email="BEN@example.org"))
    done = filled(tmp_path, text, *graded, maximum=100.0)
    assert text_of(done).splitlines() == [
        header.rpartition(",")[0],
        "Ann,Lee,u501,Ann@example.org,80.00",
        "Ben,Müller,u502,ben@example.org,83.00",
    ]
    assert (done.name, done.unscaled, done.new_column) == ("moodle.csv", False, "")
    assert filled(tmp_path, text, *graded).unscaled
    whole = header.split(",")[-2].rpartition(" (")[0]
    assert text_of(filled(tmp_path, text, *graded, column=whole)).startswith(header[:60])
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
    one, two, three = rows(text_of(done))
    assert (one[grade], one[remark]) == ("600.00", "'@SUM(A1)")
    assert (three[grade], three[remark]) == ("3", "one\n'=two; '-3")
    old = rows("\n".join([header, *lines]))
    assert two == old[1]
    unchanged = [title for title in header.split(",") if title not in (grade, remark)]
    for new, before in ((one, old[0]), (three, old[2])):
        assert [new[title] for title in unchanged] == [before[title] for title in unchanged]
    assert (done.name, [one.name for one in done.without]) == ("worksheet.csv", ["Ben Müller"])
    apart = unicodedata.normalize("NFD", header)  # letters and accents, as some systems write them
    assert read_gradebook(export(tmp_path, f"{apart}\n")).system.file == "worksheet"


def test_brightspace_gets_the_keys_the_item_and_the_end_of_line(tmp_path: Path) -> None:
    """`#` is no part of a key and stays; more than the item's points is cut by Brightspace."""
    graded = (of("x", 25.0, number="00123"), of("y", 60.0, login="bstrom"))
    done = filled(tmp_path, BRIGHTSPACE, *graded)
    column = "Connect-4 Points Grade <Numeric MaxPoints:100 Weight:10>"
    assert text_of(done).splitlines() == [
        f"OrgDefinedId,Username,{column},End-of-Line Indicator",
        "#00123,#amuller,50.00,#",
        "#00124,#bstrom,120.00,#",
    ]
    assert (done.name, [one.name for one in done.capped]) == ("brightspace.csv", ["y"])
    only = "Username,Quiz Points Grade\nbstrom,\n"
    assert text_of(filled(tmp_path, only, of("bstrom", login="bstrom"), column="quiz")) == (
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
    lines = [line.split("\t" if tabs else ",") for line in text_of(done).splitlines()]
    kept = [line[:4] for line in csv.reader(text.splitlines(), delimiter="\t" if tabs else ",")]
    marks = ("Connect-4 [Total Pts: 100 Score] |456", "80.00", "12")
    assert lines == [
        [f'"{cell}"' for cell in (*cells, mark)] for cells, mark in zip(kept, marks, strict=True)
    ]


@pytest.mark.parametrize(
    ("possible", "separator", "maximum", "mark", "of_all"),
    [
        ("75", ",", None, "60.00", "75"),
        ("100.00", ",", None, "80.00", "100"),
        ("20,00", ",", 100.0, "16.00", "20"),
        ("12.5", ",", None, "10.00", "12.5"),
        ("1,000.00", ",", None, "800.00", "1000"),
        ("1,000", ",", None, "800.00", "1000"),
        ("1.000,00", ",", None, "800.00", "1000"),
        ("1.000,00", ";", None, "800.00", "1000"),
        ("1.000", ";", None, "800.00", "1000"),
        ("1 000,5", ";", None, "800.40", "1000.5"),
        ("1,000,000", ";", None, "800000.00", "1000000"),
        ("", ",", 150.0, "120.00", "150"),
        ("0", ",", None, "40.00", "50"),
        ("(read only)", ",", None, "40.00", "50"),
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
    assert [row[COLUMN] for row in rows(text_of(done))] == [of_all, mark]
    assert not done.unscaled


WORKSHEET_OF_ONE = f'{WORKSHEET["en"]}\nParticipant 47,Ann Lee,a@x.org,,,"MAX",Yes,-,-,\n'


@pytest.mark.parametrize(
    ("text", "maximum", "where"),
    [
        (CANVAS.replace(",10,75,", ',10,"MAX",'), "a lot", "line 2"),
        (CANVAS.replace(",10,75,", ',10,"MAX",'), "10,00,0", "line 2"),
        (CANVAS.replace(",10,75,", ',10,"MAX",'), "-5", "line 2"),
        (CANVAS.replace(",10,75,", ',10,"MAX",').replace(",8,3,", ',8,"2,5",'), "1,000", "line 2"),
        (CANVAS.replace(",10,75,", ",10,MAX,").replace(",", ";"), "1,000", "line 2"),
        (WORKSHEET_OF_ONE, "hundred", "line 2"),
        (WORKSHEET_OF_ONE.replace(",", "\t"), "1,000", "line 2"),
        (BRIGHTSPACE.replace("MaxPoints:100", "MaxPoints:MAX"), "1..0", "'Connect-4 Points Grade"),
        (BLACKBOARD.replace("100", "MAX"), "1,000", "'Connect-4 [Total Pts: 1,000 Score] |456'"),
    ],
)
def test_a_maximum_that_is_not_clear_is_refused_with_its_cell(
    tmp_path: Path, text: str, maximum: str, where: str
) -> None:
    """`1,000` may be a thousand or one: where neither column nor separator tells, it is nothing."""
    graded = (of("Ann Lee"), of("Muller, Anna"))
    path = export(tmp_path, text.replace("MAX", maximum))
    with pytest.raises(InputError) as caught:
        fill(read_gradebook(path), graded, 50.0, None, None)
    message = str(caught.value)
    assert message.startswith(f"{path}: {where}")
    assert message.endswith(f": maximum {maximum!r}: expected a number, such as 100 or 1000")


def test_what_an_export_states_can_be_tested_before_there_are_marks(tmp_path: Path) -> None:
    book = read_gradebook(export(tmp_path, BRIGHTSPACE))
    assert maxima(book, grade_column(book, "Quiz")) == [10.0, 10.0]
    assert [one.key(Kind.LOGIN) for one in book.people] == ["amuller", "bstrom"]


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
    line = rows(text_of(filled(tmp_path, text, of(name))))[1]
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
    assert rows(text_of(done))[1]["Student"] == "Müller, Ben"
    assert rows(text_of(done))[1][COLUMN] == "60.00"


@pytest.mark.parametrize(
    "header",
    [
        "name,points",
        "name,id,email",
        "Username,Connect-4",
        "Username,Student ID,Section",
        "Student,ID,SIS Login ID",
        "First Name,Last Name,SID,Email,Sections",
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


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no readable CSV \(field larger than field limit"):
        read_gradebook(export(tmp_path, f"Student,ID\n{'x' * 200_000},1\n"))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_gradebook(tmp_path / "none.csv")


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
    told = "Müller, Ben (u502, bmueller, 502); Smith, Sam (u503, ssmith, 503); Smith, Sam (u504, "
    assert f"export.csv: students there without a mark here: {told}" in done.stderr
    grades = rows((tmp_path / "out/grades.csv").read_text(encoding="utf-8-sig"))
    imported = rows((tmp_path / "out/canvas.csv").read_text(encoding="utf-8"))
    assert imported[1]["SIS Login ID"] == "alee"
    assert float(imported[1]["Connect-4 (12)"]) == float(grades[0]["Total"]) * 75 / 50
    simple = "Username,Email address,Connect-4\nalee,a@x.org,-\n"
    (tmp_path / "moodle-export.csv").write_text(simple, encoding="utf-8")
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
    """Ten students, two of them with a file without code."""
    own = rubric(tmp_path)
    (tmp_path / "tiny.txt").write_text("1\n" + "0 0 0 0 0 0\n" * 4, encoding="utf-8")
    sources = {f"s{n}": searcher(1 + n % 3, 1 if n < 5 else -1, note=str(n)) for n in range(8)}
    sources |= {"s8": "", "s9": "\n"}
    for name, source in sources.items():
        hand_in(tmp_path / "class", name, source)
    text = f"Student,ID,SIS Login ID,Section,{COLUMN}\n    Points Possible,,,,100\n"
    export(tmp_path, text + "".join(f'"Lee, Ann {n}",{n}01,s{n},1,\n' for n in range(21)))
    options = ["--gradebook", "export.csv", "--out", "out"]
    words = ["grade", "class", "--rubric", own, "--isolation", "process", *options]
    done = run("grader", *words, cwd=tmp_path, seconds=110)
    assert done.returncode == 0, done.stderr
    told = "students there without a mark here: 11 names, listed in out/unmatched.csv"
    assert f"export.csv: {told}\n" in done.stderr
    unmarked = rows((tmp_path / "out/unmatched.csv").read_text(encoding="utf-8-sig"))
    names = [f"Lee, Ann {n} (s{n}, {n}01)" for n in range(10, 21)]
    assert [row["Hand-in of"] for row in unmarked] == names
    assert {row["Why"] for row in unmarked} == {"students there without a mark here"}

    by_hand = marks_by_hand(tmp_path / "grade.db")
    assert len(by_hand) == 8
    grades = rows((tmp_path / "out/grades.csv").read_text(encoding="utf-8-sig"))
    canvas = rows((tmp_path / "out/canvas.csv").read_text(encoding="utf-8"))
    filled_in = {row["SIS Login ID"]: row[COLUMN] for row in canvas}
    for row in grades:
        name = row["Name"]
        a, b = by_hand.get(row["SHA-256"], (0.0, 0.0))
        shown = [row[title] for title in ("Part A", "Part B", "Total")]
        assert shown == [f"{value:.2f}" for value in (a, b, a + b)]
        assert filled_in[name] == f"{(a + b) / 50 * 100:.2f}"
        score = json.loads((tmp_path / f"out/results/{name}.json").read_text())["score"]
        assert f"{score:.2f}" == row["Total"]
        page = (tmp_path / f"out/feedback/{name}.html").read_text(encoding="utf-8")
        assert f"<b>{a + b:.2f}</b> / 50" in page
        assert (f"Part A {a:.2f}, part B {b:.2f}." in page) == (name not in ("s8", "s9"))
