"""Ratings of a league: one least-squares fit of the margins of all pairs, with intervals.

Player 0 is the anchor: its rating is 0 and has no error. Every version is a separate player.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.marks.tally import ROUNDING, Interval, t_quantile

Pair: TypeAlias = tuple[int, int, float]
"""Players one and two of a pair of games with sides swapped, and the mean margin of one."""

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

FIRST_NOISE: Final = 60.0
"""The standard deviation of a pair's margin that is assumed while no pair has been repeated."""

DENSE: Final = 1000
"""Larger leagues are solved by conjugate gradients, whose time does not grow with their square."""

ACCURACY: Final = 1e-9
ENOUGH: Final = 1e-5
ROUGH: Final = 1e-2
"""The relative errors of a large league's ratings, of its covariances, and of the solution that
gives a single variance. The error of that variance is about the square of the last."""

MANY: Final = 1000
"""With more degrees of freedom, Student's t is computed with this number."""


@dataclass(frozen=True)
class Pairings:
    """The pairs of each pairing together: players, number, mean margin, and sum of squares."""

    one: Ints
    two: Ints
    number: Floats
    mean: Floats
    within: float
    """The sum of squared deviations of pairs from the mean of their pairing."""


@dataclass(frozen=True)
class Noise:
    """The variance components of a pair's margin, and the degrees of freedom of their estimate.

    A pair's margin is the difference of two ratings, plus an effect of the pairing (the variance
    is `pairing`, the same for all of its pairs), plus chance (`pair`).
    """

    pair: float
    pairing: float
    freedom: int

    def weight(self, number: Floats) -> Floats:
        """Return the weight of the mean of `number` pairs of one pairing."""
        return np.asarray(1 / (self.pairing + self.pair / number), dtype=np.float64)


def pairings(pairs: Sequence[Pair]) -> Pairings:
    """Group pairs by pairing; the order of the two players does not matter."""
    table = np.array(pairs, dtype=np.float64).reshape(-1, 3)
    one, two = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    margin = np.where(one < two, table[:, 2], -table[:, 2])
    low, high = np.minimum(one, two), np.maximum(one, two)
    size = int(high.max()) + 1 if len(high) else 1
    codes, place = np.unique(low * size + high, return_inverse=True)
    number = np.bincount(place, minlength=len(codes)).astype(np.float64)
    mean = np.bincount(place, margin, minlength=len(codes)) / np.maximum(number, 1)
    within = float(((margin - mean[place]) ** 2).sum())
    return Pairings(codes // size, codes % size, number, mean, within)


class Fit:
    """The ratings of `count` players after some pairs; NaN for players without a link to player 0.

    Weighted least squares on the means of pairings. The weights follow from the variance
    components, estimated by moments: R. DerSimonian and N. Laird, "Meta-analysis in clinical
    trials", Controlled Clinical Trials 7 (1986).
    """

    def __init__(self, count: int, pairs: Sequence[Pair], confidence: float) -> None:
        self.count = count
        self.played = pairings(pairs)
        self._confidence = confidence
        self._rated = _reached(count, self.played)
        self._unknown = np.flatnonzero(self._rated[1:]) + 1  # the anchor's rating is known
        self._place = np.full(count, -1)
        self._place[self._unknown] = np.arange(len(self._unknown))
        self._inside = self._rated[self.played.one]
        self._weights = self.played.number
        self.noise = self._noise()
        self._weights = self.noise.weight(self.played.number)
        for solved_before in ("_matrix", "_rows"):
            self.__dict__.pop(solved_before, None)
        self._covariances: dict[int, Floats] = {}
        self._roughly: dict[int, float] = {}
        """The variances of single players in a large league."""
        self.values = self._values()

    def _noise(self) -> Noise:
        """Estimate the variance components from a fit that weights every pair equally."""
        held = self.played
        number = held.number[self._inside]
        pairs, groups, unknown = number.sum(), len(number), len(self._unknown)
        residuals = self._residuals(self._values())
        between = float((number * residuals**2).sum())
        repeated, spare = int(pairs) - groups, groups - unknown
        floor = ROUNDING**2
        if repeated + spare < 1:
            return Noise(FIRST_NOISE**2, 0.0, 1)
        together = max((held.within + between) / (repeated + spare), floor)
        if min(repeated, spare) < 1:
            return Noise(together, 0.0, repeated + spare)
        chance = max(held.within / repeated, floor)
        effect = (between - spare * chance) / (pairs - (number.sum() / groups) * unknown)
        if effect <= 0:
            return Noise(together, 0.0, repeated + spare)
        return Noise(chance, effect, spare)

    def _residuals(self, values: Floats) -> Floats:
        held = self.played
        residuals = held.mean - (values[held.one] - values[held.two])
        return np.asarray(residuals[self._inside], dtype=np.float64)

    def _values(self) -> Floats:
        """Return the ratings for the present weights."""
        held = self.played
        pull = np.where(self._inside, self._weights * held.mean, 0.0)
        right = np.bincount(held.one, pull, self.count) - np.bincount(held.two, pull, self.count)
        values = np.full(self.count, np.nan)
        values[0] = 0.0
        values[self._unknown] = self._solved(right[self._unknown].astype(np.float64))
        return values

    @cached_property
    def _matrix(self) -> Floats:
        """Return the matrix of the normal equations without the anchor."""
        held, size = self.played, len(self._unknown)
        matrix = np.zeros((size, size))
        one, two = self._place[held.one], self._place[held.two]
        for first, second in ((one, two), (two, one)):
            kept = self._inside & (first >= 0)
            np.add.at(matrix, (first[kept], first[kept]), self._weights[kept])
            kept &= second >= 0
            np.add.at(matrix, (first[kept], second[kept]), -self._weights[kept])
        return matrix

    def _solved(self, right: Floats, accuracy: float = ACCURACY) -> Floats:
        """Return the solution of the normal equations."""
        size = len(self._unknown)
        if not size:
            return right
        if size <= DENSE:
            return np.asarray(np.linalg.solve(self._matrix, right), dtype=np.float64)
        return self._conjugate_gradients(right, accuracy)

    @cached_property
    def _rows(self) -> tuple[Floats, Ints, Floats, Ints]:
        """Return the matrix by rows: diagonal, columns, weights, and where each row begins."""
        held = self.played
        one, two = self._place[held.one[self._inside]], self._place[held.two[self._inside]]
        row, column = np.concatenate([one, two]), np.concatenate([two, one])
        weights = np.tile(self._weights[self._inside], 2)
        kept = row >= 0
        diagonal = np.bincount(row[kept], weights[kept], len(self._unknown))
        weights = np.where(column >= 0, weights, 0.0)  # the anchor is in no column
        order = np.flatnonzero(kept)[np.argsort(row[kept], kind="stable")]
        starts = np.searchsorted(row[order], np.arange(len(self._unknown)))
        return diagonal.astype(np.float64), np.maximum(column[order], 0), weights[order], starts

    def _conjugate_gradients(self, right: Floats, accuracy: float) -> Floats:
        """Return the solution by conjugate gradients, scaled by the diagonal.

        M. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems"
        (1952).
        """
        diagonal, columns, weights, starts = self._rows
        solution = np.zeros(len(right))
        rest = right.copy()
        scaled = rest / diagonal
        direction = scaled.copy()
        size = float(rest @ scaled)
        goal = size * accuracy**2
        while size > goal:
            image = diagonal * direction - np.add.reduceat(weights * direction[columns], starts)
            step = size / float(direction @ image)
            solution += step * direction
            rest -= step * image
            scaled = rest / diagonal
            before, size = size, float(rest @ scaled)
            direction = scaled + size / before * direction
        return solution

    def is_rated(self, player: int) -> bool:
        """Return whether a chain of pairs links a player to the anchor."""
        return bool(self._rated[player])

    def covariances(self, player: int) -> Floats:
        """Return the covariances of a rated player's rating with everybody's; 0 for the anchor."""
        if player not in self._covariances:
            found = np.zeros(self.count)
            if player:
                unit = np.zeros(len(self._unknown))
                unit[self._place[player]] = 1.0
                found[self._unknown] = self._solved(unit, ENOUGH)
            self._covariances[player] = found
        return self._covariances[player]

    def variance(self, player: int) -> float:
        """Return the variance of a player's rating; infinite for a player without a rating.

        In a large league, it is rough: its error is far below that of the noise's estimate.
        """
        place = self._place[player]
        if place < 0:  # the anchor, or not rated
            return 0.0 if player == 0 else math.inf
        if len(self._unknown) <= DENSE:
            return float(self.variances[player])
        if player not in self._roughly:
            unit = np.zeros(len(self._unknown))
            unit[place] = 1.0
            self._roughly[player] = float(self._conjugate_gradients(unit, ROUGH)[place])
        return self._roughly[player]

    @cached_property
    def variances(self) -> Floats:
        """Return the variance of every rating; infinite for players without a rating."""
        found = np.full(self.count, np.inf)
        found[0] = 0.0
        if len(self._unknown):
            found[self._unknown] = np.diag(np.linalg.inv(self._matrix))
        return found

    @cached_property
    def least_variances(self) -> Floats:
        """Return a lower bound of each variance: its value if the opponents' ratings were known."""
        held = self.played
        weights = np.where(self._inside, self._weights, 0.0)
        total = np.bincount(held.one, weights, self.count)
        total += np.bincount(held.two, weights, self.count)
        with np.errstate(divide="ignore"):
            found = 1 / total
        found[0] = 0.0
        return np.asarray(found, dtype=np.float64)

    @cached_property
    def pairs(self) -> Ints:
        """Return the number of pairs of every player."""
        held = self.played
        total = np.bincount(held.one, held.number, self.count)
        total += np.bincount(held.two, held.number, self.count)
        return total.astype(np.int64)

    def half_width(self, variance: float) -> float:
        """Return half the width of the confidence interval of a value with this variance."""
        quantile = t_quantile((1 + self._confidence) / 2, min(self.noise.freedom, MANY))
        return quantile * math.sqrt(variance) if variance < math.inf else math.inf

    def interval(self, player: int) -> Interval:
        """Return a player's rating with its confidence interval."""
        value, half = float(self.values[player]), self.half_width(float(self.variances[player]))
        return Interval(value, value - half, value + half, int(self.pairs[player]))


def _reached(count: int, held: Pairings) -> NDArray[np.bool_]:
    """Return which players a chain of pairs links to player 0."""
    reached = np.zeros(count, dtype=np.bool_)
    reached[0] = True
    total = 0
    while total < (total := int(reached.sum())):
        either = reached[held.one] | reached[held.two]
        reached[held.one[either]] = True
        reached[held.two[either]] = True
    return reached
