"""Gradebooks of Canvas and Moodle: a teacher's export, with the marks in it, ready to import.

The export gives the columns that identify a student, so that every line goes back to the student
from whom it came. Students are found as in a roster.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from connect4.errors import InputError
from grader.handin.roster import Keys, Student, keys_of, keys_of_members, match, nobody, read_csv
from grader.handin.submission import Member
from grader.marks.points import Mark
from grader.marks.tally import full_points
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
COMMENTS: Final = "Feedback comments"
MOODLE_NAMES: Final = ("First name", "Last name", "Surname")
MOODLE_IDS: Final = ("ID number", "Username", "Email address")

EXACT: Final = (
    *("ID", "SIS User ID", "SIS Login ID", "ID number", "Username", "Identifier"),
    *("Email address", "Email"),
)
ASSIGNMENT: Final = re.compile(r"(.+?) *\((\d+|Real)\)")
"""The column of an assignment: its title, with Canvas's number or Moodle's kind of grade."""
PARTICIPANT: Final = re.compile(r"\D*(\d+)")

Owner: TypeAlias = tuple[Mark, Student]
Row: TypeAlias = dict[str, str]
"""A line of an export, by its columns."""


@dataclass
class Export:
    """A teacher's export: its kind, its columns and its lines."""

    kind: str
    """`canvas`, `moodle` (the grader report) or `worksheet` (Moodle, one assignment)."""
    header: list[str]
    rows: list[Row]
    path: Path

    def is_student(self, row: Row) -> bool:
        """Return whether a line is a student's, not one of Canvas's own."""
        if self.kind != "canvas":
            return any(row.values())
        return bool(_cell(row, "ID")) and _cell(row, "Student") != "Student, Test"


@dataclass
class Filled:
    """A file to import, and what a teacher has to know about it."""

    name: str
    text: str
    unmatched: list[str] = field(default_factory=list)
    """The submissions' members of whom the export has no line, or several."""
    without: list[str] = field(default_factory=list)
    """The students in the export without a mark."""
    withheld: list[str] = field(default_factory=list)
    """The students whose mark is incomplete: their cells stay as they were."""
    unscaled: bool = False
    """Whether no maximum is known, so that the marks are as the rubric has them."""
    new_column: str = ""
    """The assignment's column, if the export has none of that name."""


def read_export(path: Path) -> Export:
    """Read an export; raises `InputError` if it is none of the known forms."""
    header, rows = read_csv(path)
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
    return Export(kind, header, [dict(zip(header, row, strict=False)) for row in rows], path)


def filled(
    export: Export,
    column: str | None,
    marks: Sequence[Mark],
    placement: Mapping[str, float],
    rubric: Rubric,
    maximum: float | None = None,
) -> Filled:
    """Return an export with the marks, scaled to the maximum that it states for the assignment.

    `column` is the assignment's, where there are several; `maximum` counts where none is stated.
    Raises `InputError` if no mark is of a student there.
    """
    is_worksheet = export.kind == "worksheet"
    chosen = "Grade" if is_worksheet else _assignment(export, column)
    pairs, unmatched = _matched(export, marks)
    full = full_points(rubric)
    possible = [row for row in export.rows if CANVAS_READ_ONLY in _cell(row, "Student")]
    stated = _maximum(possible[0], chosen) if possible else None
    result = Filled(f"{export.kind}.csv", "", unmatched)
    result.new_column = "" if chosen in export.header else chosen
    lines = [{**row, chosen: f"{stated or maximum or full:g}"} for row in possible[:1]]
    for number, row in enumerate(export.rows):
        mark, student = pairs.get(number, (None, None))
        if mark is None:
            if export.is_student(row):
                result.without.append(_name(row))
                lines += [row] * is_worksheet
            continue
        if is_worksheet:
            stated = _maximum(row, "Maximum Grade")
        extra = placement.get(mark.submission.name, 0.0)
        points = mark.final(extra, student)
        total = f"{points * (stated or maximum or full) / full:.2f}"
        result.unscaled |= not (stated or maximum or possible)
        if mark.incomplete:
            result.withheld.append(mark.submission.name)
            total = _cell(row, chosen)
        note = remark(mark, student, extra) or _cell(row, COMMENTS)
        lines.append({**row, chosen: total, COMMENTS: note})
    known = CANVAS if export.kind == "canvas" else (*MOODLE_NAMES, *MOODLE_IDS)
    identifying = [name for name in export.header if name in known]  # no other assignments
    columns = export.header if is_worksheet else [*identifying, chosen]
    result.text = _csv_text(columns, lines)
    return result


def _csv_text(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Return a CSV file with these columns of the lines."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _assignment(export: Export, column: str | None) -> str:
    """Return the column of the assignment; a new one where the export has no assignment.

    Canvas writes its number after the title, and Moodle the kind of grade.
    """
    if column in export.header:
        return column
    titles = {name: held[1] for name in export.header if (held := ASSIGNMENT.fullmatch(name))}
    if column is None:
        found = [name for name in export.header if name.lower().startswith(TITLE.lower())]
    else:
        found = [name for name, title in titles.items() if title.lower() == column.lower()]
    if len(found) == 1:
        return found[0]
    wanted = column or TITLE
    if found or titles:
        several = "several columns" if found else "no column"
        shown = ", ".join(map(repr, found or titles))
        raise InputError(
            f"{export.path}: {several} {wanted!r}; --gradebook-column names one of {shown}"
        )
    if column is None or export.kind == "canvas":
        return wanted
    raise InputError(f"{export.path}: no column {column!r}; there are {', '.join(export.header)}")


def _cell(row: Row, column: str) -> str:
    """Return a cell without blanks around it, empty if there is no such column."""
    return row.get(column, "").strip()


def _maximum(row: Row, column: str) -> float | None:
    """Return the maximum that a cell states; None for `(read only)`, 0 and an empty one."""
    text = _cell(row, column).replace(",", ".")
    return float(text) or None if re.fullmatch(r"\d+(\.\d+)?", text) else None


def _name(row: Row) -> str:
    """Return the name of a student in an export, or what stands in its place."""
    parts = [_cell(row, column) for column in ("Student", "Full name", *MOODLE_NAMES)]
    return " ".join(filter(None, parts)) or next(filter(None, row.values()), "")


def _matched(export: Export, marks: Sequence[Mark]) -> tuple[dict[int, Owner], list[str]]:
    """Return the mark and the student of each line, and who cannot be told from the export.

    Raises `InputError` if no mark has a line.
    """
    lines = {number: _keys(row) for number, row in enumerate(export.rows) if export.is_student(row)}
    owners = [(mark, student) for mark in marks for student in mark.students]
    wanted = [
        keys_of_members(
            [student, *mark.submission.members, Member(mark.submission.name)]
            if len(mark.students) == 1
            else [student]
        )
        for mark, student in owners
    ]
    pairs = list(zip(match(wanted, lines), owners, strict=True))
    found = {place: owner for place, owner in pairs if place is not None}
    unmatched = [student.name for place, (_, student) in pairs if place is None]
    if not found:
        raise nobody(export.path, unmatched, [_name(export.rows[n]) for n in lines])
    return found, unmatched


def _keys(row: Row) -> Keys:
    """Return what a line of an export may be found by."""
    exact = {_cell(row, column) for column in EXACT}
    participant = PARTICIPANT.fullmatch(_cell(row, "Identifier"))
    if participant:  # `Participant 4711`; the folder of the hand-in has the number
        exact.add(participant[1])
    return keys_of(exact, [_name(row)])
