"""Time classic and Dynamic Connect-4: `python3 -m benchmarks.rules`.

Makes two comparisons side by side in one run. The first is random playouts of the 6 by 7 board,
with the state's own `playout` and with the plain one. The second is plain minimax of Dynamic
Connect-4 to 4 plies from position a (37,077 nodes), with the kit's rules and with boards as arrays
whose lines are found by convolution, as in published course projects. The figures are medians over
the rounds. Exits with status 1 if a required figure is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
from statistics import median
from time import perf_counter

import numpy as np
from tabulate import tabulate

from connect4.games import load_start
from connect4.games.base import State
from connect4.games.classic import CLASSIC
from connect4.games.dynamic import DYNAMIC

PLAYOUTS = 3000
REQUIRED_PLAYOUTS_A_SECOND = 15_000
DEPTH, NODES = 4, 37_077
REQUIRED_RATIO = 10

KERNELS = (
    np.ones((1, 4), dtype=np.int64),
    np.ones((4, 1), dtype=np.int64),
    np.eye(4, dtype=np.int64),
    np.fliplr(np.eye(4, dtype=np.int64)),
)


def convolved(board, kernel):
    """Return the sums of `board` under `kernel` wherever it fits whole."""
    windows = np.lib.stride_tricks.sliding_window_view(board, kernel.shape)
    return np.einsum("ijkl,kl->ij", windows, kernel)


def array_minimax(board, mover, depth):
    """Return value and nodes of a plain search on a 7 by 7 array, 1 white and 2 black."""
    own = (board == 3 - mover).astype(np.int64)
    if any((convolved(own, kernel) == 4).any() for kernel in KERNELS):
        return (1 if mover == 2 else -1), 1
    if depth == 0:
        return 0, 1
    values, nodes = [], 1
    for y, x in np.argwhere(board == mover):
        for down, right in ((-1, 0), (1, 0), (0, 1), (0, -1)):
            if 0 <= y + down < 7 and 0 <= x + right < 7 and not board[y + down, x + right]:
                after = board.copy()
                after[y, x], after[y + down, x + right] = 0, mover
                value, below = array_minimax(after, 3 - mover, depth - 1)
                values.append(value)
                nodes += below
    return (max(values) if mover == 1 else min(values)), nodes


def state_minimax(state, depth):
    """Return value and nodes of a plain search with the kit's rules."""
    if state.is_over():
        return state.margin(1), 1
    if depth == 0:
        return 0, 1
    values, nodes = [], 1
    for move in state.legal_actions():
        value, below = state_minimax(state.apply(move), depth - 1)
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
    fast, plain, ours, arrays = [], [], [], []
    for seed in range(rounds):
        seconds, results = timed(playouts, type(empty).playout, empty, seed)
        fast.append(PLAYOUTS / seconds)
        seconds, plain_results = timed(playouts, State.playout, empty, seed)
        plain.append(PLAYOUTS / seconds)
        assert results == plain_results, "both play the same games"
        seconds, (value, nodes) = timed(state_minimax, a, DEPTH)
        ours.append(nodes / seconds)
        seconds, array = timed(array_minimax, a.board(), 1, DEPTH)
        arrays.append(nodes / seconds)
        assert (value, nodes) == array == (1, NODES), "both search the same tree"
    ratio = median(one / two for one, two in zip(ours, arrays, strict=True))
    rows = [
        ("6x7 playouts", median(fast), median(plain), median(fast) / median(plain)),
        (f"nodes to depth {DEPTH} from a", median(ours), median(arrays), ratio),
    ]
    print(tabulate(rows, ("a second", "ours", "plain / arrays", "ratio"), floatfmt=",.1f"))
    print(
        f"required: {REQUIRED_PLAYOUTS_A_SECOND:,} playouts a second, a ratio of {REQUIRED_RATIO} "
        "to arrays"
    )
    return 0 if median(fast) >= REQUIRED_PLAYOUTS_A_SECOND and ratio >= REQUIRED_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
