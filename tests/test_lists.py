"""Lists of persons in CSV files: numbers as people in several countries write them, and titles."""

from pathlib import Path

import pytest

from grader.handin.lists import Line, Table, cell, read_csv, read_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100", 100),
        ("100.5", 100.5),
        ("100,5", 100.5),
        ("-1,25", -1.25),
        ("\u22122.5", -2.5),
        (",5", 0.5),
        ("0,125", 0.125),
        ("1,000.00", 1000),
        ("1.000,00", 1000),
        ("1,000,000", 1_000_000),
        ("12.345.678,9", 12_345_678.9),
        ("1 000,5", 1000.5),
        ("1\u202f000,5", 1000.5),
        ("1'000.50", 1000.5),
        (" 75 ", 75),
    ],
)
def test_a_number_that_is_clear_is_read_in_any_column(text: str, value: float) -> None:
    assert [read_number(text, mark) for mark in (".", ",", None)] == [value] * 3


@pytest.mark.parametrize(
    "text",
    ["", "ten", "nan", "inf", "1e3", "1,00,0", "10.00.0", "1 00", "1,000.000,0", "1..0", "12:30"],
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert [read_number(text, mark) for mark in (".", ",", None)] == [None] * 3


@pytest.mark.parametrize(
    ("text", "with_point", "with_comma"),
    [("1,000", 1000, None), ("1.000", 1, 1000), ("12,500", 12500, None), ("-1.250", -1.25, -1250)],
)
def test_a_mark_before_three_digits_follows_from_the_column(
    text: str, with_point: float, with_comma: float | None
) -> None:
    """A thousand is never read as one, not even where commas are decimal marks."""
    marks = (".", ",", None)
    assert [read_number(text, mark) for mark in marks] == [with_point, with_comma, None]


@pytest.mark.parametrize(
    ("cells", "separator", "mark"),
    [
        (["1,000", "2,5"], ",", ","),
        (["1.000", "1,000.00"], ";", "."),
        (["1,000", "7", "-"], ",", "."),
        (["1,000"], ";", ","),
        (["1,000"], "\t", None),
        (["2,5", "2.5"], ",", None),
    ],
)
def test_the_decimal_mark_is_that_of_the_column_else_of_the_separator(
    cells: list[str], separator: str, mark: str | None
) -> None:
    lines = tuple(Line(number, (text,)) for number, text in enumerate(cells, 2))
    table = Table(Path("list.csv"), ("Grade",), lines, separator, "utf-8", ("",))
    assert table.mark([0]) == mark


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ("Name;Vorname", "last first"),
        ("Nombre;Apellidos", "first last"),
        ("Nom;Prénom", "last first"),
        ("Nombre;Correo", "name email"),
        ("Name;First name;Last name", "name first last"),
        ("Full name;First name", "name first"),
        ("VERLÄNGERUNG (Tage);e-mail;MATRIKELNUMMER", "extension email number"),
        ("Pre\u0301nom;NOM;Nume\u0301ro d'e\u0301tudiant", "first last number"),
        ("Student;ID;SIS Login ID;Section", "name canvas login section"),
        ("Student;ID;Section", "name id section"),
        ("Grade;Note;Bewertung;Number;Team", "    "),
    ],
)
def test_titles_are_known_by_their_letters(tmp_path: Path, header: str, fields: str) -> None:
    """A half of a name in a column that is only called `Name` is told by the other half."""
    path = tmp_path / "list.csv"
    path.write_text(f"{header}\n", encoding="utf-8")
    assert list(read_csv(path).fields) == fields.split(" ")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("name;a, b, c, d\n", ";"),
        ("Username\tConnect-4 [Total Pts: 1,0] |1\n", "\t"),
        ("sep=|\nname,id,email|x\n", "|"),
        ("name\nLee, Ann\n", ","),
        ("a;b;c\n", ";"),
        ("", ","),
    ],
)
def test_the_separator_is_the_one_with_which_titles_are_known(
    tmp_path: Path, text: str, separator: str
) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text, encoding="utf-8")
    assert read_csv(path).separator == separator


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("Ann;=cmd|' /C calc'!A0", "Ann;'=cmd|' /C calc'!A0"),
        ("a\t@SUM(A1)", "a\t'@SUM(A1)"),
        ("a\n+3", "a\n'+3"),
        ('x;"=1"', 'x;"\'=1"'),
        ("\uff1d1", "'\uff1d1"),
        ("\tx", "'\tx"),
        ("a+b=c", "a+b=c"),
    ],
)
def test_no_cell_begins_a_formula_after_any_separator(text: str, safe: str) -> None:
    assert cell(text) == safe
