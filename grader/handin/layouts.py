"""The layouts of a class's hand-ins in a folder or an archive: which file is whose.

Each layout may be a folder or a zip of it:
- `alice.py`, `bob.zip`, `carol/ai.py`: one file or folder for each student, with their name;
- Moodle: `Full Name_123456_assignsubmission_file_/ai.py`, or without folders
  `Full Name_123456_assignsubmission_file_ai.py`;
- Canvas: `leeann_LATE_101_9002_ai-1.py`: the student's name, whether the hand-in is late, the
  student's and the file's number, the file's name with the number of the resubmission;
- Gradescope: `submission_123/ai.py` beside `submission_metadata.yml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from connect4.errors import printable
from grader.handin.archive import ENDINGS, MEGABYTE, Tree, tops
from grader.handin.submission import IN_TIME, LATE, Member

MOODLE: Final = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<file>.*)"
)

CANVAS: Final = re.compile(
    r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_"
    r"((?P<number>\d+)_(?P<file>.+)|(?P<kind>text|link)\.html)"
)

ARCHIVES: Final = (".zip", *ENDINGS)
"""Suffixes of archives that are opened."""

UNREADABLE: Final = (".rar", ".7z", ".gz", ".bz2", ".xz", ".ipynb", ".py.txt")
"""Other files that students hand in; they are no source and are not opened."""

OF_KIT: Final = "connect4/players/ai.py"
"""The student's file in a copy of the kit."""

GRADESCOPE_METADATA: Final = "submission_metadata.yml"

MAX_METADATA: Final = 50 * MEGABYTE


def remedy_of(name: str) -> str | None:
    """Return what the author of a file with this name has to do; None if nothing is known."""
    if name.lower().endswith(".ipynb"):
        return f"{name} is a Jupyter notebook; save its code as ai.py (File > Save and Export As)"
    if name.lower().endswith(".py.txt"):
        return f"{name} is a text file; rename it to {name[:-4]} (Windows may hide the .txt)"
    return None


@dataclass(slots=True)
class HandIn:
    """The hand-in of one student, before it is read."""

    name: str
    places: list[str]
    tree: Tree = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    archived: bool = False
    """Whether an archive has been opened already."""
    problem: str | None = None


def unwrapped(tree: Tree) -> Tree:
    """Return the content of a single folder around a whole class, else the tree itself."""
    (top, inner), *others = tops(tree).items() or [("", {})]
    if others or MOODLE.fullmatch(top):
        return tree
    whole = [
        name
        for name in tops(inner)
        if name not in inner or name.lower().endswith((".py", *ARCHIVES))
    ]
    if "ai.py" in inner or len(whole) < 2:
        return tree
    return inner


def is_kit(tree: Tree) -> bool:
    """Return whether a tree is one copy of the kit, perhaps with a folder around it."""
    parts = tops(tree)
    around = [part for top, part in parts.items() if len(parts) == 1 and not MOODLE.fullmatch(top)]
    return any(OF_KIT in part for part in (tree, *around))


def hand_ins(tree: Tree) -> list[HandIn]:
    """Return one hand-in for each student, in the order of the names in the tree."""
    students = _gradescope_students(tree)
    found: dict[tuple[str, str], HandIn] = {}
    texts: dict[tuple[str, str], HandIn] = {}
    for top, inside in sorted(tops(tree).items(), key=_newest_first):
        name, identity, inner = _whose(top)
        if name is None or (not inside and not _counts(top, tree)):
            continue
        parts = _of_platform(top)
        late = {"_LATE": LATE, "": IN_TIME}.get(parts.get("late", "-"), "")  # Canvas says whether
        members = students.get(top, (Member(name, identity, submitted=late),))
        if parts.get("kind") in ("onlinetext", "text", "link"):
            text = HandIn(name, [top], members=members, problem="an online text and no file")
            texts[name, identity] = text
            continue
        name = " and ".join(member.name for member in members)
        identity = identity or numbers(members)
        part = inside or {inner or top: tree[top]}
        hand_in = found.setdefault((name, identity), HandIn(name, [], members=members))
        _add(hand_in, top, part, grouped=bool(inner))
    return list({**texts, **found}.values())


def _newest_first(entry: tuple[str, Tree]) -> int:
    """Return the place of an entry: of several versions from Canvas, the first one counts."""
    return -int(_of_platform(entry[0]).get("number") or 0)


def _of_platform(top: str) -> dict[str, str]:
    """Return the parts of a name that Moodle or Canvas made, none of another name."""
    found = MOODLE.fullmatch(top) or CANVAS.fullmatch(top)
    return found.groupdict("") if found else {}


def numbers(members: tuple[Member, ...]) -> str:
    """Return what tells students from others of their names, empty if nothing does."""
    return " and ".join(filter(None, (member.identity or member.email for member in members)))


def _whose(top: str) -> tuple[str | None, str, str]:
    """Return the student, the number and the file's own name of an entry in a class's folder."""
    parts = _of_platform(top)
    if parts:
        own = re.sub(r"-\d+(?=\.[^-]+$)", "", parts["file"]) if "late" in parts else parts["file"]
        return parts["name"], parts["id"], own  # Canvas numbers a file that is handed in again
    packed = "|".join(map(re.escape, (*ARCHIVES, *UNREADABLE)))
    ending = rf"(\.py|(\.tar)?({packed})|[-_. ]?report\.txt|\.txt)$"
    stem = re.sub(ending, "", top, flags=re.IGNORECASE)
    return stem or None, "", ""


def _counts(top: str, tree: Tree) -> bool:
    """Return whether a file at the top of a class's folder belongs to a hand-in."""
    lower = top.lower()
    if lower.endswith((".py", *ARCHIVES, *UNREADABLE)) or _of_platform(top):
        return True
    name, _, _ = _whose(top)
    return lower.endswith(".txt") and f"{name}.py" in tree


def _add(hand_in: HandIn, top: str, part: Tree, grouped: bool) -> None:
    """Add an entry to a hand-in; a second place with code makes a second hand-in."""
    is_report = top.lower().endswith(".txt") and len(part) == 1 and not remedy_of(top)
    if is_report and not grouped:
        part = {"report.txt": next(iter(part.values()))}
    elif not grouped and hand_in.places:
        hand_in.problem = f"two hand-ins of one student: {', '.join([*hand_in.places, top])}"
    if not is_report:
        hand_in.places.append(top)
    hand_in.tree = {**part, **hand_in.tree}


def _gradescope_students(tree: Tree) -> dict[str, tuple[Member, ...]]:
    """Return the students behind each folder that Gradescope's metadata names.

    Only the relevant lines of the YAML file are read: unindented folders with `:created_at:`, and
    the `:name:`, `:sid:` and `:email:` of each of their submitters.
    """
    if GRADESCOPE_METADATA not in tree:
        return {}
    text = tree[GRADESCOPE_METADATA](MAX_METADATA).decode("utf-8", errors="replace")
    students: dict[str, tuple[Member, ...]] = {}
    for block in re.split(r"^(?=[^\s:#-])", text, flags=re.MULTILINE):
        folder = block.partition(":")[0]
        listed = re.search(r"^  :submitters:\s*\n(( {2,}(- | +):.*\n?)+)", block, re.MULTILINE)
        time = re.search(r"^  :created_at:(.*)", block, re.MULTILINE)  # further in: the history
        for one in re.split(r"^ +- ", listed[1] if listed else "", flags=re.MULTILINE)[1:]:
            parts = {
                key: printable(value.strip().strip("'\""))
                for key, value in re.findall(r"^\s*:(\w+):(.*)", one, re.MULTILINE)
            }
            name, identity, email = map(parts.get, ("name", "sid", "email"), (folder, "", ""))
            member = Member(str(name), str(identity), str(email), _in_utc(time[1] if time else ""))
            students[folder] = (*students.get(folder, ()), member)
    return students


def _in_utc(text: str) -> str:
    """Return a time of Gradescope, such as `2030-01-31 22:59:30.1 Z`, in ISO 8601."""
    try:
        time = datetime.fromisoformat(re.sub(r"\s+(?=(Z|[+-][\d:]+)$)", "", text.strip(" '\"")))
    except ValueError:
        return ""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
