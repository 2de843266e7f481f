"""Play the reference agent against simpler ones: `python3 -m benchmarks.ladder [--minutes M]`.

Each pair of games has the same random opening and is played from both sides. Each rung sets the
opponent's budget: the same time, ten times the time, or the same nodes. Exits with status 1 if a
pair is not won, or if a rung's mean margin is below the figure required on that board: 180 points
at equal nodes on 8x10 with 4 pop-outs each, the kit's `empty8x10`. Without pop-outs all margins
are smaller.

For the alpha-beta agents, a node is any position that the search visits, including leaves. The
reference also counts the positions that it visits, but not the children of its last ply. It
evaluates those by differences without visiting them: up to six for each node on 8x10 without
pop-outs. If children are counted too, `ai:nodes=N` is equal to `nodes=7N`. The margin agent uses
iterative deepening with a transposition table and central columns first.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from benchmarks.games import summary
from benchmarks.strength import play_pair


@dataclass(frozen=True)
class Rung:
    """One opponent; `{seconds}` and `{nodes}` in a name stand for the limits of a move."""

    title: str
    opponent: str
    reference: str = "ai"
    time_factor: float = 1
    required: Mapping[str, float] = field(default_factory=dict)
    """Points a game, by board; more than none where nothing is said."""


RUNGS = [
    Rung("greedy", "greedy"),
    Rung("margin, 10 x time", "alphabeta:heuristic=margin,seconds={seconds}", time_factor=10),
    Rung("open windows, equal time", "alphabeta:heuristic=potential,seconds={seconds}"),
    Rung("windows, equal time", "alphabeta:heuristic=windows,seconds={seconds}"),
    Rung("mcts, equal time", "mcts:seconds={seconds}"),
    Rung(
        "margin, equal nodes",
        "alphabeta:heuristic=margin,nodes={nodes}",
        "ai:nodes={nodes}",
        required={"8x10+4": 180},
    ),
]


def climb(rung: Rung, board: str, options: argparse.Namespace) -> bool:
    """Play the pairs of one rung on one board; return whether it was passed."""
    limits = {"seconds": options.time * rung.time_factor, "nodes": options.nodes}
    reference, opponent = rung.reference.format(**limits), rung.opponent.format(**limits)
    margins: list[float] = []
    until = time.monotonic() + 60 * options.minutes
    for number in range(options.pairs):
        margins.append(play_pair(reference, opponent, board, options.time, options.seed + number))
        if time.monotonic() > until:
            break
    won = sum(margin > 0 for margin in margins)
    required = rung.required.get(board, 0)
    passed = won == len(margins) and fmean(margins) >= required
    print(
        f"{board:>7} {rung.title:26} {summary(margins):>16} points a game, "
        f"pairs won {won} of {len(margins)} (required {required:g})"
        f"{'' if passed else '  MISSED'}",
        flush=True,
    )
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--boards", nargs="+", default=["8x10", "8x10+4"])
    parser.add_argument("--rungs", nargs="+", choices=[rung.title for rung in RUNGS])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=math.inf, help="for each rung")
    parser.add_argument("--time", type=float, default=0.2, help="seconds a move (default: 0.2)")
    parser.add_argument("--nodes", type=int, default=1000, help="nodes a move (default: 1000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    passed = [
        climb(rung, board, options)
        for board in options.boards
        for rung in RUNGS
        if options.rungs is None or rung.title in options.rungs
    ]  # all of them, whatever the first ones give
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
