"""Gradebooks of course systems: a teacher's export, with the marks in it, ready to import.

The export gives the columns that identify a student, so that every line goes back to the student
from whom it came. Cells of the export stay as they are, and only the marks, the maximum and the
remarks are written. docs/gradebooks.md describes the systems and names the sources.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.handin import REMEDY, Kind, Matching, Person, match
from grader.handin.lists import ID, Line, Table, cell, nobody, read_csv, read_number
from grader.handin.roster import doubts

TITLE: Final = "Connect-4"
"""The assignment in an export that has no column for it."""


@dataclass(frozen=True, slots=True)
class System:
    """A kind of gradebook. Titles of columns are given as regular expressions."""

    name: str
    file: str
    shape: tuple[str, ...]
    """An export has a title for each of these."""
    needs: str
    """The same in words."""
    grade: str
    """The column of an assignment; its groups are the names by which a teacher may call it."""
    written: str = ".*"
    """The columns that are written; the grade is added."""
    new: str = "{}"
    """The title of a new column for an assignment."""
    own_id: Kind | None = None
    """The kind of key in a column `ID`, if it is not the university's number."""
    maximum_line: str = ""
    """The first cell of the line that states the maximum of each column; it is written too."""
    maximum_column: str = ""
    maximum_title: str = ""
    """The part of the grade's title that states the maximum."""
    remark: str = ""
    end: tuple[str, str] = ("", "")
    """The title of the last column, and its cells."""
    whole: bool = False
    """Whether lines without a mark are written too."""
    as_it_came: bool = False
    """Whether the file has tabs and UTF-16 if the export has, and all cells are in quotes."""
    capped: bool = False
    """Whether the system cuts or refuses a mark above the maximum."""


MOODLE_ID: Final = (
    "ID number|ID-Nummer|Numéro d.identification|Número (de )?ID|"
    "Email address|E-Mail-Adresse|Adresse de courriel|Dirección de correo( electrónico)?"
)
MOODLE_GRADE: Final = (
    r"(?P<whole>((Assignment|Aufgabe|Devoir|Tarea)(\s|&nbsp;|:)+)?(?P<title>.+?)) *"
    r"\((Real|Punkte|Brut)\)"
)

SYSTEMS: Final = (
    System(
        "Canvas's gradebook",
        "canvas",
        ("Student|LastName", "ID", "Section"),
        "Student, ID, Section",
        r"(?P<title>.+?) *\(\d+\)",
        "Student|LastName|FirstName|ID|SIS User ID|SIS Login ID|Root Account|Section",
        own_id=Kind.CANVAS,
        maximum_line="Points Possible",
    ),
    System(
        "Moodle's grading worksheet",
        "worksheet",
        (
            "Identifier|ID|Identifiant|Identificador",
            "Grade|Bewertung|Note|Calificación",
            r"Maximum [Gg]rade|Bestwertung|Note maximale|Calificación máxima|Last modified "
            r"\(grade\)|Zuletzt geändert \(Bewertung\)|Dernière modification \(note\)|"
            r"Última modificación \(calificación\)",
        ),
        "Identifier, Grade, Maximum Grade",
        "(?P<title>Grade|Bewertung|Note|Calificación)",
        maximum_column="Maximum [Gg]rade|Bestwertung|Note maximale|Calificación máxima",
        remark="Feedback comments|Feedback als Kommentar|Feedback par commentaires|"
        "Comentarios de retroalimentación",
        whole=True,
        capped=True,
    ),
    System(
        "Brightspace's grades",
        "brightspace",
        (
            "Org ?Defined ?I[dD]|Username",
            "Org ?Defined ?I[dD]|.* Points Grade( <.*>)?|End-of-Line Indicator",
        ),
        "OrgDefinedId, or Username and ... Points Grade",
        "(?P<title>.+?) Points Grade( <.*>)?",
        "Org ?Defined ?I[dD]|Username",
        "{} Points Grade",
        maximum_title=r"MaxPoints:([^\s>]*)",
        end=("End-of-Line Indicator", "#"),
        capped=True,
    ),
    System(
        "Blackboard's grades",
        "blackboard",
        ("Username", r".*\[Total Pts: .*\].*|Availability|Last Access"),
        "Username, ... [Total Pts: ...] |123",
        r"(?P<title>.+?) *\[Total Pts: (?!up to).*\] *\|?\d*",
        "Last Name|First Name|Username|Student ID",
        maximum_title=r"\[Total Pts: (.*?)( [^\d\s]+)?\]",
        as_it_came=True,
    ),
    System(
        "Moodle's grades",
        "moodle",
        (f"{MOODLE_ID}|{MOODLE_GRADE}",),
        "ID number or Email address",
        MOODLE_GRADE,
        f"{MOODLE_ID}|Username|Anmeldename|Nom d.utilisateur|Nombre de usuario|First name|"
        "Last name|Surname|Vorname|Nachname|Prénom|Nom( de famille)?|Nombre|Apellido.*",
    ),
)
"""A header is of the first system whose titles it has."""

FILLED: Final = re.compile(rf"({'|'.join(system.file for system in SYSTEMS)})\.(csv|xls)")
"""The names of filled exports below `--out`."""


@dataclass(frozen=True, slots=True)
class Gradebook:
    """A teacher's export: its system, and its lines with their students."""

    system: System
    table: Table
    students: tuple[tuple[Line, Person], ...]

    @property
    def people(self) -> list[Person]:
        """Return the students, in the order of their lines."""
        return [person for _, person in self.students]

    def is_maximum(self, line: Line) -> bool:
        """Return whether a line states the maximum of each column."""
        own = self.system.maximum_line
        return bool(own) and line.cells[0].strip() == own


def read_gradebook(path: Path) -> Gradebook:
    """Read an export; raises `InputError` if it is of no known system."""
    table = read_csv(path)
    for system in SYSTEMS:
        if all(_places(table, pattern) for pattern in system.shape):
            own = str(system.own_id or ID)
            fields = tuple(own if one == ID else one for one in table.fields)
            table = replace(table, fields=fields)
            return Gradebook(system, table, tuple(one for one in table.students() if one[1].name))
    known = ", ".join(f"{system.name} ({system.needs})" for system in SYSTEMS)
    raise InputError(f"{path}: expected {known}; there are {', '.join(table.titles) or 'none'}")


def _places(table: Table, pattern: str) -> list[int]:
    """Return the places of the columns whose title matches a pattern."""
    return [place for place, one in enumerate(table.titles) if re.fullmatch(pattern, one)]


def grade_column(book: Gradebook, column: str | None) -> str:
    """Return the title of the assignment's column; that of a new one if there is no assignment.

    `column` is the title, or the name of the assignment in it; None is `TITLE`. Raises
    `InputError` if several columns fit, or none of those of assignments.
    """
    system, titles = book.system, book.table.titles
    if column and titles.count(column) == 1 and not re.fullmatch(system.written, column):
        return column
    names = {
        title: {one.casefold() for one in found.groupdict().values()}
        for title in titles
        if (found := re.fullmatch(system.grade, title))
    }
    if system.whole:
        return next(iter(names))
    if column is None:
        wanted, begin = TITLE, TITLE.casefold()
        fitting = [title for title in names if any(one.startswith(begin) for one in names[title])]
        plain = system.new.format(TITLE)
        fitting = fitting or [title for title in titles if title.startswith(plain)]
    else:
        wanted, begin = column, column.casefold()
        fitting = [title for title in names if begin in names[title]]
    if len(fitting) == 1 and titles.count(fitting[0]) == 1:
        return fitting[0]
    if not (fitting or names):
        return system.new.format(wanted)
    several = "several columns" if fitting else "no column"
    shown = ", ".join(map(repr, fitting or names))
    why = f"{several} {wanted!r}; --gradebook-column names one of {shown}"
    if len(fitting) == 1:
        why = f"several columns {fitting[0]!r}; rename the others"
    raise InputError(f"{book.table.path}: {why}")


def maxima(book: Gradebook, title: str) -> list[float | None]:
    """Return the maximum that the export states for each student, None where it states none.

    `title` is that of the assignment's column. Raises `InputError` if one cannot be read.
    """
    system, table = book.system, book.table
    places = [table.titles.index(title)] if title in table.titles else []
    cells: list[tuple[str, str]] = []
    if system.maximum_column:
        places = _places(table, system.maximum_column)
        cells = [(table.where(line), line.cells[p]) for line, _ in book.students for p in places]
    elif system.maximum_line:
        lines = filter(book.is_maximum, table.lines)
        cells = [(table.where(line), line.cells[place]) for line in lines for place in places]
    elif system.maximum_title and (found := re.search(system.maximum_title, title)):
        cells = [(f"{table.path}: {title!r}", found[1])]
    mark = table.mark(places)
    stated = [_maximum(text.strip(), mark, where) for where, text in cells]
    return stated if len(stated) > 1 else (stated or [None]) * len(book.students)


def _maximum(text: str, mark: str | None, where: str) -> float | None:
    """Return the maximum in a cell; None for `(read only)` in any language, 0 and an empty one."""
    if re.fullmatch(r"(\(\D*\))?", text):
        return None
    value = read_number(text, mark)
    if value is None or value < 0:
        raise InputError(f"{where}: maximum {text!r}: expected a number, such as 100 or 1000")
    return value or None


TOLD: Final = {
    "unknown": "no line of their own there",
    "unmarked": "students there without a mark here",
    "incomplete": "the mark is incomplete, and its cell stays as it was",
    "capped": "more points than the maximum, which the system may cut or refuse",
}
"""Whom a teacher has to know about when a gradebook is filled."""


@dataclass
class Filling:
    """An export to be filled with the marks of a class."""

    book: Gradebook
    here: Sequence[Person]
    """The students of the class, with all keys that are known."""
    marks: Sequence[tuple[float | None, str]]
    """For each the points and the remark; None if the mark is incomplete."""
    full: float
    """What the points are out of; they are scaled to the maximum that the export states."""
    column: str | None = None
    maximum: float | None = None
    """What counts where the export states no maximum."""
    pairs: list[tuple[int, int]] = field(default_factory=list)
    """Who is who by the teacher's word: places in `here` and in `book.people`."""

    @property
    def matching(self) -> Matching:
        return match(self.here, self.book.people, self.pairs)

    def fill(self) -> tuple[str, bytes, list[str], dict[str, list[str]]]:
        """Return the name and the content of the file to import, and what a teacher has to know.

        The latter are sentences, and the persons of each kind in `TOLD`. Raises `InputError` if no
        mark is of a student there, or a maximum cannot be read.
        """
        book, here, there, matching = self.book, self.here, self.book.people, self.matching
        title = grade_column(book, self.column)
        stated = maxima(book, title)
        if not matching.pairs:
            told = nobody(book.table.path, [one.name for one in here], [one.name for one in there])
            raise InputError(f"{told}; {REMEDY}") if matching.undecided else told
        lines = list(filter(book.is_maximum, book.table.lines))
        usual = self.maximum or self.full
        written = {line.number: (f"{stated[0] or usual:.10g}", "") for line in lines}
        capped = []
        for own, place in matching.pairs.items():
            (points, remark), most = self.marks[own], stated[place] or usual
            scaled = None if points is None else round(points * most / self.full, 2)
            text = "" if scaled is None else f"{scaled:.2f}"
            written[book.students[place][0].number] = (text, remark)
            if book.system.capped and stated[place] and (scaled or 0.0) > most:
                capped.append(here[own])
        found = matching.pairs.values()
        told_of: dict[str, Iterable[object]] = {
            "unknown": doubts(here, there, matching),
            "unmarked": [person for place, person in enumerate(there) if place not in found],
            "incomplete": [here[own] for own in matching.pairs if self.marks[own][0] is None],
            "capped": capped,
        }
        notices = []
        if title not in book.table.titles:
            new = "the marks are in a new one; --gradebook-column names another"
            notices.append(f"has no column {title!r}: {new}")
        if not (self.maximum or lines) and any(stated[place] is None for place in found):
            scales = "--gradebook-maximum scales them"
            notices.append(f"states no maximum: marks are out of {self.full:g}; {scales}")
        suffix, content = _file(book, title, written)
        shown = {kind: list(map(str, people)) for kind, people in told_of.items()}
        return f"{book.system.file}.{suffix}", content, notices, shown


def _file(book: Gradebook, title: str, written: Mapping[int, tuple[str, str]]) -> tuple[str, bytes]:
    """Return the ending and the bytes of an export, with marks and remarks by lines' numbers.

    Where a mark or a remark is empty, the cell stays as it was.
    """
    system, table = book.system, book.table
    last, filler = system.end
    added = [one for one in (title, last) if one and one not in table.titles]
    header = [*table.header, *added]
    titles = [one.strip() for one in header]
    grade, ends = titles.index(title), [titles.index(last)] if last else []
    remarks = _places(table, system.remark)[:1] if system.remark else []
    places = [one for one in _places(table, system.written) if one not in (grade, *ends)]
    places = list(range(len(header))) if system.whole else [*places, grade, *ends]
    rows = [[header[place] for place in places]]
    for line in table.lines:
        if line.number in written or system.whole:
            mark, remark = written.get(line.number, ("", ""))
            cells = [*line.cells[: len(table.header)], *[""] * len(added)]
            cells[grade] = mark or cells[grade]
            for place in remarks:
                cells[place] = cell(remark) or cells[place]
            for place in ends:
                cells[place] = cells[place] or filler
            rows.append([cells[place] for place in places])
    out, tabs = io.StringIO(), system.as_it_came and table.separator == "\t"
    csv.writer(
        out,
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_ALL if system.as_it_came else csv.QUOTE_MINIMAL,
    ).writerows(rows)
    is_wide = system.as_it_came and table.encoding == "utf-16"
    return "xls" if tabs else "csv", out.getvalue().encode("utf-16" if is_wide else "utf-8")
