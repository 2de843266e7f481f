"""Chooses the pairs that most reduce the uncertainty of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.ladder.fit import Fit, Floats

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


@dataclass(frozen=True, slots=True)
class Chosen:
    """A pair to be played: the player that needs it, the opponent, and the reason."""

    player: int
    opponent: int
    why: str


def is_open(fit: Fit, player: int, width: float) -> bool:
    """Return whether a player needs more pairs: its interval is wider than `width`."""
    return _width(fit, player) > width or fit.pairs[player] < LEAST_PAIRS


def _width(fit: Fit, player: int) -> float:
    return 2 * fit.half_width(fit.variance(player))


def widest_first(fit: Fit, players: Sequence[int], width: float) -> list[int]:
    """Return the players that need more pairs, those with the widest intervals first."""
    widths = {player: _width(fit, player) for player in players}
    return sorted(
        (player for player in players if is_open(fit, player, width)),
        key=lambda player: (-widths[player], player),
    )


def choose(
    fit: Fit,
    needing: Sequence[int],
    pool: Sequence[int],
    rungs: Sequence[int],
    slots: int,
    barred: Mapping[int, AbstractSet[int]] | None = None,
) -> list[Chosen]:
    """Return the pairs of one round: one for each player in `needing`, or more to fill `slots`.

    A player without a rating plays every rung first. A player gets no pair if none would improve
    its rating enough. `pool` contains the possible opponents, `barred` those that a player cannot
    meet.
    """
    each = max(1, -(-slots // max(1, 2 * len(needing))))
    taken: set[tuple[int, int]] = set()
    chosen: list[Chosen] = []
    for player in needing:
        avoid = (barred or {}).get(player, frozenset())
        if not fit.is_rated(player):
            chosen += _first(player, [rung for rung in rungs if rung not in avoid], taken)
            continue
        listed = [other for other in pool if other != player and other not in avoid]
        found = _best(fit, player, listed, set(needing))
        for other in [other for other in found if _pairing(player, other) not in taken][:each]:
            taken.add(_pairing(player, other))
            chosen.append(Chosen(player, other, _why(fit, player, other)))
    return chosen


def _first(player: int, rungs: Sequence[int], taken: set[tuple[int, int]]) -> list[Chosen]:
    fresh = [rung for rung in rungs if rung != player and _pairing(player, rung) not in taken]
    taken.update(_pairing(player, rung) for rung in fresh)
    return [Chosen(player, rung, "no rating yet: first against every rung") for rung in fresh]


def _pairing(one: int, two: int) -> tuple[int, int]:
    return min(one, two), max(one, two)


def _why(fit: Fit, player: int, other: int) -> str:
    value, half = fit.values[player], _width(fit, player) / 2
    return f"rating {value:z.0f} +- {half:.0f}, opponent {fit.values[other]:z.0f}"


def _best(fit: Fit, player: int, pool: Sequence[int], needing: set[int]) -> list[int]:
    """Return the opponents with a rating, those whose games improve ratings most first."""
    others = np.array([other for other in pool if fit.is_rated(other)], dtype=np.int64)
    if not len(others):
        return []
    gain = _gain(fit, player, others, needing)
    least = LEAST_GAIN * fit.covariances(player)[player]
    enough = gain >= (least if fit.pairs[player] >= LEAST_PAIRS else 0.0)
    return [int(others[place]) for place in np.argsort(-gain, kind="stable") if enough[place]]


def _gain(fit: Fit, player: int, others: np.ndarray, needing: set[int]) -> Floats:
    """Return by how much one more pair against each of `others` is expected to reduce variances.

    The variances are those of the player and, if it needs pairs too, of the opponent. The
    covariances of the player are exact. The variance of an opponent is a lower bound, because
    exact ones take minutes in a league of thousands.
    """
    row = fit.covariances(player)
    own = row[player]
    least = np.maximum(fit.least_variances[others], row[others] ** 2 / own if own else 0.0)
    weight = _more_weight(fit, player, others)
    between = np.maximum(own + least - 2 * row[others], 0.0)
    gained = (own - row[others]) ** 2
    gained += np.where(
        np.isin(others, list(needing)), np.maximum(least - row[others], 0.0) ** 2, 0.0
    )
    return np.asarray(weight * gained / (1 + weight * between), dtype=np.float64)


def _more_weight(fit: Fit, player: int, others: np.ndarray) -> Floats:
    """Return the weight that one more pair adds to each pairing."""
    held, noise = fit.played, fit.noise
    number = np.zeros(fit.count)
    for one, two in ((held.one, held.two), (held.two, held.one)):
        number[two[one == player]] = held.number[one == player]
    distance = fit.values[player] - fit.values[others]
    effect = max(noise.pairing, VARIETY * noise.pair) + (MISFIT * distance) ** 2
    now, then = number[others], number[others] + 1
    with np.errstate(divide="ignore"):
        before = np.where(now > 0, 1 / (effect + noise.pair / np.maximum(now, 1)), 0.0)
    return np.asarray(1 / (effect + noise.pair / then) - before, dtype=np.float64)
