"""Play two agents of Dynamic Connect-4: `python3 -m benchmarks.dynamic [NEW [OLD]]`.

Each random opening has 2 to 10 plies and no immediate win, and is played from both sides. The
agents run without isolation, with `--jobs` games at once. At each turn a proof search looks for a
forced win of the mover within `--proof` plies. A game that an agent drew although it had a forced
win was shuffled away. By default NEW is `alphabeta:depth=5`, and OLD is the same with the heuristic
`fuzzy` and its search. Each game gets a line on standard error when it ends, so an interrupted run
leaves its games.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import fmean

from benchmarks.games import interval
from connect4.games import GAMES, load_start
from connect4.players.base import Setup
from connect4.players.building import build
from connect4.players.registry import parse_agent
from connect4.search.forced import ForcedWins
from connect4.search.moves import after

GAME = GAMES["dynamic"]


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
    """Return whether the mover can force a win within `plies`."""
    proof = ForcedWins(state).prove(state, plies) if plies else None
    return proof is not None and proof.outcome == (1 if state.mover == 1 else -1)


@dataclass
class Game:
    """One game: NEW's points, the plies, and of NEW and OLD the seconds a move and forced wins."""

    points: float
    plies: int
    seconds: tuple[float, float]
    had_won: tuple[bool, bool]

    def __str__(self):
        ending = {1: "won", 0.5: "drawn", 0: "lost"}[self.points]
        forced = [name for name, had in zip(("NEW", "OLD"), self.had_won, strict=True) if had]
        return f"{ending} after {self.plies} plies" + "".join(
            f"; {name} had a forced win" for name in forced
        )


def play(names, proof, job):
    """Play one game."""
    seed, new_player = job
    state = opening(seed)
    agents = {
        player: build(
            Setup(parse_agent(names[player != new_player], "dynamic"), player, GAME, 60.0, seed)
        )
        for player in (1, 2)
    }
    spent, moves, had_won = {1: 0.0, 2: 0.0}, {1: 0, 2: 0}, {1: False, 2: False}
    while not state.is_over():
        player = state.mover
        if not had_won[player]:
            had_won[player] = is_won(state, proof)
        began = time.process_time()
        move = agents[player].choose(state, None) if state.legal_actions() else None
        spent[player] += time.process_time() - began
        moves[player] += 1
        state = after(state, move)
    both = (new_player, 3 - new_player)
    return Game(
        (1 + state.margin(new_player)) / 2,
        state.turns,
        tuple(spent[player] / max(1, moves[player]) for player in both),
        tuple(had_won[player] for player in both),
    )


def report(games):
    """Print the totals of these games; each opening's two games stand beside each other."""
    points = [game.points for game in games]
    pairs = [(points[place] + points[place + 1]) / 2 for place in range(0, len(points) - 1, 2)]
    width = interval(pairs)
    print(
        f"won {points.count(1)}, drawn {points.count(0.5)}, lost {points.count(0)}: "
        f"{100 * fmean(points):.1f} % of the points"
        + ("" if math.isinf(width) else f" ± {100 * width:.1f}")
    )
    print(
        f"{fmean(game.plies for game in games):.0f} plies a game; processor seconds a move "
        + ", ".join(f"{fmean(game.seconds[side] for game in games):.3f}" for side in (0, 1))
    )
    for side, name in enumerate(("NEW", "OLD")):
        won = [abs(side - game.points) for game in games if game.had_won[side]]
        print(
            f"forced wins of {name}: {len(won)} games, of which {won.count(1)} won, "
            f"{won.count(0.5)} shuffled away, {won.count(0)} lost"
        )


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.dynamic", description=__doc__)
    parser.add_argument("new", nargs="?", default="alphabeta:depth=5")
    parser.add_argument("old", nargs="?", default="alphabeta:depth=5,heuristic=fuzzy")
    parser.add_argument("--openings", type=int, default=100)
    parser.add_argument("--proof", type=int, default=9, help="0: no search for forced wins")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    seeds = range(arguments.seed, arguments.seed + arguments.openings)
    jobs = [(seed, player) for seed in seeds for player in (1, 2)]
    run = partial(play, (arguments.new, arguments.old), arguments.proof)
    print(
        f"{arguments.new} against {arguments.old}, {arguments.openings} openings from both sides",
        flush=True,
    )
    games = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for (seed, player), game in zip(jobs, pool.map(run, jobs), strict=True):
            games.append(game)
            text = f"{len(games)} of {len(jobs)}: opening {seed}, NEW is player {player}: {game}"
            print(text, file=sys.stderr, flush=True)
    report(games)
    return 0


if __name__ == "__main__":
    sys.exit(main())
