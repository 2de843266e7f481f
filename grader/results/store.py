"""The results file: one SQLite database that survives a kill at any moment.

Each game is one transaction, on disk before the next game is submitted. The file also has
everything else that a report requires (rubric, boards, submissions, sources). `docs/formats.md`
describes the tables.
"""

import json
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import chain
from typing import Final

from grader import results
from grader.handin import Person, Submission, sources_of
from grader.handin.roster import Change, Correction, Student
from grader.handin.worker import machine
from grader.results.database import Database

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS source (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS author (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, people TEXT NOT NULL,
    place TEXT NOT NULL, entry TEXT NOT NULL DEFAULT '', sha256 TEXT, report TEXT, problem TEXT,
    present INTEGER NOT NULL, withdrawn INTEGER NOT NULL DEFAULT 0, pseudonym TEXT UNIQUE,
    token TEXT) STRICT;
CREATE TABLE IF NOT EXISTS version (
    author INTEGER NOT NULL, number INTEGER NOT NULL, sha256 TEXT NOT NULL, seen TEXT NOT NULL,
    problem TEXT, PRIMARY KEY (author, sha256)) STRICT;
CREATE TABLE IF NOT EXISTS roster (line INTEGER PRIMARY KEY, student TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS correction (
    number INTEGER PRIMARY KEY, person TEXT NOT NULL, kind TEXT NOT NULL, amount REAL NOT NULL,
    reason TEXT NOT NULL, day TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS decision (
    person TEXT NOT NULL, line TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (person, line)) STRICT;
CREATE TABLE IF NOT EXISTS written (
    person TEXT PRIMARY KEY, total REAL, games REAL NOT NULL, roster REAL NOT NULL,
    placement REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS game (
    key TEXT PRIMARY KEY, player1 TEXT NOT NULL, player2 TEXT NOT NULL,
    score1 INTEGER, score2 INTEGER, ending TEXT, turns INTEGER,
    timeouts1 INTEGER, invalid1 INTEGER, errors1 INTEGER, starved1 INTEGER,
    timeouts2 INTEGER, invalid2 INTEGER, errors2 INTEGER, starved2 INTEGER,
    seconds REAL NOT NULL, worker TEXT NOT NULL, attempts INTEGER NOT NULL,
    played_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    status TEXT NOT NULL, fault TEXT, traceback TEXT) STRICT;
CREATE TABLE IF NOT EXISTS record (
    key TEXT PRIMARY KEY, zlib BLOB NOT NULL, page_zlib BLOB NOT NULL,
    lost_zlib BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS note (
    kind TEXT NOT NULL, subject TEXT NOT NULL, terms TEXT NOT NULL, text TEXT,
    PRIMARY KEY (kind, subject, terms)) STRICT;
CREATE TABLE IF NOT EXISTS begun (
    key TEXT PRIMARY KEY, running INTEGER NOT NULL, deaths INTEGER NOT NULL,
    machine TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS aside (
    sha256 TEXT PRIMARY KEY, title TEXT NOT NULL, evidence TEXT NOT NULL, at TEXT NOT NULL) STRICT;
"""
"""A game names its players by their ids (`Contestant.id`), never a person. Persons stand in
`author`, `roster`, `correction`, `decision` and `written`, as JSON. `starved` counts late turns
that the machine caused. A game has scores (status PLAYED), or the grader or its machine failed
(INFRA) for the reason in `fault`, in one line."""


COMMAND: Final = "command"
"""The name in a results file of the command of the last run, as a list of words."""


class Store(Database):
    """An open results file with its games and submissions."""

    schema = SCHEMA

    def secret(self, make: bool) -> int | None:
        """Return a class's secret seed; if there is none, None, or a new one with `make`."""
        held = self.meta("secret")
        if held is None and make:
            held = f"{secrets.randbits(256):064x}"
            self.set_meta({"secret": held})
        return None if held is None else int(held, 16)

    def publish(self, seeds: Iterable[int]) -> None:
        """Note seeds that are about to be published."""
        known = {**dict.fromkeys(seeds, results.utc_now()), **self.published()}
        self.set_meta({"published": json.dumps({str(seed): at for seed, at in known.items()})})

    def published(self) -> dict[int, str]:
        """Return the seeds of published games, with the time of their publication."""
        held = self.meta_json("published") or {}
        return {int(seed): at for seed, at in held.items()} if isinstance(held, dict) else {}

    def add_sources(self, sources: Mapping[str, bytes]) -> None:
        """Store the content of files, by its hash."""
        self._write("INSERT OR IGNORE INTO source VALUES (?, CAST(? AS TEXT))", *sources.items())

    def set_submissions(
        self, found: Sequence[Submission], day: str = "", whole: bool = False
    ) -> list[tuple[str, str]]:
        """Note the hand-ins of a run; earlier authors and sources are kept as evidence.

        Of a `whole` class, whoever is not among them is withdrawn. Return author and hash of each
        version that is new.
        """
        self.add_sources(sources_of(found))
        fresh: list[tuple[str, str]] = []
        with self.transaction() as database:
            database.execute("UPDATE author SET present = 0")
            for item in found:
                people = json.dumps([person.to_json() for person in item.people])
                row = (item.place, item.entry, item.sha256, item.report, item.problem)
                database.execute(
                    "INSERT INTO author (name, people, place, entry, sha256, report, problem, "
                    "present) VALUES (?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (name) DO UPDATE SET "
                    "people = excluded.people, place = excluded.place, entry = excluded.entry, "
                    "sha256 = excluded.sha256, report = excluded.report, "
                    "problem = excluded.problem, present = 1, withdrawn = 0",
                    (item.name, people, *row),
                )
                if item.sha256 is not None:
                    added = database.execute(
                        "INSERT OR IGNORE INTO version SELECT number, (SELECT count(*) + 1 "
                        "FROM version WHERE author = author.number), ?, ?, NULL FROM author "
                        "WHERE name = ?",
                        (item.sha256, day or results.utc_now()[:10], item.name),
                    )
                    fresh += [(item.name, item.sha256)] * added.rowcount
            if whole:
                database.execute("UPDATE author SET withdrawn = 1 WHERE NOT present")
        return fresh

    def submissions(self) -> list[Submission]:
        """Return the hand-ins of the last run, by name."""
        rows = self._database.execute(
            "SELECT name, place, CAST(text AS BLOB), report, problem, people, entry, author.sha256 "
            "FROM author LEFT JOIN source USING (sha256) WHERE present"
        )
        found = [
            Submission(
                *(name, place, source, report, problem),
                tuple(map(Person.from_json, self._json(people))),
                entry=entry,
                stored_sha256=sha256,
            )
            for name, place, source, report, problem, people, entry, sha256 in rows
        ]
        return sorted(found, key=lambda item: (item.name.casefold(), item.name))

    def authors(self) -> list[tuple[str, list[Person]]]:
        """Return the name and the persons of every hand-in that was ever noted."""
        rows = self._database.execute("SELECT name, people FROM author ORDER BY number")
        return [(name, [*map(Person.from_json, self._json(people))]) for name, people in rows]

    def versions(self) -> dict[str, list[str]]:
        """Return the authors in the class of each version of a source, by its hash."""
        found: dict[str, list[str]] = {}
        for sha256, name in self._database.execute(
            "SELECT version.sha256, name FROM version JOIN author ON author.number = author "
            "WHERE present OR NOT withdrawn ORDER BY name"
        ):
            found.setdefault(sha256, []).append(name)
        return found

    def roster(self) -> tuple[Student, ...]:
        """Return the stored roster; empty if there is none."""
        rows = self._database.execute("SELECT student FROM roster ORDER BY line")
        return tuple(Student.from_json(self._json(row[0])) for row in rows)

    def set_roster(self, students: Sequence[Student]) -> None:
        """Replace the stored roster; without students there is none any more."""
        with self.transaction() as database:
            database.execute("DELETE FROM roster")
            rows = [(json.dumps(student.to_json()),) for student in students]
            database.executemany("INSERT INTO roster (student) VALUES (?)", rows)

    def corrections(self) -> list[tuple[Person, Correction]]:
        """Return the corrections that the command `correct` has entered, the oldest first."""
        rows = self._database.execute(
            "SELECT person, kind, amount, reason, day FROM correction ORDER BY number"
        )
        return [
            (Person.from_json(self._json(person)), Correction(Change(kind), amount, reason, day))
            for person, kind, amount, reason, day in rows
        ]

    def correct(self, person: Person, entry: Correction) -> None:
        self._write(
            "INSERT INTO correction (person, kind, amount, reason, day) VALUES (?, ?, ?, ?, ?)",
            (json.dumps(person.to_json()), entry.kind, entry.amount, entry.reason, entry.day),
        )

    def decisions(self) -> list[tuple[Person, Person]]:
        """Return whom the teacher has declared to be one person, in two lists."""
        rows = self._database.execute("SELECT person, line FROM decision ORDER BY at")
        return [
            (Person.from_json(self._json(one)), Person.from_json(self._json(two)))
            for one, two in rows
        ]

    def decide(self, pairs: Iterable[tuple[Person, Person]]) -> None:
        """Note that the persons of each pair are one."""
        rows = (
            (json.dumps(one.to_json()), json.dumps(two.to_json()), results.utc_now())
            for one, two in pairs
        )
        self._write("INSERT OR REPLACE INTO decision VALUES (?, ?, ?)", *rows)

    def take_back(self) -> None:
        """Forget all that was decided of persons."""
        self._write("DELETE FROM decision", ())

    def written(self) -> list[tuple[Person, results.Written]]:
        """Return the marks that were written last, and whose they are."""
        rows = self._database.execute("SELECT person, total, games, roster, placement FROM written")
        return [
            (Person.from_json(self._json(text)), results.Written(*values)) for text, *values in rows
        ]

    def set_written(self, marks: Iterable[tuple[Person, results.Written]]) -> None:
        rows = [  # a name stands in its own letters, by which `forget` finds it
            (json.dumps(one.to_json(), ensure_ascii=False), *astuple(mark)) for one, mark in marks
        ]
        with self.transaction() as database:
            database.execute("DELETE FROM written")
            database.executemany("INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?)", rows)

    def add(self, attempt: results.Attempt) -> None:
        """Store an attempt in one transaction."""
        key, played = attempt.key, attempt.played
        if attempt.fault == results.STARVED:
            held = self.starved()
            self.set_meta({"starved": json.dumps({**held, key: held.get(key, 0) + 1})})
        result: Sequence[object] = [None] * len(results.RESULT)
        if played is not None:
            faults = chain.from_iterable(map(astuple, played.faults))
            result = (*played.scores, played.ending, played.turns, *faults)
        before = self._first("SELECT attempts FROM game WHERE key = ?", key) or 0
        status = "PLAYED" if attempt.fault is None else "INFRA"
        more = (status, attempt.fault, attempt.traceback)
        row = (key, *attempt.ids, *result, attempt.seconds, attempt.worker, before + 1, *more)
        with self.transaction() as database:
            if not attempt.died:  # else it stays among the games that were begun
                database.execute("DELETE FROM begun WHERE key = ?", (key,))
            database.execute("DELETE FROM record WHERE key = ?", (key,))
            database.execute(
                f"INSERT OR REPLACE INTO game (key, player1, player2, {', '.join(results.RESULT)}, "
                "seconds, worker, attempts, status, fault, traceback) "
                f"VALUES ({', '.join('?' * len(row))})",
                row,
            )
            if attempt.record is not None:
                lost = json.dumps([astuple(turn) for turn in attempt.lost])
                texts = (json.dumps(attempt.record) + "\n", attempt.page or "", lost)
                packed = [zlib.compress(text.encode()) for text in texts]
                database.execute(
                    "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)", (key, *packed)
                )

    def played(self) -> dict[str, results.PlayedGame]:
        """Return every stored game that has a result, by key."""
        rows = self._database.execute(
            f"SELECT key, {', '.join(results.RESULT)}, played_at FROM game WHERE fault IS NULL"
        )
        found = {}
        for key, one, two, ending, turns, *faults, at in rows:
            both = results.Faults(*faults[:4]), results.Faults(*faults[4:])
            found[key] = results.PlayedGame((one, two), ending, turns, both, at)
        return found

    def faults(self) -> dict[str, str]:
        """Return why the other games failed, by key."""
        return self._pairs("SELECT key, fault FROM game WHERE fault IS NOT NULL")

    def begin(self, key: str) -> None:
        """Note the start of something that may end the grader."""
        self._write(
            "INSERT INTO begun VALUES (?, 1, 0, ?) ON CONFLICT (key) DO UPDATE "
            "SET running = 1, machine = excluded.machine",
            (key, machine()),
        )

    def end(self, key: str, died: bool) -> None:
        """Note the end of something; `died` if the grader or its worker ended with it."""
        more = "UPDATE begun SET running = 0, deaths = deaths + 1 WHERE key = ?"
        self._write(more if died else "DELETE FROM begun WHERE key = ?", (key,))

    def end_all(self) -> None:
        self._write("DELETE FROM begun WHERE deaths = 0", ())
        self._write("UPDATE begun SET running = 0", ())

    def take_stock(self) -> list[str]:
        """Return the keys of what was running when the machine ended an earlier grader.

        A grader that somebody killed proves nothing. It counts only if the kernel has ended a
        process for lack of memory since then, or the machine has restarted. On a system that
        reports neither, every sudden end counts.
        """
        rows = self._database.execute(
            "SELECT key FROM begun WHERE running = 1 AND (? = '' OR machine <> ?)", [machine()] * 2
        ).fetchall()
        for (key,) in rows:
            self.end(key, died=True)
        self.end_all()
        return [key for (key,) in rows]

    def suspects(self) -> dict[str, int]:
        """Return how often the grader or a worker ended during each of these keys."""
        return self._pairs("SELECT key, deaths FROM begun WHERE deaths > 0")

    def starved(self) -> dict[str, int]:
        return dict(self.meta_json("starved") or {})

    def set_aside(self, sha256: str, title: str, evidence: str) -> None:
        """Note that a file ended the grader, in a game that `title` tells without a name."""
        row = (sha256, title, evidence, results.utc_now())
        self._write("INSERT OR REPLACE INTO aside VALUES (?, ?, ?, ?)", row)

    def aside(self) -> dict[str, str]:
        """Return the files that are set aside, each with the game that shows why, and the proof."""
        rows = self._database.execute("SELECT sha256, title, evidence FROM aside")
        return {sha256: f"{title} ({evidence})" for sha256, title, evidence in rows}

    def try_again(self, sha256: str) -> None:
        """Forget that a file was set aside, and the notes on its loading and its trials."""
        with self.transaction() as database:
            database.execute("DELETE FROM aside WHERE sha256 = ?", (sha256,))
            database.execute("DELETE FROM begun WHERE instr(key, ?)", (sha256,))

    def note(self, kind: str, subject: str, terms: str, text: str | None) -> None:
        """Note what was found out of a subject, such as a source, under some terms.

        `text` is None for a success, else the error.
        """
        self._write("INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?)", (kind, subject, terms, text))

    def notes(self, kind: str, terms: str) -> dict[str, str | None]:
        """Return what is noted under these terms, by subject."""
        query = "SELECT subject, text FROM note WHERE kind = ? AND terms = ?"
        return self._pairs(query, kind, terms)

    def kept(self) -> Iterator[results.KeptGame]:
        """Yield every game that has a record, by key."""
        rows = self._database.execute(
            "SELECT key, attempts, player1, player2, score1, score2, ending, played_at, zlib, "
            "fault IS NULL FROM game JOIN record USING (key) ORDER BY key"
        ).fetchall()  # a run waits for whoever still reads
        for key, attempt, one, two, score1, score2, ending, at, packed, counts in rows:
            try:
                text = zlib.decompress(packed).decode()
            except (zlib.error, UnicodeDecodeError):
                text = None
            scores = None if score1 is None else (score1, score2)
            yield results.KeptGame(key, attempt, bool(counts), (one, two), scores, ending, at, text)

    def source(self, sha256: str) -> bytes | None:
        """Return a source that was graded before."""
        query = "SELECT CAST(text AS BLOB) FROM source WHERE sha256 = ?"
        held: bytes | None = self._first(query, sha256)
        return held

    def record(self, key: str) -> str | None:
        """Return the text of a game's record, None if it is damaged or lost."""
        return self._unpacked("zlib", key)

    def page(self, key: str) -> str | None:
        """Return the stored result of `one_game.replay_data`, None if it is damaged or lost."""
        return self._unpacked("page_zlib", key)

    def lost(self, key: str) -> list[results.LostTurn]:
        """Return the lost turns of a game; empty if its record is damaged or lost."""
        held = self._unpacked("lost_zlib", key)
        return [results.LostTurn(*turn) for turn in self._json(held or "[]")]

    def _unpacked(self, column: str, key: str) -> str | None:
        try:
            packed = self._first(f"SELECT {column} FROM record WHERE key = ?", key)
            return zlib.decompress(packed).decode()
        except sqlite3.OperationalError:  # locked, not damaged
            raise
        except (sqlite3.DatabaseError, zlib.error, UnicodeDecodeError, TypeError):
            return None  # a lost one is None, a `TypeError`
