"""Time the rules of classic and Dynamic Connect-4: `python3 -m benchmarks.rules`.

- Random playouts of the 6 by 7 board, with the state's own `playout` and with the plain one.
- Plain minimax of Dynamic Connect-4 to 4 plies from position a (37,077 nodes).

The figures are medians over the rounds. Exits with status 1 if a required figure is missed.
"""

import argparse
import random
import sys
from statistics import median
from time import perf_counter

from tabulate import tabulate

from connect4.games import load_start
from connect4.games.base import State
from connect4.games.classic import CLASSIC
from connect4.games.dynamic import DYNAMIC

PLAYOUTS = 3000
REQUIRED_PLAYOUTS_A_SECOND = 15_000
DEPTH, NODES = 4, 37_077
REQUIRED_NODES_A_SECOND = 200_000


def minimax(state, depth):
    """Return value and nodes of a plain search."""
    if state.is_over():
        return state.margin(1), 1
    if depth == 0:
        return 0, 1
    values, nodes = [], 1
    for move in state.legal_actions():
        value, below = minimax(state.apply(move), depth - 1)
        values.append(value)
        nodes += below
    return (max(values) if state.mover == 1 else min(values)), nodes


def timed(function, *arguments):
    """Return the seconds of one call, and its result."""
    began = perf_counter()
    result = function(*arguments)
    return perf_counter() - began, result


def playouts(playout, state, seed):
    rng = random.Random(seed)
    return [playout(state, rng) for _ in range(PLAYOUTS)]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.rules", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(argv).rounds
    empty, a = CLASSIC.start(None, None), load_start(DYNAMIC, "a")
    fast, plain, rates = [], [], []
    for seed in range(rounds):
        seconds, results = timed(playouts, type(empty).playout, empty, seed)
        fast.append(PLAYOUTS / seconds)
        seconds, plain_results = timed(playouts, State.playout, empty, seed)
        plain.append(PLAYOUTS / seconds)
        assert results == plain_results, "both play the same games"
        seconds, found = timed(minimax, a, DEPTH)
        rates.append(NODES / seconds)
        assert found == (1, NODES)
    rows = [
        ("6x7 playouts", median(fast), REQUIRED_PLAYOUTS_A_SECOND),
        ("the same with the plain `playout`", median(plain), 0),
        (f"nodes of plain minimax, {DEPTH} plies from a", median(rates), REQUIRED_NODES_A_SECOND),
    ]
    print(tabulate(rows, ("", "a second", "required"), floatfmt=",.0f", intfmt=","))
    return 0 if all(rate >= required for _, rate, required in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
