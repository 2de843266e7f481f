"""Pairs of players whose games do not fit their ratings: friends may have thrown games.

The test is the one for an outlier in a regression: R. D. Cook and S. Weisberg, "Residuals and
Influence in Regression" (1982), 2.2.2. It compares the mean margin of each pairing with what all
other games predict for it, and its level holds for all pairings together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.marks.tally import t_quantile

LEVEL: Final = 0.05
"""The probability that a class lists anybody although every margin follows from the ratings."""

LEAST_GAMES: Final = 4
"""Games between two players, from which on their pairing is tested."""

LEAST_EACH: Final = 20
"""Games that each of both has played."""

LEAST_FREEDOM: Final = 5


@dataclass(frozen=True, slots=True)
class Unlikely:
    """A pairing whose margin is far from what the ratings predict; margins are those of `one`."""

    one: int
    two: int
    games: int
    margin: float
    expected: float
    residual: float
    """In standard errors."""


def unlikely(pairs: Sequence[tuple[int, int, float]], students: Collection[int]) -> list[Unlikely]:
    """Return the pairings of two of the `students` that do not fit, the farthest first.

    `pairs` are two players and the mean margin of the first in a pair of games. A pairing's mean
    varies by chance and by how two ways to play meet, so its weight grows with the number of its
    pairs up to a bound.
    """
    found: dict[tuple[int, int], list[float]] = {}
    for one, two, margin in pairs:
        found.setdefault((min(one, two), max(one, two)), []).append(
            margin if one < two else -margin
        )
    games = _games(found)
    number = np.array([len(margins) for margins in found.values()], dtype=np.float64)
    means = np.array([np.mean(margins) for margins in found.values()])
    places = {player: place for place, player in enumerate(games)}
    design = np.zeros((len(found), len(places)))
    for row, both in enumerate(found):
        design[row, [places[player] for player in both]] = 1.0, -1.0
    root = np.sqrt(number / (1 + number))
    scaled, target = design * root[:, None], means * root
    inverse = np.linalg.pinv(scaled)
    ratings = inverse @ target
    leverage = np.minimum(np.sum(scaled * inverse.T, axis=1), 1 - 1e-9)
    residuals = target - scaled @ ratings
    freedom = len(found) - round(float(leverage.sum())) - 1
    if freedom < LEAST_FREEDOM:
        return []
    own = residuals**2 / (1 - leverage)
    without = np.maximum((np.sum(residuals**2) - own) / freedom, 1e-9)
    scores = residuals / np.sqrt(without * (1 - leverage))
    tested = [
        row
        for row, (both, margins) in enumerate(found.items())
        if 2 * len(margins) >= LEAST_GAMES
        and all(games[one] >= LEAST_EACH and one in students for one in both)
    ]
    bound = t_quantile(1 - LEVEL / 2 / max(1, len(tested)), freedom)
    expected = design @ ratings
    keys = list(found)
    listed = [
        Unlikely(*keys[row], 2 * int(number[row]), means[row], expected[row], scores[row])
        for row in tested
        if abs(scores[row]) > bound and leverage[row] < 1 - 1e-6
    ]
    return sorted(listed, key=lambda item: -abs(item.residual))


def _games(pairings: Mapping[tuple[int, int], Sequence[float]]) -> dict[int, int]:
    """Return how many games each player has played."""
    games: dict[int, int] = {}
    for both, margins in pairings.items():
        for player in both:
            games[player] = games.get(player, 0) + 2 * len(margins)
    return games
