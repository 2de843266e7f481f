"""Time the searches: `python3 -m benchmarks.search_speed [--rounds 5]`.

- Alpha-beta from the empty 6 by 7 board and from position b of Dynamic Connect-4, with and
  without a transposition table.
- Monte-Carlo tree search from the empty 6 by 7 board.

The figures are medians over the rounds, and no heuristic keeps cached values from one round to the
next. Exits with status 1 if a required figure is missed.
"""

import argparse
import sys
from dataclasses import replace
from random import Random
from statistics import median

from tabulate import tabulate

from benchmarks.rules import timed
from connect4.games import load_start
from connect4.games.classic import CLASSIC
from connect4.games.dynamic import DYNAMIC
from connect4.search import center, of_tokens
from connect4.search.heuristics import heuristic_of
from connect4.search.mcts import Mcts
from connect4.search.minimax import AlphaBeta, TableAlphaBeta

ITERATIONS = 10_000
CASES = (
    ("potential", CLASSIC, CLASSIC.start(6, 7), 8, 40_000),
    ("connected", DYNAMIC, load_start(DYNAMIC, "b"), 6, 20_000),
    ("fuzzy", DYNAMIC, load_start(DYNAMIC, "b"), 6, 20_000),
)
"""Heuristic, game, start, plies, and the nodes a second that are required."""


def fresh(name, game):
    """Return a heuristic's evaluation that remembers nothing yet."""
    heuristic = heuristic_of(game, name)
    value = vars(heuristic.estimate)["__wrapped__"]
    return replace(heuristic, estimate=of_tokens(value)).evaluation()


def node_rate(kind, name, game, start, plies, rounds):
    """Return the nodes a second of alpha-beta, and the nodes of one search."""
    rates = []
    for _ in range(rounds):
        seconds, found = timed(kind(fresh(name, game), center).search, start, plies)
        rates.append(found.nodes / seconds)
    return median(rates), found.nodes


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
    for name, game, start, plies, required in CASES:
        for kind, words in ((AlphaBeta, "alpha-beta"), (TableAlphaBeta, "with table")):
            rate, nodes = node_rate(kind, name, game, start, plies, rounds)
            rows.append((f"{game.name}, {words}, {name}, {plies} plies", nodes, rate, required))
    rows.append(("classic, tree search", ITERATIONS, iterations(rounds), 8_000))
    headers = ("", "nodes or iterations", "a second", "required")
    print(tabulate(rows, headers, floatfmt=",.0f", intfmt=","))
    return 0 if all(rate >= required for _, _, rate, required in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
