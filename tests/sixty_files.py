"""The files of a class of sixty: the download of a platform, the roster, five gradebooks."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tests.grading import zipped
from tests.marked import agent
from tests.sixty import Course, Pupil

NO_SOURCE: Final = b"PK"

Files = dict[str, str | bytes]


def _letters(text: str, more: str = "") -> str:
    """Return a text without what the words of Ruby's `[[:word:]]` do not have."""
    return "".join(c for c in text if c.isalnum() or c in more or unicodedata.category(c)[0] == "M")


def _hand_in(one: Pupil) -> Files:
    if one.role == "broken":
        return {"ai.docx": NO_SOURCE}
    return {"ai.py": one.source, "report.txt": "a report\n"}


def _old(one: Pupil) -> str:
    """Return an older version of a hand-in."""
    return agent(50 - one.margin, "an older version")


def _canvas_files(course: Course, one: Pupil, others: Sequence[Pupil]) -> Files:
    name = one.on_platform
    if not one.shown and one.last:
        name = f"{one.last}, {one.first}"
    begin = _letters(re.sub(r"_(\d+)_", r"\1", name).lower(), "_")
    begin += f"{'_LATE' if one.hours > 0 else ''}_{one.ids['canvas']}_{9000 + 3 * one.place}"
    files = {f"{begin}_{name}": text for name, text in _hand_in(one).items()}
    if one.role == "again":
        files[f"{begin}9_ai-1.py"] = files.pop(f"{begin}_ai.py")
        files[f"{begin}_ai.py"] = _old(one)
    return files


def _moodle_files(course: Course, one: Pupil, others: Sequence[Pupil]) -> Files:
    name = re.sub("[&<>\"`|':\\\\/]", "", one.on_platform.replace("_", " "))
    slash = "/" if course.seed % 2 else ""
    begin = f"{name}_{one.ids['moodle']}_assignsubmission_file_{slash}"
    return {f"{begin}{name}": text for name, text in _hand_in(one).items()}


def _gradescope_files(course: Course, one: Pupil, others: Sequence[Pupil]) -> Files:
    folder = f"submission_{7000 + one.place}"
    lines = f"{folder}:\n  :submitters:\n"
    for person in (one, *others):
        name = person.on_platform
        if re.search(r"^\W|: |#", name):
            name = "'{}'".format(name.replace("'", "''"))
        lines += f"  - :name: {name}\n    :sid: '{person.ids['number']}'\n"
        lines += f"    :email: {person.ids['email'].lower()}\n"
    lines += f"  :created_at: {one.time:%Y-%m-%d %H:%M:%S}.123 Z\n  :score: 3.0\n"
    files = {f"{folder}/{name}": text for name, text in _hand_in(one).items()}
    return {f"yml {folder}": lines, **files}


def _brightspace_files(course: Course, one: Pupil, others: Sequence[Pupil]) -> Files:
    name = re.sub(r'[\\/:*?"<>|]', "", one.on_platform)
    times = [one.time, *([one.time - timedelta(days=1)] if one.role == "again" else [])]
    files: Files = {}
    for number, time in enumerate(times):
        stamp = f"{time:%b} {time.day}, {time.year} {time:%I%M %p}".replace(" 0", " ")
        for file, text in _hand_in(one).items():
            is_old = number and file == "ai.py"
            files[f"{one.ids['org']}-815 - {name} - {stamp} - {file}"] = (
                _old(one) if is_old else text
            )
    return files


def _blackboard_files(course: Course, one: Pupil, others: Sequence[Pupil]) -> Files:
    login = one.ids["login"]
    times = [one.time, *([one.time - timedelta(days=1)] if one.role == "again" else [])]
    files: Files = {}
    for number, time in enumerate(times):
        begin = f"Home_work_{login}_attempt_{time:%Y-%m-%d-%H-%M-%S}"
        files[f"{begin}.txt"] = f"Name: {one.on_platform} ({login})\nAssignment: Home work\n"
        for file, text in _hand_in(one).items():
            is_old = number and file == "ai.py"
            files[f"{begin}_{file}"] = _old(one) if is_old else text
    return files


def _folder_files(course: Course, one: Pupil, others: Sequence[Pupil]) -> Files:
    return {f"{course.title(one)}/{file}": text for file, text in _hand_in(one).items()}


PACKED: Final[Mapping[str, Callable[..., dict[str, str | bytes]]]] = {
    "canvas": _canvas_files,
    "moodle": _moodle_files,
    "gradescope": _gradescope_files,
    "brightspace": _brightspace_files,
    "blackboard": _blackboard_files,
    "folder": _folder_files,
}


# lists


@dataclass(frozen=True)
class _Style:
    """How a list writes names."""

    draw: float
    list: str
    is_loud: bool
    is_german: bool
    """Whether letters become two letters, where they lose their accents in other classes. A name
    that two lists have changed in both ways is not the same any more."""

    def halves(self, first: str, last: str) -> tuple[str, str]:
        """Return both halves of a name in the letters of this list."""
        return self.written(first), self.written(last.upper() if self.is_loud else last)

    def written(self, text: str) -> str:
        if self.draw < 0.3 and self.is_german:
            for letter, two in (("ö", "oe"), ("ü", "ue"), ("ä", "ae"), ("ß", "ss")):
                text = text.replace(letter, two)
        elif self.draw < 0.3:
            text = "".join(c for c in unicodedata.normalize("NFD", text) if not _is_accent(c))
            text = text.translate(str.maketrans("łøđı", "lodi"))
        elif self.draw < 0.5:
            text = unicodedata.normalize("NFD", text)
        elif self.draw < 0.7:
            text = text.replace("'", "\u2019").replace(" ", "\u00a0 ")
        return text

    def full(self, first: str, last: str) -> str:
        """Return a name as one cell, with the last name first in most lists."""
        one, two = self.halves(first, last)
        if not two or self.list == "worksheet" or (self.list == "roster" and self.draw > 0.5):
            return f"{one} {two}".strip()
        return f"{two}, {one}"


def _is_accent(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn" and letter < "\u0400"


def _halves(course: Course, one: Pupil, name: str) -> tuple[str, str]:
    """Return the halves of what a list calls a pupil."""
    shown = course.line_name(one, name)
    return (one.first, one.last) if shown == one.name else ("", shown)


def _full(course: Course, one: Pupil, style: _Style) -> str:
    first, last = _halves(course, one, style.list)
    return style.full(first, last) if first else style.written(last)


def _roster(course: Course, lines: Sequence[Pupil], style: _Style) -> list[list[str]]:
    titles = {"number": "Matrikelnummer", "login": "Username", "email": "E-Mail"}
    titles = {**titles, "canvas": "Canvas ID"}
    kinds = [kind for kind in titles if kind in course.columns["roster"]]
    split = course.seed % 2
    rows = [[*(["Vorname", "Nachname"] if split else ["Name"]), *(titles[kind] for kind in kinds)]]
    rows[0] += ["Section", "Group", "Submitted", "Extension", "Adjust", "Percent", "Mark"]
    rows[0] += ["Reason", "hand_in"]
    for one in lines:
        names = style.halves(one.first, one.last) if split else [style.full(one.first, one.last)]
        is_timed = (one.hours > 0 or one.group == "Larks") and one.handed_in
        row = [*names, *(course.id_in(one, "roster", kind) for kind in kinds), f"tag {one.place}"]
        row += [one.group, f"{one.time:%d.%m.%Y %H:%M}" if is_timed else ""]
        row += [str(one.extension or ""), one.adjust, one.percent, one.mark]
        row.append("a reason" if one.adjust or one.percent or one.mark else "")
        rows.append([*row, course.named.get(one.place, "")])
    return rows


def _before(one: Pupil) -> str:
    """Return what stood in the cell of the grade before."""
    return "7.25" if one.place % 9 == 0 else ""


def _canvas(course: Course, lines: Sequence[Pupil], style: _Style) -> list[list[str]]:
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Essay (1)", "Connect-4 (2)"]
    ]
    rows.append(["    Points Possible", "", "", "", "", "10", "100"])
    kind = "email" if "email" in course.columns["canvas"] else "login"
    for one in lines:
        ids = [course.id_in(one, "canvas", name) for name in ("canvas", "number", kind)]
        rows.append([_full(course, one, style), *ids, "1", "9", _before(one)])
    return [*rows, ["Student, Test", "999", "", "x", "1", "", ""]]


def _moodle(course: Course, lines: Sequence[Pupil], style: _Style) -> list[list[str]]:
    is_numbered = "number" in course.columns["moodle"]
    rows = [["First name", "Last name", *(["ID number"] if is_numbered else []), "Email address"]]
    rows[0] += ["Assignment: Essay (Real)", "Assignment: Connect-4 (Real)"]
    for one in lines:
        kinds = ["number", "email"] if is_numbered else ["email"]
        ids = [course.id_in(one, "moodle", kind) for kind in kinds]
        names = style.halves(*_halves(course, one, "moodle"))
        rows.append([*names, *ids, "9", _before(one)])
    return rows


def _worksheet(course: Course, lines: Sequence[Pupil], style: _Style) -> list[list[str]]:
    rows = [["Identifier", "Full name", "Email address", "Grade", "Maximum Grade"]]
    rows[0] += ["Last modified (grade)", "Feedback comments"]
    for one in lines:
        ids = f"Participant {one.ids['moodle']}", course.id_in(one, "worksheet", "email")
        rows.append([ids[0], _full(course, one, style), ids[1], _before(one), "50", "-", ""])
    return rows


def _brightspace(course: Course, lines: Sequence[Pupil], style: _Style) -> list[list[str]]:
    rows = [["OrgDefinedId", "Username", "Last Name", "First Name"]]
    rows[0] += ["Connect-4 Points Grade <Numeric MaxPoints:25>", "End-of-Line Indicator"]
    for one in lines:
        ids = [f"#{course.id_in(one, 'brightspace', kind)}" for kind in ("number", "login")]
        names = style.halves(one.first, one.last)
        rows.append([*ids, *reversed(names), _before(one), "#"])
    return rows


def _blackboard(course: Course, lines: Sequence[Pupil], style: _Style) -> list[list[str]]:
    rows = [["Last Name", "First Name", "Username", "Student ID", "Last Access"]]
    rows[0] += ["Connect-4 [Total Pts: 10 Score] |77"]
    for one in lines:
        ids = [course.id_in(one, "blackboard", kind) for kind in ("login", "number")]
        names = style.halves(one.first, one.last)
        rows.append([*reversed(names), *ids, "2030-02-01", _before(one)])
    return rows


def download(course: Course) -> bytes:
    """Return the download of a class as a zip."""
    found: Files = {}
    for one in course.pupils:
        if one.handed_in:
            others = [p for p in course.pupils if p.role == "member" and p.group == one.group]
            found |= PACKED[course.platform](course, one, others if one.group else [])
    if course.platform == "gradescope":
        people = [found.pop(place) for place in list(found) if place.startswith("yml ")]
        found["submission_metadata.yml"] = "---\n" + "".join(map(str, people))
    if course.platform == "brightspace":
        found["index.html"] = "<html></html>"
    return zipped(found)


def name_hand_ins(course: Course) -> None:
    """Let the teacher name in the roster the hand-ins that nobody could find."""
    for one in course.lines["roster"]:
        if one.handed_in and not course.is_clear(one, "roster"):
            files = PACKED[course.platform](course, one, [])
            own = next(path for path, text in files.items() if text in (one.source, NO_SOURCE))
            course.named[one.place] = own.partition("/")[0]


WRITERS: Final[Mapping[str, Callable[[Course, Sequence[Pupil], _Style], list[list[str]]]]] = {
    "roster": _roster,
    "canvas": _canvas,
    "moodle": _moodle,
    "worksheet": _worksheet,
    "brightspace": _brightspace,
    "blackboard": _blackboard,
}


def book(course: Course, name: str) -> bytes:
    """Return one of the lists as a file."""
    rng = course.rng
    style = _Style(rng.random(), name, rng.random() < 0.3, course.seed % 2 == 0)
    separator, encoding = ("\t", "utf-16") if name == "blackboard" else (",", "utf-8-sig")
    if name == "roster":
        ways = [(",", "utf-8-sig"), (";", "utf-8"), ("\t", "utf-16")]
        separator, encoding = rng.choice(ways)
    out = io.StringIO()
    rows = WRITERS[name](course, course.lines[name], style)
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode(encoding)
