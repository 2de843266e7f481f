"""The roster of a class: a CSV file with a line for each student.

A grading worksheet of Moodle and the exports of Canvas, Brightspace and Blackboard are rosters too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError, printable
from grader.handin.lists import KEYS, Line, Table, read_csv, read_number
from grader.handin.people import Key, Kind, Person, keys_from_json, words

DATES: Final = ("%d.%m.%Y", "%d-%m-%Y")
SLASHES: Final = ("%d/%m/%Y", "%m/%d/%Y")
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

WRITTEN: Final = re.compile(
    r"(?:[a-z]+ )?(?:(?P<day>\d\d?) (?P<month>[a-z]+)|(?P<first>[a-z]+) (?P<next>\d\d?)) "
    r"(?P<year>\d{4}) (?P<time>\d\d? \d\d(?: \d\d)?)(?: (?P<half>[ap]) ?m)?"
)
"""The words of a time such as `Monday, 7 January 2030, 10:00 AM`; the weekday is not needed."""


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
        text = f"{text}: {self.reason}" if self.reason else text
        return f"{text} ({self.day})" if self.day else text


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


def read(path: Path) -> tuple[tuple[Student, ...], list[str]]:
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
    _refuse_twice(table, people)
    times = read_times({table.where(line): table.text(line, "submitted") for line, _ in people})
    marks = {field: table.mark(table.places(field)) for field in NUMBERS}
    students = tuple(_student(table, *one, times[table.where(one[0])], marks) for one in people)
    unused = (title for title, field in zip(table.titles, table.fields, strict=True) if not field)
    return students, list(filter(None, unused))


NUMBERS: Final = ("extension", *Change)

KEY_NAMES: Final = {
    **{Kind.EMAIL: "e-mail address", Kind.CANVAS: "Canvas ID"},
    **{Kind.MOODLE: "participant", Kind.GRADESCOPE: "SID"},
}


def _refuse_twice(table: Table, people: Sequence[tuple[Line, Person]]) -> None:
    """Raise `InputError` if two lines have the same key."""
    first: dict[Key, Line] = {}
    for line, person in people:
        for kind, text in person.keys:
            other = first.setdefault((kind, text.casefold()), line)
            if other is not line:
                what = f"the same {KEY_NAMES.get(kind, kind)} {text!r} as line {other.number}"
                raise InputError(f"{table.where(line)}: {what}; a student has one line")


def _student(
    table: Table, line: Line, person: Person, time: str, marks: Mapping[str, str | None]
) -> Student:
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
                what = "expected a number, such as 2.5 or 1000"
                raise InputError(f"{where}: {field} {text!r}: {what}")
            found[field] = amount
    extension = found.pop("extension", 0.0)
    if extension < 0:
        raise InputError(f"{where}: extension {extension:g}: expected days from 0")
    if found.get(Change.MARK, 0.0) < 0:
        raise InputError(f"{where}: mark {found[Change.MARK]:g}: expected points from 0")
    corrections = tuple(
        Correction(Change(kind), amount, reason)
        for kind, amount in found.items()
        if amount or kind == Change.MARK
    )
    known = (person.name, person.keys, time)
    return Student(*known, section, group, extension, hand_in, corrections)


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
    numbers = _in_numbers(text)
    for date, time in product((*DATES, slashes), TIMES):
        with suppress(ValueError):
            return datetime.strptime(numbers, f"{date} {time}").isoformat()
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat() if ":" in text else None
    return None


def _in_numbers(text: str) -> str:
    """Return a time whose month is a word as `7.1.2030 10:00 AM`, any other text as it is."""
    found = WRITTEN.fullmatch(" ".join(word for word in words(text) if word != "de"))
    month = MONTHS.get(found["month"] or found["first"]) if found else None
    if found is None or month is None:
        return text
    half = f" {found['half']}m" if found["half"] else ""
    day = f"{found['day'] or found['next']}.{month}.{found['year']}"
    return f"{day} {found['time'].replace(' ', ':')}{half}"
