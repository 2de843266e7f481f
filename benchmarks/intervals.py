"""Measure how often intervals hold the mean: `python3 -m benchmarks.intervals [--samples N]`.

Samples of 2 to 20 pairs are drawn from margins with four distributions. At the rubric's confidence
of 95 %, an interval should contain the true mean in 93 to 97 of 100 samples of normal margins. For
skewed and two-peaked margins it should do so in at least 93 of 100, from 10 pairs on. The last
distribution shows a limit of every method: `docs/statistics.md` explains it.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from grader.marks.tally import mean_interval
from grader.rubric import reading as rubrics
from grader.rubric.model import StatisticsRules

PAIRS = (2, 3, 4, 6, 10, 20)
SAMPLES = 10_000
SEED = 1

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]


def peaks(share: float) -> Draw:
    """Return margins about +20, and about -20 in this share of pairs."""

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
        return np.where(rng.random(size) < share, -20.0, 20.0) + rng.normal(0, 4, size)

    return draw


SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, size: rng.normal(5, 20, size), 5.0),
    "skewed (exponential)": (lambda rng, size: rng.exponential(20, size), 20.0),
    "two peaks, 50 to 50": (peaks(0.5), 0.0),
    "two peaks, 30 to 70": (peaks(0.3), 8.0),
    "two peaks, 20 to 80": (peaks(0.2), 12.0),
}


def coverage(shape: str, pairs: int, samples: int, rules: StatisticsRules) -> float:
    """Return the share of samples whose interval holds the true mean."""
    draw, mean = SHAPES[shape]
    drawn = draw(np.random.default_rng((SEED, pairs)), (samples, pairs))
    intervals = (mean_interval(list(sample), rules) for sample in drawn)
    return sum(interval.low <= mean <= interval.high for interval in intervals) / samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES)
    arguments = parser.parse_args()
    rules = rubrics.read().statistics
    rows = [
        [shape, *(f"{coverage(shape, n, arguments.samples, rules):.1%}" for n in PAIRS)]
        for shape in SHAPES
    ]
    print(tabulate(rows, ["margins", *(f"{n} pairs" for n in PAIRS)], disable_numparse=True))


if __name__ == "__main__":
    main()
