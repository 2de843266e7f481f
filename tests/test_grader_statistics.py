"""Intervals cover, the sequential test keeps its promise, ratings recover strengths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grader.marks.intervals import bootstrap, ratings, verdict
from grader.rubric import reading as rubrics

RUBRIC = rubrics.read()


def test_the_bootstrap_covers_the_mean() -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        interval = bootstrap(list(rng.normal(3, 10, 30)), RUBRIC.statistics)
        hits += interval.low <= 3 <= interval.high
    assert 0.89 <= hits / 200 <= 0.99


def test_the_bootstrap_is_seeded_and_modest() -> None:
    samples = [1.0, 2.0, 4.0, 8.0]
    first = bootstrap(samples, RUBRIC.statistics)
    assert first == bootstrap(samples, RUBRIC.statistics)
    assert first.mean == 3.75
    assert first.low < 3.75 < first.high
    assert math.isnan(bootstrap([1.0], RUBRIC.statistics).low)
    assert math.isnan(bootstrap([], RUBRIC.statistics).mean)
    same = bootstrap([2.0, 2.0, 2.0], RUBRIC.statistics)
    assert (same.low, same.high) == (2.0, 2.0)


def verdicts(draw: str, mean: float, trials: int) -> tuple[dict[str, int], float]:
    """Return how often each verdict came, looking after every pair, and the mean length."""
    rng = np.random.default_rng(7)
    pairs = RUBRIC.compare.max_games // 2
    counts: dict[str, int] = {}
    lengths = []
    for _ in range(trials):
        noise = rng.normal(0, 20, pairs) if draw == "normal" else 10 * rng.standard_t(3, pairs)
        samples = list(np.round(noise + mean))
        for length in range(1, pairs + 1):
            answer, _ = verdict(samples[:length], RUBRIC.compare)
            if answer != "open":
                break
        counts[answer] = counts.get(answer, 0) + 1
        lengths.append(length)
    return counts, float(np.mean(lengths))


@pytest.mark.parametrize("draw", ["normal", "heavy tails"])
def test_looking_all_the_time_is_wrong_in_few_of_a_hundred(draw: str) -> None:
    counts, _ = verdicts(draw, 0, 150)
    wrong = counts.get("better", 0) + counts.get("worse", 0)
    assert wrong / 150 <= RUBRIC.compare.error + 0.02


@pytest.mark.parametrize(("mean", "answer"), [(20, "better"), (-20, "worse")])
def test_a_clear_difference_is_found_early(mean: float, answer: str) -> None:
    counts, length = verdicts("normal", mean, 50)
    assert counts[answer] >= 48
    assert length < 25


def test_equal_results_in_every_pair_mean_no_difference() -> None:
    assert verdict([0.0] * 9, RUBRIC.compare)[0] == "open"
    assert verdict([0.0] * 40, RUBRIC.compare)[0] == "equal"
    assert verdict([5.0] * 9, RUBRIC.compare)[0] == "open"
    assert verdict([5.0] * 10, RUBRIC.compare)[0] == "better"


def test_ratings_recover_strengths_from_margins() -> None:
    strengths = [12.0, 5.0, 0.0, -17.0]
    rng = np.random.default_rng(1)
    pairs = [
        (one, two, strengths[one] - strengths[two] + float(rng.normal(0, 2)))
        for one in range(4)
        for two in range(one)
        for _ in range(40)
    ]
    rated = ratings(4, pairs, ridge=1.0)
    for rating, strength in zip(rated, strengths, strict=True):
        assert abs(rating.value - strength) < 0.5
        assert 0 < rating.error < 0.5


def test_ratings_need_no_round_robin() -> None:
    chain = ratings(3, [(0, 1, 10.0)] * 20 + [(1, 2, 10.0)] * 20, ridge=0.1)
    assert [round(rating.value) for rating in chain] == [10, 0, -10]
    apart = ratings(4, [(0, 1, 6.0)], ridge=1.0)
    assert [round(rating.value, 2) for rating in apart] == [2.0, -2.0, 0.0, 0.0]
    assert math.isnan(apart[0].error)
    assert ratings(0, [], ridge=1.0) == []
