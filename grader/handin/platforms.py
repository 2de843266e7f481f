"""The downloads of learning platforms: what their names look like, and whose each entry is.

`PLATFORMS` is the table. The platform is found once for a whole folder or archive (`of`), and its
row alone reads every name. What a student can write, a display name or a file's name, becomes the
name of a person or a file, never a key.

The formats are those of the platforms' own code where it is public (Canvas: `ContentZipper`;
Moodle: `mod/assign`, which leaves no `_` in a display name), else those that several public tools
for these downloads agree on (Gradescope, Brightspace, Blackboard).
"""

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final, TypeAlias

from connect4.errors import InputError, printable
from grader.handin import IN_TIME, LATE, Kind, Person, by_form, keys
from grader.handin.archive import MEGABYTE, Tree


@dataclass(frozen=True, slots=True)
class Entry:
    """What the name of a file or folder in a class's folder says."""

    people: tuple[Person, ...]
    number: str = ""
    """What tells namesakes apart, empty if nothing does."""
    file: str = ""
    """The student's name of one file of the hand-in; empty for what is a whole hand-in."""
    attempt: str = ""
    """The attempt that it belongs to, if the platform names attempts."""
    version: int = 0
    """Of two files of one name in an attempt, the one with the larger number counts."""
    is_text: bool = False
    """Whether it is no file of the student's, but a text that was typed, or a receipt."""

    @property
    def student(self) -> tuple[str, str]:
        """Return what all entries of one student or group share: the name and the number."""
        return " and ".join(person.name for person in self.people), self.number


Names: TypeAlias = Sequence[re.Match[str]]


@dataclass(frozen=True, slots=True)
class Platform:
    """A row of the table."""

    name: str
    pattern: re.Pattern[str]
    """What the name of an entry looks like; its group `who` is the part that says whose it is."""
    read: Callable[[Tree, Names], Sequence[Entry | None]]
    """Returns the entry of each name, in the order of the names; None if it is not clear."""
    index: str = ""
    """The platform's own list of the download, a file in it."""
    needs_index: bool = False
    """Whether the names mean nothing without this list."""

    def entries(self, tree: Tree, tops: Collection[str]) -> dict[str, Entry]:
        """Return the entries by their names, but for names that are none of the platform's."""
        found = [match for top in tops if (match := self.pattern.fullmatch(top))]
        entries = zip(found, self.read(tree, found), strict=True)
        return {match.string: entry for match, entry in entries if entry}


def of(tops: Collection[str], named: Mapping[str, Entry]) -> Platform | None:
    """Return the platform whose download has these names at its top; None if a teacher chose them.

    `named` are the entries of those that would be hand-ins if a teacher had chosen the names. The
    platform is the first of the table whose rule finds more students than the other names are. All
    names in a download fit its platform, whatever the students call themselves and their files; the
    few others are the teacher's. In a folder that a teacher named, one student's odd files are one
    student, so they decide only where nobody else is.
    """
    for platform in PLATFORMS:
        fitting = [match for top in tops if (match := platform.pattern.fullmatch(top))]
        others = named.keys() - {match.string for match in fitting}
        students = {match["who"] for match in fitting}
        has_index = platform.index in tops or not platform.needs_index
        if has_index and len(students) > len({named[top].student for top in others}):
            return platform
    return None


def newest(entries: dict[str, Entry]) -> dict[str, Entry]:
    """Leave out all but each student's newest attempt; keep all if the time of one is unknown."""
    times: dict[tuple[str, str], dict[str, str]] = {}
    for entry in entries.values():
        times.setdefault(entry.student, {})[entry.attempt] = entry.people[0].submitted
    kept = {}
    for top, entry in entries.items():
        attempts = times[entry.student]
        if not all(attempts.values()) or attempts[entry.attempt] == max(attempts.values()):
            kept[top] = entry
    return kept


def _canvas(tree: Tree, names: Names) -> list[Entry | None]:
    """Read names; who has no other file than those that can be read in two ways gets no key.

    `x_101_102_9003_ai.py` is the file `9003_ai.py` of 101, or `ai.py` of 102, who is called
    `x_101`, if 9003 is as long as the numbers of files are. Beside other code of 101 it is left
    out.
    """
    shortest = min((len(own["number"]) for own in names if own["number"]), default=0)
    doubtful = set()
    for own in names:
        numbers = re.match(r"(?:\d+_)*", own["file"] or "")
        longest = max(map(len, numbers[0].split("_"))) if numbers else 0
        if own["file"] in ("text.html", "link.html") or longest >= max(1, shortest):
            doubtful.add(own.string)
    sure = {
        own["who"]
        for own in names
        if own.string not in doubtful and not own.string.lower().endswith((".txt", ".html"))
    }
    entries: list[Entry | None] = []
    for own in names:
        known = keys(canvas=own["id"] if own["who"] in sure else "")
        person = Person(own["name"], known, LATE if own["late"] else IN_TIME)
        file = re.sub(r"-\d+(?=\.[^-]+$)", "", own["file"] or "")  # -1: it is handed in again
        version, is_text = int(own["number"] or 0), own["file"] is None
        left_out = own["who"] in sure and own.string in doubtful
        entries.append(
            None if left_out else Entry((person,), own["id"], file, "", version, is_text)
        )
    return entries


def _moodle(tree: Tree, names: Names) -> list[Entry]:
    entries = []
    for own in names:
        person, is_text = Person(own["name"], keys(moodle=own["id"])), own["kind"] != "file"
        entries.append(Entry((person,), own["id"], own["file"] or "", is_text=is_text))
    return entries


def _gradescope(tree: Tree, names: Names) -> list[Entry]:
    people = gradescope_people(tree)
    entries = []
    for own in names:
        group = tuple(people.get(own.string, [Person(own.string)]))
        numbers = (person.key(Kind.GRADESCOPE, Kind.EMAIL) for person in group)
        entries.append(Entry(group, " and ".join(filter(None, numbers))))
    return entries


def _brightspace(tree: Tree, names: Names) -> list[Entry]:
    entries = []
    for own in names:
        day, half = f"{own['month'] or own['month2']:.3} {own['day'] or own['day2']}", own["half"]
        text = f"{day} {own['year']} {own['hour']}:{own['minute']} {half or ''}".strip()
        submitted = _time(text, "%b %d %Y %I:%M %p" if half else "%b %d %Y %H:%M")
        person = Person(own["name"], submitted=submitted)
        entries.append(Entry((person,), own["id"], own["file"] or "", own["time"]))
    return entries


def _time(text: str, form: str) -> str:
    """Return a time in ISO 8601; empty for the 31st of June, or a month of another language."""
    with suppress(ValueError):
        return datetime.strptime(text, form).isoformat()
    return ""


def _blackboard(tree: Tree, names: Names) -> list[Entry]:
    """Read names that begin with the assignment and the login, each perhaps with a `_`.

    The receipt of an attempt says which the login is; without one, it is what differs.
    """
    words = {own["who"]: own["who"].split("_") for own in names}
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*words.values(), strict=False))
    shared = min(len(list(levels)), *(len(parts) - 1 for parts in words.values()))
    people = {who: ("_".join(parts[shared:]),) * 2 for who, parts in words.items()}
    for own in names:
        receipt = None if own["file"] else RECEIPT.match(_beginning(tree, own.string))
        if receipt and own["who"].endswith(f"_{receipt['login']}"):
            people[own["who"]] = printable(receipt["name"]), receipt["login"]
    entries = []
    for own in names:
        name, login = people[own["who"]]
        known = keys(login="" if " " in login else login)  # a group's name stands there, too
        person = Person(name, known, _time(own["time"], "%Y-%m-%d-%H-%M-%S"))
        file = own["file"]
        entries.append(Entry((person,), login, file or "", own["time"], is_text=file is None))
    return entries


def _beginning(tree: Tree, name: str) -> str:
    """Return the first characters of a file; none if it cannot be read, or if it is a folder."""
    with suppress(InputError, KeyError):
        return tree[name](1000).decode("utf-8-sig", errors="replace")
    return ""


TIME: Final = (
    r"(?:(?P<month>[^\W\d_]+)\.? (?P<day>\d{1,2})|(?P<day2>\d{1,2}) (?P<month2>[^\W\d_]+)\.?),? "
    r"(?P<year>\d{4}) (?P<hour>\d{1,2}?)[.:]?(?P<minute>\d\d)(?: (?P<half>[AaPp][Mm]))?"
)
"""Brightspace's time in a name: `Jan 31, 2030 105 PM`, mostly without a mark after the hour."""

RECEIPT: Final = re.compile(r"Name: *(?P<name>\S.*?) *\((?P<login>[^()\s]+)\) *\r?(?:\n|$)")
"""The first line of what Blackboard writes of an attempt."""

METADATA: Final = "submission_metadata.yml"

PLATFORMS: Final = (
    Platform(
        "Canvas",
        re.compile(
            r"(?P<who>(?P<name>.+?)(?P<late>_(?i:late))?_(?P<id>\d+))_"
            r"(?:(?P<number>\d{1,20})_(?P<file>.+)|(?:text|link)\.html)"
        ),
        _canvas,
    ),
    Platform(
        "Moodle",
        re.compile(
            r"(?P<who>(?P<name>[^_]+)_(?P<id>\d+))_assignsubmission_"
            r"(?P<kind>[a-z]+)(?:_(?P<file>.*))?"
        ),
        _moodle,
    ),
    Platform(
        "Gradescope",
        re.compile(r"(?P<who>submission_\d+)"),
        _gradescope,
        METADATA,
        needs_index=True,
    ),
    Platform(
        "Brightspace",
        re.compile(
            rf"(?P<who>(?P<id>\d+)-\d+ - (?P<name>.+?)) - (?P<time>{TIME})"
            rf"(?: - (?!{re.sub('[?]P<.+?>', '', TIME)}$)(?P<file>.+))?"
        ),
        _brightspace,
        "index.html",
    ),
    Platform(
        "Blackboard",
        re.compile(r"(?P<who>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)"),
        _blackboard,
    ),
)
"""- Canvas: `leeann_LATE_101_9002_ai-1.py`: the name, whether it is late, the student's and the
  file's number, the file with the number of the resubmission; `leeann_101_text.html` for a text;
- Moodle: `Ann Lee_123456_assignsubmission_file_/ai.py`, or without folders
  `Ann Lee_123456_assignsubmission_file_ai.py`: the display name, the number of the participant;
- Gradescope: `submission_123/ai.py`, and who it is in `submission_metadata.yml`;
- Brightspace: `4711-815 - Ann Lee - Jan 31, 2030 1159 PM/ai.py`, or without folders
  `4711-815 - Ann Lee - Jan 31, 2030 1159 PM - ai.py`: the numbers of the student and of the
  assignment, the display name, the time;
- Blackboard: `Homework_alee_attempt_2030-01-31-23-59-00_ai.py`: the assignment, the login, the
  time; for each attempt a receipt, `Homework_alee_attempt_2030-01-31-23-59-00.txt`.
"""


def gradescope_people(tree: Tree) -> dict[str, list[Person]]:
    """Return who handed in each folder that Gradescope's metadata names.

    Of the YAML file only the lines that matter are read, by their indent, because others hold what
    students wrote: 0 for a folder, 2 for its `:created_at:` and its list `:submitters:`, and for
    `:name:`, `:sid:` and `:email:` that of the first of them in the list.
    """
    data = tree[METADATA](50 * MEGABYTE)
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    found: dict[str, list[Person]] = {}
    for block in re.split(r"^(?=[^\s:#-])", text, flags=re.MULTILINE):
        folder = scalar(block.partition(":")[0])
        time, inner = [*block.partition("\n  :created_at:")[2].split("\n", 2), ""][:2]
        if "TimeWithZone" in time:
            time = inner.partition("    utc:")[2]
        below = block.partition("\n  :submitters:")[2].split("\n")[1:]
        lines = list(takewhile(lambda line: line.startswith(("   ", "  -")) or not line, below))
        depth = len(lines[0]) - len(lines[0].lstrip(" ")) if lines else 0
        for one in re.split(rf"^ {{{depth}}}- ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            parts = re.split(rf"^(?: {{{depth + 2}}})?:(\w+):", one, flags=re.MULTILINE)[1:]
            known = {
                key: printable(scalar(value))
                for key, value in zip(parts[::2], parts[1::2], strict=True)
            }
            name, sid, email = (known.get(key, "") for key in ("name", "sid", "email"))
            person = Person(name or folder, keys(gradescope=sid, email=email), in_utc(scalar(time)))
            found.setdefault(folder, []).append(person.with_keys(by_form(sid)))
    return found


def scalar(text: str) -> str:
    """Return the value of a YAML scalar, perhaps over several lines; empty if it is unknown."""
    text = re.sub(r"\s*(?:[&!]\S*\s+)*", "", text[:1000], count=1)  # anchors and tags
    text = " ".join(line.strip() for line in re.sub(r"\\\n *", "", text).split("\n"))
    if quoted := re.match(r"'((?:[^']|'')*)'", text):
        return quoted[1].replace("''", "'")
    if quoted := re.match(r'"((?:[^"\\]|\\.)*)"', text):
        with suppress(ValueError, SyntaxError):  # the escapes of YAML are nearly all of Python's
            return str(ast.literal_eval(quoted[0]))
        return quoted[1]
    plain = re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    return "" if plain in ("~", "null") or plain.startswith("*") else plain


def in_utc(text: str) -> str:
    """Return a time of Gradescope, such as `2030-01-31 22:59:30.1 Z`, in ISO 8601."""
    with suppress(ValueError):
        time = datetime.fromisoformat(re.sub(r"\s+(?=(Z|[+-][\d:]+)$)", "", text.strip()))
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
    return ""
