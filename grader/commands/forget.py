"""The command `forget`: removes a student from a results file and from what was written of it.

Games against other students keep their scores; the student is `withdrawn-N` there. So a
tournament keeps its groups and its tables, and a ladder its ratings.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from grader.commands.common import DONE, FAILED, agreed, named_few, say
from grader.handin.roster import Student
from grader.handin.submission import FOLDER, file_name
from grader.ladder.book import LADDER, Book
from grader.ladder.league import write_tables
from grader.ladder.site import write_site
from grader.marks.points import gradable
from grader.output import evidence, writing
from grader.output.results import (
    GRADE,
    PLACEMENT,
    ROSTER,
    TOURNAMENT,
    Results,
    read_results,
    stored_roster,
)
from grader.output.tables import wrapped
from grader.results.store import ORDER, Store
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
    with Store(path, writing=False) as store:
        kind = store.meta("kind")
    with (Book if kind == LADDER else Store)(path, writing=True) as store:
        results = None if kind == LADDER else read_results(store)
        _check_folders(str(kind), arguments)
        students = () if results is None else results.students.get(name, ())
        known = _known(store, results)
        if name not in known and not any(evidence.files_of(out, name) for out in arguments.out):
            raise InputError(f"{path}: {name!r} is not in it; {named_few(sorted(known))} are")
        texts = _texts(store, name, students)
        if kind == LADDER and store.meta("rubric") is None:
            raise InputError(f"{path}: give the command `ladder` for it once more, then this one")
        question = f"Remove the source, games, pages and names of {name} for ever?"
        if not arguments.yes and not agreed([], question, "without a terminal, give --yes"):
            say("nothing is removed")
            return FAILED
        if students:
            _forget_students(store, students)
        drawn = gradable(results.submissions) if results and results.kind == TOURNAMENT else ()
        found = None
        if name in known:
            found = forget(store, name, name in {contestant.name for contestant in drawn})
            texts |= found.names
        if isinstance(store, Book):
            rubric = from_stored(store.meta_json("rubric"), f"{path} (rubric)")
            standings = write_tables(store, rubric)
            if arguments.site is not None:
                write_site(store, standings, arguments.site)
        for out in () if kind == LADDER else arguments.out:
            _write_out(store, found or Forgotten(frozenset({name})), texts, out)
    _tell(found, texts, arguments)
    return DONE


def _check_folders(kind: str, arguments: argparse.Namespace) -> None:
    """Refuse folders that no run of this kind has written, before anything is removed."""
    file = "results.json" if kind == GRADE else "standings.txt"
    folders = [("--out", folder, file) for folder in arguments.out]
    if arguments.site is not None:
        folders.append(("--site", arguments.site, "index.html"))
    for option, folder, file in folders:
        if not (folder / file).is_file():
            why = f"holds no files of a {kind}" if folder.is_dir() else "there is no such folder"
            raise InputError(f"{option} {folder}: {why}; nothing is forgotten")


def _known(store: Store, results: Results | None) -> set[str]:
    """Return everybody's name in a results file."""
    known = {*(item.name for item in store.submissions()), *store.withdrawn()}
    if isinstance(store, Book):
        known |= {student.name for student in store.students()}
    return known if results is None else known | results.students.keys() | results.placement.keys()


def _texts(store: Store, name: str, students: Sequence[Student]) -> set[str]:
    """Return the names and addresses of a student.

    `students` are those of the roster who share the hand-in, or the one who has none.
    """
    listed = {item.name: item for item in store.submissions()}
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


def _write_out(store: Store, found: Forgotten, texts: Collection[str], out: Path) -> None:
    """Remove a student's files below `--out`, and write those of the class again."""
    results = read_results(store)
    evidence.remove_withdrawn(out, found.names, [item.name for item in results.submissions])
    agents = [f"ai:{FOLDER}/{file_name(name)}/" for name in found.names]
    evidence.remove_played_by(out, [*found.hashes, *(json.dumps(agent)[1:-1] for agent in agents)])
    writing.write_all(results, store, out)
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


def _tell(found: Forgotten | None, texts: Collection[str], arguments: argparse.Namespace) -> None:
    """Print what was removed and what is left; only files were if nothing is `found`."""
    name, path = arguments.name, arguments.results
    if found is None:
        folders = ", ".join(map(str, arguments.out))
        print(f"{name} is not in {path}; removed what was there in {folders}")
    else:
        games = "1 game" if found.games == 1 else f"{found.games} games"
        kept = f"their scores stay, under {found.alias!r}" if found.alias else "with their scores"
        print(f"{path}: {name} is forgotten, and the moves of {games} ({kept})")
        if found.hashes:
            print(f"left: hashes of their sources ({len(found.hashes)}), which tell games apart")
    for folder in filter(None, (*arguments.out, arguments.site)):
        for path in _naming(texts, folder):
            print(f"left: {path} still holds the name or an address")
    print(wrapped(ELSEWHERE))


COUNT: Final = "forgotten"
"""The name in `meta` of the number of students that were forgotten."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed from a results file."""

    names: frozenset[str]
    """The student's names there."""
    hashes: frozenset[str] = frozenset()
    """The hashes of sources that nobody else has handed in."""
    games: int = 0
    alias: str = ""
    """The name under which the scores of these games are kept; empty if they are removed."""


@dataclass(frozen=True, slots=True)
class Side:
    """One player of a stored game."""

    key: str
    number: int
    name: str
    sha256: str | None
    """The hash of a submission, None for an agent of the kit, empty if there is no record."""


def forget(store: Store, name: str, drawn: bool) -> Forgotten:
    """Remove a student; `drawn` if a tournament's groups were drawn with this name."""
    kind, number = store.meta("kind"), 1 + int(store.meta(COUNT) or 0)
    alias = "" if kind == "grade" else f"withdrawn-{number}"
    with store.transaction() as database:
        names = _names(store, database, name)
        sides = _sides(store, database)
        mine, authors = _hashes(database, name, kind == "ladder")
        mine |= {side.sha256 for side in sides if side.sha256 and side.name in names}
        gone = mine - authors.keys()
        own = [
            side
            for side in sides
            if side.sha256 in gone or (side.sha256 == "" and side.name in names)
        ]
        keys = {side.key for side in own}
        others = [side for side in sides if side.key not in keys]
        for side in others:
            if side.sha256 in mine and side.name in names:
                _give_away(database, side, authors[str(side.sha256)])
        for table in ("record", "earlier") if alias else ("record", "earlier", "game"):
            _delete(database, table, "key", keys)
        for side in own:  # a fault or a traceback may quote the source
            database.execute(
                f"UPDATE game SET player{side.number} = ?, traceback = NULL, "
                "fault = iif(fault IS NULL OR starved1 + starved2 > 0, fault, 'failed') "
                "WHERE key = ?",
                (alias, side.key),
            )
        needed = {*authors, *(side.sha256 for side in others)}
        _forget_sources(database, needed)
        _forget_name(store, database, name, alias if drawn else "", number)
        for table in ("student", "version") if kind == "ladder" else ():
            _delete(database, table, "name", [name])
    for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):  # no free page, no log keeps it
        database.execute(statement)
    return Forgotten(frozenset(names), frozenset(gone), len(keys), alias)


def _names(store: Store, database: sqlite3.Connection, name: str) -> set[str]:
    """Return a student's names: also those before a change, and on a ladder's site."""
    found = {name, *(old for old, new in store.renamed().items() if new == name)}
    if store.meta("kind") == "ladder":
        query = "SELECT pseudonym, number FROM student LEFT JOIN version USING (name) "
        for called, number in database.execute(f"{query} WHERE name = ?", (name,)):
            found |= {called, f"{called} v{number}", f"{name} v{number}"}
    return found


def _sides(store: Store, database: sqlite3.Connection) -> list[Side]:
    """Return both players of every game; only a record tells students from agents of the kit."""
    players = {kept.key: json.loads(kept.text)["players"] for kept in store.kept() if kept.text}
    found = []
    for key, *names in database.execute("SELECT key, player1, player2 FROM game").fetchall():
        for number, name in enumerate(names, 1):
            sha256: str | None = ""
            if key in players:
                player = players[key][number - 1]
                is_submission = player["agent"].startswith(f"ai:{FOLDER}/")
                sha256 = player["sha256"] if is_submission else None
            found.append(Side(key, number, name, sha256))
    return found


def _hashes(
    database: sqlite3.Connection, name: str, has_ladder: bool
) -> tuple[set[str], dict[str, str]]:
    """Return the hashes of a student's sources, and those of all others with an author of each."""
    query = "SELECT name, sha256 FROM submission WHERE sha256 IS NOT NULL"
    if has_ladder:
        query += " UNION SELECT name, sha256 FROM version"
    rows = database.execute(query).fetchall()
    mine = {sha256 for author, sha256 in rows if author == name}
    return mine, {sha256: author for author, sha256 in rows if author != name}


def _delete(database: sqlite3.Connection, table: str, column: str, values: Iterable[str]) -> None:
    rows = ((value,) for value in values)
    database.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)


def _give_away(database: sqlite3.Connection, side: Side, author: str) -> None:
    """Put the name of another author of the same file in place of a student's into a game."""
    query = f"UPDATE game SET player{side.number} = ? WHERE key = ?"
    database.execute(query, (author, side.key))
    before, after = (f"ai:{FOLDER}/{file_name(one)}/" for one in (side.name, author))
    for table in ("record", "earlier"):
        query = f"SELECT rowid, zlib FROM {table} WHERE key = ?"
        for row, packed in database.execute(query, (side.key,)).fetchall():
            text = zlib.decompress(packed).decode().replace(before, after)
            query = f"UPDATE {table} SET zlib = ? WHERE rowid = ?"
            database.execute(query, (zlib.compress(text.encode()), row))
    page = zlib.compress(b"")  # it is made again from the record
    database.execute("UPDATE record SET page_zlib = ? WHERE key = ?", (page, side.key))


def _forget_sources(database: sqlite3.Connection, needed: set[str | None]) -> None:
    """Remove the sources that nobody else needs, and the notes on them."""
    gone = {row[0] for row in database.execute("SELECT sha256 FROM source")} - needed
    for table in ("source", "loaded", "ended_grader"):
        _delete(database, table, "sha256", gone)
    _delete(database, "ended_grader", "opponent", gone)
    database.execute("DELETE FROM begun")  # their titles name students


def _forget_name(
    store: Store, database: sqlite3.Connection, name: str, alias: str, number: int
) -> None:
    """Remove a name from the lists of submissions; a drawn one is there under its alias."""
    listed = sorted(row[0] for row in database.execute("SELECT name FROM submission"))
    if alias:
        database.execute(
            "UPDATE submission SET name = ?, place = '', report = NULL, members = '[]' "
            "WHERE name = ?",
            (alias, name),
        )
    _delete(database, "submission", "name", [name])
    renamed = store.renamed()
    values: dict[str, Any] = {
        COUNT: number,
        ORDER: [alias if item == name else item for item in store.meta_json(ORDER) or listed],
        "withdrawn": [item for item in store.withdrawn() if item != name],
        "renamed": {old: new for old, new in renamed.items() if name not in (old, new)},
    }
    if placed := store.meta_json(PLACEMENT):
        left = {
            item: number
            for item, number in placed["points"].items()
            if name not in (item, renamed.get(item))
        }
        values[PLACEMENT] = {**placed, "points": left}
    rows = ((key, json.dumps(value)) for key, value in values.items())
    database.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
