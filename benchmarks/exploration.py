"""Choose the exploration constant of `mcts`: `python3 -m benchmarks.exploration GAME [options]`.

`mcts` with each of `--values` plays `mcts` with `--against`. Both use `--iterations`, and each
random opening is played from both sides. `--kept N` instead takes N random positions of classic
Connect 4 and counts how often the move with each value keeps the outcome. The correct outcomes
come from `bitbully` (extra `solver`).
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random
from statistics import fmean

from tabulate import tabulate

from benchmarks.games import interval
from benchmarks.perfect import positions, sign
from connect4.games import GAMES
from connect4.players.base import Setup
from connect4.players.building import build
from connect4.players.registry import parse_agent
from connect4.search.library import LibrarySolver
from connect4.search.moves import after

OPENING_PLIES = 4
START = {"extended": (6, 8)}


def opening(game, rng):
    """Return an undecided position a few random plies from the start."""
    while True:
        state = game.start(*START.get(game.name, (None, None)))
        for _ in range(OPENING_PLIES):
            if not state.is_over():
                state = state.apply(rng.choice(state.legal_actions()))
        if not state.is_over():
            return state


def player_of(game, value, iterations, player, seed):
    name = parse_agent(f"mcts:iterations={iterations},c={value}", game.name)
    return build(Setup(name, player, game, 60.0, seed))


def play(game, values, iterations, state, seed):
    """Return player 1's points, from 0 to 1, of a game between two constants."""
    agents = {
        player: player_of(game, values[player - 1], iterations, player, seed) for player in (1, 2)
    }
    while not state.is_over():
        moves = state.legal_actions()
        state = after(state, agents[state.mover].choose(state, None) if moves else None)
    return (1 + sign(state.margin(1))) / 2


def matches(game, arguments):
    """Yield a row of the table for each value."""
    for value in arguments.values:
        rng, pairs, began = Random(arguments.seed), [], time.process_time()
        for seed in range(arguments.pairs):
            state = opening(game, rng)
            pair = value, arguments.against
            as_first = play(game, pair, arguments.iterations, state, seed)
            as_second = play(game, pair[::-1], arguments.iterations, state, seed)
            pairs.append((as_first + 1 - as_second) / 2)
        took = time.process_time() - began
        yield value, len(pairs), f"{fmean(pairs):.2f} ± {interval(pairs):.2f}", f"{took:.0f}"


def kept(arguments):
    """Yield a row of the table for each value."""
    truth, game = LibrarySolver(), GAMES["classic"]
    states = [state for _, state in positions(arguments.kept, 20, arguments.seed)]
    scores = [truth.scores(state) for state in states]
    for value in arguments.values:
        began, number = time.process_time(), 0
        for seed, (state, known) in enumerate(zip(states, scores, strict=True)):
            agent = player_of(game, value, arguments.iterations, state.mover, seed)
            number += sign(known[agent.choose(state, None)]) == sign(max(known.values()))
        took = time.process_time() - began
        yield value, len(states), f"{number / len(states):.2f}", f"{took:.0f}"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.exploration", description=__doc__)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--values", type=float, nargs="+", default=[0.5, 1.0, 1.4])
    parser.add_argument("--against", type=float, default=2.0)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--kept", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    if arguments.kept and arguments.game != "classic":
        parser.error("--kept needs the game classic: nothing else is solved")
    rows = kept(arguments) if arguments.kept else matches(GAMES[arguments.game], arguments)
    what = (
        ("positions", "kept")
        if arguments.kept
        else ("pairs", f"points against {arguments.against:g}")
    )
    print(f"{arguments.game}, mcts:iterations={arguments.iterations}")
    print(tabulate(list(rows), ("c", *what, "processor s")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
