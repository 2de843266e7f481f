"""Forgetting a student: a results file keeps nothing that they wrote, played or were called.

Games against other students keep their scores; the student is `withdrawn-N` there. So a
tournament keeps its groups and its tables, and a ladder its ratings.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from grader.handin.submission import FOLDER, file_name
from grader.results.store import FORGOTTEN, Store

ALIAS: Final = "withdrawn-"

AFTER: Final = "\x01"
"""Sorts after the end of a name and before every other character of one."""


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
    """One player of a stored game; `sha256` is the hash of a submission as far as it is known."""

    key: str
    number: int
    name: str
    sha256: str | None


def forget(store: Store, name: str, drawn: bool) -> Forgotten:
    """Remove a student; `drawn` if a tournament's groups were drawn with this name."""
    with store.transaction() as database:
        found = _forget(database, name, drawn)
    store.compact()
    return found


def _forget(database: sqlite3.Connection, name: str, drawn: bool) -> Forgotten:
    names = {name} | _other_names(database, name)
    sides = _sides(database)
    mine, others = _hashes(database, name)
    mine |= {side.sha256 for side in sides if side.sha256 and side.name in names}
    gone = mine - others
    own = [side for side in sides if side.sha256 in gone or _is_lost(side, names)]
    keys = {side.key for side in own}
    for side in sides:
        if side.key not in keys and side.sha256 in mine and side.name in names:
            _give_to(_other_author(database, side, name), side, database)
    for table in ("record", "earlier"):
        _delete(database, table, "key", keys)
    kind = database.execute("SELECT value FROM meta WHERE name = 'kind'").fetchone()
    alias = "" if kind == ("grade",) else _next_alias(database)
    if alias:
        _make_anonymous(database, own, alias)
    else:
        _delete(database, "game", "key", keys)
    left = others | {side.sha256 for side in sides if side.sha256 and side.key not in keys}
    _forget_sources(database, gone, left)
    _forget_starts(database, keys | gone)
    _forget_name(database, name, alias if drawn else "")
    return Forgotten(frozenset(names), frozenset(gone), len(keys), alias)


def _has_ladder(database: sqlite3.Connection) -> bool:
    found = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'version'").fetchone()
    return found is not None


def _meta(database: sqlite3.Connection, name: str) -> Any:
    """Return a JSON value of `meta`, None if there is none."""
    row = database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else json.loads(row[0])


def _set_meta(database: sqlite3.Connection, name: str, value: Any) -> None:
    row = (name, json.dumps(value))
    database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)


def _other_names(database: sqlite3.Connection, name: str) -> set[str]:
    """Return what else a student is called: before a change of names, and on a ladder's site."""
    found = {old for old, new in (_meta(database, "renamed") or {}).items() if new == name}
    if _has_ladder(database):
        query = "SELECT pseudonym FROM student WHERE name = ?"
        for (pseudonym,) in database.execute(query, (name,)).fetchall():
            numbers = "SELECT number FROM version WHERE name = ?"
            versions = database.execute(numbers, (name,)).fetchall()
            found |= {pseudonym, *(f"{pseudonym} v{number}" for (number,) in versions)}
    return found


def _sides(database: sqlite3.Connection) -> list[Side]:
    """Return both players of every game; only a record tells students from agents of the kit."""
    found = []
    rows = database.execute(
        "SELECT game.key, player1, player2, record.zlib FROM game LEFT JOIN record USING (key)"
    )
    for key, *names, packed in rows:
        try:
            players = json.loads(zlib.decompress(packed or b""))["players"]
        except (zlib.error, ValueError):
            players = [{"agent": "", "sha256": None}] * 2
        for number, (name, player) in enumerate(zip(names, players, strict=True), 1):
            submitted = player["agent"].startswith(f"ai:{FOLDER}/")
            sha256 = player["sha256"] if submitted else None
            found.append(Side(key, number, name, sha256 if player["agent"] else ""))
    return found


def _is_lost(side: Side, names: set[str]) -> bool:
    """Return whether a side has a student's name, and no record says whose file it was."""
    return side.sha256 == "" and side.name in names


def _hashes(database: sqlite3.Connection, name: str) -> tuple[set[str], set[str]]:
    """Return the hashes of a student's sources, and of everybody else's."""
    queries = ["SELECT name, sha256 FROM submission WHERE sha256 IS NOT NULL"]
    if _has_ladder(database):
        queries.append("SELECT name, sha256 FROM version")
    rows = [row for query in queries for row in database.execute(query)]
    return (
        {sha256 for author, sha256 in rows if author == name},
        {sha256 for author, sha256 in rows if author != name},
    )


def _next_alias(database: sqlite3.Connection) -> str:
    """Return a name that nobody has."""
    rows = database.execute(
        "SELECT name FROM submission UNION SELECT player1 FROM game UNION SELECT player2 FROM game"
    )
    numbers = (re.fullmatch(rf"{ALIAS}(\d+)", name) for (name,) in rows)
    return f"{ALIAS}{1 + max((int(found[1]) for found in numbers if found), default=0)}"


def _other_author(database: sqlite3.Connection, side: Side, name: str) -> str:
    """Return who else handed in the file that played a game."""
    query = "SELECT name FROM submission WHERE sha256 = ? AND name <> ?"
    row = database.execute(query, (side.sha256, name)).fetchone()
    return "another student" if row is None or _has_ladder(database) else str(row[0])


def _give_to(author: str, side: Side, database: sqlite3.Connection) -> None:
    """Put another author's name into a game, who handed in the same file."""
    query = f"UPDATE game SET player{side.number} = ? WHERE key = ?"
    database.execute(query, (author, side.key))
    for table in ("record", "earlier"):
        query = f"SELECT rowid, zlib FROM {table} WHERE key = ?"
        for row, packed in database.execute(query, (side.key,)).fetchall():
            document = json.loads(zlib.decompress(packed))
            own = document["players"][side.number - 1]
            own["agent"] = f"ai:{FOLDER}/{file_name(author)}/ai.py"
            text = zlib.compress(f"{json.dumps(document)}\n".encode())
            database.execute(f"UPDATE {table} SET zlib = ? WHERE rowid = ?", (text, row))
    page = zlib.compress(b"")  # it is made again from the record
    database.execute("UPDATE record SET page_zlib = ? WHERE key = ?", (page, side.key))


def _delete(database: sqlite3.Connection, table: str, column: str, values: Iterable[str]) -> None:
    rows = ((value,) for value in values)
    database.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)


def _make_anonymous(database: sqlite3.Connection, sides: Iterable[Side], alias: str) -> None:
    """Keep the scores of games without the texts that may quote a student."""
    for side in sides:
        database.execute(
            f"UPDATE game SET player{side.number} = ?, traceback = NULL, "
            "fault = iif(fault IS NULL OR starved1 + starved2 > 0, fault, 'failed') WHERE key = ?",
            (alias, side.key),
        )


def _forget_sources(database: sqlite3.Connection, gone: set[str], left: set[str]) -> None:
    """Remove the sources of a student, and those that no submission and no game needs."""
    held = {row[0] for row in database.execute("SELECT sha256 FROM source")}
    for table in ("source", "loaded", "ended_grader"):
        _delete(database, table, "sha256", gone | (held - left))
    database.executemany(
        "UPDATE ended_grader SET title = 'a game with a withdrawn student' WHERE opponent = ?",
        ((sha256,) for sha256 in gone),
    )


def _forget_starts(database: sqlite3.Connection, ids: set[str]) -> None:
    """Remove the notes on games and sources during which the grader was ended."""
    rows = database.execute("SELECT key FROM begun").fetchall()
    _delete(database, "begun", "key", (key for (key,) in rows if key.split()[-1] in ids))


def _forget_name(database: sqlite3.Connection, name: str, alias: str) -> None:
    """Remove a name from the lists of submissions; a drawn one is there under its alias."""
    listed = [row[0] for row in database.execute("SELECT name FROM submission")]
    held = _meta(database, FORGOTTEN) or {}
    if alias:
        database.execute(
            "UPDATE submission SET name = ?, place = '', report = NULL, members = '[]' "
            "WHERE name = ?",
            (alias, name),
        )
    _delete(database, "submission", "name", [name])
    if _has_ladder(database):
        for table in ("student", "version"):
            _delete(database, table, "name", [name])
    names = sorted(listed, key=lambda item: held.get(item, item))
    orders = _orders([alias if item == name else item for item in names], {*held, alias})
    _set_meta(database, FORGOTTEN, orders)
    withdrawn = _meta(database, "withdrawn") or []
    _set_meta(database, "withdrawn", [item for item in withdrawn if item != name])
    renamed = (_meta(database, "renamed") or {}).items()
    _set_meta(database, "renamed", {old: new for old, new in renamed if name not in (old, new)})


def _orders(names: Iterable[str], aliases: set[str]) -> dict[str, str]:
    """Return what sorts each alias where its name did; no forgotten name is part of it."""
    found: dict[str, str] = {}
    before = ""
    for name in filter(None, names):
        before = name if name not in aliases else before + AFTER
        if name in aliases:
            found[name] = before
    return found
