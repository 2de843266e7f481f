"""Compare the analysis with exact values: `python3 -m benchmarks.analysis KIND`.

Plays games between the kit's agents and analyses them. Counts how many costly moves are flagged
and how many flags are false alarms. A move is flagged if the analysis reports a cost.

- `classic`: a costly move changes the outcome, according to the library `bitbully` (extra
  `solver`). With `--own` the analysis does not use that library.
- `extended`: the games start from endings that the reference agent solves. A costly move loses 10
  points or more. A false alarm is a flag on a move that loses nothing.
- `dynamic`: the games start `LEFT` plies before the draw limit, so a proof search finds each value.
  A costly move changes the outcome. A false alarm is a flag on a move that does not.
"""

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import connect4
from benchmarks.games import empty, played
from connect4 import record as records
from connect4.analysis.costs import analyse
from connect4.games import GAMES, load_start
from connect4.games.base import State
from connect4.players.base import Outcome, Setup
from connect4.players.registry import build, parse_agent
from connect4.record import Record
from connect4.reference import AIPlayer
from connect4.search import center, solver
from connect4.search.heuristics import heuristic_of
from connect4.search.minimax import TableAlphaBeta

COSTLY = {"classic": 1, "extended": 10, "dynamic": 1}
"""What a move has to lose, in outcomes or points, to be counted as costly."""

CLASSIC_PAIRS = (
    ("alphabeta:depth=3", "mcts:iterations=300"),
    ("mcts:iterations=300", "alphabeta:depth=2"),
    ("greedy", "alphabeta:depth=4"),
    ("alphabeta:depth=4", "montecarlo"),
    ("mcts:iterations=1000", "mcts:iterations=200"),
)
EXTENDED_PAIRS = (
    ("random", "greedy"),
    ("alphabeta:depth=2", "random"),
    ("random", "random"),
    ("mcts:iterations=200", "random"),
    ("random", "alphabeta:depth=1"),
)
ENDINGS = (("8x10", 18), ("8x10", 16), ("6x8+1", 12), ("8x10", 17), ("6x8+2", 10))
"""Boards, and the cells that are empty when the game begins."""

DYNAMIC_PAIRS = (
    ("alphabeta:depth=1", "greedy"),
    ("greedy", "alphabeta:depth=2,heuristic=connected"),
    ("minimax:depth=1", "alphabeta:depth=1,heuristic=fuzzy"),
    ("mcts:iterations=300", "alphabeta:depth=1"),
    ("minimax:depth=2,heuristic=fuzzy", "alphabeta:depth=1"),
)
ATTACKER = "alphabeta:depth=1"
"""The agent whose play leads to the positions that games of Dynamic Connect-4 start from."""

LEFT = 7
"""Plies until the draw limit when a game of Dynamic Connect-4 begins."""

UNTIL_SOLVED = 600
"""Seconds that the exact value of one position may take."""


Exact = Callable[[State], float]
"""Returns player 1's exact value of a position."""


@dataclass
class Tally:
    """Costly moves, those of them that were flagged, false flags, and all moves."""

    costly: int = 0
    flagged: int = 0
    false: int = 0
    proven: int = 0
    moves: int = 0

    def __str__(self) -> str:
        return (
            f"{self.moves} moves, {self.proven} proven; {self.costly} costly: {self.flagged} "
            f"flagged, {self.costly - self.flagged} missed; {self.false} false alarms"
        )


def exact_outcome() -> Exact:
    """Return what tells player 1's outcome of a classic position: 1, 0 or -1."""
    engine = solver.LibrarySolver()

    def value(state: State) -> float:
        if state.is_over():
            return state.margin(1)
        score = engine.score(state)
        return ((score > 0) - (score < 0)) * (1 if state.mover == 1 else -1)

    return value


def exact_margin(state: State) -> float:
    """Return player 1's margin at the end of an extended game, by best play of both."""
    if state.is_over():
        return state.margin(1)
    player = AIPlayer(state.mover, UNTIL_SOLVED)
    margin, _, _, solved = player.expected_play(state.for_agent())
    if not solved:
        raise SystemExit("error: a position was not solved")
    return float(margin if state.mover == 1 else -margin)


def proven_outcome(state: State) -> float:
    """Return player 1's outcome of a position of Dynamic Connect-4 close to the draw limit."""
    if state.is_over():
        return state.margin(1)
    search = TableAlphaBeta(heuristic_of(state.game, "race").evaluation(), center)
    found = search.search(state, LEFT)
    assert found.complete, "the draw limit is within LEFT plies"
    return ((found.value > 0) - (found.value < 0)) * (1 if state.mover == 1 else -1)


def dynamic_start(number: int) -> State:
    """Return a position with `LEFT` plies to go.

    It comes from 10 to 24 plies of play, a third of them random, and has no win in one.
    """
    rng = random.Random(number)
    game = GAMES["dynamic"]
    agents = {
        player: build(Setup(parse_agent(ATTACKER, game.name), player, game, 5.0, number))
        for player in (1, 2)
    }
    while True:
        state: Any = load_start(game, "start")
        for _ in range(rng.randint(10, 24)):
            actions = state.legal_actions()
            wild = rng.random() < 1 / 3
            move = rng.choice(actions) if wild else agents[state.mover].choose(state, None)
            state = state.apply(move)
            if state.is_over():
                break
        else:
            if not any(any(state.apply(move).scores()) for move in state.legal_actions()):
                return state.with_options(max_turns=state.turns + LEFT)


def game(kind: str, number: int) -> Record:
    """Play the game of that number."""
    if kind == "dynamic":
        pair = DYNAMIC_PAIRS[number % len(DYNAMIC_PAIRS)]
        return connect4.play(*pair, dynamic_start(number), seconds=5, seed=number)
    if kind == "classic":
        pair = CLASSIC_PAIRS[number % len(CLASSIC_PAIRS)]
        return connect4.play(*pair, connect4.start("classic"), seconds=5, seed=number)
    board, cells = ENDINGS[number % len(ENDINGS)]
    rng = random.Random(number)
    start = empty(board)
    while (start.board() == 0).sum() > cells:  # pop-outs make room again
        start = played(start, 1, rng)
    pair = EXTENDED_PAIRS[number % len(EXTENDED_PAIRS)]
    return connect4.play(*pair, start, seconds=5, seed=number)


def compare(record: Record, exact: Exact, costly: float, tally: Tally) -> None:
    """Add a game's moves to the tally; the record holds its analysis."""
    values = [exact(state) for state in records.replay(record)]
    for turn, before, after, judged in zip(
        record.turns, values, values[1:], record.extra["analysis"]["turns"], strict=False
    ):
        if turn.outcome is not Outcome.PLAYED:
            continue
        lost = before - after if turn.player == 1 else after - before
        tally.moves += 1
        tally.proven += bool(judged.get("proven"))
        tally.costly += lost >= costly
        tally.flagged += lost >= costly and judged["loss"] > 0
        tally.false += lost <= 0 and judged["loss"] > 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.analysis",
        description=(__doc__ or "").split("\n", maxsplit=1)[0],
    )
    parser.add_argument("kind", choices=COSTLY)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds of each search")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--own", action="store_true", help="analyse without the library")
    arguments = parser.parse_args()
    if arguments.kind == "classic" and not solver.is_installed():
        print("error: it needs bitbully: pip install -e '.[solver]'", file=sys.stderr)
        return 2
    exact: Exact = exact_margin if arguments.kind == "extended" else proven_outcome
    if arguments.kind == "classic":
        exact = exact_outcome()
    if arguments.own:
        solver.is_installed = lambda: False
    total = Tally()
    for number in range(arguments.games):
        record = game(arguments.kind, number)
        record.extra["analysis"] = analyse(record, arguments.seconds, arguments.jobs).to_json()
        tally = Tally()
        compare(record, exact, COSTLY[arguments.kind], tally)
        print(f"game {number + 1}: {tally}", flush=True)
        for name in vars(total):
            setattr(total, name, getattr(total, name) + getattr(tally, name))
    print(f"{arguments.games} games, {record.extra['analysis']['agent']}: {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
