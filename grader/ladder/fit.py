"""Ratings of a league, and the pairs that most reduce their uncertainty.

The ratings are one least-squares fit of the margins of all pairs, with intervals. Player 0 is the
anchor: its rating is 0 and has no error. Every version is a separate player.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.marks.tally import ROUNDING, Interval, t_quantile
from grader.marks.tournament import Floats, Ints, Pair, normal_equations, pairings

FIRST_NOISE: Final = 60.0
"""The standard deviation of a pair's margin that is assumed while no pair has been repeated."""

MANY: Final = 1000
"""With more degrees of freedom, Student's t is computed with this number."""

LEAST_PAIRS: Final = 6
"""A version plays at least N pairs, however narrow its interval is."""

MISFIT: Final = 0.2
"""A pairing's result has less weight if its two ratings are far apart: the margin of a strong
player over a weak one typically differs from the difference of their ratings by this share."""

VARIETY: Final = 0.1
"""The least variance that the choice assumes for a pairing's own effect, as a share of a pair's:
of two equal opponents, a version then plays the one that it has played less often."""

LEAST_GAIN: Final = 0.005
"""After `LEAST_PAIRS` a pair is not played if it reduces a variance by less than this share."""


@dataclass(frozen=True)
class Noise:
    """The variance components of a pair's margin, and the degrees of freedom of their estimate.

    A pair's margin is the difference of two ratings, plus an effect of the pairing (the variance
    is `pairing`, the same for all of its pairs), plus chance (`pair`).
    """

    pair: float
    pairing: float
    freedom: int


class Fit:
    """The ratings of `count` players after some pairs; NaN for players without a link to player 0.

    Weighted least squares on the means of pairings. The weights follow from the variance
    components, estimated by moments: R. DerSimonian and N. Laird, "Meta-analysis in clinical
    trials", Controlled Clinical Trials 7 (1986).
    """

    def __init__(self, count: int, pairs: Sequence[Pair], confidence: float) -> None:
        self.count = count
        self.one, self.two, self.number, self.mean, within = pairings(pairs)
        self._confidence = confidence
        self._rated = _reached(count, self.one, self.two)
        self._inside = self._rated[self.one]
        self.noise = self._noise(within)
        weights = 1 / (self.noise.pairing + self.noise.pair / self.number)
        self.values, self._matrix = self._solved(weights)

    @property
    def _unknown(self) -> Ints:
        """Return the players with a rating, apart from the anchor."""
        return np.flatnonzero(self._rated[1:]) + 1

    def _noise(self, within: float) -> Noise:
        """Estimate the variance components from a fit that weights every pair equally."""
        number = self.number[self._inside]
        pairs, groups, unknown = number.sum(), len(number), len(self._unknown)
        values, _ = self._solved(self.number)
        residuals = (self.mean - (values[self.one] - values[self.two]))[self._inside]
        between = float((number * residuals**2).sum())
        repeated, spare = int(pairs) - groups, groups - unknown
        floor = ROUNDING**2
        if repeated + spare < 1:
            return Noise(FIRST_NOISE**2, 0.0, 1)
        together = max((within + between) / (repeated + spare), floor)
        if min(repeated, spare) < 1:
            return Noise(together, 0.0, repeated + spare)
        chance = max(within / repeated, floor)
        effect = (between - spare * chance) / (pairs - (number.sum() / groups) * unknown)
        if effect <= 0:
            return Noise(together, 0.0, repeated + spare)
        return Noise(chance, effect, spare)

    def _solved(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the ratings for these weights, and the matrix of their normal equations."""
        inside = self._inside
        terms = self.one[inside], self.two[inside], self.mean[inside], weights[inside]
        matrix, right = normal_equations(self.count, *terms)
        matrix = matrix[np.ix_(self._unknown, self._unknown)]
        values = np.full(self.count, np.nan)
        values[0] = 0.0
        values[self._unknown] = np.linalg.solve(matrix, right[self._unknown])
        return values, matrix

    def is_rated(self, player: int) -> bool:
        """Return whether a chain of pairs links a player to the anchor."""
        return bool(self._rated[player])

    @cached_property
    def covariances(self) -> Floats:
        """Return the covariances of ratings; a variance is infinite without a rating."""
        found = np.zeros((self.count, self.count))
        found[np.ix_(self._unknown, self._unknown)] = np.linalg.inv(self._matrix)
        found[~self._rated, ~self._rated] = np.inf
        return found

    @cached_property
    def pairs(self) -> Ints:
        """Return the number of pairs of every player."""
        total = np.bincount(self.one, self.number, self.count)
        total += np.bincount(self.two, self.number, self.count)
        return total.astype(np.int64)

    def half_width(self, player: int) -> float:
        """Return half the width of a player's interval; infinite for one without a rating."""
        quantile = t_quantile((1 + self._confidence) / 2, min(self.noise.freedom, MANY))
        return quantile * math.sqrt(self.covariances[player, player])

    def interval(self, player: int) -> Interval:
        """Return a player's rating with its confidence interval."""
        value, half = float(self.values[player]), self.half_width(player)
        return Interval(value, value - half, value + half, int(self.pairs[player]))


def _reached(count: int, one: Ints, two: Ints) -> NDArray[np.bool_]:
    """Return which players a chain of pairs links to player 0."""
    reached = np.zeros(count, dtype=np.bool_)
    reached[0] = True
    total = 0
    while total < (total := int(reached.sum())):
        either = reached[one] | reached[two]
        reached[one[either]] = True
        reached[two[either]] = True
    return reached


def is_open(fit: Fit, player: int, width: float) -> bool:
    """Return whether a player needs more pairs: its interval is wider than `width`."""
    return 2 * fit.half_width(player) > width or fit.pairs[player] < LEAST_PAIRS


def widest_first(fit: Fit, players: Sequence[int], width: float) -> list[int]:
    """Return the players that need more pairs, those with the widest intervals first."""
    needing = [player for player in players if is_open(fit, player, width)]
    return sorted(needing, key=lambda player: (-fit.half_width(player), player))


def choose(
    fit: Fit,
    needing: Sequence[int],
    pool: Sequence[int],
    rungs: Sequence[int],
    slots: int,
    barred: Mapping[int, Collection[int]] | None = None,
) -> list[tuple[int, int]]:
    """Return the pairs of one round: one for each player in `needing`, or more to fill `slots`.

    In each the player that needs it comes first.
    A player without a rating plays every rung first. A player gets no pair if none would improve
    its rating enough. `pool` contains the possible opponents, `barred` those that a player cannot
    meet.
    """
    each = max(1, -(-slots // max(1, 2 * len(needing))))
    taken: set[frozenset[int]] = set()
    chosen: list[tuple[int, int]] = []
    for player in needing:
        avoid = {player, *(barred or {}).get(player, ())}
        rated = fit.is_rated(player)
        able = [
            other
            for other in (pool if rated else rungs)
            if other not in avoid and frozenset((player, other)) not in taken
        ]
        found = _best(fit, player, able, set(needing))[:each] if rated else able
        taken.update(frozenset((player, other)) for other in found)
        chosen += [(player, other) for other in found]
    return chosen


def _best(fit: Fit, player: int, pool: Sequence[int], needing: set[int]) -> list[int]:
    """Return the opponents with a rating, those whose games improve ratings most first."""
    others = np.array([other for other in pool if fit.is_rated(other)], dtype=np.int64)
    if not len(others):
        return []
    gain = _gain(fit, player, others, needing)
    least = LEAST_GAIN * fit.covariances[player, player]
    enough = gain >= (least if fit.pairs[player] >= LEAST_PAIRS else 0.0)
    return [int(others[place]) for place in np.argsort(-gain, kind="stable") if enough[place]]


def _gain(fit: Fit, player: int, others: np.ndarray, needing: set[int]) -> Floats:
    """Return by how much one more pair against each of `others` is expected to reduce variances.

    The variances are those of the player and, if it needs pairs too, of the opponent.
    """
    row = fit.covariances[player]
    own = row[player]
    theirs = np.diag(fit.covariances)[others]
    noise, number = fit.noise, np.zeros(fit.count)
    for one, two in ((fit.one, fit.two), (fit.two, fit.one)):
        number[two[one == player]] = fit.number[one == player]
    distance = fit.values[player] - fit.values[others]
    effect = max(noise.pairing, VARIETY * noise.pair) + (MISFIT * distance) ** 2
    now, then = number[others], number[others] + 1
    with np.errstate(divide="ignore"):
        before = np.where(now > 0, 1 / (effect + noise.pair / np.maximum(now, 1)), 0.0)
    weight = 1 / (effect + noise.pair / then) - before  # what one more pair adds
    between = np.maximum(own + theirs - 2 * row[others], 0.0)
    gained = (own - row[others]) ** 2
    gained += np.where(np.isin(others, list(needing)), (theirs - row[others]) ** 2, 0.0)
    return np.asarray(weight * gained / (1 + weight * between), dtype=np.float64)
