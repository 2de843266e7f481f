"""The statistics of margins; one sample is the mean margin of a pair of games with swapped sides.

Swapping sides on the same board and seed removes the first-move advantage from every sample.
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
        """Return both bounds."""
        return self.low, self.high

    @property
    def known(self) -> bool:
        """Return whether there are bounds."""
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
    radius = deviation * _sequential_radius(count, rules.error, rules.effect)
    return Interval(mean, mean - radius, mean + radius, count)


def _sequential_radius(count: int, error: float, effect: float) -> float:
    """Return half a sequential interval in deviations, infinite for too few samples."""
    ratio = 1 + count * effect**2
    bound = (math.sqrt(ratio) / error) ** (2 / count)
    if bound >= ratio:
        return math.inf
    t_squared = (count - 1) * (bound - 1) / (1 - bound / ratio)
    return math.sqrt(t_squared / count)


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
