"""Ranks the pairs of a class: how much source two files share, and how similarly they play."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np
from numpy.typing import NDArray

from grader.similar.source import Class, Document, Shared


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions, or one and a hand-in of another year."""

    one: Document
    two: Document
    shared: Shared
    source_rank: int
    behaviour: float
    """In standard deviations; NaN if one of them did not play."""
    behaviour_rank: int | None

    @property
    def rank(self) -> tuple[int, float]:
        """Return the better of the two ranks, then the shared percentage."""
        ranks = [rank for rank in (self.source_rank, self.behaviour_rank) if rank is not None]
        return min(ranks), -self.shared.percent


def ranked(
    found: Sequence[Document],
    against: Sequence[Document],
    players: Sequence[str],
    agreement: NDArray[np.float64],
) -> list[Pair]:
    """Return all pairs with a submission of this class, the most similar first."""
    everything = Class([*found, *against])
    sides = [*combinations(found, 2), *((one, two) for one in found for two in against)]
    place = {name: number for number, name in enumerate(players)}
    shared = [everything.shared(one, two) for one, two in sides]
    alike = [
        float(agreement[place[one.name], place[two.name]])
        if one.name in place and two.name in place
        else math.nan
        for one, two in sides
    ]
    by_source = _ranks(_beyond([(one.name, two.name) for one, two in sides], shared))
    by_play = _ranks(alike)
    pairs = [
        Pair(
            one,
            two,
            shared[number],
            by_source[number],
            alike[number],
            None if math.isnan(alike[number]) else by_play[number],
        )
        for number, (one, two) in enumerate(sides)
    ]
    return sorted(pairs, key=lambda pair: pair.rank)


def _beyond(names: Sequence[tuple[str, str]], shared: Sequence[Shared]) -> list[float]:
    """Return by how much each pair shares more than either file shares with most others."""
    own: dict[str, list[float]] = {}
    for pair, item in zip(names, shared, strict=True):
        for name in pair:
            own.setdefault(name, []).append(item.percent)
    usual = {name: median(values) if len(values) > 2 else 0.0 for name, values in own.items()}
    return [
        item.percent - max(usual[one], usual[two])
        for (one, two), item in zip(names, shared, strict=True)
    ]


def _ranks(values: Sequence[float]) -> list[int]:
    """Return the rank of each value, 1 for the largest; NaN comes last."""
    order = sorted(
        range(len(values)),
        key=lambda at: -math.inf if math.isnan(values[at]) else values[at],
        reverse=True,
    )
    ranks = [0] * len(values)
    for rank, at in enumerate(order, 1):
        ranks[at] = rank
    return ranks
