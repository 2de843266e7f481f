"""Measure how often the solver keeps the outcome: `python3 -m benchmarks.perfect [--engine own]`.

Uses random undecided positions of classic Connect 4, 6 by 7, spread evenly over 0 to 20 plies if
possible. The agent has `--time` seconds for each. The correct outcomes come from `bitbully` (extra
`solver`). A move is kept if it does not change the winner. `noted` counts the moves that the agent
reported as not proven. Exits with status 1 if a move without a note lost the outcome.
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random

from tabulate import tabulate

from connect4.games import GAMES
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.registry import parse_agent
from connect4.search.library import LibrarySolver

BANDS = ((0, 8), (9, 11), (12, 14), (15, 17), (18, 20))


def positions(number, most, seed):
    """Yield undecided positions of 0 to `most` plies, all numbers of plies in turn."""
    rng = Random(seed)
    for place in range(number):
        plies = place % (most + 1)
        while True:
            state = GAMES["classic"].start(6, 7)
            for _ in range(plies):
                if state.is_over():
                    break
                state = state.apply(rng.choice(state.legal_actions()))
            if not state.is_over():
                yield plies, state
                break


def sign(score):
    return (score > 0) - (score < 0)


def measured(name, number, most, seconds, seed):
    """Return `(plies, kept, best, note, seconds)` of each position."""
    truth = LibrarySolver()
    rows = []
    agents = {
        player: open_seat(
            Setup(parse_agent(name, "classic"), player, GAMES["classic"], seconds, 1), "process"
        )
        for player in (1, 2)
    }
    try:
        for plies, state in positions(number, most, seed):
            reply = agents[state.mover].ask(state, seconds)
            scores = truth.scores(state)
            best = max(scores.values())
            played = reply.outcome is Outcome.PLAYED
            kept = played and sign(scores[reply.action]) == sign(best)
            exact = played and scores[reply.action] == best
            rows.append((plies, kept, exact, reply.detail, reply.seconds))
    finally:
        for seat in agents.values():
            seat.close()
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.perfect", description=__doc__)
    parser.add_argument("--engine", choices=("bitbully", "own"), default="bitbully")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--plies", type=int, default=20)
    parser.add_argument("--time", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    name = f"solver:engine={arguments.engine}"
    began = time.monotonic()
    rows = measured(name, arguments.positions, arguments.plies, arguments.time, arguments.seed)
    table = []
    for fewest, most in (*BANDS, (0, arguments.plies)):
        band = [row for row in rows if fewest <= row[0] <= most]
        if not band:
            continue
        table.append(
            (
                f"{fewest} to {most}", len(band), sum(row[1] for row in band),
                sum(row[2] for row in band), sum(row[3] is not None for row in band),
                sum(row[3] is None and not row[1] for row in band), max(row[4] for row in band),
            )
        )  # fmt: skip
    headers = (
        "plies", "positions", "outcome kept", "best score", "noted", "lost without note", "most s",
    )  # fmt: skip
    print(f"{name}, {arguments.time:g} s a move, {time.monotonic() - began:.0f} s in all")
    print(tabulate(table, headers, floatfmt=".2f"))
    for note in sorted({row[3] for row in rows if row[3]}):
        print(f"{sum(row[3] == note for row in rows):4} {note}")
    return 1 if table[-1][5] else 0


if __name__ == "__main__":
    sys.exit(main())
