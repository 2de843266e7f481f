"""Time the solver: `python3 -m benchmarks.solver [--positions 200] [--memory 256] [--beside]`.

Scores seeded random undecided positions of classic Connect 4, each with an empty table. Prints the
mean nodes and time per position. An immediate win takes no node; `searched` counts the other
positions. The best solvers in C++ need about 51 and 40,000 nodes on such sets. Exits with status 1
if a required figure is missed.

`--beside` solves the sets of the usual test of such solvers (P. Pons) with `bitbully` too (extra
`solver`), without its opening book. A set is named by the tokens played and by the plies until the
game ends by best play. Both solvers begin each position with an empty table. The time is processor
time.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from random import Random
from statistics import fmean
from time import perf_counter, process_time

import numpy as np
from tabulate import tabulate

from connect4.search.library import MISSING, LibrarySolver, is_installed
from connect4.search.solver import Solver
from tests.positions import random_position, wins

SETS = {(28, 41): (100, 0.005), (14, 27): (100_000, 1.0)}
"""By the tokens played: what the mean has to be under, in nodes and in seconds."""


BESIDE = {
    "end, easy": (range(28, 42), range(14)),
    "middle, easy": (range(14, 28), range(14)),
    "middle, medium": (range(14, 28), range(14, 28)),
    "beginning, easy": (range(8, 14), range(14)),
}
"""By the name of a set: the tokens played, and the plies until the end by best play."""


def of_set(tokens, left, seed):
    """Yield random positions of a set without a win in one; bitbully tells how long they last."""
    judge = LibrarySolver()
    rng = Random(seed)
    while True:
        state, _ = random_position(rng, tokens[0], tokens[-1])
        if wins(state):
            continue
        played = sum(board.bit_count() for board in state.bitboards())
        score = judge.score(state)
        end = 42 if not score else 2 * (22 - abs(score)) - ((score > 0) == (state.mover == 1))
        if end - played in left:
            yield state


def beside(positions, memory, seed):
    """Print nodes and processor time of both solvers for each set; both give the same scores."""
    import bitbully

    rows = []
    for name, (tokens, left) in BESIDE.items():
        engine, own = bitbully.BitBully(None), Solver(memory)
        counts = []
        for state in islice(of_set(tokens, left, seed), positions):
            np.asarray(own._table).fill(0)
            own.nodes = 0
            began = process_time()
            score = own.score(state)
            own_seconds = process_time() - began
            board = bitbully.Board.from_array(state.board().tolist())
            engine.reset_transposition_table()
            engine.reset_node_counter()
            began = process_time()
            same = engine.mtdf(board) == score
            counts.append(
                (own.nodes, engine.get_node_counter(), own_seconds, process_time() - began)
            )
            if not same:
                raise SystemExit(f"error: the solvers differ on\n{state.to_text()}")
        nodes, their_nodes, seconds, their_seconds = map(fmean, zip(*counts, strict=True))
        rows.append(
            (
                name, len(counts), nodes, their_nodes, nodes / their_nodes,
                1000 * seconds, 1000 * their_seconds, seconds / their_seconds,
            )
        )  # fmt: skip
        print(f"{name}: done", file=sys.stderr, flush=True)
    headers = (
        "set", "positions", "nodes", "bitbully's", "ratio", "ms", "bitbully's", "ratio",
    )  # fmt: skip
    print(tabulate(rows, headers, floatfmt=("", "", ",.0f", ",.0f", ".2f", ",.2f", ",.3f", ",.0f")))


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
    parser.add_argument("--beside", action="store_true", help="compare with bitbully, no book")
    arguments = parser.parse_args(argv)
    if arguments.beside:
        if not is_installed():
            print(f"error: {MISSING}", file=sys.stderr)
            return 2
        beside(arguments.positions, arguments.memory, arguments.seed)
        return 0
    rows, missed = [], False
    for (fewest, most), (most_nodes, most_seconds) in SETS.items():
        results = measured(fewest, most, arguments.positions, arguments.memory, arguments.seed)
        nodes, seconds = zip(*results, strict=True)
        searched = [number for number in nodes if number]
        ok = fmean(nodes) < most_nodes and fmean(seconds) < most_seconds
        missed = missed or not ok
        rows.append(
            (
                f"{fewest} to {most}", len(results),
                fmean(nodes), len(searched), fmean(searched), max(nodes), f"< {most_nodes:,}",
                1000 * fmean(seconds), 1000 * max(seconds), f"< {1000 * most_seconds:g}",
                sum(nodes) / sum(seconds), "ok" if ok else "not met",
            )
        )  # fmt: skip
    headers = (
        "tokens played", "positions", "mean nodes", "searched", "their mean", "most", "required",
        "mean ms", "most ms", "required", "nodes a second", "",
    )  # fmt: skip
    print(
        tabulate(
            rows,
            headers,
            floatfmt=("", "", ",.0f", "", ",.0f", ",.0f", "", ",.1f", ",.0f", "", ",.0f"),
        )
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
