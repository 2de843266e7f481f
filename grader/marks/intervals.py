"""The statistics of margins. One sample is the mean margin of a PAIR of games with sides swapped.

Swapping sides on the same board and seed takes the advantage of moving first out of every sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

import numpy as np

from grader.rubric.model import CompareRules, StatisticsRules

DECIMALS: Final = 1
"""Decimals of an interval as it is shown."""

ROUNDING: Final = math.sqrt(1 / 12)
"""The standard deviation of a uniform error of one point."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval; `low` and `high` are NaN with fewer than two samples."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Return half of the interval's width."""
        return (self.high - self.low) / 2


def bootstrap(samples: Sequence[float], rules: StatisticsRules) -> Interval:
    """Return the mean with the percentile bootstrap's interval over pairs, seeded.

    B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979).
    """
    return _bootstrap(tuple(samples), rules)


@cache
def _bootstrap(samples: tuple[float, ...], rules: StatisticsRules) -> Interval:
    values = np.asarray(samples, dtype=np.float64)
    if not values.size:
        return Interval(math.nan, math.nan, math.nan)
    mean = float(values.mean())
    if values.size < 2:
        return Interval(mean, math.nan, math.nan)
    rng = np.random.default_rng(rules.seed)
    picks = rng.integers(values.size, size=(rules.resamples, values.size))
    means = values[picks].mean(axis=1)
    tail = (1 - rules.confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(mean, float(low), float(high))


Verdict: TypeAlias = Literal["better", "worse", "equal", "open"]


def sequential_interval(samples: Sequence[float], rules: CompareRules) -> Interval:
    """Return the mean with an interval that stays valid however often one looks.

    It holds the means that the sequential t-test does not reject: with probability
    `1 - rules.error` the true mean is in it at all times at once, exactly so for normal margins.
    The test is the Bayes factor of M. Goenen et al., "The Bayesian two-sample t test", American
    Statistician 59 (2005), with a normal prior of deviation `rules.effect` on mean by deviation;
    why it may be looked at all the time: M. F. Perez-Ortiz et al., "E-statistics, group invariance
    and anytime-valid testing", Annals of Statistics 52 (2024).
    Margins as skewed as an exponential distribution break the promise twice over (10 % for 5 %).
    The deviation is the sample's, never below that of margins rounded to whole points, so that a
    few equal samples prove nothing.
    """
    values = np.asarray(samples, dtype=np.float64)
    count = values.size
    mean = float(values.mean()) if count else math.nan
    if count < rules.min_pairs:
        return Interval(mean, -math.inf, math.inf)
    ratio = 1 + count * rules.effect**2
    bound = (math.sqrt(ratio) / rules.error) ** (2 / count)
    if bound >= ratio:
        return Interval(mean, -math.inf, math.inf)
    t_squared = (count - 1) * (bound - 1) / (1 - bound / ratio)
    deviation = max(float(values.std(ddof=1)), ROUNDING)
    radius = deviation * math.sqrt(t_squared / count)
    return Interval(mean, mean - radius, mean + radius)


def verdict(samples: Sequence[float], rules: CompareRules) -> tuple[Verdict, Interval]:
    """Return what pairs of games say so far of a new agent against an old one.

    Neither is better while the interval, as it is printed, reaches 0.
    `equal`: the true mean margin lies within `equal_within` of 0; `open`: play on.
    """
    interval = sequential_interval(samples, rules)
    if round(interval.low, DECIMALS) > 0:
        return "better", interval
    if round(interval.high, DECIMALS) < 0:
        return "worse", interval
    if -rules.equal_within <= interval.low and interval.high <= rules.equal_within:
        return "equal", interval
    return "open", interval


@dataclass(frozen=True, slots=True)
class Rating:
    """A strength in points of margin against an average agent, with its standard error."""

    value: float
    error: float


def ratings(count: int, pairs: Sequence[tuple[int, int, float]], ridge: float) -> list[Rating]:
    """Rate agents `0..count-1` by the mean margins `(one, two, margin of one)` of their pairs.

    Least squares on margins, K. Massey, "Statistical models applied to the rating of sports
    teams" (1997): a margin is the difference of two ratings plus noise. `ridge` adds the squares
    of the ratings (A. Hoerl and R. Kennard, "Ridge regression", Technometrics 12, 1970), so that
    agents who never met, in any chain of games, have ratings too, and few games give small ones.
    """
    normal = np.eye(count) * ridge
    right = np.zeros(count)
    for one, two, margin in pairs:
        normal[one, one] += 1
        normal[two, two] += 1
        normal[one, two] -= 1
        normal[two, one] -= 1
        right[one] += margin
        right[two] -= margin
    if not count:
        return []
    values = np.linalg.solve(normal, right)
    residuals = [margin - (values[one] - values[two]) for one, two, margin in pairs]
    freedom = len(pairs) - count + 1
    if freedom <= 0:
        return [Rating(float(value), math.nan) for value in values]
    noise = float(np.square(residuals).sum()) / freedom
    inverse = np.linalg.inv(normal)
    spread = inverse @ (normal - ridge * np.eye(count)) @ inverse
    errors = np.sqrt(noise * np.diag(spread))
    return [Rating(float(value), float(error)) for value, error in zip(values, errors, strict=True)]
