"""Gradebooks of Canvas and Moodle: a teacher's export, with the marks in it, ready to import.

The export gives the columns that identify a student, so that every line goes back to the student
from whom it came. A student is found by number or login, else by e-mail address, else by a name
that only one student has. Nobody is guessed.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.handin.submission import Member
from grader.marks.earned import full_points
from grader.marks.points import Mark
from grader.output.tables import remark
from grader.rubric.model import Rubric

TITLE: Final = "Connect-4"
"""The assignment in an export that has no column for it."""

CANVAS: Final = ("Student", "ID", "SIS User ID", "SIS Login ID", "Root Account", "Section")
"""The columns of Canvas that identify a student; `SIS` ones and `Root Account` may be missing."""
CANVAS_NEEDS: Final = ("Student", "ID", "Section")
CANVAS_READ_ONLY: Final = "Points Possible"

WORKSHEET: Final = ("Identifier", "Grade")
"""The columns by which a grading worksheet of a Moodle assignment is known."""
MOODLE_NAMES: Final = (("First name", "Last name"), ("First name", "Surname"))
MOODLE_IDS: Final = ("ID number", "Username", "Email address")

NUMBERS: Final = ("ID", "SIS User ID", "SIS Login ID", "ID number", "Username", "Identifier")
MAILS: Final = ("SIS Login ID", "Email address", "Email", "Username")
PARTICIPANT: Final = re.compile(r"\D*(\d+)")


@dataclass
class Export:
    """A teacher's export: its kind, its columns and its lines."""

    kind: str
    """`canvas`, `moodle` (the grader report) or `worksheet` (Moodle, one assignment)."""
    header: list[str]
    rows: list[list[str]]
    path: Path

    def cell(self, row: Sequence[str], column: str) -> str:
        """Return a cell without blanks around it, empty if there is no such column."""
        if column not in self.header or self.header.index(column) >= len(row):
            return ""
        return row[self.header.index(column)].strip()

    def is_student(self, row: Sequence[str]) -> bool:
        """Return whether a line is a student's, not one of Canvas's own."""
        if self.kind != "canvas":
            return any(row)
        return bool(self.cell(row, "ID")) and self.cell(row, "Student") != "Student, Test"


@dataclass
class Filled:
    """A file to import, and what a teacher has to know about it."""

    name: str
    text: str
    unmatched: list[str] = field(default_factory=list)
    """The submissions' members of whom the export has no line, or several."""
    without: int = 0
    """The number of students in the export without a mark."""
    withheld: list[str] = field(default_factory=list)
    """The students whose mark is incomplete: their cells stay as they were."""


def read_export(path: Path) -> Export:
    """Read an export; raises `InputError` if it is none of the known forms."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"{path}: cannot be read: {why}") from None
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    except csv.Error as error:
        raise InputError(f"{path}: no readable CSV ({error})") from None
    header = [name.strip() for name in rows[0]] if rows else []
    if all(name in header for name in CANVAS_NEEDS):
        kind = "canvas"
    elif all(name in header for name in WORKSHEET):
        kind = "worksheet"
    elif any(name in header for name in MOODLE_IDS):
        kind = "moodle"
    else:
        raise InputError(
            f"{path}: expected the gradebook that Canvas exports ({', '.join(CANVAS_NEEDS)}), "
            f"Moodle's grades ({' or '.join(MOODLE_IDS)}) or a grading worksheet of a Moodle "
            f"assignment ({', '.join(WORKSHEET)})"
        )
    return Export(kind, header, rows[1:], path)


def filled(
    export: Export,
    column: str | None,
    marks: Sequence[Mark],
    placement: Mapping[str, float],
    rubric: Rubric,
) -> Filled:
    """Return an export with the marks; `column` is the assignment's, where there are several."""
    chosen = "Grade" if export.kind == "worksheet" else _assignment(export, column)
    pairs, unmatched = _matched(export, marks)
    full = full_points(rubric)
    result = Filled(f"{export.kind}.csv", "", unmatched)
    lines = [_kept_names(export, chosen)]
    for number, row in enumerate(export.rows):
        if not any(row):
            continue
        if export.kind == "canvas" and not export.is_student(row):
            if CANVAS_READ_ONLY in export.cell(row, "Student"):
                known = export.cell(row, chosen)
                lines.append([*_kept(export, row), known or f"{full:g}"])
            continue
        mark = pairs.get(number)
        if mark is None:
            result.without += 1
            if export.kind == "worksheet":
                lines.append(row)
            continue
        total = f"{mark.total + placement.get(mark.submission.name, 0.0):.2f}"
        if mark.incomplete:
            result.withheld.append(mark.submission.name)
            total = export.cell(row, chosen)
        if export.kind == "worksheet":
            lines.append(_worksheet_line(export, row, total, mark, full))
        else:
            lines.append([*_kept(export, row), total])
    out = io.StringIO()
    csv.writer(out).writerows(lines)
    result.text = out.getvalue()
    return result


def _assignment(export: Export, column: str | None) -> str:
    """Return the column of the assignment; a new one where the export has none of that name."""
    if column is None:
        found = [name for name in export.header if name.lower().startswith(TITLE.lower())]
        if len(found) > 1:
            shown = ", ".join(map(repr, found))
            raise InputError(f"{export.path}: {shown}: --gradebook-column names one of them")
        return found[0] if found else TITLE
    if column in export.header or export.kind == "canvas":
        return column
    raise InputError(f"{export.path}: no column {column!r}; there are {', '.join(export.header)}")


def _kept_names(export: Export, chosen: str) -> list[str]:
    """Return the header of the file to import."""
    if export.kind == "worksheet":
        return export.header
    return [*_identifying(export), chosen]


def _identifying(export: Export) -> list[str]:
    """Return the columns that say who a student is: other assignments stay out of the import."""
    if export.kind == "canvas":
        return [name for name in export.header if name in CANVAS]
    names = [name for pair in MOODLE_NAMES for name in pair]
    return [name for name in export.header if name in (*names, *MOODLE_IDS)]


def _kept(export: Export, row: Sequence[str]) -> list[str]:
    places = [export.header.index(name) for name in _identifying(export)]
    return [row[place] if place < len(row) else "" for place in places]


def _worksheet_line(
    export: Export, row: Sequence[str], total: str, mark: Mark, full: float
) -> list[str]:
    """Return a line of a worksheet; the grade is scaled to the maximum that Moodle has."""
    line = [*row, *[""] * (len(export.header) - len(row))]
    most = export.cell(row, "Maximum Grade").replace(",", ".")
    if total and not mark.incomplete and _is_number(most) and float(most) != full:
        total = f"{float(total) * float(most) / full:.2f}"
    line[export.header.index("Grade")] = total
    if "Feedback comments" in export.header and (note := remark(mark)):
        line[export.header.index("Feedback comments")] = note
    return line


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


def _matched(export: Export, marks: Sequence[Mark]) -> tuple[dict[int, Mark], list[str]]:
    """Return the mark for each line, and the members who cannot be told from the export."""
    lines = {number: row for number, row in enumerate(export.rows) if export.is_student(row)}
    found: dict[int, Mark] = {}
    unmatched = []
    for mark in marks:
        for member in mark.submission.members or (Member(mark.submission.name),):
            number = _line_of(export, lines, member, mark.submission.name)
            if number is None or number in found:
                unmatched.append(member.name)
            else:
                found[number] = mark
    return found, unmatched


def _line_of(
    export: Export, lines: Mapping[int, Sequence[str]], member: Member, submission: str
) -> int | None:
    """Return the line of a student: by number, by e-mail address, by name; None if unclear."""
    numbers = {text for text in (member.identity, member.name, submission) if text}
    mails = {text for text in (member.email, member.identity) if "@" in text}
    names = {frozenset(words(text)) for text in (member.name, submission) if text}
    tests: tuple[Callable[[Sequence[str]], bool], ...] = (
        lambda row: bool(numbers & set(_numbers(export, row))),
        lambda row: bool({*map(str.casefold, mails)} & {*_mails(export, row)}),
        lambda row: not names.isdisjoint(_names(export, row)),
    )
    for is_it in tests:
        fitting = [number for number, row in lines.items() if is_it(row)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _numbers(export: Export, row: Sequence[str]) -> Iterator[str]:
    for column in NUMBERS:
        text = export.cell(row, column)
        if column == "Identifier" and (number := PARTICIPANT.fullmatch(text)):
            text = number[1]  # `Participant 4711`; the folder of the hand-in has the number
        if text:
            yield text


def _mails(export: Export, row: Sequence[str]) -> Iterator[str]:
    for column in MAILS:
        if "@" in (text := export.cell(row, column)):
            yield text.casefold()


def _names(export: Export, row: Sequence[str]) -> Iterator[frozenset[str]]:
    for column in ("Student", "Full name"):
        if text := export.cell(row, column):
            yield frozenset(words(text))
    for pair in MOODLE_NAMES:
        if all(export.cell(row, column) for column in pair):
            yield frozenset(words(" ".join(export.cell(row, column) for column in pair)))


def words(name: str) -> list[str]:
    """Return the words of a name without accents, case and order: `Lee, Ann` is `ann lee`."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return sorted(re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c))))
