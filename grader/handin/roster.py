"""The roster of a class: a CSV file with a line for each student, and who handed in what.

A grading worksheet of Moodle is a roster too. `owners` finds who handed in what.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError, printable
from grader.handin.people import Person, keys, keys_from_json

TITLES: Final = {
    **{"id": "identity", "idnumber": "identity", "fullname": "name", "emailaddress": "email"},
    "lastmodifiedsubmission": "submitted",
}
"""The titles of columns, as letters, that differ from the fields of a student."""

FIELDS: Final = (
    *("name", "identity", "identifier", "email", "submitted"),
    *("section", "group", "extension", "adjust", "reason"),
)
"""`identifier` is the participant in a grading worksheet of Moodle."""

DATES: Final = ("%d.%m.%Y", "%d-%m-%Y", "%A, %d %B %Y,", "%A, %B %d, %Y,")
SLASHES: Final = ("%d/%m/%Y", "%m/%d/%Y")
TIMES: Final = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")


class Change(StrEnum):
    """The kinds of corrections of a mark."""

    ADJUST = "adjust"
    """Points that are added."""
    PERCENT = "percent"
    """The share of the points that is added, in percent: -20 takes a fifth off."""
    MARK = "mark"
    """The mark itself, whatever the games say."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of one student's mark by the teacher."""

    kind: Change
    amount: float
    reason: str = ""
    day: str = ""
    """The day on which it was entered, as 2030-01-31."""

    def __str__(self) -> str:
        """Return the correction in words."""
        text = {
            Change.ADJUST: f"corrected by {self.amount:+g}",
            Change.PERCENT: f"corrected by {self.amount:+g} %",
            Change.MARK: f"set to {self.amount:g}",
        }[self.kind]
        return f"{text}: {self.reason}" if self.reason else text


@dataclass(frozen=True, slots=True)
class Student(Person):
    """A student, with what the roster says."""

    section: str = ""
    group: str = ""
    extension: float = 0.0
    """In days."""
    hand_in: str = ""
    """The file or folder of the hand-in, if the roster names it."""
    corrections: tuple[Correction, ...] = ()

    @staticmethod
    def from_json(held: Mapping[str, Any]) -> Student:
        """Return the student of `to_json`."""
        changes = (
            Correction(**{**one, "kind": Change(one["kind"])}) for one in held["corrections"]
        )
        return Student(
            **{**held, "keys": keys_from_json(held["keys"]), "corrections": tuple(changes)}
        )


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the lines of a CSV file as spreadsheets save it."""
    try:
        text = _decoded(path.read_bytes())
        separator = max(",;\t", key=text.partition("\n")[0].count)
        rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except csv.Error as error:
        raise InputError(f"{path}: no readable CSV ({error})") from None
    except UnicodeError:
        raise InputError(f"{path}: cannot be read; save it as CSV in UTF-8") from None
    return [name.strip() for name in rows[0]] if rows else [], rows[1:]


def _decoded(data: bytes) -> str:
    """Return the text of a CSV file: UTF-8, UTF-16 with its mark, else what Windows writes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")


def read(path: Path) -> tuple[tuple[Student, ...], list[str]]:
    """Return the students of a roster, and the titles of its columns that are not used.

    Raises `InputError` if it is no roster, or if a number or a time in it is not readable.
    """
    header, rows = read_csv(path)
    letters = [re.sub(r"\(days\)|[^a-z]", "", title.casefold()) for title in header]
    fields = [TITLES.get(title, title) for title in letters]
    if not {"name", "identity", "identifier", "email"} & set(fields):
        raise InputError(
            f"{path}: expected a roster with a column name, id or e-mail, and perhaps section, "
            f"group, extension, submitted, adjust, reason; there are {', '.join(header) or 'none'}"
        )
    lines: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, 2):
        cells = [" ".join(text.split()) for text in row]
        if any(cells):
            lines[f"{path}: line {number}"] = dict(zip(fields, cells, strict=False))
    times = read_times({where: line.get("submitted", "") for where, line in lines.items()})
    students = tuple(_student(line, times[where], where) for where, line in lines.items())
    if not students:
        raise InputError(f"{path}: no student in this roster")
    unused = (title for title, name in zip(header, fields, strict=True) if name not in FIELDS)
    return students, list(filter(None, unused))


def _student(line: Mapping[str, str], time: str, where: str) -> Student:
    cells = ("name", "identity", "email", "section", "group", "reason")
    name, identity, email, section, group, reason = (printable(line.get(key, "")) for key in cells)
    identity = identity or re.sub(r"\D", "", line.get("identifier", ""))
    name = name or identity or email
    if not name:
        raise InputError(f"{where}: expected a name, an id or an e-mail address")
    extension, adjust = (_number(line.get(key, ""), key, where) for key in ("extension", "adjust"))
    if extension < 0:
        raise InputError(f"{where}: extension {extension:g}: expected days from 0")
    found = (Correction(Change.ADJUST, adjust, reason),) if adjust else ()
    known = keys(number=identity, email=email)
    return Student(name, known, time, section, group, extension, corrections=found)


def _number(text: str, column: str, where: str) -> float:
    """Return the number in a cell, 0 for an empty one; a comma may stand before the decimals."""
    value = math.nan
    with suppress(ValueError):
        value = float(text.replace(",", ".") or 0)
    if not math.isfinite(value):
        raise InputError(f"{where}: {column} {text!r}: expected a number")
    return value


def read_times(cells: Mapping[str, str]) -> dict[str, str]:
    """Return the times of a column in ISO 8601, by their places; an empty cell stays empty.

    Whether `1/2/2030` begins with the day follows from the whole column. Raises `InputError` if a
    time is not readable or not clear.
    """
    read = [{where: _time(text, order) for where, text in cells.items()} for order in SLASHES]
    fitting = [times for times in read if None not in times.values()]
    if not fitting or fitting[0] != fitting[-1]:
        unclear = (where for where in cells if None in (read[0][where], read[1][where]))
        where = next(unclear, "") or next(w for w in cells if read[0][w] != read[1][w])
        what = f"expected a time such as 2030-01-31 23:59, which is clear, not {cells[where]!r}"
        raise InputError(f"{where}: {what}")
    return {where: str(time) for where, time in fitting[0].items()}


def _time(text: str, slashes: str) -> str | None:
    """Return a time in ISO 8601, None if it is none; `slashes` is the order of `1/2/2030`."""
    if text in ("", "-"):
        return ""
    for date, time in product((*DATES, slashes), TIMES):
        with suppress(ValueError):
            return datetime.strptime(text, f"{date} {time}").isoformat()
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat() if ":" in text else None
    return None
