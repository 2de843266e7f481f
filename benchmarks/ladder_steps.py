"""Measure the baselines: `python3 -m benchmarks.ladder_steps [AGENT ...] [--time T] [--jobs N]`.

Each agent plays the one below it on the boards of part B, from both sides. Random openings, made as
in `compare`, prevent fixed-depth agents from repeating their games. A step counts as a step if the
confidence interval of the mean margin lies above 0. The last column suggests the rubric's `high`
for the lower agent, with `low = 0`: an agent as strong as the next step then earns half the points.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from tabulate import tabulate

from grader.marks.tally import Tally, by_match, tally
from grader.play import local_pool, worker_count
from grader.play.one_game import play_all
from grader.play.schedule import SIDES, Match, PlannedGame, baseline, opening, seed_of
from grader.results.store import Store
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

LADDER = ("random", "greedy", "minimax:depth=2", "alphabeta:depth=4", "mcts", "reference")


def schedule(agents: list[str], rubric: Rubric) -> list[PlannedGame]:
    """Return the games of each agent against the one below it."""
    rules, plies = rubric.match, rubric.compare.opening_plies
    starts = [
        (opening(board, plies, seed), repeat, seed)
        for board in rubric.part_b.boards
        for repeat in range(rules.repeats)
        for seed in [seed_of(rules.playing_seed, board.name, repeat)]
    ]
    matches = [Match("ladder", baseline(two), baseline(one)) for one, two in pairwise(agents)]
    return [
        PlannedGame(match, start, repeat, side, seed, rules.time_limit, rubric.limits)
        for match in matches
        for start, repeat, seed in starts
        for side in SIDES
    ]


def row(match: Match, total: Tally, rubric: Rubric) -> tuple[object, ...]:
    """Return the table's line of an agent and the one below it."""
    interval = total.interval(rubric.statistics)
    lost = total.faults.total, total.other_faults.total
    mean = f"{interval.mean:+.1f} ({interval.low:+.1f} to {interval.high:+.1f})"
    counts = total.games, mean, *lost
    return (match.one.name, match.two.name, *counts, interval.low > 0, round(2 * interval.mean))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="from the weakest up")
    parser.add_argument("--rubric", type=Path)
    parser.add_argument("--time", type=float, help="seconds per move")
    parser.add_argument("--repeats", type=int, default=2, help="pairs on each board (default 2)")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--results", type=Path, default=Path("ladder.db"))
    arguments = parser.parse_args()
    rubric = rubrics.read(arguments.rubric)
    match = replace(rubric.match, repeats=arguments.repeats)
    if arguments.time is not None:
        match = replace(match, time_limit=arguments.time)
    rubric = replace(rubric, match=match)
    games = schedule(arguments.agents or list(LADDER), rubric)
    jobs = worker_count(arguments.jobs, forced=False)
    with tempfile.TemporaryDirectory() as folder, Store(arguments.results, True) as store:
        with local_pool(jobs, Path(folder, "scratch"), "process") as pool:
            todo = [game for game in games if game.key not in store.played()]
            for number, _ in enumerate(play_all(todo, store, pool)):
                print(f"{number + 1} of {len(todo)} games", file=sys.stderr, flush=True)
        played = store.played()
    rows = [row(match, tally(listed, played), rubric) for match, listed in by_match(games).items()]
    headers = ("agent", "below it", "games", "mean margin", "lost", "lost below", "step?", "high")
    print(tabulate(rows, headers))
    return 0 if all(row[-2] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
