"""Play two agents of Dynamic Connect-4: `python3 -m benchmarks.dynamic [NEW [OLD]]`.

Each random opening has 2 to 10 plies and no immediate win, and is played from both sides. The
agents run without isolation, with `--jobs` games at once. A plain search of `--proof` plies finds
forced wins. A game that NEW did not win although it had a forced win counts as thrown away. By
default NEW is `alphabeta:depth=5`, and OLD is the same with the heuristic `fuzzy` and its search.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from random import Random
from statistics import fmean

from benchmarks.games import interval
from connect4.games import GAMES, load_start
from connect4.players.base import Setup
from connect4.players.building import build
from connect4.players.registry import parse_agent
from connect4.search.deepening import deepen
from connect4.search.evaluation import WIN
from connect4.search.heuristics import evaluation
from connect4.search.moves import after
from connect4.search.ordering import center
from connect4.search.transposition import TableAlphaBeta

GAME = GAMES["dynamic"]
PROVING = evaluation(GAME, "connected")


def opening(seed):
    """Return an undecided position in which the mover cannot win at once."""
    rng = Random(seed)
    while True:
        state = load_start(GAME, "start")
        for _ in range(rng.randint(2, 10)):
            state = state.apply(rng.choice(state.legal_actions()))
            if state.is_over():
                break
        moves = state.legal_actions()
        if moves and not any(any(state.apply(move).scores()) for move in moves):
            return state


def is_won(state, plies):
    """Return whether a plain search finds a forced win for the mover."""
    return plies and deepen(TableAlphaBeta(PROVING, center), state, plies).value >= WIN


def play(names, proof, job):
    """Play one game; return NEW's points, plies, seconds a move of each, and whether it had won."""
    seed, new_player = job
    state = opening(seed)
    agents = {
        player: build(
            Setup(parse_agent(names[player != new_player], "dynamic"), player, GAME, 60.0, seed)
        )
        for player in (1, 2)
    }
    spent, moves, had_won = {1: 0.0, 2: 0.0}, {1: 0, 2: 0}, False
    while not state.is_over():
        player = state.mover
        if player == new_player and not had_won:
            had_won = is_won(state, proof)
        began = time.process_time()
        move = agents[player].choose(state, None) if state.legal_actions() else None
        spent[player] += time.process_time() - began
        moves[player] += 1
        state = after(state, move)
    points = (1 + state.margin(new_player)) / 2
    other = 3 - new_player
    rates = spent[new_player] / moves[new_player], spent[other] / max(1, moves[other])
    return points, state.turns, *rates, bool(had_won)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.dynamic", description=__doc__)
    parser.add_argument("new", nargs="?", default="alphabeta:depth=5")
    parser.add_argument("old", nargs="?", default="alphabeta:depth=5,heuristic=fuzzy")
    parser.add_argument("--openings", type=int, default=100)
    parser.add_argument("--proof", type=int, default=3, help="0: no search for forced wins")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    seeds = range(arguments.seed, arguments.seed + arguments.openings)
    jobs = [(seed, player) for seed in seeds for player in (1, 2)]
    run = partial(play, (arguments.new, arguments.old), arguments.proof)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(run, jobs))
    points = [result[0] for result in results]
    pairs = [(points[place] + points[place + 1]) / 2 for place in range(0, len(points), 2)]
    width = interval(pairs)
    print(f"{arguments.new} against {arguments.old}, {len(pairs)} openings from both sides")
    print(
        f"won {points.count(1)}, drawn {points.count(0.5)}, lost {points.count(0)}: "
        f"{100 * fmean(points):.1f} % of the points"
        + ("" if math.isinf(width) else f" ± {100 * width:.1f}")
    )
    plies, new_seconds, old_seconds = (
        fmean(column) for column in list(zip(*results, strict=True))[1:4]
    )
    print(
        f"{plies:.0f} plies a game; processor seconds a move {new_seconds:.3f}, {old_seconds:.3f}"
    )
    won = [result for result in results if result[4]]
    if won:
        print(f"forced wins: {len(won)} games, thrown away {sum(result[0] < 1 for result in won)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
