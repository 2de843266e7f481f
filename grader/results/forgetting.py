"""Forgetting a student: a results file keeps nothing that they wrote, played or were called.

Games against other students keep their scores; the student is `withdrawn-N` there. So a
tournament keeps its groups and its tables, and a ladder its ratings.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from grader.handin.submission import FOLDER, file_name
from grader.results.store import ORDER, Store

COUNT: Final = "forgotten"
"""The name in `meta` of the number of students that were forgotten."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed from a results file."""

    names: frozenset[str]
    """The student's names there."""
    hashes: frozenset[str]
    """The hashes of sources that nobody else has handed in."""
    games: int
    alias: str
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
    store.compact()
    return Forgotten(frozenset(names), frozenset(gone), len(keys), alias)


def _names(store: Store, database: sqlite3.Connection, name: str) -> set[str]:
    """Return a student's names: also those before a change, and on a ladder's site."""
    found = {name, *(old for old, new in store.renamed().items() if new == name)}
    if store.meta("kind") == "ladder":
        query = "SELECT pseudonym, number FROM student LEFT JOIN version USING (name) "
        for called, number in database.execute(f"{query} WHERE name = ?", (name,)):
            found |= {called, f"{called} v{number}"}
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
    renamed = store.renamed().items()
    values = {
        COUNT: number,
        ORDER: [alias if item == name else item for item in store.meta_json(ORDER) or listed],
        "withdrawn": [item for item in store.withdrawn() if item != name],
        "renamed": {old: new for old, new in renamed if name not in (old, new)},
    }
    rows = ((key, json.dumps(value)) for key, value in values.items())
    database.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
