"""The roster of a class: a CSV file with a line for each student, and who handed in what.

A student is found in a line by number, login or e-mail address, else by a name that only one line
has. Nobody is guessed. A grading worksheet of Moodle is a roster too. The gradebooks of
`output.exports` are read and matched alike.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Final, TypeAlias

from connect4.errors import InputError, printable
from grader.handin.find import CANVAS, told_apart
from grader.handin.submission import Member, Submission

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

ABSENT: Final = "nothing was handed in"

Keys: TypeAlias = tuple[set[str], set[str]]
"""Numbers, logins and e-mail addresses; the letters of names."""


@dataclass(frozen=True, slots=True)
class Student(Member):
    """A student, with what the roster says."""

    section: str = ""
    group: str = ""
    extension: float = 0.0
    """In days."""
    adjust: float = 0.0
    reason: str = ""


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
    keys = ("name", "identity", "email", "section", "group", "reason")
    name, identity, email, section, group, reason = (printable(line.get(key, "")) for key in keys)
    identity = identity or re.sub(r"\D", "", line.get("identifier", ""))
    name = name or identity or email
    if not name:
        raise InputError(f"{where}: expected a name, an id or an e-mail address")
    extension, adjust = (_number(line.get(key, ""), key, where) for key in ("extension", "adjust"))
    if extension < 0:
        raise InputError(f"{where}: extension {extension:g}: expected days from 0")
    return Student(name, identity, email, time, section, group, extension, adjust, reason)


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


def keys_of(exact: Iterable[str], names: Iterable[str]) -> Keys:
    """Return what a student may be found by; the words of a name may begin with any of them."""
    rotated: set[str] = set()
    for name in names:
        found = words(name)
        rotated |= {"".join(found[place:] + found[:place]) for place in range(len(found))}
    return {text.casefold() for text in exact if text}, rotated


def keys_of_members(people: Iterable[Member]) -> Keys:
    """Return what the author of a hand-in may be found by.

    The name of a file may be a login or a number. Canvas writes `leeann_101_9002_ai.py`.
    """
    names: list[str] = []
    exact: list[str] = []
    for one in people:
        file = CANVAS.fullmatch(one.name)
        names.append(file["name"] if file else one.name)
        exact += [one.name, one.identity, one.email, file["id"] if file else ""]
    return keys_of(exact, names)


def words(name: str) -> list[str]:
    """Return the words of a name without accents and case."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return re.findall(r"[^\W_]+", "".join(c for c in plain if not unicodedata.combining(c)))


def match(wanted: Iterable[Keys], lines: Mapping[int, Keys]) -> list[int | None]:
    """Return the line of each person; None if none or several fit, or if the line is taken."""
    found: list[int | None] = []
    for keys in wanted:
        number = _line_of(lines, keys)
        found.append(None if number in found else number)
    return found


def _line_of(lines: Mapping[int, Keys], wanted: Keys) -> int | None:
    """Return the line of a student, None if unclear; a number counts before a name."""
    for kind, own in enumerate(wanted):
        fitting = [number for number, keys in lines.items() if own & keys[kind]]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def nobody(path: Path, here: Sequence[str], there: Sequence[str]) -> InputError:
    """Return the error for a class of which nobody is in a file."""
    return InputError(
        f"{path}: nobody here ({'; '.join([*here[:1], '...'])}) is one of its {len(there)} "
        f"students ({'; '.join([*there[:1], '...'])}); a hand-in is found by number, login, "
        "e-mail address or name"
    )


@dataclass(frozen=True, slots=True)
class Assigned:
    """The students of each submission, by its name."""

    submissions: list[Submission]
    """All hand-ins, then one with a problem for each student who handed nothing in."""
    students: dict[str, list[Student]]
    unknown: list[str]
    """Who handed in and is not in the roster."""


def assign(found: Sequence[Submission], roster: Sequence[Student]) -> Assigned:
    """Return the students of each submission; a group shares that of a member or of its own name.

    Of a single submission, which is no class, nobody is missed.
    """
    people = [(item, own) for item in found for own in item.members or (Member(item.name),)]
    wanted = [keys_of_members([own, Member(item.name)]) for item, own in people]
    lines = {
        number: keys_of([one.identity, one.email], [one.name]) for number, one in enumerate(roster)
    }
    places = match(wanted, lines)
    students: dict[str, list[Student]] = {item.name: [] for item in found}
    groups = {_letters(one.group): set[str]() for one in roster if one.group}
    unknown = []
    for (item, own), place in zip(people, places, strict=True):
        group = _letters(own.name if place is None else roster[place].group)
        groups.get(group, set()).add(item.name)
        if place is None and group in groups:
            continue
        unknown += [own.name] if place is None and roster else []
        student = Student(own.name) if place is None else roster[place]
        students[item.name].append(
            replace(
                student,
                identity=student.identity or own.identity,
                email=student.email or own.email,
                submitted=student.submitted or own.submitted,
            )
        )
    everybody = [*found]
    for student in (one for place, one in enumerate(roster) if place not in places):
        shared = sorted(groups[_letters(student.group)]) if student.group else []
        if len(shared) == 1:
            students[shared[0]].append(student)
        elif len(found) > 1:
            why = f"{ABSENT}; in group {student.group}: {'; '.join(shared)}" if shared else ABSENT
            absent = Submission(student.name, student.name, problem=why, members=(student,))
            everybody = told_apart([*everybody, absent])
            students[everybody[-1].name] = [student]
    return Assigned(everybody, students, unknown)


def _letters(name: str) -> str:
    return "".join(words(name))


def full_names(found: Sequence[Submission], roster: Sequence[Student]) -> dict[str, str]:
    """Return the roster's names of students whose names Canvas wrote as one word, by that word."""
    students = assign(found, roster).students
    taken = {item.name.casefold() for item in found}
    names = {}
    for item in found:
        for student in students[item.name] if len(students[item.name]) == 1 else ():
            word = _letters(item.name) if item.name == item.name.lower() else ""
            is_word = words(item.name) == [word] and word in keys_of([], [student.name])[1]
            if is_word and student.name.casefold() not in taken:
                names[item.name] = student.name
                taken.add(student.name.casefold())
    return names
