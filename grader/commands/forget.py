"""The command `forget`: removes a student from a results file and from what was written of it."""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands.common import DONE, FAILED, agreed, named_few, say
from grader.commands.ladder import write_tables
from grader.commands.report import placement_of
from grader.handin.roster import Student
from grader.ladder.book import LADDER, Book
from grader.ladder.site import write_site
from grader.marks.points import gradable
from grader.output import evidence, writing
from grader.output.results import ROSTER, TOURNAMENT, Results, read_results, stored_roster
from grader.output.tables import wrapped
from grader.results.forgetting import Forgotten, forget
from grader.results.store import Store
from grader.rubric.reading import from_stored

STALE: Final = re.compile(r"class\.html|(canvas|moodle|worksheet)(-\w+)?\.(csv|txt)")
"""Files below `--out` that a report may leave as they were."""

ELSEWHERE: Final = (
    "Not touched: the hand-in itself (with it, the next run takes the student in again), other "
    "results files, copies and backups, pages of `similar` and `viva`, what students were sent, "
    "and what the course's system holds."
)


def run_forget(arguments: argparse.Namespace) -> int:
    """Ask, forget a student, write the other files again, and say what is left."""
    path, name = arguments.results, arguments.name
    if not path.is_file():
        raise InputError(f"{path}: no results file there")
    with Store(path, writing=False) as store:
        is_ladder = store.meta("kind") == LADDER
    with (Book if is_ladder else Store)(path, writing=True) as store:
        results = None if is_ladder else read_results(store)
        students = () if results is None else results.students.get(name, ())
        texts = _texts(store, name, students)
        if is_ladder and store.meta("rubric") is None:
            raise InputError(f"{path}: give the command `ladder` for it once more, then this one")
        placement = {} if results is None else _placement(arguments, results)
        question = f"Remove the source, games, pages and names of {name} for ever?"
        if not arguments.yes and not agreed([], question, "without a terminal, give --yes"):
            say("nothing is removed")
            return FAILED
        if students:
            _forget_students(store, students)
        found = forget(store, name, results is not None and name in _drawn(results))
        if isinstance(store, Book):
            rubric = from_stored(store.meta_json("rubric"), f"{path} (rubric)")
            standings = write_tables(store, rubric)
            if arguments.site is not None:
                write_site(store, standings, arguments.site)
        elif arguments.out is not None:
            _write_out(store, found, texts, arguments.out, placement)
    _tell(found, texts | found.names, arguments)
    return DONE


def _texts(store: Store, name: str, students: Sequence[Student]) -> set[str]:
    """Return the names and addresses of a student; raises `InputError` for an unknown one.

    `students` are those of the roster who share the hand-in, or the one who has none.
    """
    listed = {item.name: item for item in store.submissions()}
    rated = {student.name for student in store.students()} if isinstance(store, Book) else ()
    known = {*listed, *store.withdrawn(), *rated}
    if name not in known and not students:
        raise InputError(f"{store.path}: {name!r} is not in it; {named_few(sorted(known))} are")
    members = (*(listed[name].members if name in listed else ()), *students)
    found = {text for member in members for text in (member.name, member.email) if text}
    return found | {name}


def _forget_students(store: Store, gone: Sequence[Student]) -> None:
    """Remove students from the stored roster."""
    people = {(one.name, one.identity, one.email) for one in gone}
    left = [
        asdict(one)
        for one in stored_roster(store)
        if (one.name, one.identity, one.email) not in people
    ]
    store.set_meta({ROSTER: json.dumps({"students": left})})


def _placement(arguments: argparse.Namespace, results: Results) -> dict[str, float]:
    """Return the points for placement that the marks below `--out` have."""
    marks = None if arguments.out is None else arguments.out / "grades.csv"
    if marks is not None and marks.is_file() and arguments.placement is None:
        with marks.open(encoding="utf-8-sig", newline="") as file:
            if any(float(row["Placement"] or 0) for row in csv.DictReader(file)):
                raise InputError(f"{marks}: has points for placement; give --placement FILE too")
    return placement_of(arguments.placement, results)


def _drawn(results: Results) -> set[str]:
    """Return the names that the groups of a tournament were drawn with."""
    if results.kind != TOURNAMENT:
        return set()
    return {contestant.name for contestant in gradable(results.submissions)}


def _write_out(
    store: Store,
    found: Forgotten,
    texts: Collection[str],
    out: Path,
    placement: Mapping[str, float],
) -> None:
    """Remove a student's files below `--out`, and write those of the class again."""
    results = read_results(store)
    evidence.remove_withdrawn(out, found.names, [item.name for item in results.submissions])
    evidence.remove_played_by(out, found.hashes)
    writing.write_all(results, store, out, placement)
    if (out / evidence.RECORDS).is_dir():
        evidence.write_records(results.games, store, out)
    for path in _naming(texts, out):
        if path.parent == out and STALE.fullmatch(path.name):
            path.unlink()
            say(f"{path}: removed, because it names them")


def _naming(texts: Collection[str], folder: Path) -> list[Path]:
    """Return the files below a folder that hold one of these texts as a word of its own."""
    words = b"|".join(re.escape(text).encode() for text in sorted(texts))
    pattern = re.compile(rb"(?<!\w)(?:" + words + rb")(?!\w)")
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [
        path
        for path in files
        if pattern.search(path.read_bytes()) or pattern.search(path.name.encode())
    ]


def _tell(found: Forgotten, texts: Collection[str], arguments: argparse.Namespace) -> None:
    """Print what was removed and what is left."""
    games = "1 game" if found.games == 1 else f"{found.games} games"
    kept = f"their scores stay, under {found.alias!r}" if found.alias else "with their scores"
    print(f"{arguments.results}: {arguments.name} is forgotten, and the moves of {games} ({kept})")
    if found.hashes:
        print(f"left: hashes of their sources ({len(found.hashes)}), which tell games apart")
    for folder in filter(None, (arguments.out, arguments.site)):
        for path in _naming(texts, folder):
            print(f"left: {path} still holds the name or an address")
    print(wrapped(ELSEWHERE))
