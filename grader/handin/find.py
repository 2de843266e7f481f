"""Finds submissions: single files, a class's folder, downloads of Canvas, Moodle and Gradescope.

A student's hand-in may be an archive. An archive inside that archive is rejected. A class is a
folder, or a zip or tar of it:
- `alice.py`, `bob.zip`, `carol/ai.py`: one file or folder for each student, with their name;
- Moodle: `Full Name_123456_assignsubmission_file_/ai.py`, or without folders
  `Full Name_123456_assignsubmission_file_ai.py`;
- Canvas: `leeann_LATE_101_9002_ai-1.py`: the student's name, whether the hand-in is late, the
  student's and the file's number, the file's name with the number of the resubmission;
- Gradescope: `submission_123/ai.py` beside `submission_metadata.yml`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from connect4.errors import InputError, one_line, printable
from connect4.players.names import source_text
from grader.handin import archive, bounded
from grader.handin.archive import ENDINGS, MEGABYTE, Tree, brief, short, tops
from grader.handin.submission import IN_TIME, LATE, Member, Submission, file_name
from grader.rubric.model import SubmissionRules

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

LONGEST_PATH: Final = 4096
"""Characters of a path that a disk takes; a path in a tar may have millions."""


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


def find(paths: list[Path], rules: SubmissionRules, name: str | None = None) -> list[Submission]:
    """Return all submissions at `paths`, sorted by name; `name` makes one path one submission.

    Raises `InputError` if a path does not exist or there is no submission.
    """
    name = name and printable(name)
    found = [
        _with_path(_open_safely(hand_in, rules), path)
        for path in paths
        for hand_in in _hand_ins_at(path, name, several=len(paths) > 1)
    ]
    if not found:
        shown = ", ".join(map(one_line, paths))
        raise InputError(
            f"{shown}: no submissions there; expected NAME.py, NAME.zip or NAME/ai.py for each "
            "student, or a download of Canvas, Moodle or Gradescope"
        )
    return told_apart(_with_numbers(_without_doubles(found)))


def _hand_ins_at(path: Path, name: str | None, several: bool) -> list[HandIn]:
    """Return the hand-ins at a path; an unreadable one does not stop the others.

    Of several archives each belongs to one student. If there are several files called `ai.py`,
    their folders give the names.
    """
    packed = path.name.lower().endswith(ARCHIVES)
    if os.path.isfile(path) and (path.suffix == ".py" or (several and packed)):
        in_folder = several and path.name == "ai.py"
        own = path.resolve().parent.name if in_folder else _stem(path)
        places = [path] if packed else [path, path.with_name("report.txt")]
        tree = {one.name: archive.file_reader(one) for one in places if os.path.isfile(one)}
        return [HandIn(name or printable(own), [str(path)], tree)]
    try:
        tree = _read_path(path)
    except InputError as error:
        handed_in = os.path.isdir(path) or path.name.lower().endswith(UNREADABLE)
        if not (several and os.path.exists(path) and handed_in):
            raise
        problem = str(error).removeprefix(f"{one_line(path)}: ")
        return [HandIn(printable(_stem(path)), [str(path)], problem=problem)]
    is_one = name is not None or "ai.py" in tree or (packed and is_kit(tree))
    found = [] if is_one else hand_ins(unwrapped(tree))
    if is_one or (several and not found):
        return [HandIn(name or printable(_stem(path.resolve())), [str(path)], tree)]
    return found


def _stem(path: Path) -> str:
    """Return the name of a file without its suffix, including `.tar.gz`."""
    return path.stem.removesuffix(".tar")


def _read_path(path: Path) -> Tree:
    if os.path.isdir(path):
        return archive.folder_tree(path)
    if os.path.isfile(path) and path.name.lower().endswith(ARCHIVES):
        try:
            return bounded.class_tree(path)
        except InputError as error:
            raise InputError(f"{one_line(path)}: {error}") from None
    if os.path.exists(path) and path.name.lower().endswith(UNREADABLE):
        raise InputError(f"{one_line(path)}: {_remedy(path.name)}")
    if os.path.exists(path):
        raise InputError(f"{one_line(path)}: expected a .py file, a folder, a .zip or a .tar.gz")
    raise InputError(f"{one_line(path)}: no such file or folder")


def _remedy(name: str) -> str:
    """Return what the author of a file that is not opened has to do."""
    return remedy_of(name) or f"{name} is not opened; hand in ai.py or one zip of it"


def _with_path(submission: Submission, path: Path) -> Submission:
    """Add the path of the file if it is on disk."""
    in_folder = (path / submission.place, Path(submission.place))
    for place in in_folder if os.path.isdir(path) else (path,):
        if place.suffix == ".py" and os.path.isfile(place):
            return replace(submission, path=place)
    return submission


def _open_safely(hand_in: HandIn, rules: SubmissionRules) -> Submission:
    """Read a hand-in and return it as a submission, with its problem if it has one."""
    place = one_line(hand_in.places[0] if hand_in.places else hand_in.name)
    submission = Submission(hand_in.name, place, members=hand_in.members)
    if hand_in.problem:
        return replace(submission, problem=brief(hand_in.problem))
    try:
        return _open(hand_in, rules)
    except InputError as error:
        return replace(submission, problem=brief(error))
    except Exception as error:  # whatever one hand-in raises, the others are graded
        problem = f"cannot be opened ({type(error).__name__}: {error})"
        return replace(submission, problem=brief(problem))


def _open(hand_in: HandIn, rules: SubmissionRules) -> Submission:
    """Return a hand-in as a submission; raises `InputError` if it cannot be graded."""
    archives = [path for path in hand_in.tree if path.lower().endswith(ARCHIVES)]
    sources = [path for path in hand_in.tree if path.lower().endswith(".py")]
    closed = [path for path in hand_in.tree if path.lower().endswith(UNREADABLE)]
    if archives and hand_in.archived:
        other = short(archives[0])
        raise InputError(
            f"the archive holds another archive, {other}; hand in ai.py or one zip of it"
        )
    if archives and not sources:
        return _open_archive(hand_in, archives, rules)
    if closed and not sources:
        raise InputError(_remedy(short(closed[0])))
    for path, file in hand_in.tree.items():
        if not sources and PurePosixPath(path).name == archive.EMPTY:
            file(0)  # reports why nothing can be read there
    return _read_source(hand_in, _choose(sources), rules)


def _open_archive(hand_in: HandIn, archives: list[str], rules: SubmissionRules) -> Submission:
    if len(archives) > 1:
        raise InputError(f"two archives of one student: {', '.join(map(short, archives))}")
    limit = rules.max_archive_mb * MEGABYTE
    data = hand_in.tree[archives[0]](limit + 1)
    if len(data) > limit:
        raise InputError(f"the archive is larger than {rules.max_archive_mb} MB")
    tree = bounded.student_tree(archives[0], data, rules.max_archive_files, rules.max_archive_mb)
    inner = HandIn(hand_in.name, hand_in.places, tree, hand_in.members, archived=True)
    return _open(inner, rules)


def _choose(sources: list[str]) -> str:
    """Return the agent's file: the only `ai.py`, else the only Python file.

    Of a copy of the whole kit it is `connect4/players/ai.py`.
    """
    named = [path for path in sources if PurePosixPath(path).name.lower() == "ai.py"]
    of_kit = [path for path in named if f"/{path}".endswith(f"/{OF_KIT}")]
    candidates = of_kit if len(of_kit) == 1 else named or sources
    if not candidates:
        raise InputError("no ai.py and no other .py file in it")
    if len(candidates) > 1:
        shown = ", ".join(map(short, candidates[:4])) + (", ..." if len(candidates) > 4 else "")
        many = "two" if len(candidates) == 2 else "several"
        raise InputError(f"{many} files that could be the agent: {shown}; hand in one ai.py")
    return candidates[0]


def _read_source(hand_in: HandIn, path: str, rules: SubmissionRules) -> Submission:
    inside = path if path not in hand_in.places else ""
    inside = inside if len(inside) <= LONGEST_PATH else short(inside)
    place = one_line(hand_in.places[0])
    if inside and not place.endswith(".py"):
        place = f"{place}/{inside}"
    submission = Submission(hand_in.name, place, members=hand_in.members)
    limit = rules.max_source_kb * 1000
    data = hand_in.tree[path](limit + 1)
    if len(data) > limit:
        return replace(submission, problem=f"larger than {rules.max_source_kb} kB")
    try:
        source = source_text(data)
    except InputError as error:
        return replace(submission, problem=str(error))
    return replace(submission, source=source, report=_read_report(hand_in.tree, path, limit))


def _read_report(tree: Tree, source: str, limit: int) -> str | None:
    """Return the report beside the source, else the only report in the hand-in."""
    reports = [path for path in tree if PurePosixPath(path).name.lower() == "report.txt"]
    beside = [
        path for path in reports if PurePosixPath(path).parent == PurePosixPath(source).parent
    ]
    chosen = beside or reports
    return tree[chosen[0]](limit).decode("utf-8", errors="replace") if chosen else None


def _without_doubles(found: list[Submission]) -> list[Submission]:
    """Return one submission for each student; two hand-ins of one student cannot be graded."""
    by_student: dict[tuple[str, str], list[Submission]] = {}
    for item in found:
        by_student.setdefault((item.name, numbers(item.members)), []).append(item)
    return [
        same[0]
        if len(same) == 1
        else Submission(
            name,
            same[0].place,
            problem=f"two hand-ins of one student: {', '.join(item.place for item in same)}",
            members=same[0].members,
        )
        for (name, _), same in by_student.items()
    ]


def _with_numbers(found: list[Submission]) -> list[Submission]:
    """Add their numbers to the names of namesakes; sort by name."""
    names = Counter(item.name for item in found)
    named = []
    for item in found:
        number = numbers(item.members)
        is_namesake = number and names[item.name] > 1
        named.append(replace(item, name=f"{item.name} ({number})") if is_namesake else item)
    return sorted(named, key=lambda item: (item.name.casefold(), item.name))


def told_apart(found: list[Submission]) -> list[Submission]:
    """Number submissions that would get the same file name."""
    taken: set[str] = set()
    apart = []
    for submission in found:
        name, number = submission.name, 1
        begin = name[:80].encode(errors="ignore")[:180].decode(errors="ignore")
        while _on_disk(name) in taken:
            number += 1
            name = f"{begin} ({number})"
        taken.add(_on_disk(name))
        apart.append(replace(submission, name=name))
    return apart


def _on_disk(name: str) -> str:
    """Return a name as a disk treats it that ignores case and the encoding of accents."""
    return unicodedata.normalize("NFC", file_name(name).casefold())


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
        parts = _of_platform(top)
        name, identity, inner = _whose(top, parts)
        packed = top.lower().endswith((".py", *ARCHIVES, *UNREADABLE))
        of_code = top.lower().endswith(".txt") and f"{name}.py" in tree
        if not name or not (inside or parts or packed or of_code):
            continue
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
    """Return the place of an entry in a list that begins with the newest version from Canvas."""
    return -int(_of_platform(entry[0]).get("number") or 0)


def _of_platform(top: str) -> dict[str, str]:
    """Return the parts of a name that Moodle or Canvas made, none of another name."""
    found = MOODLE.fullmatch(top) or CANVAS.fullmatch(top)
    return found.groupdict("") if found else {}


def numbers(members: tuple[Member, ...]) -> str:
    """Return what tells students from others of their names, empty if nothing does."""
    return " and ".join(filter(None, (member.identity or member.email for member in members)))


def _whose(top: str, parts: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the student, the number and the file's own name of an entry in a class's folder."""
    if parts:
        own = re.sub(r"-\d+(?=\.[^-]+$)", "", parts["file"]) if "late" in parts else parts["file"]
        return parts["name"], parts["id"], own  # Canvas numbers a file that is handed in again
    packed = "|".join(map(re.escape, (*ARCHIVES, *UNREADABLE)))
    ending = rf"(\.py|(\.tar)?({packed})|[-_. ]?report\.txt|\.txt)$"
    return re.sub(ending, "", top, flags=re.IGNORECASE), "", ""


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
    if not 1970 <= time.year < 9000:  # at the ends of the calendar other zones have no such day
        return ""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
