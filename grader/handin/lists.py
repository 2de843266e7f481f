"""CSV files with a line for each person, as spreadsheets and course systems save them.

A roster and a gradebook are such files. The separator, the encoding and the columns are found from
the file; numbers and times are read as people write them in several countries.
"""

import codecs
import csv
import difflib
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Final

from connect4.errors import InputError, printable
from connect4.games import nearest_file
from grader.handin import KEY_NAMES, Key, Kind, Person, by_form, keys, letters, words
from grader.handin.roster import Change, Correction, Student

ID: Final = "id"
"""A column that holds the university's number, or whatever a cell is by its form."""

KNOWN: Final = {
    "name": "Name, Full name, Student, Student name, Display name, Vollständiger Name, Nom, "
    "Nom complet, Nom et prénom, Nombre, Nombre completo, Nombre y apellidos",
    "first": "First name, Given name, Forename, Vorname, Prénom, Nombre(s)",
    "last": "Last name, Surname, Family name, Nachname, Familienname, Nom de famille, Apellido, "
    "Apellido(s)",
    ID: "ID, Identifier, Identifiant, Identificador",
    Kind.NUMBER: "ID number, Student number, Student ID, University ID, SIS User ID, "
    "SIS ID, OrgDefinedId, Matriculation number, Matrikelnummer, Matrikel-Nr., Matrikel, "
    "ID-Nummer, Numéro d'identification, Numéro d'étudiant, Numéro étudiant, Número de ID, "
    "Número ID, Número de identificación, Número de estudiante, Matrícula",
    Kind.LOGIN: "Login, Login ID, SIS Login ID, Username, User name, Anmeldename, Benutzername, "
    "Nutzername, Kennung, Nom d'utilisateur, Nombre de usuario, Usuario",
    Kind.EMAIL: "E-mail, Mail, Email address, E-Mail-Adresse, Courriel, Adresse de courriel, "
    "Adresse e-mail, Adresse électronique, Correo, Correo electrónico, Dirección de correo, "
    "Dirección de correo electrónico",
    Kind.CANVAS: "Canvas ID, Canvas User ID",
    Kind.MOODLE: "Participant, Moodle participant",
    Kind.GRADESCOPE: "SID, Gradescope SID",
    "section": "Section, Sections, Sektion, Sección",
    "group": "Group, Gruppe, Groupe, Grupo",
    "extension": "Extension, Extension (days), Verlängerung, Verlängerung (Tage), Prolongation, "
    "Prolongation (jours), Prórroga, Prórroga (días)",
    "submitted": "Submitted, Last modified (submission), Zuletzt geändert (Abgabe), "
    "Dernière modification (travail remis), Última modificación (entrega)",
    "hand_in": "hand_in",
    "adjust": "Adjust",
    "percent": "Percent",
    "mark": "Mark",
    "reason": "Reason, Grund, Begründung, Raison, Motif, Motivo",
}
"""The titles of columns, by the field that a column holds; case, accents and punctuation do not
matter. Keys of people have the name of their kind."""

KEYS: Final = (ID, *Kind)
"""The fields that are keys of a person."""

FIELDS: Final = {
    letters(title): str(field) for field, titles in KNOWN.items() for title in titles.split(", ")
}

HALVES: Final = {"first": "last", "last": "first"}

FORMULA: Final = re.compile(
    r"(^|[;,|:\t\r\n])([\s\"']*)(?=[=+@\-\uff1d\uff0b\uff0d\uff20])|(^)()(?=[\t\r])"
)
"""Where a spreadsheet may recognize a formula, also in full-width letters."""


def cell(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula, wherever it splits lines."""
    return FORMULA.sub(r"\1\2'", text)


def csv_text(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file in which no cell is a formula, for the grader's own files.

    A byte order mark tells Excel that it is UTF-8.
    """
    out = io.StringIO()
    texts = ([str(item) for item in row] for row in rows)
    number = re.compile(r"[-+]?\d+(\.\d+)?")  # no spreadsheet makes anything else of it
    lines = ([text if number.fullmatch(text) else cell(text) for text in row] for row in texts)
    csv.writer(out).writerows([headers, *lines])
    return "\ufeff" + out.getvalue()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number, and at least as many cells as there are titles."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file as it was read; nothing in its cells is changed."""

    path: Path
    header: tuple[str, ...]
    lines: tuple[Line, ...]
    separator: str
    encoding: str
    fields: tuple[str, ...]
    """What each column holds: a name of `KNOWN`, or empty."""

    @property
    def titles(self) -> list[str]:
        """Return the header without blanks around the titles."""
        return [unicodedata.normalize("NFC", title).strip() for title in self.header]

    def where(self, line: Line) -> str:
        return f"{self.path}: line {line.number}"

    def places(self, field: str) -> list[int]:
        return [place for place, own in enumerate(self.fields) if own == field]

    def texts(self, line: Line, field: str) -> list[str]:
        """Return what a line has in the columns of a field, without empty cells."""
        cells = (_plain(line.cells[place]) for place in self.places(field))
        return list(filter(None, cells))

    def text(self, line: Line, field: str) -> str:
        """Return the first text that a line has in the columns of a field, else an empty one."""
        return next(iter(self.texts(line, field)), "")

    def mark(self, places: Iterable[int]) -> str | None:
        """Return the decimal mark of columns: that of their numbers that are clear by themselves.

        If there is none, it is a point in a file separated by commas, and a comma in one separated
        by semicolons. None if neither is clear.
        """
        cells = (line.cells[place] for place in places for line in self.lines)
        sure = {mark for text in cells if len(found := _readings(text)) == 1 for mark in found}
        if sure:
            return sure.pop() if len(sure) == 1 else None
        return {",": ".", ";": ","}.get(self.separator)

    def person(self, line: Line) -> Person:
        """Return the person of a line; the name is empty if there is neither a name nor a key."""
        found: tuple[Key, ...] = ()
        for field in KEYS:
            for text in self.texts(line, field):
                found += _keys(field, printable(text))
        halves = " ".join(filter(None, (self.text(line, "first"), self.text(line, "last"))))
        name = printable(self.text(line, "name") or halves)
        return Person(name or next((text for _, text in found), ""), tuple(dict.fromkeys(found)))

    def students(self) -> list[tuple[Line, Person]]:
        """Return the lines with their persons, without those that Canvas adds.

        Raises `InputError` if a line has more cells than there are titles.
        """
        for line in self.lines:
            if any(map(str.strip, line.cells[len(self.header) :])):
                what = (
                    f"{len(line.cells)} cells, and the header has {len(self.header)}; a text with"
                )
                raise InputError(
                    f"{self.where(line)}: {what} {self.separator!r} in it must be in quotes"
                )
        people = [(line, self.person(line)) for line in self.lines]
        if Kind.CANVAS not in self.fields:
            return people
        own = ("", "Points Possible", "Student, Test", "Test Student")  # no student's lines
        return [(line, one) for line, one in people if one.name not in own]


def _plain(text: str) -> str:
    """Return a cell in one form of blanks; `="00123"` is how spreadsheets keep a text as it is."""
    text = " ".join(text.split())
    kept = re.fullmatch(r'="(.*)"', text)
    return kept[1] if kept else text


def _keys(field: str, text: str) -> tuple[Key, ...]:
    """Return the keys that a cell states; Brightspace writes `#` before numbers and logins.

    Moodle's worksheet calls a student a participant, in English, French, Spanish or German.
    """
    text = text.removeprefix("#")
    participant = re.fullmatch(r"(?:Participant|Teilnehm)\D*(\d+)", text)
    if field == Kind.MOODLE:
        return keys(moodle=re.sub(r"\D", "", text))
    if field == ID:
        return keys(moodle=participant[1]) if participant else (*keys(number=text), *by_form(text))
    if field == Kind.LOGIN and "@" in text:
        return keys(email=text)
    return keys(**{field: text})


def _fields(titles: Sequence[str]) -> tuple[str, ...]:
    """Return what the columns with these titles hold.

    `Name` beside a first name is the last name, and `Nombre` beside a last name the first. Canvas
    calls its own number `ID`.
    """
    found = [FIELDS.get(letters(title), "") for title in titles]
    halves = HALVES.keys() & set(found)
    if len(halves) == 1:
        other = HALVES[halves.pop()]
        short = ("name", "nom", "nombre")
        found = [
            other if letters(title) in short else field
            for title, field in zip(titles, found, strict=True)
        ]
    if {"ID", "Section"} <= set(titles) and {"SIS User ID", "SIS Login ID"} & set(titles):
        found = [str(Kind.CANVAS) if field == ID else field for field in found]
    return tuple(found)


def read_csv(path: Path) -> Table:
    """Read a CSV file as spreadsheets and course systems save it.

    The separator is the one with which the header has the most known titles, or that of a first
    line `sep=;`. Raises `InputError` if the file cannot be read.
    """
    try:
        text, encoding = _decoded(path.read_bytes())
        if "\0" in text:  # UTF-16 without its mark, or no text at all
            raise UnicodeError
        declared = re.match(r'"?sep=([^"\s]|\t)"?(?:\r\n|\r|\n)', text, re.IGNORECASE)
        text = text[declared.end() :] if declared else text
        separator = declared[1] if declared else max(",;\t|", key=lambda one: _known(text, one))
        records = list(_records(text, separator, 2 if declared else 1))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}{nearest_file(path)}") from None
    except csv.Error as error:
        raise InputError(f"{path}: no readable CSV ({error})") from None
    except UnicodeError:
        raise InputError(f"{path}: cannot be read; save it as CSV in UTF-8") from None
    header = tuple(records[0][1]) if records else ()
    lines = tuple(
        Line(number, (*cells, *[""] * (len(header) - len(cells)))) for number, cells in records[1:]
    )
    table = Table(path, header, lines, separator, encoding, ())
    return replace(table, fields=_fields(table.titles))


def _decoded(data: bytes) -> tuple[str, str]:
    """Return the text of a CSV file: UTF-8, UTF-16 with its mark, else what Windows writes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16"), "utf-16"
    try:
        return data.decode("utf-8").lstrip("\ufeff"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252"), "cp1252"


def _records(text: str, separator: str, first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not empty, with the number of the line in which each begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    number = first
    for cells in reader:
        if any(map(str.strip, cells)):
            yield number, cells
        number = reader.line_num + first


def _known(text: str, separator: str) -> tuple[int, int]:
    """Return how many known titles the header has with a separator, and how many titles."""
    try:
        _, header = next(_records(text, separator), (0, []))
    except csv.Error:
        return -1, 0
    return sum(letters(title) in FIELDS for title in header), len(header)


def _readings(text: str) -> dict[str, float]:
    """Return the numbers that a text may be, by the decimal mark that it would have."""
    text = re.sub(r"(?<=\d)[\s'\u2019](?=\d{3}(?!\d))", "", text.strip()).replace("\u2212", "-")
    found = {}
    for mark, thousands in (".,", ",."):
        whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:\{thousands}\d{{3}})+)"
        if re.fullmatch(rf"[+-]?(?:{whole}(?:\{mark}\d*)?|\{mark}\d+)", text, re.ASCII):
            found[mark] = float(text.replace(thousands, "").replace(mark, "."))
    return found


def read_number(text: str, mark: str | None) -> float | None:
    """Return the number that a cell states; None if it is none or if it may be two.

    Only a single mark before three digits is doubtful. Then `mark` decides, the decimal mark of
    the column. But `1,000` is a thousand or nothing: read as one, a maximum would be a thousand
    times too small.
    """
    found = _readings(text)
    if len(set(found.values())) < 2:
        return next(iter(found.values()), None)
    return None if mark is None or (mark == "," and "," in text) else found[mark]


def nobody(path: object, here: Sequence[str], there: Sequence[str]) -> InputError:
    """Return the error for a class of which nobody is in a file."""
    return InputError(
        f"{path}: nobody here ({'; '.join([*here[:1], '...'])}) is one of its {len(there)} "
        f"students ({'; '.join([*there[:1], '...'])}); a hand-in is found by number, login, "
        "e-mail address or name"
    )


DATES: Final = ("%d.%m.%Y", "%d-%m-%Y")
TIMES: Final = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")

MONTHS: Final = {
    word: number
    for months in (
        "january february march april may june july august september october november december",
        "januar februar marz april mai juni juli august september oktober november dezember",
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    )
    for number, word in enumerate(months.split(), 1)
}
"""The months as Moodle writes them in English, German, French and Spanish, without accents."""


def read_roster(path: Path) -> tuple[tuple[Student, ...], list[str]]:
    """Return the students of a roster, and the titles of its columns that are not used.

    Raises `InputError` if it is no roster, if a number or a time in it is not readable, or if two
    lines have the same key.
    """
    table = read_csv(path)
    if not {"name", *KEYS} & set(table.fields) and not {"first", "last"} <= set(table.fields):
        raise InputError(
            f"{path}: expected a roster with a column name, id or e-mail, and perhaps section, "
            "group, extension, submitted, hand_in, adjust, percent, mark, reason; there are "
            f"{', '.join(table.titles) or 'none'}"
        )
    people = table.students()
    if not people:
        raise InputError(f"{path}: no student in this roster")
    for field in (*NUMBERS, "submitted", "group", "hand_in"):
        if len(places := table.places(field)) > 1:
            shown = " and ".join(repr(table.titles[place]) for place in places)
            raise InputError(f"{path}: expected one column for {field}, not {shown}")
    first: dict[Key, Line] = {}
    for line, person in people:
        for kind, text in person.keys:
            other = first.setdefault((kind, text.casefold()), line)
            if other is not line:
                what = f"the same {KEY_NAMES.get(kind, kind)} {text!r} as line {other.number}"
                raise InputError(f"{table.where(line)}: {what}; a student has one line")
    marks = {field: table.mark(table.places(field)) for field in NUMBERS}
    students = tuple(_student(table, *one, marks) for one in people)
    unused = []
    for title in (one for one, field in zip(table.titles, table.fields, strict=True) if not field):
        meant = difflib.get_close_matches(letters(title), FIELDS, 1, 0.8)
        unused.append(f"{title} (did you mean {meant[0]}?)" if meant else title)
    return students, list(filter(None, unused))


NUMBERS: Final = ("extension", *Change)


def _student(table: Table, line: Line, person: Person, marks: Mapping[str, str | None]) -> Student:
    """Return the student of a line; `marks` are the decimal marks of the columns of numbers."""
    where = table.where(line)
    if not person.name:
        raise InputError(f"{where}: expected a name, an id or an e-mail address")
    section, group, hand_in, reason = (
        printable(table.text(line, field)) for field in ("section", "group", "hand_in", "reason")
    )
    found = {}
    for field, mark in marks.items():
        if text := table.text(line, field):
            amount = read_number(text.removesuffix("%"), mark)
            if amount is None:
                raise InputError(f"{where}: {field} {text!r}: expected a number, such as 2.5")
            bound = {"extension": "days from 0 to 999", Change.MARK: "points from 0"}.get(field)
            if bound and (amount < 0 or (field == "extension" and amount > 999)):
                raise InputError(f"{where}: {field} {amount:.15g}: expected {bound}")
            found[field] = amount
    time = _time(table.text(line, "submitted"), where)
    extension = found.pop("extension", 0.0)
    corrections = tuple(
        Correction(Change(kind), amount, reason)
        for kind, amount in found.items()
        if amount or kind == Change.MARK
    )
    return Student(person.name, person.keys, time, section, group, extension, hand_in, corrections)


def _time(text: str, where: str) -> str:
    """Return a time in ISO 8601, empty if there is none; raises `InputError` if it is not clear."""
    if text in ("", "-"):
        return ""
    found, numbers = words(text), text
    months = [MONTHS[word] for word in found if word in MONTHS]
    digits = [word for word in found if word.isdecimal()]
    if len(months) == 1 and len(digits) in (4, 5):  # the month is a word
        day, year, *clock = digits
        half = "".join(found).rpartition(clock[-1])[2]
        numbers = f"{day}.{months[0]}.{year} {':'.join(clock)} {half}".strip()
    for date, time in product(DATES, TIMES):
        with suppress(ValueError):
            return datetime.strptime(numbers, f"{date} {time}").isoformat()
    with suppress(ValueError):
        if ":" in text:
            return datetime.fromisoformat(text).isoformat()
    raise InputError(f"{where}: expected a time such as 2030-01-31 23:59, not {text!r}")
