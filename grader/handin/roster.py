"""The roster of a class: a CSV file with a line for each student, and who handed in what.

A student is found in a line by number or login, else by e-mail address, else by a name that only
one line has. Nobody is guessed. The gradebooks of `output.exports` are read and matched alike.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

from connect4.errors import InputError, printable
from grader.handin.find import told_apart
from grader.handin.layouts import CANVAS
from grader.handin.submission import Member, Submission

COLUMNS: Final = {
    **{"name": "name", "fullname": "name", "id": "identity", "idnumber": "identity"},
    **{"email": "email", "emailaddress": "email", "submitted": "submitted"},
    **{"section": "section", "group": "group", "extension": "extension"},
    **{"adjust": "adjust", "reason": "reason"},
}
"""The columns of a roster by the letters of their titles."""

DATES: Final = (
    *("%d.%m.%Y", "%d-%m-%Y"),
    *("%A, %d %B %Y,", "%A, %B %d, %Y,"),  # Moodle's
)
SLASHES: Final = ("%d/%m/%Y", "%m/%d/%Y")
TIMES: Final = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")

ABSENT: Final = "nothing was handed in"

Keys: TypeAlias = tuple[set[str], ...]
"""Numbers and logins, e-mail addresses, words of names, letters of names."""


@dataclass(frozen=True, slots=True)
class Student:
    """A student, with what the roster says."""

    member: Member
    section: str = ""
    group: str = ""
    extension: float = 0.0
    """In days."""
    adjust: float = 0.0
    reason: str = ""
    known_as: Member | None = None
    """The student in the hand-in; None if somebody else of the group handed in, or nobody did."""

    def keys(self, submission: str) -> Keys:
        """Return what the student may be found by; `submission` is the name of the hand-in."""
        keys = keys_of_member(self.member, "")
        if self.known_as is None:
            return keys
        return tuple(map(set.union, keys, keys_of_member(self.known_as, submission)))


@dataclass(frozen=True, slots=True)
class Roster:
    """The students of a class, and those of whom a grading worksheet of Moodle has the time."""

    students: tuple[Student, ...] = ()
    times: tuple[Student, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the roster as plain values."""
        return asdict(self)


def from_json(values: Mapping[str, Any]) -> Roster:
    """Return the roster of plain values."""
    return Roster(
        *(
            tuple(Student(**{**one, "member": Member(**one["member"])}) for one in values[name])
            for name in ("students", "times")
        )
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
    """Return the students of a roster, and its columns that are not used.

    Raises `InputError` if it is no roster, or if a number or a time in it is not readable.
    """
    header, rows = read_csv(path)
    used = [COLUMNS.get(re.sub(r"\(.*\)|[^a-z]", "", title.casefold()), "") for title in header]
    if not {"name", "identity", "email"} & set(used):
        raise InputError(
            f"{path}: expected a roster with a column name, id or e-mail, and perhaps section, "
            f"group, extension, submitted, adjust, reason; there are {', '.join(header) or 'none'}"
        )
    lines: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, 2):
        if any(map(str.strip, row)):
            cells = (printable(" ".join(text.split())) for text in row)
            lines[f"{path}: line {number}"] = dict(zip(used, cells, strict=False))
    times = read_times({where: line.get("submitted", "") for where, line in lines.items()})
    entries = tuple(_student(line, times[where], where) for where, line in lines.items())
    if not entries:
        raise InputError(f"{path}: no student in this roster")
    return entries, [title for title, name in zip(header, used, strict=True) if title and not name]


def _student(line: Mapping[str, str], time: str, where: str) -> Student:
    identity, email = line.get("identity", ""), line.get("email", "")
    name = line.get("name", "") or identity or email
    if not name:
        raise InputError(f"{where}: expected a name, an id or an e-mail address")
    extension, adjust = (_number(line.get(key, ""), key, where) for key in ("extension", "adjust"))
    if extension < 0:
        raise InputError(f"{where}: extension {extension:g}: expected days from 0")
    section, group, reason = (line.get(key, "") for key in ("section", "group", "reason"))
    return Student(Member(name, identity, email, time), section, group, extension, adjust, reason)


def _number(text: str, column: str, where: str) -> float:
    """Return the number in a cell, 0 for an empty one; a comma may stand before the decimals."""
    try:
        value = float(text.replace(",", ".") or 0)
        if math.isfinite(value):
            return value
    except ValueError:
        pass
    raise InputError(f"{where}: {column} {text!r}: expected a number")


def read_times(cells: Mapping[str, str]) -> dict[str, str]:
    """Return the times of a column in ISO 8601, by their places; an empty cell stays empty.

    `1/2/2030` is read by what fits the whole column. Raises `InputError` if nothing does.
    """
    read = [{where: _time(text, order) for where, text in cells.items()} for order in SLASHES]
    for where, text in cells.items():
        if all(times[where] is None for times in read):
            raise InputError(f"{where}: {text!r}: expected a time such as 2030-01-31 23:59")
    fitting = [times for times in read if None not in times.values()]
    if len(fitting) == 2 and fitting[0] == fitting[1]:
        fitting.pop()
    if len(fitting) != 1:
        where = next(where for where in cells if read[0][where] != read[1][where])
        raise InputError(
            f"{where}: {cells[where]!r}: day or month first? write it as 2030-01-31 23:59"
        )
    return {where: str(time) for where, time in fitting[0].items()}


def _time(text: str, slashes: str) -> str | None:
    """Return a time in ISO 8601, None if it is none; `slashes` is the order of `1/2/2030`."""
    text = " ".join(text.split())  # Moodle may write narrow spaces
    if text in ("", "-"):
        return ""
    for date, time in product((*DATES, slashes), TIMES):
        try:
            return datetime.strptime(text, f"{date} {time}").isoformat()
        except ValueError:
            pass
    try:
        return datetime.fromisoformat(text).isoformat() if ":" in text else None
    except ValueError:
        return None


def keys_of(numbers: Iterable[str], mails: Iterable[str], names: Iterable[str]) -> Keys:
    """Return what a student may be found by, in both orders of the names."""
    letters = set()
    for name in names:
        first, _, last = name.rpartition("," if "," in name else " ")
        letters |= {"".join(words(first + last)), "".join(words(last + first))}
    return (
        {text for text in numbers if text},
        {text.casefold() for text in mails if "@" in text},
        {" ".join(sorted(set(words(name)))) for name in names if name},
        letters - {""},
    )


def keys_of_member(member: Member, submission: str) -> Keys:
    """Return what the author of a submission may be found by.

    A name may be written as Canvas does in the names of files: `leeann` for `Lee, Ann`.
    """
    named = [text for text in (member.identity, member.name, submission) if text]
    files = list(filter(None, map(CANVAS.fullmatch, named)))
    numbers = [*named, *(file["id"] for file in files)]
    names = [member.name, submission, *(file["name"] for file in files)]
    return keys_of(numbers, (member.email, member.identity), names)


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
    """Return the line of a student: by number, by e-mail address, by name; None if unclear."""
    for kind, own in enumerate(wanted):
        fitting = [number for number, keys in lines.items() if own & keys[kind]]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def nobody(path: Path, here: Sequence[str], there: Sequence[str]) -> InputError:
    """Return the error for a class of which nobody is in a file."""
    return InputError(
        f"{path}: nobody here ({', '.join([*here[:1], '...'])}) is one of its {len(there)} "
        f"students ({', '.join([*there[:1], '...'])}); a hand-in is found by number, login, "
        "e-mail address or name"
    )


Team: TypeAlias = list[tuple[Student, Member | None]]
"""The students of a submission, each with the member of the hand-in, if any."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The students of each submission, by its name."""

    submissions: list[Submission]
    """All hand-ins, then one with a problem for each student who handed nothing in."""
    students: dict[str, tuple[Student, ...]]
    unknown: list[str]
    """Who handed in and is not in the roster."""


def assign(found: Sequence[Submission], roster: Roster) -> Assigned:
    """Return the students of each submission; a group shares that of one of its members.

    Of a single submission, which is no class, nobody is missed.
    """
    people = [(item, own) for item in found for own in item.members or (Member(item.name),)]
    wanted = [keys_of_member(own, item.name) for item, own in people]
    places, times = (match(wanted, _lines(listed)) for listed in (roster.students, roster.times))
    teams: dict[str, Team] = {item.name: [] for item in found}
    groups: dict[str, set[str]] = {}
    for (item, own), place, time in zip(people, places, times, strict=True):
        known = own.submitted or ("" if time is None else roster.times[time].member.submitted)
        student = Student(Member(own.name)) if place is None else roster.students[place]
        teams[item.name].append((student, replace(own, submitted=known)))
        groups.setdefault(student.group, set()).add(item.name)
    left = [student for place, student in enumerate(roster.students) if place not in places]
    absent: list[tuple[Student, Submission]] = []
    for student in left:
        shared = sorted(groups.get(student.group, ())) if student.group else []
        if len(shared) == 1:
            teams[shared[0]].append((student, None))
        elif len(found) > 1:
            name, several = student.member.name, f"; group {student.group}: {', '.join(shared)}"
            why = ABSENT + several * bool(shared)
            absent.append((student, Submission(name, name, problem=why, members=(student.member,))))
    everybody = told_apart([*found, *(submission for _, submission in absent)])
    teams |= {
        submission.name: [(student, None)]
        for (student, _), submission in zip(absent, everybody[len(found) :], strict=True)
    }
    unknown = [own.name for (_, own), place in zip(people, places, strict=True) if place is None]
    return Assigned(
        everybody,
        {name: _merged(team) for name, team in teams.items()},
        unknown if roster.students else [],
    )


def _lines(entries: Sequence[Student]) -> dict[int, Keys]:
    return {
        number: keys_of([one.member.identity], [one.member.email], [one.member.name])
        for number, one in enumerate(entries)
    }


def _merged(team: Team) -> tuple[Student, ...]:
    """Return the students of a submission; a time in the roster counts before any other."""
    given = any(student.member.submitted for student, _ in team)
    students = []
    for student, own in team:
        member = student.member
        if own is not None:
            member = Member(
                member.name,
                member.identity or own.identity,
                member.email or own.email,
                member.submitted if given else own.submitted,
            )
        students.append(replace(student, member=member, known_as=own))
    return tuple(students)
