"""The ladder's results file: students, versions and planned pairs, beside the games.

Pseudonyms and private addresses follow from a secret, so that they stay the same all term.
"""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from connect4.errors import InputError
from grader.handin import Submission
from grader.play.schedule import PlannedGame, secret_seed
from grader.results import Faults
from grader.results.store import Store

LADDER: Final = "ladder"

TABLES: Final = """
CREATE TABLE IF NOT EXISTS planned (
    pair INTEGER NOT NULL, side INTEGER NOT NULL, key TEXT NOT NULL, one TEXT NOT NULL,
    two TEXT NOT NULL, number INTEGER NOT NULL, wanted_by TEXT NOT NULL, run INTEGER NOT NULL,
    why TEXT NOT NULL, terms TEXT NOT NULL, rated INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (pair, side)) STRICT;
CREATE INDEX IF NOT EXISTS planned_key ON planned (key);
CREATE INDEX IF NOT EXISTS planned_pairing ON planned (terms, one, two, number);
"""
"""`planned.side` is the player number of `one`. A match that is not `rated` changes no rating.

`run` is 0 and `why` empty: earlier editions told there what they played.
"""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one student's agent; `problem` is the reason if it is not played."""

    student: str
    number: int
    sha256: str
    seen: str
    """The day on which the version was first found, such as 2026-11-22."""
    problem: str | None = None
    kind: str = "a rule of form"
    """What kind of problem that is, without a word of the source."""


@dataclass(frozen=True, slots=True)
class Student:
    """A student of the ladder, with the versions in the order in which they were found."""

    name: str
    pseudonym: str
    token: str
    latest: str | None
    """The hash of the version handed in last."""
    problem: str | None
    """Why the last hand-in cannot be read."""
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """Two games of players `one` and `two` with sides swapped; `number` counts their pairs."""

    one: str
    two: str
    number: int
    wanted_by: str


@dataclass(frozen=True, slots=True)
class GameRow:
    """A played game from the view of player `one`."""

    key: str
    one: str
    two: str
    side: int
    margin: int
    """The margin of `one`."""
    faults: tuple[Faults, Faults]
    """The lost turns of `one` and of `two`."""


class Book(Store):
    """An open results file of a ladder."""

    def _prepare(self, writing: bool) -> None:
        super()._prepare(writing)
        kind = self.meta("kind")
        if kind not in (None, LADDER) or (kind is None and not writing):
            raise InputError(
                f"{self.path}: holds a {kind or 'run that has not begun'}; --results names another "
                "file"
            )
        if writing:
            self._database.executescript(TABLES)
            self.set_meta({"kind": LADDER})

    def note_hand_ins(
        self, found: Sequence[Submission], problems: Mapping[str, str | None], day: str, secret: int
    ) -> list[Version]:
        """Store the current hand-ins; return the versions that are new.

        `problems` gives the broken rule of form of what was checked, by the hash of the source.
        """
        fresh = self.set_submissions(found, day)
        with self.transaction() as database:
            taken = self._pairs("SELECT pseudonym, 1 FROM author WHERE pseudonym IS NOT NULL")
            query = "SELECT name, number FROM author WHERE pseudonym IS NULL ORDER BY name"
            for name, number in database.execute(query).fetchall():
                called = pseudonym(secret, name, taken.keys())
                taken[called] = 1
                database.execute(
                    "UPDATE author SET pseudonym = ?, token = ? WHERE number = ?",
                    (called, private_token(secret, name), number),
                )
            for sha256, problem in problems.items():
                update = "UPDATE version SET problem = ? WHERE sha256 = ?"
                database.execute(update, (problem, sha256))
        return [
            version
            for student in self.students()
            for version in student.versions
            if (student.name, version.sha256) in fresh
        ]

    def students(self) -> list[Student]:
        """Return the students with a hand-in at present, by name."""
        versions: dict[int, list[Version]] = {}
        for author, *row in self._database.execute(
            "SELECT author, name, version.number, version.sha256, seen, version.problem "
            "FROM version JOIN author ON author.number = author ORDER BY author, version.number"
        ):
            versions.setdefault(author, []).append(Version(*row))
        rows = self._database.execute(
            "SELECT number, name, pseudonym, token, sha256, problem FROM author WHERE present "
            "ORDER BY name"
        )
        return [
            Student(name, called, token, latest, problem, tuple(versions.get(number, ())))
            for number, name, called, token, latest, problem in rows
        ]

    def plan(
        self,
        pairs: Iterable[tuple[PlannedPair, Sequence[PlannedGame]]],
        terms: str,
        rated: bool = True,
    ) -> None:
        """Store the pairs of a round with their games, in one transaction."""
        with self.transaction() as database:
            (last,) = database.execute("SELECT coalesce(max(pair), 0) FROM planned").fetchone()
            for pair, (plan, games) in enumerate(pairs, last + 1):
                for game in games:
                    row = (pair, game.side, game.key, plan.one, plan.two, plan.number)
                    database.execute(
                        "INSERT INTO planned VALUES (?, ?, ?, ?, ?, ?, ?, 0, '', ?, ?)",
                        (*row, plan.wanted_by, terms, rated),
                    )

    def unplayed(self, terms: str, rated: bool = True) -> dict[PlannedPair, list[str]]:
        """Return the keys of the games without a result, by planned pair, in order of the plan."""
        found: dict[PlannedPair, list[str]] = {}
        for *pair, key in self._database.execute(
            "SELECT one, two, number, wanted_by, key FROM planned LEFT JOIN game USING (key) "
            "WHERE terms = ? AND rated = ? AND (status IS NULL OR fault IS NOT NULL) "
            "ORDER BY pair, side",
            (terms, rated),
        ):
            found.setdefault(PlannedPair(*pair), []).append(key)
        return found

    def pairs(self, terms: str) -> list[tuple[str, str, float]]:
        """Return both players and the mean margin of the first for each pair that is complete."""
        games = self.games(terms)
        return [
            (first.one, first.two, (first.margin + second.margin) / 2)
            for first, second in zip(games[::2], games[1::2], strict=True)
        ]

    def numbers(self, terms: str) -> dict[tuple[str, str], int]:
        """Return the number of planned pairs of each pairing."""
        rows = self._database.execute(
            "SELECT one, two, max(number) + 1 FROM planned WHERE terms = ? GROUP BY one, two",
            (terms,),
        )
        return {(one, two): number for one, two, number in rows}

    def games(self, terms: str, rated: bool = True) -> list[GameRow]:
        """Return every game of a pair that is complete, in the order of the plan."""
        played = self.played()
        rows = self._database.execute(
            "SELECT key, one, two, side FROM planned WHERE terms = ? AND rated = ? "
            "ORDER BY pair, side",
            (terms, rated),
        ).fetchall()
        found = []
        for pair in zip(rows[::2], rows[1::2], strict=True):
            for key, one, two, side in pair if all(row[0] in played for row in pair) else ():
                result, own, other = played[key], side - 1, 2 - side
                margin = result.scores[own] - result.scores[other]
                faults = result.faults[own], result.faults[other]
                found.append(GameRow(key, one, two, side, margin, faults))
        return found


ADJECTIVES: Final = [
    "Amber", "Ample", "Azure", "Bold", "Brave", "Brisk", "Bronze", "Calm", "Candid", "Cedar",
    "Civic", "Clever", "Coral", "Cosmic", "Crisp", "Curious", "Daring", "Deft", "Eager", "Early",
    "Fabled", "Fair", "Fleet", "Gentle", "Gilded", "Golden", "Grand", "Happy", "Hazel", "Honest",
    "Indigo", "Ivory", "Jade", "Jolly", "Keen", "Kind", "Lively", "Loyal", "Lucid", "Lunar",
    "Maple", "Merry", "Mild", "Misty", "Noble", "Nimble", "Olive", "Opal", "Patient", "Pearl",
    "Placid", "Polar", "Proud", "Quick", "Quiet", "Rapid", "Royal", "Ruby", "Rustic", "Sage",
]  # fmt: skip
ANIMALS: Final = [
    "Alpaca", "Antelope", "Badger", "Beaver", "Bison", "Bobcat", "Camel", "Caribou", "Condor",
    "Cougar", "Crane", "Curlew", "Dingo", "Dolphin", "Eagle", "Egret", "Falcon", "Ferret", "Finch",
    "Fox", "Gazelle", "Gecko", "Gibbon", "Grouse", "Hare", "Hawk", "Heron", "Ibex", "Iguana",
    "Jackdaw", "Jaguar", "Kestrel", "Kiwi", "Koala", "Lark", "Lemur", "Leopard", "Lynx", "Magpie",
    "Marmot", "Marten", "Meerkat", "Narwhal", "Newt", "Ocelot", "Okapi", "Orca", "Osprey", "Otter",
    "Owl", "Panda", "Panther", "Pelican", "Petrel", "Plover", "Puffin", "Quail", "Raven", "Robin",
]  # fmt: skip


def pseudonym(secret: int, name: str, taken: Collection[str]) -> str:
    """Return a student's pseudonym, which is not in `taken`; without `secret` nobody finds it."""
    rng = random.Random(secret_seed(secret, "pseudonym", name))
    for number in count(1):
        found = f"{rng.choice(ADJECTIVES)} {rng.choice(ANIMALS)}"
        found = found if number <= len(ADJECTIVES) else f"{found} {number}"
        if found not in taken:
            return found
    raise AssertionError


def private_token(secret: int, name: str) -> str:
    """Return the part of a private address that nobody can guess: 128 bits."""
    return f"{secret_seed(secret, 'private page', name):032x}"
