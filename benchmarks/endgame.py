"""Count endgames solved in 5 seconds, and children a second: `python3 -m benchmarks.endgame`.

Endgames are positions of 8x10 boards without pop-outs, reached by seeded random play. A child is
a position whose evaluation is known. It is an inner node of the search, or a drop in a node whose
children are evaluated by differences. Replies to such drops are evaluated too, but not counted.
Exits with status 1 if fewer endgames are solved or fewer children evaluated than required.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from typing import Any

from benchmarks.games import empty, played

REQUIRED_SOLVED = {16: 20, 18: 15, 20: 0}
REQUIRED_CHILDREN = 800_000
SECONDS = 5
POSITIONS = 20
NODES = 300_000


def reference() -> Any:
    """Return the module of the reference agent, which `--help` does without."""
    return importlib.import_module("connect4.players.ai")


def solved(empty_cells: int, seed: int) -> tuple[int, float]:
    """Return how many positions were solved in time, and the longest time that one took."""
    count, longest = 0, 0.0
    for number in range(POSITIONS):
        start = empty("8x10")
        state = played(start, 80 - empty_cells, random.Random(1000 * seed + number))
        player = reference().AIPlayer(state.mover, SECONDS)
        began = time.monotonic()
        player.get_intelligent_move(state.for_agent())
        (search,) = player.kept.values()
        if search.solved:
            count += 1
            longest = max(longest, time.monotonic() - began)
    return count, longest


def children_a_second(board: str, plies: int, seed: int) -> float:
    """Return how many children a search of `NODES` nodes evaluates in a second."""
    ai = reference()
    children = 0

    class CountingSearch(ai.AlphaBeta):  # type: ignore[name-defined,misc]
        """Counts the children that the last ply evaluates."""

        def _frontier(self, position: Any, alpha: float, beta: float, tempo: float) -> Any:
            nonlocal children
            children += len(position[1])
            return super()._frontier(position, alpha, beta, tempo)

    state = played(empty(board), plies, random.Random(seed))
    rows, columns = state.shape
    own, other = state.popouts if state.mover == 1 else state.popouts[::-1]
    lines = ai.Lines(rows, columns, state.mover, ai.AlphaBeta.share)
    position = lines.read(state.board(), own, other)
    began = time.perf_counter()
    ai.AlphaBeta(lines).choose(position, ai.Budget(0, NODES))
    seconds = time.perf_counter() - began
    CountingSearch(lines).choose(position, ai.Budget(0, NODES))
    return (NODES + children) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    missed = False
    for empty_cells, required in REQUIRED_SOLVED.items():
        count, longest = solved(empty_cells, options.seed)
        missed |= count < required
        print(
            f"{empty_cells} empty cells: {count} of {POSITIONS} solved in {SECONDS} s "
            f"(required {required}), the slowest in {longest:.1f} s",
            flush=True,
        )
    for board, plies in (("8x10", 40), ("12x12", 72), ("8x10+4", 40)):
        rate = children_a_second(board, plies, options.seed)
        required = REQUIRED_CHILDREN if board == "8x10" else 0
        missed |= rate < required
        print(f"{board} after {plies} plies: {rate:,.0f} children a second (required {required:,})")
    sys.exit(missed)


if __name__ == "__main__":
    main()
