"""The results file: one SQLite database that survives a kill at any moment.

Each game is one transaction, on disk before the next game is submitted. The file also has
everything else that a report requires (rubric, boards, submissions, sources). `docs/formats.md`
describes the tables.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from grader.handin.submission import Member, Submission
from grader.results.database import Database

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS source (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS submission (
    name TEXT PRIMARY KEY, place TEXT NOT NULL, sha256 TEXT, report TEXT, problem TEXT,
    members TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS game (
    key TEXT PRIMARY KEY, player1 TEXT NOT NULL, player2 TEXT NOT NULL,
    score1 INTEGER, score2 INTEGER, ending TEXT, turns INTEGER,
    timeouts1 INTEGER, invalid1 INTEGER, errors1 INTEGER, starved1 INTEGER,
    timeouts2 INTEGER, invalid2 INTEGER, errors2 INTEGER, starved2 INTEGER,
    seconds REAL NOT NULL, worker TEXT NOT NULL, attempts INTEGER NOT NULL,
    played_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    status TEXT NOT NULL, fault TEXT, traceback TEXT) STRICT;
CREATE TABLE IF NOT EXISTS record (
    key TEXT PRIMARY KEY, zlib BLOB NOT NULL, page_zlib BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS earlier (
    key TEXT NOT NULL, attempt INTEGER NOT NULL, score1 INTEGER, score2 INTEGER, ending TEXT,
    played_at TEXT NOT NULL, worker TEXT NOT NULL, zlib BLOB NOT NULL,
    PRIMARY KEY (key, attempt)) STRICT;
CREATE TABLE IF NOT EXISTS loaded (
    sha256 TEXT NOT NULL, limits TEXT NOT NULL, problem TEXT, PRIMARY KEY (sha256, limits)) STRICT;
CREATE TABLE IF NOT EXISTS begun (
    key TEXT PRIMARY KEY, title TEXT NOT NULL, running INTEGER NOT NULL, deaths INTEGER NOT NULL,
    machine TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS ended_grader (
    sha256 TEXT NOT NULL, opponent TEXT NOT NULL, title TEXT NOT NULL,
    PRIMARY KEY (sha256, opponent)) STRICT;
"""
"""`starved` counts late turns that the machine caused; `fault` is why a game has status INFRA, in
one line."""

PLAYED: Final = "PLAYED"
INFRA: Final = "INFRA"
"""The status of a game: it has scores (PLAYED), or the grader or its machine failed (INFRA)."""

DAMAGED: Final = "its row in the results file is damaged"
"""The failure of a game that has neither a result nor a failure."""

STARVED: Final = "the machine was too busy: an agent got too little processor time"
"""The failure of a game in which a player lost a turn because of the machine."""

RESULT: Final = (
    *("score1", "score2", "ending", "turns"),
    *("timeouts1", "invalid1", "errors1", "starved1"),
    *("timeouts2", "invalid2", "errors2", "starved2"),
)
"""The columns of `game` that hold a result."""

WHOLE: Final = f"{' + '.join(RESULT)} IS NOT NULL AND starved1 + starved2 = 0"
"""The condition that a row of `game` has a complete result, which the machine did not spoil."""

ORDER: Final = "order"
"""The name in `meta` of the names in the order of a draw, once one of them was forgotten."""

ATTEMPTS: Final = 3
"""How often a run plays a game that fails; after the last attempt it stays INFRA."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The lost turns of one player in one game; `starved` are among the timeouts."""

    timeouts: int = 0
    invalid: int = 0
    errors: int = 0
    starved: int = 0

    @property
    def total(self) -> int:
        """Return how many turns were lost."""
        return self.timeouts + self.invalid + self.errors

    def __add__(self, other: Faults) -> Faults:
        return Faults(
            self.timeouts + other.timeouts,
            self.invalid + other.invalid,
            self.errors + other.errors,
            self.starved + other.starved,
        )


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The stored result of a game: scores and faults of player 1 and player 2."""

    key: str
    scores: tuple[int, int]
    ending: str
    turns: int
    faults: tuple[Faults, Faults]
    seconds: float
    played_at: str = ""
    """In UTC, as `2030-01-31T12:00:00Z`; empty in an attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to play a game: its result, or `fault` for a failure that is no player's.

    A game whose result does not count has both.
    """

    key: str
    names: tuple[str, str]
    played: PlayedGame | None = None
    record: Mapping[str, Any] | None = None
    page: str | None = None
    """What `replays.replay_data` returns for the record."""
    fault: str | None = None
    """In one line."""
    traceback: str | None = None
    worker: str = ""
    seconds: float = 0.0
    died: bool = False
    """Whether the worker died in the game, each time it was tried."""
    left_behind: tuple[int, ...] = ()
    """The players with a process that could not be ended."""


@dataclass(frozen=True, slots=True)
class InfraFailure:
    """The reason why a game is INFRA, and the number of attempts."""

    text: str
    attempts: int


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game with its record; `counts` is false if it was starved or played again since."""

    key: str
    attempt: int
    counts: bool
    names: tuple[str, str]
    scores: tuple[int, int] | None
    ending: str | None
    played_at: str
    text: str | None
    """The record, None if it is damaged."""


class Store(Database):
    """An open results file with its games and submissions."""

    schema = SCHEMA

    def secret(self, make: bool) -> int | None:
        """Return a class's secret seed, None if there is none; only the owner can read such a file.

        With `make`, a missing seed is created and the file's permissions are restricted.
        """
        held = self.meta("secret")
        if held is None and make:
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.chmod(f"{self.path}{suffix}", 0o600)
            held = f"{secrets.randbits(256):064x}"
            self.set_meta({"secret": held})
        return None if held is None else int(held, 16)

    def withdraw(self, names: Iterable[str]) -> None:
        """Note that these are no longer among the hand-ins of the class."""
        self.set_meta({"withdrawn": json.dumps(sorted({*self.withdrawn(), *names}))})

    def withdrawn(self) -> list[str]:
        """Return the names that were withdrawn at any time; some may be there again."""
        return list(self.meta_json("withdrawn") or ())

    def rename(self, names: Mapping[str, str]) -> None:
        """Note the new names of submissions, by their old names."""
        known = {old: names.get(new, new) for old, new in self.renamed().items()} | dict(names)
        known = {old: new for old, new in known.items() if old not in names.values()}
        self.set_meta({"renamed": json.dumps(known)})

    def renamed(self) -> dict[str, str]:
        """Return the present name of each submission whose games were played under another."""
        return dict(self.meta_json("renamed") or {})

    def publish(self, seeds: Iterable[int]) -> None:
        """Note seeds that are about to be published."""
        known = {**dict.fromkeys(seeds, utc_now()), **self.published()}
        self.set_meta({"published": json.dumps({str(seed): at for seed, at in known.items()})})

    def published(self) -> dict[int, str]:
        """Return the seeds of published games, with the time of their publication."""
        held = self.meta_json("published") or {}
        return {int(seed): at for seed, at in held.items()} if isinstance(held, dict) else {}

    def add_sources(self, sources: Mapping[str, str]) -> None:
        """Store the text of files, by its hash."""
        self._write("INSERT OR IGNORE INTO source VALUES (?, ?)", *sources.items())

    def set_submissions(self, submissions: Sequence[Submission]) -> None:
        """Replace the list of submissions; earlier sources are kept as evidence."""
        held = (item for item in submissions if item.source is not None)
        self.add_sources({str(item.sha256): str(item.source) for item in held})
        with self.transaction() as database:
            database.execute("DELETE FROM submission")
            database.execute("DELETE FROM meta WHERE name = ?", (ORDER,))
            for item in submissions:
                members = json.dumps([asdict(member) for member in item.members])
                place = str(item.path or item.place)
                row = (item.name, place, item.sha256, item.report, item.problem, members)
                database.execute("INSERT INTO submission VALUES (?, ?, ?, ?, ?, ?)", row)

    def submissions(self) -> list[Submission]:
        """Return the submissions in the order in which they were found."""
        rows = self._database.execute(
            "SELECT name, place, text, report, problem, members, sha256 FROM submission "
            "LEFT JOIN source USING (sha256) ORDER BY submission.rowid"
        )
        order = self.meta_json(ORDER) or []
        found = []
        for name, place, source, report, problem, members, sha256 in rows:
            people = tuple(Member(**member) for member in self._json(members or ""))  # if damaged
            found.append(
                Submission(
                    *(name, place, source, report, problem, people),
                    stored_sha256=sha256,
                    order=f"{order.index(name):06}" if name in order else "",
                )
            )
        return found

    def add(self, attempt: Attempt) -> None:
        """Store an attempt in one transaction."""
        key, played = attempt.key, attempt.played
        result: Sequence[object] = [None] * len(RESULT)
        if played is not None:
            faults = chain.from_iterable(map(astuple, played.faults))
            result = (*played.scores, played.ending, played.turns, *faults)
        before = self._first("SELECT attempts FROM game WHERE key = ?", key) or 0
        status = PLAYED if attempt.fault is None else INFRA
        more = (status, attempt.fault, attempt.traceback)
        row = (key, *attempt.names, *result, attempt.seconds, attempt.worker, before + 1, *more)
        with self.transaction() as database:
            if not attempt.died:  # else it stays among the games that were begun
                database.execute("DELETE FROM begun WHERE key = ?", (key,))
            database.execute(
                "INSERT OR REPLACE INTO earlier SELECT key, attempts, score1, score2, ending, "
                "played_at, worker, zlib FROM game JOIN record USING (key) "
                "WHERE key = ? AND score1 IS NOT NULL",
                (key,),
            )
            database.execute("DELETE FROM record WHERE key = ?", (key,))
            database.execute(
                f"INSERT OR REPLACE INTO game (key, player1, player2, {', '.join(RESULT)}, "
                "seconds, worker, attempts, status, fault, traceback) "
                f"VALUES ({', '.join('?' * len(row))})",
                row,
            )
            if attempt.record is not None:
                texts = (json.dumps(attempt.record) + "\n", attempt.page or "")
                packed = [zlib.compress(text.encode()) for text in texts]
                database.execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", (key, *packed))

    def played(self, opponents_faults: bool = False) -> dict[str, PlayedGame]:
        """Return every stored game that has a result, by key.

        With `opponents_faults`, include games that the rubric's agent lost by its own fault.
        """
        rows = self._database.execute(
            f"SELECT key, {', '.join(RESULT)}, seconds, played_at FROM game "
            f"WHERE (fault IS NULL OR ?) AND {WHOLE}",
            (opponents_faults,),
        )
        found = {}
        for key, one, two, ending, turns, *faults, seconds, at in rows:
            both = Faults(*faults[:4]), Faults(*faults[4:])
            found[key] = PlayedGame(key, (one, two), ending, turns, both, seconds, at)
        return found

    def faults(self, opponents_faults: bool = False) -> dict[str, InfraFailure]:
        """Return why games failed, by the key of the game, including damaged rows.

        Games that `played` returns are not included.
        """
        rows = self._database.execute(
            "SELECT key, coalesce(fault, iif(starved1 + starved2 > 0, ?, ?)), attempts FROM game "
            f"WHERE (fault IS NOT NULL AND NOT (? AND {WHOLE})) OR NOT ({WHOLE})",
            (STARVED, DAMAGED, opponents_faults),
        )
        return {key: InfraFailure(fault, attempts) for key, fault, attempts in rows}

    def begin(self, key: str, title: str) -> None:
        """Note the start of something that may end the grader."""
        self._write(
            "INSERT INTO begun VALUES (?, ?, 1, 0, ?) ON CONFLICT (key) DO UPDATE "
            "SET running = 1, machine = excluded.machine",
            (key, title, machine()),
        )

    def end(self, key: str, died: bool) -> None:
        """Note the end of something; `died` if the grader or its worker ended with it."""
        more = "UPDATE begun SET running = 0, deaths = deaths + 1 WHERE key = ?"
        self._write(more if died else "DELETE FROM begun WHERE key = ?", (key,))

    def end_all(self) -> None:
        """Note that nothing is running any more."""
        self._write("DELETE FROM begun WHERE deaths = 0", ())
        self._write("UPDATE begun SET running = 0", ())

    def take_stock(self) -> list[str]:
        """Return the titles of what was running when the machine ended an earlier grader.

        A grader that somebody killed proves nothing. It counts only if the kernel has ended a
        process for lack of memory since then, or the machine has restarted. On a system that
        reports neither, every sudden end counts.
        """
        query = "SELECT key, title FROM begun WHERE running = 1 AND (? = '' OR machine <> ?)"
        ended = self._pairs(query, *[machine()] * 2)
        for key in ended:
            self.end(key, died=True)
        self.end_all()
        return list(ended.values())

    def suspects(self) -> dict[str, int]:
        """Return how often the grader or a worker ended during each of these keys."""
        return self._pairs("SELECT key, deaths FROM begun WHERE deaths > 0")

    def blame(self, sources: Mapping[str, str], title: str) -> None:
        """Note the sources whose game ended the grader; `sources` maps each to its opponent."""
        rows = ((sha256, opponent, title) for sha256, opponent in sources.items())
        self._write("INSERT OR REPLACE INTO ended_grader VALUES (?, ?, ?)", *rows)

    def set_loaded(self, sha256: str, limits: str, problem: str | None) -> None:
        """Note that a source could be loaded, or its error."""
        self._write("INSERT OR REPLACE INTO loaded VALUES (?, ?, ?)", (sha256, limits, problem))

    def loaded(self, limits: str) -> dict[str, str | None]:
        """Return the load error of each source under these limits, None for a success."""
        return self._pairs("SELECT sha256, problem FROM loaded WHERE limits = ?", limits)

    def set_aside(self) -> dict[str, str]:
        """Return the sources that are set aside, each with the title of what ended the grader.

        In a game of two submissions the cause is unknown. A submission is set aside when the same
        happens with another opponent.
        """
        return self._pairs(
            "SELECT sha256, min(title) FROM ended_grader GROUP BY sha256 "
            "HAVING count(*) > 1 OR min(opponent) = ''"
        )

    def kept(self) -> Iterator[KeptGame]:
        """Yield every game that has a record, by key; a replayed game yields each attempt."""
        rows = self._database.execute(
            "SELECT key, attempts, player1, player2, game.score1, game.score2, game.ending, "
            f"game.played_at, record.zlib, {WHOLE} FROM game JOIN record USING (key) UNION ALL "
            "SELECT key, attempt, player1, player2, earlier.score1, earlier.score2, "
            "earlier.ending, earlier.played_at, earlier.zlib, 0 "
            "FROM earlier JOIN game USING (key) ORDER BY 1, 2"
        )
        for key, attempt, one, two, score1, score2, ending, at, packed, counts in rows:
            try:
                text = zlib.decompress(packed).decode()
            except (zlib.error, UnicodeDecodeError):
                text = None
            scores = None if score1 is None else (score1, score2)
            yield KeptGame(key, attempt, bool(counts), (one, two), scores, ending, at, text)

    def source(self, sha256: str) -> str | None:
        """Return a source that was graded before."""
        held: str | None = self._first("SELECT text FROM source WHERE sha256 = ?", sha256)
        return held

    def record(self, key: str) -> str | None:
        """Return the text of a game's record, None if it is damaged or lost."""
        return self._unpacked("zlib", key)

    def page(self, key: str) -> str | None:
        """Return the stored result of `replays.replay_data`, None if it is damaged or lost."""
        return self._unpacked("page_zlib", key)

    def _unpacked(self, column: str, key: str) -> str | None:
        try:
            packed = self._first(f"SELECT {column} FROM record WHERE key = ?", key)
            return zlib.decompress(packed).decode()
        except (sqlite3.DatabaseError, zlib.error, UnicodeDecodeError, TypeError):
            return None  # a lost one is None, a `TypeError`


def utc_now() -> str:
    """Return the time in the form of `played_at`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def machine() -> str:
    """Return a value that changes when the machine restarts or ends a process for lack of memory.

    The value is empty if the system does not report this.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        counters = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
        return f"{boot} {counters['oom_kill']}"
    except (OSError, KeyError, ValueError):
        return ""
