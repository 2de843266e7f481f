"""From played games to marks: tallies of matches, and points as the rubric has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from grader.handin.form import check_source
from grader.handin.submission import Submission
from grader.marks.intervals import Interval, bootstrap
from grader.play import schedule
from grader.play.schedule import Match, PlannedGame
from grader.results.store import Faults, PlayedGame
from grader.rubric.model import Baseline, PartA, Rubric, StatisticsRules, SubmissionRules


@dataclass(slots=True)
class Tally:
    """What the games of one match, or of its games on one board, come to for `match.one`."""

    games: int = 0
    planned: int = 0
    own: int = 0
    other: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: Faults = field(default_factory=Faults)
    other_faults: Faults = field(default_factory=Faults)
    pairs: list[float] = field(default_factory=list)
    """Mean margins of pairs of games with sides swapped."""

    @property
    def complete(self) -> bool:
        """Return whether every planned game has a result."""
        return self.games == self.planned

    @property
    def mean_margin(self) -> float:
        """Return the mean margin of a game, 0 where there is none."""
        return (self.own - self.other) / self.games if self.games else 0.0

    @property
    def percent(self) -> float:
        """Return the percentage margin of the sums of scores over the opponent's."""
        return 100 * (self.own - self.other) / max(self.other, 1)

    def interval(self, rules: StatisticsRules) -> Interval:
        """Return the mean margin of the pairs with its confidence interval."""
        return bootstrap(self.pairs, rules)

    def add(self, game: PlannedGame, played: PlayedGame) -> None:
        """Count one game."""
        own, other = played.scores[game.side - 1], played.scores[2 - game.side]
        self.games += 1
        self.own += own
        self.other += other
        self.wins += own > other
        self.draws += own == other
        self.losses += own < other
        self.faults += played.faults[game.side - 1]
        self.other_faults += played.faults[2 - game.side]


def margin_of(game: PlannedGame, played: PlayedGame) -> int:
    """Return the margin of `match.one` in a game."""
    return played.scores[game.side - 1] - played.scores[2 - game.side]


def tally(games: Iterable[PlannedGame], played: Mapping[str, PlayedGame]) -> Tally:
    """Return the tally of games of one match; a pair counts once both of its games are there."""
    total = Tally()
    halves: dict[tuple[str, int], int] = {}
    for game in games:
        total.planned += 1
        result = played.get(game.key)
        if result is None:
            continue
        total.add(game, result)
        pair = game.board.name, game.repeat
        if pair in halves:
            total.pairs.append((halves[pair] + margin_of(game, result)) / 2)
        else:
            halves[pair] = margin_of(game, result)
    return total


@dataclass(frozen=True, slots=True)
class MatchMark:
    """The points of one match; `boards` has the tallies of its boards."""

    match: Match
    tally: Tally
    boards: dict[str, Tally]
    points: float
    """0 where games are missing: a mean of some of them is no mark."""
    max_points: float

    @property
    def name(self) -> str:
        """Return the part and the opponent."""
        return f"{self.match.part}: {self.match.two.name}"


@dataclass(frozen=True, slots=True)
class Mark:
    """All that a submission has earned."""

    submission: Submission
    matches: tuple[MatchMark, ...] = ()
    broken_rule: str | None = None
    """The first required rule of form that the source breaks, in words."""
    detail: str = ""
    """More of the submission's problem, in several lines."""

    def withheld(self, part: str) -> bool:
        """Return whether points of a part are withheld, since games of it are missing."""
        matches = (mark for mark in self.matches if mark.match.part == part)
        return not all(mark.tally.complete for mark in matches)

    @property
    def incomplete(self) -> bool:
        """Return whether points of any part are withheld."""
        return self.missing > 0

    def points(self, part: str) -> float:
        """Return the points of one part, without those that are withheld."""
        return sum(mark.points for mark in self.matches if mark.match.part == part)

    @property
    def total(self) -> float:
        """Return the points of all parts."""
        return sum(mark.points for mark in self.matches)

    @property
    def faults(self) -> Faults:
        """Return the lost turns of all games."""
        return sum((mark.tally.faults for mark in self.matches), Faults())

    @property
    def missing(self) -> int:
        """Return how many games have no result yet."""
        return sum(mark.tally.planned - mark.tally.games for mark in self.matches)


def points_a(total: Tally, part: PartA) -> float:
    """Return the points of part A: by percentage margin, up to the cap, never below 0."""
    earned = part.points * min(total.percent, part.cap_percent) / part.cap_percent
    return max(0.0, earned) if total.games else 0.0


def points_b(total: Tally, step: Baseline) -> float:
    """Return the points against one baseline: linear between its two mean margins."""
    if not total.games:
        return 0.0
    share = (total.mean_margin - step.low) / (step.high - step.low)
    return step.points * min(1.0, max(0.0, share))


def full_points(rubric: Rubric) -> float:
    """Return the points that parts A and B can earn."""
    return rubric.part_a.points + sum(step.points for step in rubric.part_b.baselines)


def by_match(games: Iterable[PlannedGame]) -> dict[Match, list[PlannedGame]]:
    """Return the games of each match, both in the order of the schedule."""
    matches: dict[Match, list[PlannedGame]] = {}
    for game in games:
        matches.setdefault(game.match, []).append(game)
    return matches


def mark_match(
    match: Match, games: Sequence[PlannedGame], played: Mapping[str, PlayedGame], rubric: Rubric
) -> MatchMark:
    """Return the mark of one match of part A or B."""
    total = tally(games, played)
    boards: dict[str, list[PlannedGame]] = {}
    for game in games:
        boards.setdefault(game.board.name, []).append(game)
    tallies = {name: tally(listed, played) for name, listed in boards.items()}
    if match.part == schedule.PART_A:
        part = rubric.part_a
        points = points_a(total, part) if total.complete else 0.0
        return MatchMark(match, total, tallies, points, part.points)
    step = next(step for step in rubric.part_b.baselines if step.agent == match.two.agent)
    points = points_b(total, step) if total.complete else 0.0
    return MatchMark(match, total, tallies, points, step.points)


def gradable(submissions: Iterable[Submission]) -> list[schedule.Contestant]:
    """Return the submissions that can play."""
    return [
        schedule.submitted(item.name, item.sha256)
        for item in submissions
        if item.problem is None and item.sha256 is not None
    ]


def marks(
    submissions: Sequence[Submission],
    played: Mapping[str, PlayedGame],
    rubric: Rubric,
    details: Mapping[str, str],
) -> list[Mark]:
    """Return the marks of all submissions, in their order."""
    games = schedule.grade_games(gradable(submissions), rubric)
    by_name: dict[str, list[MatchMark]] = {}
    for match, listed in by_match(games).items():
        by_name.setdefault(match.one.name, []).append(mark_match(match, listed, played, rubric))
    return [
        Mark(
            item,
            tuple(by_name.get(item.name, ())),
            _broken_rule(item.source, rubric.submission),
            details.get(item.name, ""),
        )
        for item in submissions
    ]


@lru_cache(maxsize=1024)
def _broken_rule(source: str | None, rules: SubmissionRules) -> str | None:
    found = [] if source is None else check_source(source, rules)
    for finding in found:
        if finding.required:
            return f"line {finding.line}: {finding.rule}: {finding.text}"
    return None
