"""Make the positions of `benchmarks.regret`: `python3 -m benchmarks.regret_positions FILE`.

Samples positions from games and solves them with `exact.c`, which requires a C compiler. In the
games the agent (`--agent`, `--nodes` a move) plays both sides. The first plies are random; after
that each side plays a random action with a chance of its own: never, or in one turn of ten, or of
three. A game ends where its position has the number of plies left that is due. No position comes
twice, and none with fewer than two legal actions. A position that takes more than `--limit` nodes
to solve is left out.

The same agent, options and seed make the same file, whatever `--jobs`. Those of part B in
`grader/solved/positions.txt` were made with the file `ai.py` of commit 54df2a9:

    git show 54df2a9:connect4/players/ai.py > agent.py
    python3 -m benchmarks.regret_positions regret.txt --agent agent.py
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random

from benchmarks.exact import SOURCE, Values, compiled, solve
from benchmarks.games import agent_name, empty, played
from benchmarks.regret import Asked
from connect4.games.base import Player
from connect4.games.extended import ExtendedState
from connect4.players.base import Agent
from connect4.players.registry import file_hash, parse_agent
from grader.solved import FORM, REGRET, text_of

PLAN = (
    ("4x4+1", range(10, 20)),
    ("6x8+2", range(12, 23)),
    ("8x10", range(12, 27)),
    ("4x6+2", range(12, 22)),
    ("8x10+4", range(12, 23)),
    ("6x6", range(12, 25)),
    ("6x6+2", range(12, 22)),
    ("8x10+2", range(12, 23)),
    ("6x8", range(12, 27)),
    ("4x4+2", range(12, 22)),
    ("6x8+6", range(12, 23)),
    ("4x6", range(12, 24)),
    ("6x6+1", range(12, 23)),
    ("8x10+1", range(12, 25)),
    ("6x8+1", range(12, 25)),
    ("4x6+1", range(12, 22)),
)
"""Boards with the pop-outs that their games begin with, and the plies left that are due."""

MOST_POPOUTS = 2
"""For each player, in a position that is kept."""

RANDOM_SHARES = (0.0, 0.0, 0.1, 0.3)
OPENING_PLIES = (0, 2, 4, 6)
BOTH: tuple[Player, Player] = (1, 2)


def sampled(
    board: str, plies_left: int, rng: Random, agents: Mapping[Player, Agent]
) -> ExtendedState | None:
    """Return the position of a new game that has `plies_left`, None where it is of no use."""
    start = empty(board)
    opening = min(rng.choice(OPENING_PLIES), start.max_plies - plies_left)
    state = played(start, opening, rng)
    shares = {1: rng.choice(RANDOM_SHARES), 2: rng.choice(RANDOM_SHARES)}
    while state.max_plies > plies_left:
        actions = state.legal_actions()
        if not actions:
            return None
        if rng.random() < shares[state.mover]:
            state = state.apply(rng.choice(actions))
        else:
            state = state.apply(agents[state.mover].choose(state, None))
    useful = len(state.legal_actions()) > 1 and max(state.popouts) <= MOST_POPOUTS
    return state if useful else None


def samples(number: int, seed: int, agent: str, nodes: int) -> Iterator[ExtendedState]:
    """Yield positions, boards in turn, no position twice."""
    asked = Asked(agent_name(agent, nodes), None)
    agents = {player: asked.new(player) for player in BOTH}
    seen = set()
    for index in range(number):
        board, plies = PLAN[index % len(PLAN)]
        rng = Random(f"{seed} {index}")
        for _ in range(20):
            state = sampled(board, rng.choice(plies), rng, agents)
            if state is not None and text_of(state) not in seen:
                seen.add(text_of(state))
                yield state
                break


def head(options: argparse.Namespace) -> list[str]:
    """Return the comments at the top of a new file: what made it."""
    digest = file_hash(parse_agent(agent_name(options.agent, options.nodes)))
    agent = options.agent if digest is None else f"SHA-256 {digest}"
    return [
        f"# python3 -m benchmarks.regret_positions FILE --positions {options.positions}"
        f" --seed {options.seed} --nodes {options.nodes} --limit {options.limit}",
        f"# the agent: {agent}",
        f"# {FORM}",
    ]


def write(
    path: Path, comments: Iterable[str], solved: Iterable[tuple[ExtendedState, Values | None]]
) -> None:
    """Write the positions that were solved, and print how many there are."""
    number = left_out = 0
    with path.open("w", encoding="utf-8") as file:
        for line in comments:
            print(line, file=file)
        for state, values in solved:
            if values is None:
                left_out += 1
                print(f"left out: {text_of(state)}", flush=True)
            else:
                number += 1
                known = ",".join(map(str, values))
                print(f"b {REGRET} {text_of(state)} {known}", file=file, flush=True)
    print(f"{number} positions solved, {left_out} left out")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, help="the file to write")
    parser.add_argument("--agent", default="reference", help="the agent that plays")
    parser.add_argument("--nodes", type=int, default=30, help="of the agent, a move")
    parser.add_argument("--positions", type=int, default=717, help="to sample")
    parser.add_argument("--limit", type=int, default=6_000_000, help="nodes for one position")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    states = samples(options.positions, options.seed, options.agent, options.nodes)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(SOURCE, Path(folder))
        write(options.file, head(options), solve(program, states, options.limit, options.jobs))


if __name__ == "__main__":
    main()
