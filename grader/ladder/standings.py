"""The standings of a ladder: the versions that count, their ratings, and all other versions."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from grader.ladder.book import GameRow, Student, Version
from grader.ladder.league import League
from grader.marks.tally import Interval
from grader.results.store import Faults

WEEK: Final = datetime.timedelta(days=7)


@dataclass(slots=True)
class Total:
    """The results of a player, or of one player against another."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    margin: int = 0
    faults: Faults = field(default_factory=Faults)

    def add(self, margin: int, faults: Faults) -> None:
        """Count one game."""
        self.games += 1
        self.wins += margin > 0
        self.draws += margin == 0
        self.losses += margin < 0
        self.margin += margin
        self.faults += faults

    @property
    def mean_margin(self) -> float:
        """Return the mean margin per game, 0 if there are no games."""
        return self.margin / self.games if self.games else 0.0

    @property
    def record(self) -> str:
        """Return wins, draws and losses as text."""
        return f"{self.wins}/{self.draws}/{self.losses}"

    @property
    def shown(self) -> str:
        """Return wins, draws and losses as a page shows them."""
        return f"{self.wins} / {self.draws} / {self.losses}"


@dataclass(frozen=True)
class Entry:
    """One line of the table: a student or a rung. The rating is None before the first pair."""

    name: str
    """The name on the site."""
    player: int | None
    version: Version | None
    student: Student | None
    rating: Interval | None
    total: Total
    rank: int = 0
    """0 for a rung and for a student without a rating."""
    change: float | None = None
    """The rating minus that of the version that counted a week ago."""
    rank_change: int | None = None
    curve: tuple[tuple[str, float], ...] = ()
    """Days, each with the rating of the version that counted from that day on."""

    @property
    def is_rung(self) -> bool:
        """Return whether this is a rung."""
        return self.student is None


class Standings:
    """Everything that the site shows, from one state of the results file."""

    def __init__(self, league: League, games: Sequence[GameRow], day: str) -> None:
        self.league = league
        self.day = day
        self.games = games
        self.totals: dict[int, Total] = {}
        self.between: dict[tuple[int, int], Total] = {}
        """The results of each player against each other one."""
        self.games_of: dict[tuple[int, int], list[GameRow]] = {}
        """The games of each pairing, the player with the lower number first."""
        for game in games:
            one, two = league.index[game.one], league.index[game.two]
            self.games_of.setdefault((min(one, two), max(one, two)), []).append(game)
            for player, other, margin, faults in (
                (one, two, game.margin, game.faults[0]),
                (two, one, -game.margin, game.faults[1]),
            ):
                self.totals.setdefault(player, Total()).add(margin, faults)
                self.between.setdefault((player, other), Total()).add(margin, faults)

    @cached_property
    def entries(self) -> list[Entry]:
        """Return the table: students and rungs by rating, then students without a rating."""
        entries = [self._rung(place) for place in self.league.rungs]
        entries += [self._student(student) for student in self.league.students]
        before = self._ranks_a_week_ago()
        entries.sort(key=lambda item: (-_value(item.rating), item.name))
        ranked: list[Entry] = []
        rank = 0
        for entry in entries:
            if entry.student is None or entry.rating is None:
                ranked.append(entry)
                continue
            rank += 1
            earlier = before.get(entry.student.name)
            moved = None if earlier is None else earlier - rank
            ranked.append(replace(entry, rank=rank, rank_change=moved))
        return ranked

    @property
    def last_seen(self) -> str:
        """Return the day on which the newest version was first found."""
        days = [item.seen for student in self.league.students for item in student.versions]
        return max(days, default=self.day)

    def rating(self, player: int | None) -> Interval | None:
        """Return the rating of a player with its interval, None if it has none."""
        if player is None or not self.league.fit.is_rated(player):
            return None
        return self.league.fit.interval(player)

    def public_name(self, student: Student) -> str:
        """Return a student's name on the site."""
        return student.name if self.league.rubric.ladder.names == "real" else student.pseudonym

    def _rung(self, place: int) -> Entry:
        name = self.league.players[place].name
        total = self.totals.get(place, Total())
        return Entry(name, place, None, None, self.rating(place), total)

    def _student(self, student: Student) -> Entry:
        version = self.league.counted(student)
        player = None if version is None else self.league.index[version.sha256]
        rating = self.rating(player)
        curve = self._curve(student)
        then = self._a_week_ago(student)
        change = None
        if then is not None and rating is not None:
            change = rating.mean - float(self.league.fit.values[then])
        total = self.totals.get(-1 if player is None else player, Total())
        name = self.public_name(student)
        return Entry(
            name, player, version, student, rating, total, change=change, curve=tuple(curve)
        )

    def _counted_on(self, student: Student, day: str) -> int | None:
        """Return the player that counted on a day, None if there was none with a rating."""
        seen = tuple(version for version in student.versions if version.seen <= day)
        if not seen:
            return None
        latest = student.latest if day >= self.day else seen[-1].sha256
        version = self.league.counted(replace(student, versions=seen, latest=latest))
        if version is None:
            return None
        player = self.league.index[version.sha256]
        return player if self.league.fit.is_rated(player) else None

    def _curve(self, student: Student) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        for day in sorted({version.seen for version in student.versions}):
            player = self._counted_on(student, day)
            if player is not None:
                found.append((day, float(self.league.fit.values[player])))
        return found

    def _a_week_ago(self, student: Student) -> int | None:
        then = datetime.date.fromisoformat(self.day) - WEEK
        return self._counted_on(student, then.isoformat())

    def _ranks_a_week_ago(self) -> dict[str, int]:
        players = {student.name: self._a_week_ago(student) for student in self.league.students}
        rated = [(name, player) for name, player in players.items() if player is not None]
        rated.sort(key=lambda item: (-float(self.league.fit.values[item[1]]), item[0]))
        return {name: rank for rank, (name, _) in enumerate(rated, 1)}


def _value(rating: Interval | None) -> float:
    return float("-inf") if rating is None else rating.mean
