"""Play two agents against each other: `python3 -m benchmarks.strength NEW OLD [options]`.

Each pair of games begins with the same random opening and is played from both sides. The figure
is NEW's mean margin over a pair. Agents are files or names (`ai`, `reference`, `random`, ...).

The match ends early when the sequential test of `grader compare` finds a difference. That test
remains valid if it is checked after each pair. The plain 95 % interval is printed too.
"""

import argparse
import math
import random
import time
from collections.abc import Sequence

from benchmarks.games import agent_name, empty, play_game, played, run_main, summary
from connect4.games.base import Seconds
from connect4.players.registry import parse_agent
from grader.marks.tally import Interval, sequential_interval
from grader.rubric import reading

FEWEST_PAIRS = 10
OPENING_PLIES = 6
OWN_BUDGETS = {"depth", "iterations", "nodes", "seconds"}
"""Options that limit a search by themselves."""


def always_valid(margins: Sequence[float]) -> Interval:
    """Return the mean with the interval of `grader compare`."""
    return sequential_interval(margins, reading.read().compare)


def clock_of(name: str, seconds: Seconds) -> Seconds | None:
    """Return the time limit of an agent; None where a budget of its own replaces the clock."""
    return None if OWN_BUDGETS & parse_agent(name).options.keys() else seconds


def play_pair(new: str, old: str, board: str, seconds: float, seed: int) -> float:
    """Return the mean margin of `new` over a game from each side."""
    start = played(empty(board), OPENING_PLIES, random.Random(seed))
    one, two = clock_of(new, seconds), clock_of(old, seconds)
    as_first, _ = play_game(start, {1: new, 2: old}, seconds, {1: one, 2: two}, seed)
    as_second, _ = play_game(start, {1: old, 2: new}, seconds, {1: two, 2: one}, seed)
    return (as_first.scores[0] - as_first.scores[1] + as_second.scores[1] - as_second.scores[0]) / 2


def match(new: str, old: str, options: argparse.Namespace) -> list[float]:
    """Play until the pairs, the minutes or the doubts are used up; print each pair."""
    margins: list[float] = []
    until = time.monotonic() + 60 * options.minutes
    for number in range(options.games // 2):
        board = options.boards[number % len(options.boards)]
        margins.append(play_pair(new, old, board, options.time, options.seed + number))
        print(
            f"pair {number + 1:3} {board:>8}: {margins[-1]:+7.1f}   {summary(margins)}", flush=True
        )
        valid = always_valid(margins)
        if number + 1 >= FEWEST_PAIRS and not valid.low <= 0 <= valid.high:
            print("the difference is significant: stopped")
            break
        if time.monotonic() > until:
            print("the minutes are used up")
            break
    return margins


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("new")
    parser.add_argument("old")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=math.inf)
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--nodes", type=int, help="nodes a move in place of the clock")
    budget.add_argument("--time", type=float, default=0.2, help="seconds a move (default: 0.2)")
    parser.add_argument("--boards", nargs="+", default=["6x8", "8x10+4", "8x10", "12x12"])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    new, old = agent_name(options.new, options.nodes), agent_name(options.old, options.nodes)
    margins = match(new, old, options)
    won = sum(margin > 0 for margin in margins)
    print(f"{new} against {old}: {summary(margins)} points a game (95 % interval)")
    valid = always_valid(margins)
    print(f"always valid: {valid.low:+.1f} to {valid.high:+.1f}; pairs won {won} of {len(margins)}")


if __name__ == "__main__":
    run_main(main)
