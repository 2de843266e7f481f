"""Finds submissions: single files, a class's folder, downloads of learning platforms.

A student's hand-in may be an archive. An archive inside that archive is rejected. A class is a
folder, or a zip of it. Either a teacher gave the names, one file or folder for each student
(`alice.py`, `1001.zip`, `ann@uni.example/ai.py`), or a platform did (`grader.handin.platforms`).
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from connect4.errors import InputError, one_line, printable
from connect4.games import nearest_file
from connect4.players.base import source_text
from grader.handin import Person, Submission, archive, by_form, platforms, told_apart, worker
from grader.handin.archive import MEGABYTE, Tree, brief, short, tops
from grader.handin.platforms import Entry
from grader.rubric.model import SubmissionRules

UNREADABLE: Final = (*(".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz"), ".ipynb", ".py.txt")
"""Other files that students hand in; they are no source and are not opened."""

OF_KIT: Final = "connect4/players/ai.py"
"""The student's file in a copy of the kit."""


def _remedy(name: str) -> str:
    """Return what the author of a file that is not opened has to do."""
    if name.lower().endswith(".ipynb"):
        return f"{name} is a Jupyter notebook; save its code as ai.py (File > Save and Export As)"
    if name.lower().endswith(".py.txt"):
        return f"{name} is a text file; rename it to {name[:-4]} (Windows may hide the .txt)"
    return f"{name} is not opened; hand in ai.py or one zip of it"


@dataclass(slots=True)
class HandIn:
    """The hand-in of one student or group, before it is read."""

    entry: Entry
    places: list[str]
    tree: Tree = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """The place of each file in the tree that is an entry of its own."""
    folder: Path = Path()
    """Where the places begin, if they are on disk."""
    archived: bool = False
    problem: str | None = None

    @property
    def whole(self) -> str:
        """Return the entry that a teacher or a platform named."""
        return [*self.places, self.entry.student[0]][0]

    def place(self, path: str) -> str:
        """Return the place of a file in the tree."""
        inside = path if len(path) <= 4096 else short(path)  # more than a disk takes
        return self.files.get(path) or f"{self.whole}/{inside}"


def find(
    paths: Sequence[Path], rules: SubmissionRules, name: str | None = None
) -> list[Submission]:
    """Return all submissions at `paths`, sorted by name; `name` makes one path one submission.

    Each file or folder in a platform's download is named on standard error that is not graded,
    because its name is none of the platform's. Raises `InputError` if a path does not exist or
    there is no submission.
    """
    found: dict[tuple[str, str], list[HandIn]] = {}
    for path in paths:
        for hand_in in _hand_ins_at(path, name, len(paths) > 1):
            found.setdefault(hand_in.entry.student, []).append(hand_in)
    if not found:
        shown = ", ".join(map(one_line, paths))
        raise InputError(
            f"{shown}: no submissions there; expected NAME.py, NAME.zip or NAME/ai.py for each "
            f"student, or a download of {', '.join(row.name for row in platforms.PLATFORMS)}"
        )
    names = Counter(own for own, _ in found)
    opened = []
    for (own, number), (first, *more) in found.items():
        if more:
            places = [place for hand_in in (first, *more) for place in hand_in.places]
            first.problem = f"two hand-ins of one student: {', '.join(places)}"
        shown = f"{own} ({number})" if number and names[own] > 1 else own
        opened.append(_open_safely(first, shown, rules))
    return told_apart(sorted(opened, key=lambda item: (item.name.casefold(), item.name)))


def _hand_ins_at(path: Path, name: str | None, several: bool) -> list[HandIn]:
    """Return the hand-ins at a path; an unreadable one does not stop the others.

    Of several archives each belongs to one student. If there are several files called `ai.py`,
    their folders give the names.
    """
    packed = path.name.lower().endswith(".zip")
    if os.path.isfile(path) and (path.suffix == ".py" or (several and packed)):
        if several and path.name == "ai.py":
            name = name or path.parent.resolve().name
        places = [path] if packed else [path, path.with_name("report.txt")]
        tree = {one.name: archive.file_reader(one) for one in places if os.path.isfile(one)}
        return [replace(_single(path, name, tree), files={path.name: str(path)})]
    try:
        tree = _read_path(path)
    except InputError as error:
        handed_in = os.path.isdir(path) or path.name.lower().endswith(UNREADABLE)
        if not (several and os.path.exists(path) and handed_in):
            raise
        return [_single(path, None, {}, str(error).removeprefix(f"{one_line(path)}: "))]
    parts = tops(tree)
    around = [] if len(parts) > 1 or platforms.of(parts, {}) else list(parts.values())
    is_kit = any(OF_KIT in part for part in (tree, *around))  # perhaps with a folder around it
    is_one = name is not None or "ai.py" in tree or (packed and is_kit)
    inner = unwrapped(tree)
    above = [str(path)] if several else []
    above += [] if inner is tree else parts
    found = [] if is_one else hand_ins(inner, above, path)
    if is_one or (several and not found):
        return [_single(path, name or path.resolve().stem, tree)]
    return found if several else [replace(hand_in, folder=path) for hand_in in found]


def _single(path: Path, name: str | None, tree: Tree, problem: str | None = None) -> HandIn:
    """Return a path that a teacher named as one hand-in, by default under the file's name."""
    name = printable(name or path.stem)
    return HandIn(Entry((Person(name, by_form(name)),)), [str(path)], tree, problem=problem)


def _read_path(path: Path) -> Tree:
    """Return the files of a folder or an archive; raises `InputError` for anything else."""
    if os.path.isdir(path):
        return archive.folder_tree(path)
    why = f"no such file or folder{nearest_file(path)}"
    if os.path.isfile(path) and path.name.lower().endswith(".zip"):
        try:
            return worker.class_tree(path)
        except InputError as error:
            why = str(error)
    elif os.path.exists(path):
        is_closed = path.name.lower().endswith(UNREADABLE)
        expected = "expected a .py file, a folder or a .zip"
        why = _remedy(path.name) if is_closed else expected
    raise InputError(f"{one_line(path)}: {why}")


def _open_safely(hand_in: HandIn, name: str, rules: SubmissionRules) -> Submission:
    """Read a hand-in and return it as a submission, with its problem if it has one."""
    whole = one_line(hand_in.whole)
    submission = Submission(name, whole, people=hand_in.entry.people, entry=whole)
    try:
        if not hand_in.problem:
            return _open(hand_in, submission, rules)
        problem = hand_in.problem
    except InputError as error:
        problem = str(error)
    except Exception as error:  # whatever one hand-in raises, the others are graded
        problem = f"cannot be opened ({type(error).__name__}: {error})"
    return replace(submission, problem=brief(problem))


def _open(hand_in: HandIn, submission: Submission, rules: SubmissionRules) -> Submission:
    """Return a submission with its source; raises `InputError` if it cannot be graded."""
    archives = [path for path in hand_in.tree if path.lower().endswith(".zip")]
    sources = [path for path in hand_in.tree if path.lower().endswith(".py")]
    closed = [path for path in hand_in.tree if path.lower().endswith(UNREADABLE)]
    if archives and hand_in.archived:
        other = short(archives[0])
        raise InputError(
            f"the archive holds another archive, {other}; hand in ai.py or one zip of it"
        )
    if archives and not sources:
        return _open(_unpacked(hand_in, archives, rules), submission, rules)
    if closed and not sources:
        raise InputError(_remedy(short(closed[0])))
    for path, file in hand_in.tree.items():
        if not sources and PurePosixPath(path).name == archive.EMPTY:
            file(0)  # reports why nothing can be read there
    return _read_source(hand_in, submission, _choose(sources), rules)


def _unpacked(hand_in: HandIn, archives: list[str], rules: SubmissionRules) -> HandIn:
    """Return a hand-in with the files of its archive."""
    if len(archives) > 1:
        raise InputError(f"two archives of one student: {', '.join(map(short, archives))}")
    limit = rules.max_archive_mb * MEGABYTE
    data = hand_in.tree[archives[0]](limit + 1)
    if len(data) > limit:
        raise InputError(f"the archive is larger than {rules.max_archive_mb} MB")
    bounds = rules.max_archive_files, rules.max_archive_mb
    tree = worker.tree_of(worker.ARCHIVE_SECONDS, archives[0], 0, data, *bounds)
    place = hand_in.place(archives[0])
    return replace(hand_in, places=[place], tree=tree, files={}, archived=True)


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


def _read_source(
    hand_in: HandIn, submission: Submission, path: str, rules: SubmissionRules
) -> Submission:
    place, limit = hand_in.place(path), rules.max_source_kb * 1000
    on_disk = hand_in.folder / place
    place = str(on_disk) if os.path.isfile(on_disk) else place
    submission = replace(submission, place=one_line(place))
    data = hand_in.tree[path](limit + 1)
    try:
        if len(data) > limit:
            raise InputError(f"larger than {rules.max_source_kb} kB")
        source_text(data)
    except InputError as error:
        return replace(submission, problem=str(error))
    reports = [one for one in hand_in.tree if PurePosixPath(one).name.lower() == "report.txt"]
    beside = [one for one in reports if PurePosixPath(one).parent == PurePosixPath(path).parent]
    report = None
    for chosen in (beside or reports)[:1]:  # the one beside the source, else the only one
        report = hand_in.tree[chosen](limit).decode("utf-8", errors="replace")
    return replace(submission, source=data, report=report)


def unwrapped(tree: Tree) -> Tree:
    """Return the content of a single folder around a whole class, else the tree itself."""
    (top, inner), *others = tops(tree).items() or [("", {})]
    if others or platforms.of([top], {}):
        return tree
    whole = [
        name for name in tops(inner) if name not in inner or name.lower().endswith((".py", ".zip"))
    ]
    if "ai.py" in inner or len(whole) < 2:
        return tree
    return inner


def hand_ins(tree: Tree, above: list[str], path: Path) -> list[HandIn]:
    """Return one hand-in for each student, in the order of the names in the tree.

    `above` are the folders around the tree at `path`, for messages.
    """
    parts = tops(tree)
    entries = {top: entry for top in parts if (entry := _named_by_teacher(top, tree, parts[top]))}
    platform = platforms.of(parts, entries)
    if platform is not None:
        entries = platform.entries(tree, parts)
        for top in sorted(parts.keys() - entries.keys() - {platform.index}):
            why = f"because {platform.name} gives nothing in its download such a name"
            what = f"is not graded, {why}; to grade it, put it into another folder"
            print(f"{one_line(path)}: {one_line(short(top))} {what}", file=sys.stderr)
    found: dict[tuple[str, str], HandIn] = {}
    texts: dict[tuple[str, str], HandIn] = {}
    newest = platforms.newest(entries)
    older: list[str] = []
    for top, entry in sorted(newest.items(), key=lambda item: -item[1].version):
        place = "/".join([*above, top])
        if entry.is_text:
            why = "an online text and no file"
            texts[entry.student] = HandIn(entry, [place], problem=why)
        else:
            hand_in = found.setdefault(entry.student, HandIn(entry, []))
            older += [top] if entry.file and entry.file in hand_in.files else []
            _add(hand_in, place, entry, parts[top] or {"": tree[top]})
    if older:
        print(f"{one_line(path)}: newer files count, not {'; '.join(older)}", file=sys.stderr)
    return list((texts | found).values())


def _named_by_teacher(top: str, tree: Tree, inside: Tree) -> Entry | None:
    """Return what a teacher's name says of a file or folder, None if it is no hand-in."""
    packed = "|".join(map(re.escape, (".zip", *UNREADABLE)))
    ending = rf"(\.py|(\.tar)?({packed})|[-_. ]?report\.txt|\.txt)$"
    name = re.sub(ending, "", top, flags=re.IGNORECASE)
    is_closed = top.lower().endswith((".py", ".zip", *UNREADABLE))
    of_code = top.lower().endswith(".txt") and f"{name}.py" in tree
    if not name or not (inside or is_closed or of_code):
        return None
    return Entry((Person(name, by_form(name)),))


def _add(hand_in: HandIn, place: str, entry: Entry, part: Tree) -> None:
    """Add an entry to a hand-in; a second place with code makes a second hand-in.

    `part` holds the files of a folder, or a file of no name, which is the entry itself.
    """
    grouped = bool(entry.file) and entry.attempt == hand_in.entry.attempt
    is_report = (
        "" in part and place.lower().endswith(".txt") and not place.lower().endswith(".py.txt")
    )
    if "" in part:
        name = entry.file or PurePosixPath(place).name
        name = "report.txt" if is_report and not grouped else name
        hand_in.files.setdefault(name, place)
        part = {name: part[""]}
    if not is_report:
        if hand_in.places and not grouped:
            places = ", ".join([*hand_in.places, place])
            hand_in.problem = f"two hand-ins of one student: {places}"
        hand_in.places.append(place)
    for name, file in part.items():
        hand_in.tree.setdefault(name, file)
