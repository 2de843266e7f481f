"""The command `forget`: removes a person from a results file and from what was written of it.

Games name files, so a person stands in the tables of authors, of the roster, of corrections and of
decisions alone. A file that nobody else has handed in goes too: its source, its games, and its
hash, in whose place a random one stands in the scores of others. So a tournament keeps its groups
and its tables, and a ladder its ratings.
"""

import html
import json
import re
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from connect4.cli import agreed
from connect4.errors import InputError
from grader.commands import DONE, FAILED, say
from grader.handin import Kind, Person, file_name, named_few
from grader.handin.roster import find
from grader.ladder import LADDER, Book
from grader.ladder.league import write_tables
from grader.ladder.site import write_site, write_unlikely
from grader.marks import gradable
from grader.output import gradebooks, writing
from grader.output.results import GRADE, PLACEMENT, TOURNAMENT, Results, read_results
from grader.output.tables import wrapped
from grader.play import number_of
from grader.play.one_game import DIGITS
from grader.play.schedule import Contestant, submitted
from grader.results import utc_now
from grader.results.store import Store
from grader.rubric.reading import from_stored

WRITTEN: Final = re.compile(
    r"class\.html|results\.json|(changes|unmatched)\.csv"
    rf"|{gradebooks.FILLED.pattern}"
    r"|(feedback|games)/[^/]*\.html|results/[^/]*\.json"
    rf"|({writing.FOLDERS})/[0-9a-f]{{{DIGITS}}}/[^/]*"
)
"""Files below `--out` that the grader writes and a report may leave as they were."""

ELSEWHERE: Final = (
    "Not touched: the hand-in itself and the roster's line (with either, the next run takes the "
    "student in again), other results files, copies and backups, pages of `similar` and `viva`, "
    "folders of `publish-game`, what students were sent, and what the course's system holds."
)


def forget(
    path: Path, text: str, outs: Sequence[Path] = (), site: Path | None = None, yes: bool = False
) -> int:
    """Ask, forget a person, write the other files again, and say what is left.

    `text` is a name, number, login or address of a hand-in, of a member of a group or of a line of
    the roster. Raises `InputError` if nobody or several have it.
    """
    with Store(path, writing=False) as store:
        kind = str(store.meta("kind"))
    with (Book if kind == LADDER else Store)(path, writing=True) as store:
        results = None if kind == LADDER else read_results(store)
        for option, folder in (*(("--out", out) for out in outs), ("--site", site)):
            file = "grades.csv" if kind == GRADE else "standings.txt"
            file = file if option == "--out" else "index.html"
            if folder is not None and not (folder / file).is_file():
                why = "there is no such folder"
                why = f"holds no files of a {kind}" if folder.is_dir() else why
                raise InputError(f"{option} {folder}: {why}; nothing is forgotten")
        if kind == LADDER and store.meta("rubric") is None:
            raise InputError(f"{path}: give the command `ladder` for it once more, then this one")
        gone = _whoever(text, store, results)
        students = results.owners.students if results else {}
        for page in sorted(gone.pages & students.keys()):
            if others := [str(one) for one in students[page] if not gone.is_it(one)]:
                say(f"the mark of {named_few(others)} is from this hand-in, and goes too")
        question = f"Remove {gone.title} with source, games and pages for ever?"
        if not yes and not agreed([], question, "without a terminal, give --yes"):
            say("nothing is removed")
            return FAILED
        done, hashes = remove(store, gone, results)
        if isinstance(store, Book):
            rubric = from_stored(store.meta_json("rubric"), f"{path} (rubric)")
            standings = write_tables(store, rubric)
            write_unlikely(store, standings)
            if site is not None:
                write_site(store, standings, site)
        for out in () if kind == LADDER else outs:
            _write_out(store, gone, hashes, out)
    print(f"{path}: {gone.title} is forgotten{done}")
    for folder in (*outs, *([site] if site is not None else [])):
        for place in _naming(gone.texts | hashes, folder):
            print(f"left: {place} still holds the name, a number, an address or the file's hash")
    print(wrapped(ELSEWHERE))
    return DONE


@dataclass(frozen=True, slots=True)
class Gone:
    """A person to be forgotten, by all names and keys that the file has."""

    people: frozenset[Person]
    alone: bool
    """Whether nobody else there has the name."""
    pages: frozenset[str] = frozenset()
    """The names of the submissions that were this person's alone."""

    @property
    def title(self) -> str:
        return max((person.name for person in self.people), key=len)

    @property
    def texts(self) -> set[str]:
        """Return the names, numbers, logins and addresses that a search can tell from others."""
        told = (Kind.NUMBER, Kind.LOGIN, Kind.EMAIL)
        texts = {text for one in self.people for kind, text in one.keys if kind in told}
        names = {person.name for person in self.people} | self.pages
        return {text for text in texts | (names if self.alone else set()) if len(text) > 2}

    def is_it(self, person: Person) -> bool:
        """Return whether a person is the one, by a key or by a name that nobody else has."""
        kinds = {kind for one in self.people for kind, _ in one.keys}
        keys = {key for one in self.people for key in one.keys}
        if not keys.isdisjoint(person.keys) or replace(person, submitted="") in self.people:
            return True
        if any(kind in kinds for kind, _ in person.keys):
            return False
        return self.alone and any(person.name == one.name for one in self.people)


def _whoever(text: str, store: Store, results: Results | None) -> Gone:
    """Return the person that a text means; raises `InputError` if nobody or several."""
    held: list[tuple[str, Sequence[Person]]] = [*results.owners.students.items()] if results else []
    held += [("", [one]) for one in store.roster()]
    held += [*store.authors()]
    groups: list[tuple[set[Person], set[str]]] = []
    for name, people in held:
        pages = {name} if name and len(people) == 1 else set()
        for person in (Person(one.name, one.keys) for one in people):
            keys = set(person.keys)
            known = [
                group
                for group in groups
                if person in group[0] or any(not keys.isdisjoint(one.keys) for one in group[0])
            ]
            if not known and not keys:
                known = [group for group in groups if person.name in {one.name for one in group[0]}]
            if len(known) == 1:
                known[0][0].add(person)
                known[0][1].update(pages)
            else:
                groups.append(({person}, set(pages)))
    named = [[*group, *map(Person, pages)] for group, pages in groups]
    own, pages = groups[find(text, named, store.path)]
    names = {person.name for person in own}
    others = (person.name for group, _ in groups if group is not own for person in group)
    return Gone(frozenset(own), names.isdisjoint(others), frozenset(pages))


def remove(store: Store, gone: Gone, results: Results | None) -> tuple[str, set[str]]:
    """Remove a person from a results file.

    Return what happened to the games, in words, and the hashes of the files that went.
    """
    kind, pattern = store.meta("kind"), _pattern(gone.texts)
    with store.transaction() as database:
        for name, function in (
            ("is_gone", lambda text: gone.is_it(Person.from_json(json.loads(text)))),
            ("cleaned", lambda text: text and pattern.sub(b"...", text.encode()).decode()),
            ("cleaned_student", lambda text: _cleaned(text, pattern)),
        ):
            database.create_function(name, 1, function)
        authors, hashes = _remove_author(database, gone)
        for statement in CLEANING:
            database.execute(statement)
        if placed := store.meta_json(PLACEMENT):
            for entry in placed["points"]:
                held = entry["people"]
                entry["people"] = [one for one in held if not gone.is_it(Person.from_json(one))]
            placed["points"] = [entry for entry in placed["points"] if entry["people"]]
            text = json.dumps(placed)
            database.execute("UPDATE meta SET value = ? WHERE name = ?", (text, PLACEMENT))
        ids = _new_ids(hashes, results if kind == TOURNAMENT else None)
        keys = _new_keys(ids, results) if results is not None else {}
        games = _remove_games(database, ids, keys, kind)
        for table, column in (("source", "sha256"), ("note", "subject"), ("aside", "sha256")):
            _delete(database, table, column, hashes)
        database.execute("DELETE FROM begun")
        if kind == LADDER:
            for column in ("one", "two", "wanted_by"):
                rows = [(new, old) for old, new in ids.items()]
                database.executemany(f"UPDATE planned SET {column} = ? WHERE {column} = ?", rows)
        alias = _add_alias(database, ids, results) if kind == TOURNAMENT else ""
    database.execute("VACUUM")  # no free page keeps it
    if not hashes:
        others = "; others have handed in the same file, and its games stay" if authors else ""
        return others, hashes
    kept = "with their scores" if kind == GRADE else "their scores stay"
    kept += alias and f", under {alias!r}"
    return f", with the moves of {number_of(games, 'game')} ({kept})", hashes


CLEANING: Final = (
    "DELETE FROM roster WHERE is_gone(student)",
    "DELETE FROM correction WHERE is_gone(person)",
    "DELETE FROM decision WHERE is_gone(person) OR is_gone(line)",
    "DELETE FROM written WHERE is_gone(person)",
    "UPDATE author SET report = cleaned(report)",
    "UPDATE meta SET value = cleaned(value) WHERE name IN ('command', 'out')",
    "UPDATE correction SET reason = cleaned(reason)",
    "UPDATE roster SET student = cleaned_student(student)",
)
"""What removes a person, and the name and keys from what is said of others."""


def _cleaned(text: str, pattern: re.Pattern[bytes]) -> str:
    """Return a student of the roster, as JSON, without what a pattern finds in what others read."""
    held = json.loads(text)
    read = [(held, "hand_in"), (held, "section"), *((one, "reason") for one in held["corrections"])]
    for values, name in read:
        values[name] = pattern.sub(b"...", values[name].encode()).decode()
    held["group"] = pattern.sub(b"withdrawn", held["group"].encode()).decode()
    return json.dumps(held)


def _remove_author(database: sqlite3.Connection, gone: Gone) -> tuple[int, set[str]]:
    """Remove a person from the authors; return how many are gone, and the hashes of their files.

    Files that others have handed in too are not among these. From a hand-in of several the person
    goes, also out of its name.
    """
    rows = database.execute("SELECT number, name, people FROM author").fetchall()
    taken = {row[1] for row in rows}
    mine: list[int] = []
    for number, name, people in rows:
        persons = [Person.from_json(one) for one in json.loads(people)]
        rest = [one for one in persons if not gone.is_it(one)]
        if len(rest) == len(persons):
            continue
        if not rest:
            mine.append(number)
            continue
        called = name
        if _pattern(gone.texts).search(name.encode()):
            called = " and ".join(one.name for one in rest)
            called = called if called not in taken else f"{called} ({number})"
        database.execute(
            "UPDATE author SET name = ?, people = ?, place = '', entry = '' WHERE number = ?",
            (called, json.dumps([one.to_json() for one in rest]), number),
        )
    versions = database.execute("SELECT author, sha256 FROM version").fetchall()
    hashes = {sha256 for author, sha256 in versions if author in mine}
    hashes -= {sha256 for author, sha256 in versions if author not in mine}
    _delete(database, "author", "number", mine)
    _delete(database, "version", "author", mine)
    return len(mine), hashes


def _new_ids(hashes: Collection[str], drawn: Results | None) -> dict[str, str]:
    """Return a random id for each hash; in a draw it sorts as the hash does, so groups stay."""
    found = {}
    order = sorted(one.id for one in gradable(drawn.submissions)) if drawn else []
    for sha256 in sorted(hashes):
        place = order.index(sha256) if sha256 in order else -1
        low, high = 0, 2**256
        if place >= 0:
            low = int(order[place - 1], 16) + 1 if place else 0
            high = int(order[place + 1], 16) if place + 1 < len(order) else high
        found[sha256] = f"{low + secrets.randbelow(high - low):064x}"
        if place >= 0:
            order[place] = found[sha256]
    return found


def _new_keys(ids: dict[str, str], results: Results) -> dict[str, str]:
    """Return the key that each planned game has with the new ids, by its key now."""

    def renamed(one: Contestant) -> Contestant:
        return submitted(one.name, ids[one.id]) if one.id in ids else one

    return {
        game.key: replace(
            game,
            match=replace(game.match, one=renamed(game.match.one), two=renamed(game.match.two)),
        ).key
        for game in results.games
        if not ids.keys().isdisjoint(game.submitted)
    }


def _remove_games(
    database: sqlite3.Connection, ids: dict[str, str], keys: dict[str, str], kind: str | None
) -> int:
    """Remove the games of these files from a grading, else their records; return how many.

    What stays of a game has the new ids, and a key that does not follow from the file.
    """
    rows = database.execute("SELECT key, player1, player2 FROM game").fetchall()
    mine = [(key, one, two) for key, one, two in rows if one in ids or two in ids]
    for key, one, two in mine:
        for table in ("record", *(("game",) if kind == GRADE else ())):
            _delete(database, table, "key", [key])
        if kind != GRADE:  # a fault or a traceback may quote the source
            new = keys.get(key) or secrets.token_hex(16)
            database.execute(
                "UPDATE game SET key = ?, player1 = ?, player2 = ?, traceback = NULL, "
                "fault = iif(fault IS NULL OR starved1 + starved2 > 0, fault, 'failed') "
                "WHERE key = ?",
                (new, ids.get(one, one), ids.get(two, two), key),
            )
            if kind == LADDER:
                database.execute("UPDATE planned SET key = ? WHERE key = ?", (new, key))
    return len(mine)


def _add_alias(database: sqlite3.Connection, ids: dict[str, str], results: Results | None) -> str:
    """Add an author without a person for each new id of a draw; return the name of one."""
    drawn = {one.id for one in gradable(results.submissions)} if results else set()
    alias = ""
    for old, new in ids.items():
        if old not in drawn:
            continue
        taken = {row[0].casefold() for row in database.execute("SELECT name FROM author")}
        alias = next(name for n in count(1) if (name := f"withdrawn-{n}") not in taken)
        added = database.execute(
            "INSERT INTO author (name, people, place, sha256, present) VALUES (?, '[]', '', ?, 1)",
            (alias, new),
        )
        database.execute(
            "INSERT INTO version VALUES (?, 1, ?, ?, NULL)", (added.lastrowid, new, utc_now()[:10])
        )
    return alias


def _delete(database: sqlite3.Connection, table: str, column: str, values: Iterable[Any]) -> None:
    database.executemany(f"DELETE FROM {table} WHERE {column} = ?", ((one,) for one in values))


def _write_out(store: Store, gone: Gone, hashes: Collection[str], out: Path) -> None:
    """Remove files below `--out` that name a person or a hash, and write the class's again."""
    named = gone.texts | {one[:digits] for one in hashes for digits in (64, DIGITS, writing.SHORT)}
    pages = {out / page for name in gone.pages for page in writing.pages_of(name)}
    # an export may write the name in two columns, or in UTF-16
    pages |= {path for path in out.iterdir() if gradebooks.FILLED.fullmatch(path.name)}
    removed = [
        path
        for path in sorted(pages.union(_naming(named, out)))
        if path.is_file() and WRITTEN.fullmatch(path.relative_to(out).as_posix())
    ]
    for path in (*removed, out / "results.json"):
        path.unlink(missing_ok=True)
        with suppress(OSError):  # other files are in it
            path.parent.rmdir()
    results = read_results(store)
    writing.write_all(results, store, out)
    if (out / writing.RECORDS).is_dir():
        writing.write_records(results.games, store, out)
    lost = [path for path in removed if not path.exists()]
    say(f"{out}: removed {number_of(len(lost), 'file')}")
    for path in lost:
        if gradebooks.FILLED.fullmatch(path.name):
            say(f"{path} is gone; `report` with --gradebook writes it again")


def _pattern(texts: Collection[str]) -> re.Pattern[bytes]:
    """Return a pattern that finds one of these texts as a word of its own, in HTML and JSON too."""
    plain = {form(text) for text in texts for form in (str, file_name)}
    forms = (str, html.escape, quote, lambda text: json.dumps(text)[1:-1])
    found = sorted((form(text) for text in plain for form in forms), key=len, reverse=True)
    words = b"|".join(re.escape(text).encode() for text in found)
    return re.compile(rb"(?<![a-zA-Z0-9])(?:" + (words or b"(?!)") + rb")(?![a-zA-Z0-9])")


def _naming(texts: Collection[str], folder: Path) -> list[Path]:
    """Return the files below a folder that have one of these texts in them or in their path."""
    pattern = _pattern(texts)
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and pattern.search(path.relative_to(folder).as_posix().encode() + b"\n" + path.read_bytes())
    ]
