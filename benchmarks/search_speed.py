"""Time the searches: `python3 -m benchmarks.search_speed [--rounds 5]`.

- Alpha-beta with `potential` from the empty 6 by 7 board.
- The published 64-bit agent's unpruned search of 5 plies, compared with
  `benchmarks/plain_search.py`, the same search on a two-dimensional array.
- Alpha-beta of 6 plies from position b of Dynamic Connect-4.
- Monte-Carlo tree search.

The figures are medians over the rounds, and no heuristic keeps cached values from one round to the
next. Exits with status 1 if a required figure is missed. (`benchmarks.rules` measures random
playouts, and plain minimax of Dynamic Connect-4 against arrays.)
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from statistics import median

import numpy as np
from tabulate import tabulate

from benchmarks import plain_search
from benchmarks.rules import timed
from benchmarks.search_table import fresh
from connect4.games import load_start
from connect4.games.classic import CLASSIC, CLASSIC_FULL
from connect4.games.dynamic import DYNAMIC
from connect4.search.mcts import Mcts
from connect4.search.minimax import AlphaBeta, Minimax
from connect4.search.ordering import ORDERS, center
from connect4.search.transposition import TableAlphaBeta

PLIES, STATES, VALUE = 5, 19_608, 4
ITERATIONS = 10_000


def node_rate(kind, order, rounds):
    """Return the nodes a second of alpha-beta with `potential`, and the nodes of one search."""
    rates = []
    for _ in range(rounds):
        search = kind(fresh("potential", CLASSIC), order)
        seconds, found = timed(search.search, CLASSIC.start(6, 7), 8)
        rates.append(found.nodes / seconds)
    return median(rates), found.nodes


def beside_plain(rounds):
    """Return the median seconds of our search and of the plain one, and their ratio's median."""
    ours, plain = [], []
    for _ in range(rounds):
        search = Minimax(fresh("v1", CLASSIC_FULL), center)
        seconds, found = timed(search.search, CLASSIC_FULL.start(6, 7), PLIES)
        ours.append(seconds)
        board = np.zeros((6, 7), dtype=np.int64)
        seconds, result = timed(plain_search.minimax, board, 1, PLIES)
        plain.append(seconds)
        assert (found.value, found.nodes) == result == (VALUE, STATES), "both search the same tree"
    ratio = median(slow / fast for slow, fast in zip(plain, ours, strict=True))
    return median(ours), median(plain), ratio


def from_b(kind, name, rounds):
    """Return the seconds of alpha-beta to 6 plies from position b, and its nodes."""
    times = []
    for _ in range(rounds):
        search = kind(fresh(name, DYNAMIC), center)
        seconds, found = timed(search.search, load_start(DYNAMIC, "b"), 6)
        times.append(seconds)
    return median(times), found.nodes


def iterations(rounds):
    """Return the iterations a second of tree search from the empty board."""
    rates = []
    for seed in range(rounds):
        search = Mcts(CLASSIC.start(6, 7), 2.0, Random(seed))
        seconds, _ = timed(search.run, ITERATIONS)
        rates.append(ITERATIONS / seconds)
    return median(rates)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.search_speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(argv).rounds
    rows = []

    def row(what, figure, required, ok):
        rows.append((what, figure, required, "ok" if ok else "not met"))

    for kind, words in ((AlphaBeta, "alpha-beta"), (TableAlphaBeta, "alpha-beta with table")):
        for order_name, order in ORDERS.items():
            rate, nodes = node_rate(kind, order, rounds)
            what = f"{words}, potential, {order_name}, 8 plies of empty 6x7 ({nodes:,} nodes)"
            row(what, f"{rate:,.0f} nodes/s", ">= 40,000", rate >= 40_000)
    ours, plain, ratio = beside_plain(rounds)
    what = f"64-bit set-up, v1, {PLIES} plies unpruned ({STATES:,} states)"
    row(what, f"{ours:.3f} s, plain {plain:.3f} s: {ratio:.1f} times", ">= 10 times", ratio >= 10)
    for name in ("connected", "fuzzy"):
        for kind, words in ((AlphaBeta, "alpha-beta"), (TableAlphaBeta, "with table")):
            seconds, nodes = from_b(kind, name, rounds)
            what = f"Dynamic Connect-4, {words}, {name}, 6 plies of b ({nodes:,} nodes)"
            row(what, f"{seconds:.2f} s", "< 5 s", seconds < 5)
    rate = iterations(rounds)
    row("tree search, empty 6x7", f"{rate:,.0f} iterations/s", ">= 8,000", rate >= 8_000)
    print(tabulate(rows, ("", "", "required", "")))
    return 0 if all(row[-1] == "ok" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
