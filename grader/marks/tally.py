"""Tallies of the games of a match, their intervals, and their points by the rubric.

One sample is the mean margin of a pair of games with swapped sides. Swapping sides on the same
board and seed removes the first-move advantage from every sample.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, TypeAlias

import numpy as np

from grader.handin.positions import Part
from grader.play.schedule import PART_A, Contestant, Match, PlannedGame
from grader.results import Faults, PlayedGame
from grader.rubric.model import Baseline, CompareRules, Rubric, StatisticsRules


@dataclass(slots=True)
class Tally:
    """The totals of one match, or of its games on one board, for `match.one`."""

    games: int = 0
    planned: int = 0
    own: int = 0
    other: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: Faults = field(default_factory=Faults)
    shown_faults: Faults = field(default_factory=Faults)
    """The lost turns on boards that are not hidden: a program chooses how many it loses, and so
    could tell its author about a hidden board."""
    other_faults: Faults = field(default_factory=Faults)
    pairs: list[float] = field(default_factory=list)
    """Mean margins of pairs of games with sides swapped."""
    others: list[float] = field(default_factory=list)
    """The opponent's mean scores in these pairs; on a hidden board, the mean of all others."""
    hidden_games: int = 0
    """The games on hidden boards."""
    hidden_other: int = 0
    """The opponent's score in those."""
    counts_points: bool = True
    """False in a game where only winning counts: its margin is 1, 0 or -1."""

    @property
    def complete(self) -> bool:
        """Return whether every planned game has a result."""
        return self.games == self.planned

    @property
    def mean_margin(self) -> float:
        """Return the mean margin per game, 0 if there are no games."""
        return (self.own - self.other) / self.games if self.games else 0.0

    @property
    def percent(self) -> float:
        """Return the margin of the summed scores as a percentage of the opponent's.

        Games on hidden boards add their margins only: the opponent's scores are those on the other
        boards. Without such boards the result is NaN. Where only winning counts, it is the
        percentage of the wins less the losses in all games.
        """
        if not self.counts_points:
            return 100 * self.mean_margin
        if self.hidden_games:
            return 100 * self.mean_margin / self.unit
        return 100 * (self.own - self.other) / max(self.other, 1)

    @property
    def unit(self) -> float:
        """Return the opponent's mean score in a game on the boards that are not hidden."""
        shown = self.games - self.hidden_games
        if self.games and not shown:
            return math.nan
        return max(self.other - self.hidden_other, 1) / max(shown, 1)

    @property
    def results(self) -> str:
        """Return how many games were won, drawn and lost, in words."""
        return f"{self.games} games: {self.wins} won, {self.draws} drawn, {self.losses} lost"

    def record(self, between: str = "-") -> str:
        """Return how many games were won, drawn and lost, such as `3-0-1`."""
        return between.join(map(str, (self.wins, self.draws, self.losses)))

    @property
    def digits(self) -> int:
        return margin_digits(self.counts_points)

    def interval(self, rules: StatisticsRules) -> "Interval":
        """Return the mean margin of the pairs with its confidence interval."""
        found = mean_interval(self.pairs, rules)
        if self.counts_points or not found.known:
            return found
        return Interval(found.mean, max(found.low, -1.0), min(found.high, 1.0), found.pairs)

    def percent_interval(self, rules: StatisticsRules) -> "Interval":
        """Return the percentage margin with its confidence interval.

        The interval is that of a ratio of means: W. G. Cochran, "Sampling Techniques" (3rd edition,
        1977), 6.4.
        """
        if not self.counts_points:
            wins = self.interval(rules)
            return Interval(self.percent, 100 * wins.low, 100 * wins.high, wins.pairs)
        ratio = self.percent / 100
        rest = [pair - ratio * other for pair, other in zip(self.pairs, self.others, strict=True)]
        interval = mean_interval(rest, rules)
        low, high = (
            100 * (ratio + (bound - interval.mean) / self.unit) for bound in interval.bounds
        )
        return Interval(self.percent, low, high, interval.pairs)

    def add(self, game: PlannedGame, played: PlayedGame) -> None:
        """Count one game."""
        own, other = played.scores[game.side - 1], played.scores[2 - game.side]
        self.count(own, other, played.faults[game.side - 1])
        self.other_faults += played.faults[2 - game.side]
        if game.board.hidden:
            self.hidden_games += 1
            self.hidden_other += other
        else:
            self.shown_faults += played.faults[game.side - 1]

    def count(self, own: int, other: int, faults: Faults) -> None:
        """Count one game by both scores and the lost turns of the player."""
        self.games += 1
        self.own += own
        self.other += other
        self.wins += own > other
        self.draws += own == other
        self.losses += own < other
        self.faults += faults


def margin_digits(counts_points: bool) -> int:
    """Return the decimals of a printed mean margin: more if it lies between -1 and 1."""
    return 1 if counts_points else 2


def margin_of(game: PlannedGame, played: PlayedGame) -> int:
    """Return the margin of `match.one` in a game."""
    return played.scores[game.side - 1] - played.scores[2 - game.side]


def tally(games: Iterable[PlannedGame], played: Mapping[str, PlayedGame]) -> Tally:
    """Return the tally of one match's games; a pair counts when both of its games are complete."""
    total = Tally()
    halves: dict[tuple[str, int], tuple[int, int]] = {}
    for game in games:
        total.planned += 1
        total.counts_points = game.counts_points
        result = played.get(game.key)
        if result is None:
            continue
        total.add(game, result)
        pair = game.board.name, game.repeat
        half = margin_of(game, result), result.scores[2 - game.side]
        if pair in halves:
            margin, other = halves[pair]
            total.pairs.append((margin + half[0]) / 2)
            total.others.append(math.nan if game.board.hidden else (other + half[1]) / 2)
        else:
            halves[pair] = half
    total.others = [total.unit if math.isnan(other) else other for other in total.others]
    return total


def by_match(games: Iterable[PlannedGame]) -> dict[Match, list[PlannedGame]]:
    """Return the games of each match, in the order of the schedule."""
    matches: dict[Match, list[PlannedGame]] = {}
    for game in games:
        matches.setdefault(game.match, []).append(game)
    return matches


def baseline_of(match: Match, rubric: Rubric) -> Baseline:
    """Return the baseline of the ladder for a match of part B."""
    return next(step for step in rubric.part_b.baselines if step.agent.name == match.two.name)


def full_points(rubric: Rubric) -> float:
    """Return the maximum points of parts A and B."""
    return rubric.part_a.points + sum(step.points for step in rubric.part_b.baselines)


def earned(
    match: Match, total: Tally, rubric: Rubric
) -> tuple[float, float, tuple[float, float] | None]:
    """Return the points for the games so far, their maximum, and their interval if there is one.

    Part A: by percentage margin, up to the cap. Part B: linear between two mean margins.
    """
    if match.part == PART_A:
        full, cap = rubric.part_a.points, rubric.part_a.cap_percent
        measured, interval = total.percent, total.percent_interval(rubric.statistics)

        def worth(value: float) -> float:
            return max(0.0, full * min(value, cap) / cap)

    else:
        step = baseline_of(match, rubric)
        full, measured = step.points, total.mean_margin
        interval = total.interval(rubric.statistics)

        def worth(value: float) -> float:
            return full * min(1.0, max(0.0, (value - step.low) / (step.high - step.low)))

    bounds = (worth(interval.low), worth(interval.high)) if interval.known else None
    return worth(measured), full, bounds


DECIMALS: Final = 1
"""Decimals of a printed interval."""

FEW_PAIRS: Final = 6
"""With fewer pairs an interval is marked "few games"."""

SKEWED_FROM: Final = 4
"""From N pairs on, the third moment is informative."""

ROUNDING: Final = math.sqrt(1 / 12)
"""The standard deviation of a uniform error of one point."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval; `low` and `high` are NaN with fewer than two samples."""

    mean: float
    low: float
    high: float
    pairs: int

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def known(self) -> bool:
        return not math.isnan(self.low)


def mean_interval(samples: Sequence[float], rules: StatisticsRules) -> Interval:
    """Return the mean of the pairs with its confidence interval.

    Student's t, "The probable error of a mean", Biometrika 6 (1908); from `SKEWED_FROM` pairs on
    with P. Hall's correction for skewed samples, "On the removal of skewness by transformation",
    Journal of the Royal Statistical Society B 54 (1992). `python3 -m benchmarks.intervals` shows
    how often such intervals contain the true mean. The deviation is at least that of margins
    rounded to whole points, because a few equal samples prove nothing.
    """
    count = len(samples)
    if count < 2:
        return Interval(float(samples[0]) if count else math.nan, math.nan, math.nan, count)
    values = np.asarray(samples, dtype=np.float64)
    mean = float(values.mean())
    deviation = max(float(values.std(ddof=1)), ROUNDING)
    skewness = 0.0
    if count >= SKEWED_FROM:
        third = float(((values - mean) ** 3).sum()) * count / ((count - 1) * (count - 2))
        skewness = third / deviation**3
    reach = t_quantile((1 + rules.confidence) / 2, count - 1)
    low, high = (mean - deviation * _unskewed(t, skewness, count) for t in (reach, -reach))
    return Interval(mean, low, high, count)


def _unskewed(t: float, skewness: float, count: int) -> float:
    """Return the mean's distance, in deviations, at which Hall's statistic equals `t`."""
    step = t / math.sqrt(count)
    if abs(skewness) < 1e-6:
        return step
    return 3 / skewness * (math.cbrt(1 + skewness * (step - skewness / (6 * count))) - 1)


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t, by bisection; `probability` is 0.5 or more."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if (1 + _t_inside(middle, freedom)) / 2 < probability:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _t_inside(angle: float, freedom: int) -> float:
    """Return the probability that Student's t lies within sqrt(freedom) * tan(angle) of 0.

    M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4.
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * power / (power + 1)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def few_games(pairs: int) -> bool:
    """Return whether an interval has so few pairs that skewed margins often fall outside it."""
    return pairs < FEW_PAIRS


Verdict: TypeAlias = Literal["better", "worse", "equal", "open"]


def sequential_interval(samples: Sequence[float], rules: CompareRules) -> Interval:
    """Return the mean with an interval that stays valid however often it is checked.

    It contains the means that the sequential t-test does not reject. With probability
    `1 - rules.error` the true mean is inside at all times, exactly so for normal margins.
    The test is the Bayes factor of M. Goenen et al., "The Bayesian two-sample t test", American
    Statistician 59 (2005), with a normal prior of deviation `rules.effect` on mean by deviation.
    For the validity of repeated checks see M. F. Perez-Ortiz et al., "E-statistics, group
    invariance and anytime-valid testing", Annals of Statistics 52 (2024).
    For margins as skewed as an exponential distribution the error doubles (10 % for 5 %).
    The deviation is the sample's, and at least that of margins rounded to whole points, because
    a few equal samples prove nothing.
    """
    values = np.asarray(samples, dtype=np.float64)
    count = values.size
    mean = float(values.mean()) if count else math.nan
    if count < rules.min_pairs:
        return Interval(mean, -math.inf, math.inf, count)
    deviation = max(float(values.std(ddof=1)), ROUNDING)
    ratio = 1 + count * rules.effect**2
    bound = (math.sqrt(ratio) / rules.error) ** (2 / count)
    radius = math.inf  # there are too few samples
    if bound < ratio:
        t_squared = (count - 1) * (bound - 1) / (1 - bound / ratio)
        radius = deviation * math.sqrt(t_squared / count)
    return Interval(mean, mean - radius, mean + radius, count)


def verdict(samples: Sequence[float], rules: CompareRules) -> tuple[Verdict, Interval]:
    """Return the verdict of the pairs so far on a new agent against an old one.

    Neither is better while the printed interval includes 0. `equal`: the true mean margin lies
    within `equal_within` of 0. `open`: more games are required.
    """
    interval = sequential_interval(samples, rules)
    if round(interval.low, DECIMALS) > 0:
        return "better", interval
    if round(interval.high, DECIMALS) < 0:
        return "worse", interval
    if -rules.equal_within <= interval.low and interval.high <= rules.equal_within:
        return "equal", interval
    return "open", interval


@dataclass(slots=True)
class PartComparison:
    """Accepts results in any order and judges them in the order of the schedule.

    The verdict therefore does not depend on which game ends first. In part A `tally` has the games
    of the new agent and `old` those of the old one. In part B they are the same games.
    """

    rubric: Rubric
    part: Part = "b"
    old_agent: Contestant | None = None
    """The old agent, in part A only; there it plays separate games."""
    tally: Tally = field(default_factory=Tally)
    old: Tally = field(default_factory=Tally)
    samples: list[float] = field(default_factory=list)
    waiting: dict[int, list[tuple[PlannedGame, PlayedGame]]] = field(default_factory=dict)
    verdict: Verdict = "open"
    interval: Interval | None = None

    def add(self, game: PlannedGame, played: PlayedGame) -> None:
        """Count a game; judge once its pair and all earlier pairs are complete."""
        whole = 4 if self.part == "a" else 2
        self.waiting.setdefault(game.repeat, []).append((game, played))
        while self.verdict == "open" and len(self.waiting.get(len(self.samples), ())) == whole:
            sample = 0.0
            for item in self.waiting.pop(len(self.samples)):
                of_old = self.part == "a" and item[0].match.one == self.old_agent
                (self.old if of_old else self.tally).add(*item)
                sample += margin_of(*item) * (-0.5 if of_old else 0.5)
            self.samples.append(sample)
            self.verdict, self.interval = verdict(self.samples, self.rubric.compare)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the bounds of the mean; None with too few games."""
        if self.interval is None or math.isinf(self.interval.low):
            return None
        return self.interval.bounds

    @property
    def mean(self) -> float:
        """Return the mean margin per game; in part A, its difference from the old agent's."""
        return sum(self.samples) / len(self.samples) if self.samples else 0.0
