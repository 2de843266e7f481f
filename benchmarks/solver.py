"""Time the solver: `python3 -m benchmarks.solver [--positions 200] [--memory 256]`.

Scores seeded random undecided positions of classic Connect 4, each with an empty table. Prints the
mean nodes and time per position, and what is required. An immediate win takes no node. The best
solvers in C++ need about 51 and 40,000 nodes on such sets. Exits with status 1 if a required figure
is missed.
"""

import argparse
import sys
from random import Random
from statistics import fmean
from time import perf_counter

from tabulate import tabulate

from connect4.search.solver import Solver
from tests.positions import random_position

SETS = {(28, 41): (100, 0.005), (14, 27): (100_000, 1.0)}
"""By the tokens played: what the mean has to be under, in nodes and in seconds."""


def measured(fewest, most, positions, memory, seed):
    """Return nodes and seconds of each position."""
    rng = Random(seed)
    results = []
    for _ in range(positions):
        state, _ = random_position(rng, fewest, most)
        solver = Solver(memory)
        began = perf_counter()
        solver.score(state)
        results.append((solver.nodes, perf_counter() - began))
    return results


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.solver", description=__doc__)
    parser.add_argument("--positions", type=int, default=200, help="of each set")
    parser.add_argument("--memory", type=int, default=256, help="megabytes of the table")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    rows, missed = [], False
    for (fewest, most), (most_nodes, most_seconds) in SETS.items():
        results = measured(fewest, most, arguments.positions, arguments.memory, arguments.seed)
        nodes, seconds = zip(*results, strict=True)
        ok = fmean(nodes) < most_nodes and fmean(seconds) < most_seconds
        missed = missed or not ok
        needed = f"< {most_nodes:,}", f"< {1000 * most_seconds:g}", "ok" if ok else "not met"
        figures = f"{fmean(nodes):,.0f}", f"{max(nodes):,}", f"{1000 * fmean(seconds):.1f}"
        rows.append((f"{fewest} to {most}", len(results), *figures, *needed))
    headers = ("tokens played", "positions", "mean nodes", "most", "mean ms", "nodes", "ms", "")
    print(tabulate(rows, headers))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
