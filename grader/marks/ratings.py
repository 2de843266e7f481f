"""Strengths of agents from the margins of their games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Rating:
    """The strength of an agent: its margin against an average agent, with the standard error."""

    value: float
    error: float
    freedom: int
    """Degrees of freedom of the standard error."""


def ratings(count: int, pairs: Sequence[tuple[int, int, float]], ridge: float) -> list[Rating]:
    """Rate agents `0..count-1` by the mean margins `(one, two, margin of one)` of their pairs.

    Least squares on margins, K. Massey, "Statistical models applied to the rating of sports
    teams" (1997): a margin is the difference of two ratings plus noise. `ridge` adds the squares
    of the ratings (A. Hoerl and R. Kennard, "Ridge regression", Technometrics 12, 1970). Agents
    that no chain of games connects then have ratings too, and few games give small ratings.
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
        return [Rating(float(value), math.nan, 0) for value in values]
    noise = float(np.square(residuals).sum()) / freedom
    inverse = np.linalg.inv(normal)
    spread = inverse @ (normal - ridge * np.eye(count)) @ inverse
    errors = np.sqrt(noise * np.diag(spread))
    return [
        Rating(float(value), float(error), freedom)
        for value, error in zip(values, errors, strict=True)
    ]
