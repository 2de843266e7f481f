"""Measure how often the ladder's intervals hold the true rating: `python3 -m benchmarks.league`.

Each simulated league has four rungs and some versions that arrive week by week. The ladder chooses
the pairs and stops as it does with real games. A pair's margin is the difference of two true
strengths, plus an effect of the pairing, plus noise. At 95 %, intervals should hold the true rating
in 93 to 97 of 100 cases.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np
from tabulate import tabulate

from grader.ladder.choice import choose, widest_first
from grader.ladder.fit import Fit, Pair

RUNGS = (0.0, 40.0, 150.0, 200.0)
LEAGUES = 1000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class League:
    """One kind of simulated league; deviations and the width are in points."""

    versions: int = 12
    weeks: int = 3
    strength: float = 70.0
    noise: float = 50.0
    effect: float = 0.0
    skewed: bool = False
    width: float = 60.0


def simulate(league: League, seed: int) -> tuple[np.ndarray, Fit]:
    """Play a league; return the true ratings and the fit at its end."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(RUNGS[2], league.strength, league.versions)
    truth = np.concatenate([RUNGS, drawn])
    effects: dict[tuple[int, int], float] = {}
    pairs: list[Pair] = []
    fit = Fit(len(RUNGS), pairs, CONFIDENCE)

    def play(one: int, two: int) -> None:
        low, high = min(one, two), max(one, two)
        if (low, high) not in effects:
            effects[low, high] = rng.normal(0, league.effect) if league.effect else 0.0
        chance = rng.exponential(1) - 1 if league.skewed else rng.normal()
        margin = truth[low] - truth[high] + effects[low, high] + league.noise * chance
        pairs.append((low, high, float(margin)))

    for week in range(1, league.weeks + 1):
        count = len(RUNGS) + league.versions * week // league.weeks
        while True:
            fit = Fit(count, pairs, CONFIDENCE)
            needing = widest_first(fit, range(1, count), league.width)
            chosen = choose(fit, needing, range(count), range(len(RUNGS)), 2)
            if not chosen:
                break
            for pair in chosen:
                play(pair.player, pair.opponent)
    return truth, fit


def coverage(league: League, leagues: int) -> tuple[float, float]:
    """Return the share of intervals that hold the true rating, and the mean number of pairs."""
    held: list[bool] = []
    pairs = 0
    for seed in range(leagues):
        truth, fit = simulate(league, seed)
        pairs += int(fit.played.number.sum())
        intervals = [fit.interval(player) for player in range(1, fit.count)]
        held += [
            interval.low <= true <= interval.high
            for interval, true in zip(intervals, truth[1:], strict=True)
        ]
    return sum(held) / len(held), pairs / leagues


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leagues", type=int, default=LEAGUES)
    arguments = parser.parse_args()
    plain = League()
    kinds = {
        "normal margins": plain,
        "skewed margins (exponential)": replace(plain, skewed=True),
        "an effect of each pairing, deviation 30": replace(plain, effect=30.0, width=80.0),
        "few games: intervals 150 wide": replace(plain, width=150.0),
        "twice as many versions": replace(plain, versions=24, weeks=6),
    }
    rows = []
    for name, league in kinds.items():
        share, pairs = coverage(league, arguments.leagues)
        rows.append([name, f"{league.width:g}", f"{100 * share:.1f} %", f"{pairs:.0f}"])
        print(f"{name}: {rows[-1][2]}", flush=True)
    print(tabulate(rows, ["league", "width", "true rating held", "pairs"]))


if __name__ == "__main__":
    main()
