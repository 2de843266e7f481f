"""The league: the players of the ladder, the pairs that they have played, and who counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from connect4.errors import headline
from grader.ladder.book import Book, PlannedPair, Student, Version
from grader.ladder.choice import LEAST_PAIRS, Chosen
from grader.ladder.fit import Fit, Pair
from grader.play import schedule
from grader.play.schedule import Contestant, Match, PlannedGame, opening, secret_seed, submitted
from grader.rubric.model import Rubric, make_board

PART: Final = "ladder"


def player_id(player: Contestant) -> str:
    """Return what identifies a player: its source, or the name and the file of a rung."""
    if player.is_submission:
        return str(player.sha256)
    return player.name if player.sha256 is None else f"{player.name} {player.sha256[:12]}"


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
    pairs: list[Pair]
    numbers: dict[tuple[str, str], int]
    """The number of planned pairs of each pairing."""

    def __post_init__(self) -> None:
        self.index = {player_id(player): place for place, player in enumerate(self.players)}
        self.refit()

    def refit(self) -> None:
        """Compute the ratings again, after pairs were added."""
        self.fit = Fit(len(self.players), self.pairs, self.rubric.statistics.confidence)

    @property
    def rungs(self) -> range:
        """Return the players that are rungs."""
        return range(len(self.rubric.ladder.rungs))

    def add(self, complete: Iterable[tuple[str, str, float]]) -> None:
        """Add pairs that have been played."""
        found = [(self.index[one], self.index[two], margin) for one, two, margin in complete]
        if found:
            self.pairs += found
            self.refit()

    def counted(self, student: Student) -> Version | None:
        """Return the version that counts for a student; None if no version can be played.

        The latest one, or with `policy = "best"` the one with the highest rating among those that
        have played enough.
        """
        able = [version for version in student.versions if version.problem is None]
        latest = next((item for item in able if item.sha256 == student.latest), None)
        latest = latest or (able[-1] if able else None)
        if self.rubric.ladder.policy == "latest":
            return latest
        settled = [item for item in able if self._is_settled(item)]
        values = {item: float(self.fit.values[self.index[item.sha256]]) for item in settled}
        return max(settled, key=values.__getitem__, default=latest)

    def _is_settled(self, version: Version) -> bool:
        player = self.index[version.sha256]
        return self.fit.is_rated(player) and int(self.fit.pairs[player]) >= LEAST_PAIRS

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

    def planned(self, chosen: Chosen) -> PlannedPair:
        """Return a chosen pair as a planned one, with its number within its pairing."""
        ids = [player_id(self.players[place]) for place in (chosen.player, chosen.opponent)]
        order = sorted((chosen.player, chosen.opponent), key=self._order)
        one, two = (player_id(self.players[place]) for place in order)
        number = self.numbers.get((one, two), 0)
        self.numbers[one, two] = number + 1
        return PlannedPair(one, two, number, ids[0], chosen.why)

    def _order(self, place: int) -> tuple[int, str]:
        """Return the sort key for the players of a pairing: submissions by hash, then rungs."""
        player = self.players[place]
        return (0, str(player.sha256)) if player.is_submission else (len(self.players) - place, "")

    def games(self, plan: PlannedPair) -> tuple[PlannedGame, PlannedGame]:
        """Return both games of a planned pair, which share a board and an opening."""
        rules = self.rubric.ladder
        where = (PART, plan.one, plan.two, plan.number)
        turn = schedule.seed_of(plan.one, plan.two) + plan.number
        board = rules.boards[turn % len(rules.boards)]
        if rules.opening_plies:
            started = opening(board, rules.opening_plies, secret_seed(self.secret, *where))
            board = make_board(
                f"{board.name}, opening {plan.number + 1}", started.start, board.game
            )
        match = Match(PART, self.players[self.index[plan.one]], self.players[self.index[plan.two]])
        seeds = [secret_seed(self.secret, *where, side) for side in schedule.SIDES]
        terms = rules.time_limit, self.rubric.limits
        one, two = (
            PlannedGame(match, board, plan.number, side, seed, *terms)
            for side, seed in zip(schedule.SIDES, seeds, strict=True)
        )
        return one, two


def read_league(book: Book, rubric: Rubric, secret: int) -> League:
    """Return the league of a results file."""
    students = with_problems(book.students(), book, rubric)
    terms = terms_of(rubric)
    complete = book.pairs(terms)
    players = [schedule.opponent(rung) for rung in rubric.ladder.rungs]
    known = {player_id(player) for player in players}
    for student in students:
        for version in student.versions:
            if version.sha256 not in known:
                known.add(version.sha256)
                label = f"{student.pseudonym} v{version.number}"
                players.append(submitted(label, version.sha256))
    for sha256 in sorted({player for pair in complete for player in pair[:2]} - known):
        players.append(submitted("a former player", sha256))
    index = {player_id(player): place for place, player in enumerate(players)}
    pairs = [(index[one], index[two], margin) for one, two, margin in complete]
    return League(rubric, secret, students, players, pairs, book.numbers(terms))


def with_problems(students: Sequence[Student], book: Book, rubric: Rubric) -> list[Student]:
    """Return the students with the versions that failed to load, and why."""
    unloaded: Mapping[str, str | None] = book.loaded(schedule.limits_text(rubric))
    aside = book.set_aside()
    found = []
    for student in students:
        versions = []
        for version in student.versions:
            failure = unloaded.get(version.sha256)
            problem = version.problem
            if problem is None and version.sha256 in aside:
                problem = "set aside: its games ended the grader twice"
            elif problem is None and failure is not None:
                problem = f"cannot be loaded: {headline(failure)}"
            versions.append(
                version if problem == version.problem else replace(version, problem=problem)
            )
        found.append(replace(student, versions=tuple(versions)))
    return found
