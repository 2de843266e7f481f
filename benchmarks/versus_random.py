"""Play `reference` against the random player: `python3 -m benchmarks.versus_random`.

The two games of a pair are played from opposite sides. Exits with status 1 if a mean margin is
below the required one, or if a single game is below a 50 % margin.
"""

import argparse
import math
import sys
import time

from benchmarks.games import agent_name, empty, play_game, run_main, summary

REQUIRED = {"8x10+4": 380, "10x10+4": 440, "12x12+10": 780}
LEAST_PERCENT = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("agent", nargs="?", default="reference")
    parser.add_argument("--boards", nargs="+", default=list(REQUIRED))
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--time", type=float, default=0.5, help="seconds a move (default: 0.5)")
    parser.add_argument("--nodes", type=int, help="nodes a move in place of the clock")
    parser.add_argument("--minutes", type=float, default=math.inf, help="for each board")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    name = agent_name(options.agent, options.nodes)
    missed = False
    for board in options.boards:
        margins, percents = [], []
        until = time.monotonic() + 60 * options.minutes
        for number in range(2 * options.pairs):
            mine, theirs = (0, 1) if number % 2 == 0 else (1, 0)
            names = {1: name, 2: "random"} if mine == 0 else {1: "random", 2: name}
            seed = options.seed + number // 2
            result, _ = play_game(empty(board), names, options.time, {1: None, 2: None}, seed)
            own, other = result.scores[mine], result.scores[theirs]
            margins.append(own - other)
            percents.append(100 * (own - other) / max(other, 1))
            if time.monotonic() > until:
                break
        required = REQUIRED.get(board, 0)
        below = sum(margins) / len(margins) < required or min(percents) < LEAST_PERCENT
        missed |= below
        print(
            f"{board:>9}: {summary(margins)} in {len(margins)} games (required {required}), "
            f"lowest {min(margins)}, lowest percentage {min(percents):.0f}"
            f"{'  MISSED' if below else ''}",
            flush=True,
        )
    sys.exit(missed)


if __name__ == "__main__":
    run_main(main)
