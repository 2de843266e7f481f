"""The league: the players of the ladder, their pairs, who counts; and the standings of a day.

At the end of the module: what only the teacher sees, the table on the terminal and `ladder.csv`.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from math import inf
from typing import Final

from connect4.errors import InputError
from connect4.games import nearest
from grader.handin import Person, Submission
from grader.handin.lists import csv_text
from grader.ladder import Book, GameRow, PlannedPair, Student, Version
from grader.ladder.fit import LEAST_PAIRS, Fit
from grader.marks.tally import Interval, Tally, few_games
from grader.output import write
from grader.output.results import known_problems
from grader.output.tables import text_table, wrapped
from grader.play import schedule
from grader.play.schedule import Contestant, Match, PlannedGame, opening, secret_seed, submitted
from grader.rubric import Board
from grader.rubric.model import Rubric

PART: Final = "ladder"

WEEK: Final = timedelta(days=7)


def player_id(player: Contestant) -> str:
    """Return what identifies a player: its id, for a rung that is a file with that of the file."""
    if player.is_submission or player.sha256 is None:
        return player.id
    return f"{player.id} {player.sha256[:12]}"


def terms_of(rubric: Rubric) -> str:
    """Return a hash of the time limit and the limits; games under other limits are not compared."""
    terms = [rubric.ladder.time_limit, schedule.limits_key(rubric.limits)]
    return hashlib.sha256(json.dumps(terms, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class League:
    """The players: first the rungs, of which player 0 is the anchor, then the versions."""

    rubric: Rubric
    secret: int
    students: list[Student]
    players: list[Contestant]
    numbers: dict[tuple[str, str], int]
    """The number of planned pairs of each pairing."""

    @cached_property
    def index(self) -> dict[str, int]:
        """Return the place of each player."""
        return {player_id(player): place for place, player in enumerate(self.players)}

    def rate(self, complete: Sequence[tuple[str, str, float]]) -> None:
        """Compute the ratings from pairs: both players, and the mean margin of the first."""
        self.pairs = [(self.index[one], self.index[two], margin) for one, two, margin in complete]
        self.fit = Fit(len(self.players), self.pairs, self.rubric.statistics.confidence)

    @property
    def rungs(self) -> range:
        return range(len(self.rubric.ladder.rungs))

    def versions(self) -> list[Version]:
        """Return every version of every student."""
        return [version for student in self.students for version in student.versions]

    def real_names(self) -> dict[str, str]:
        """Return student and number of each version, by its hash."""
        found: dict[str, list[str]] = {}
        for item in self.versions():
            found.setdefault(item.sha256, []).append(f"{item.student} v{item.number}")
        return {sha256: schedule.names_of(names) for sha256, names in found.items()}

    def counted(self, student: Student) -> Version | None:
        """Return the version that counts for a student; None if no version can be played.

        The latest one, or with `policy = "best"` the one with the highest rating among those that
        have played enough.
        """
        able = [version for version in student.versions if version.problem is None]
        latest = self.latest(student) or (able[-1] if able else None)
        if self.rubric.ladder.policy == "latest":
            return latest
        places = {item: self.index[item.sha256] for item in able}
        settled = [
            item
            for item, place in places.items()
            if self.fit.is_rated(place) and self.fit.pairs[place] >= LEAST_PAIRS
        ]
        return max(settled, key=lambda item: self.fit.values[places[item]], default=latest)

    def find(self, text: str) -> int:
        """Return the player called `alice v2`, `alice` (the version that counts) or as a rung.

        Students have their names and their pseudonyms. Raises `InputError` if nobody is called so.
        """
        named = {self.players[place].name: place for place in self.rungs}
        for student in self.students:
            able = [version for version in student.versions if version.problem is None]
            versions = {f" v{version.number}": version for version in able}
            if counted := self.counted(student):
                versions[""] = counted
            for name in (student.name, student.pseudonym):
                named |= {name + end: self.index[one.sha256] for end, one in versions.items()}
        if text not in named:
            raise InputError(f"--challenge: no {text!r} can be played{nearest(text, named)}")
        return named[text]

    def current(self) -> list[int]:
        """Return the players that the ladder rates now: rungs, latest and counted versions."""
        found = set(self.rungs)
        for student in self.students:
            for version in (self.counted(student), self.latest(student)):
                if version is not None:
                    found.add(self.index[version.sha256])
        return sorted(found)

    def latest(self, student: Student) -> Version | None:
        """Return the version handed in last if it can be played."""
        able = (item for item in student.versions if item.sha256 == student.latest)
        return next((item for item in able if item.problem is None), None)

    def planned(self, player: int, opponent: int) -> PlannedPair:
        """Return a pair that `player` needs, with its number within its pairing."""
        order = sorted((player, opponent), key=self._order)
        one, two = (player_id(self.players[place]) for place in order)
        number = self.numbers.get((one, two), 0)
        self.numbers[one, two] = number + 1
        return PlannedPair(one, two, number, player_id(self.players[player]))

    def _order(self, place: int) -> tuple[int, str]:
        """Return the sort key for the players of a pairing: submissions by hash, then rungs."""
        player = self.players[place]
        return (0, str(player.sha256)) if player.is_submission else (len(self.players) - place, "")

    def games(self, plan: PlannedPair) -> list[PlannedGame]:
        """Return both games of a planned pair, which share a board and an opening."""
        rules = self.rubric.ladder
        where = (PART, plan.one, plan.two, plan.number)
        turn = schedule.seed_of(plan.one, plan.two) + plan.number
        board = rules.boards[turn % len(rules.boards)]
        if rules.opening_plies:
            started = opening(board, rules.opening_plies, secret_seed(self.secret, *where))
            title = f"{board.name}, opening {plan.number + 1}"
            board = Board(title, started.start, game=board.game)
        match = Match(PART, self.players[self.index[plan.one]], self.players[self.index[plan.two]])
        terms = rules.time_limit, self.rubric.limits
        return [
            PlannedGame(
                match, board, plan.number, side, secret_seed(self.secret, *where, side), *terms
            )
            for side in schedule.SIDES
        ]


def read_league(book: Book, rubric: Rubric) -> League:
    """Return the league of a results file that has a run."""
    secret = book.secret(make=False) if rubric.match.seed is None else rubric.match.seed
    assert secret is not None
    _, problems = known_problems(book, rubric)

    def judged(version: Version) -> Version:
        problem = None if version.problem else problems.get(version.sha256)
        return replace(version, problem=problem, kind="it cannot be loaded") if problem else version

    students = [
        replace(student, versions=tuple(map(judged, student.versions)))
        for student in book.students()
    ]
    terms = terms_of(rubric)
    complete = book.pairs(terms)
    players = [schedule.opponent(rung) for rung in rubric.ladder.rungs]
    known = {player_id(player) for player in players}
    authors: dict[str, list[str]] = {}
    for student in students:
        for version in student.versions:
            label = f"{public_name(student, rubric)} v{version.number}"
            authors.setdefault(version.sha256, []).append(label)
    for sha256 in sorted(authors, key=lambda own: secret_seed(secret, "lot", own)):
        known.add(sha256)
        players.append(submitted(schedule.names_of(authors[sha256]), sha256))
    for sha256 in sorted({player for pair in complete for player in pair[:2]} - known):
        players.append(submitted("a former player", sha256))
    league = League(rubric, secret, students, players, book.numbers(terms))
    league.rate(complete)
    return league


def public_name(student: Student, rubric: Rubric) -> str:
    """Return a student's name on the site."""
    return student.name if rubric.ladder.names == "real" else student.pseudonym


@dataclass(frozen=True)
class Entry:
    """One line of the table: a student or a rung. The rating is None before the first pair."""

    name: str
    """The name on the site."""
    player: int | None
    version: Version | None
    student: Student | None
    rating: Interval | None
    total: Tally
    rank: int = 0
    """0 for a rung and for a student without a rating."""
    change: float | None = None
    """The rating minus that of the version that counted a week ago."""
    curve: tuple[tuple[str, float], ...] = ()
    """Days, each with the rating of the version that counted from that day on."""

    @property
    def is_rung(self) -> bool:
        return self.student is None

    @property
    def label(self) -> str:
        """Return the name with the version that counts."""
        return self.name if self.version is None else f"{self.name} v{self.version.number}"


class Standings:
    """Everything that the site shows, from one state of the results file."""

    def __init__(self, book: Book, rubric: Rubric) -> None:
        self.league = league = read_league(book, rubric)
        self.day = book.meta("day") or ""
        self.games = book.games(terms_of(rubric))
        self.totals: defaultdict[int, Tally] = defaultdict(Tally)
        self.between: defaultdict[tuple[int | None, int | None], Tally] = defaultdict(Tally)
        """The results of each player against each other one."""
        self.games_of: defaultdict[tuple[int | None, int | None], list[GameRow]] = defaultdict(list)
        """The games of each pairing, the player with the lower number first."""
        for game in self.games:
            one, two = league.index[game.one], league.index[game.two]
            self.games_of[min(one, two), max(one, two)].append(game)
            for player, other, margin, faults in (
                (one, two, game.margin, game.faults[0]),
                (two, one, -game.margin, game.faults[1]),
            ):
                self.totals[player].count(margin, 0, faults)
                self.between[player, other].count(margin, 0, faults)

    @cached_property
    def entries(self) -> list[Entry]:
        """Return the table: students and rungs by rating, then students without a rating."""
        players = self.league.players
        entries = [
            Entry(players[at].name, at, None, None, self.rating(at), self.totals[at])
            for at in self.league.rungs
        ]
        entries += [self._student(student) for student in self.league.students]
        entries.sort(key=self._order)
        ranked = [one.player for one in entries if not one.is_rung and one.rating is not None]
        return [  # those who share a file share a rank
            replace(entry, rank=ranked.index(entry.player) + 1)
            if not entry.is_rung and entry.rating is not None
            else entry
            for entry in entries
        ]

    def _order(self, entry: Entry) -> tuple[float, int, str]:
        """Return what entries are sorted by: the rating, then the draw, which ordered players."""
        player = len(self.league.players) if entry.player is None else entry.player
        return -(entry.rating.mean if entry.rating else -inf), player, entry.name

    def rating(self, player: int | None) -> Interval | None:
        """Return the rating of a player with its interval, None if it has none."""
        if player is None or not self.league.fit.is_rated(player):
            return None
        return self.league.fit.interval(player)

    def rating_of(self, version: Version) -> Interval | None:
        """Return the rating of a version, None if it has none."""
        return self.rating(self.league.index[version.sha256])

    def _student(self, student: Student) -> Entry:
        version = self.league.counted(student)
        player = None if version is None else self.league.index[version.sha256]
        days = sorted({item.seen for item in student.versions})
        values = ((day, self._value_on(student, day)) for day in days)
        then = self._value_on(student, (date.fromisoformat(self.day) - WEEK).isoformat())
        rating = self.rating(player)
        return Entry(
            *(public_name(student, self.league.rubric), player, version, student, rating),
            total=Tally() if player is None else self.totals[player],
            change=None if then is None or rating is None else rating.mean - then,
            curve=tuple((day, value) for day, value in values if value is not None),
        )

    def _value_on(self, student: Student, day: str) -> float | None:
        """Return the rating of the version that counted on a day, None if it has none."""
        seen = tuple(version for version in student.versions if version.seen <= day)
        if not seen:
            return None
        latest = student.latest if day >= self.day else seen[-1].sha256
        version = self.league.counted(replace(student, versions=seen, latest=latest))
        rating = None if version is None else self.rating_of(version)
        return None if rating is None else rating.mean


FEW: Final = "few games"

HEADERS: Final = ("rank", "student", "version", "rating", "interval", "W/D/L", "lost turns", "week")

CSV_HEADERS: Final = (
    *("Name", "ID", "Email", "Submission", "Name on the site", "Private page", "Rank", "Rating"),
    *("Low", "High", "Version", "Handed in", "Games", "Wins", "Draws", "Losses", "Lost turns"),
    "Remark",
)


def remark(entry: Entry) -> str:
    """Return a remark on an entry's rating, or an empty text."""
    student = entry.student
    if student is None:
        return ""
    parts = []
    if student.problem:
        parts.append(f"last hand-in not read: {student.problem}")
    failed = [version for version in student.versions if version.problem is not None]
    if failed and failed[-1] == student.versions[-1]:
        parts.append(f"v{failed[-1].number} is not played: {failed[-1].problem}")
    if entry.rating is None:
        parts.append("no rating yet")
    elif few_games(entry.rating.pairs):
        parts.append(FEW)
    return "; ".join(parts)


def table_text(standings: Standings) -> str:
    """Return the table for the terminal, with real names."""
    rows = []
    for entry in standings.entries:
        rating = entry.rating
        version = f"v{entry.version.number}" if entry.version else ""
        version = "rung" if entry.is_rung else version
        rows.append(
            [
                str(entry.rank or ""),
                entry.name if entry.student is None else entry.student.name,
                version,
                "" if rating is None else f"{rating.mean:z.0f}",
                "" if rating is None else f"{rating.low:z.0f} to {rating.high:z.0f}",
                entry.total.record("/"),
                str(entry.total.faults.total or ""),
                "" if entry.change is None else f"{entry.change:+.0f}",
            ]
        )
    noted = {entry.student.name: remark(entry) for entry in standings.entries if entry.student}
    notes = [f"{name}: {note}" for name, note in noted.items() if note not in ("", FEW)]
    if few := [name for name, note in noted.items() if note == FEW]:
        notes.append(f"{FEW}: {'; '.join(few)}")
    return "\n".join([text_table(rows, HEADERS), *(["", *map(wrapped, notes)] if notes else [])])


def ratings_csv(standings: Standings, submissions: list[Submission], address: str) -> str:
    """Return `ladder.csv`: one line for each student, with the address of the private page."""
    people = {item.name: item.people for item in submissions}
    rows: list[Sequence[object]] = []
    for entry in standings.entries:
        student, rating, total = entry.student, entry.rating, entry.total
        if student is None:
            continue
        version = entry.version
        page = f"{address.rstrip('/')}/" if address else ""
        known = () if rating is None else (rating.mean, *rating.bounds)
        values = [
            *(student.name, entry.name, f"{page}{private_page(student.token)}", entry.rank or ""),
            *([round(value, 1) for value in known] or ("", "", "")),
            *(("", "") if version is None else (version.number, version.seen)),
            *(total.games, total.wins, total.draws, total.losses, total.faults.total),
            remark(entry),
        ]
        for person in people.get(student.name) or (Person(student.name),):
            rows.append([person.name, person.identity, person.email, *values])
    return csv_text(CSV_HEADERS, rows)


def private_page(token: str) -> str:
    """Return the place of a student's own page on the site."""
    return f"own/{token}.html"


def write_tables(book: Book, rubric: Rubric) -> Standings:
    """Write `ladder.csv` beside the results file; return the standings."""
    standings = Standings(book, rubric)
    text = ratings_csv(standings, book.submissions(), rubric.ladder.address)
    write(book.path.with_suffix(".csv"), text)
    return standings
