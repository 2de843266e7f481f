"""Learn the numbers of the reference agent: `python3 -m benchmarks.training FOLDER [options]`.

Each round plays quick games with the weights of the round before, leaves each of their positions by
some random plies and searches there (`selfplay probes`). Then `fit` adds to the weights what the
searches found beyond the agent's evaluation. Later rounds fit networks together with the numbers of
their sets (`joint`). FOLDER/learned.npz then has them as `connect4/reference/learned.npz` does.
"""

import argparse
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import compiled
from benchmarks.training.fit import Fit, first_weights, packed, read_weights, write_weights
from benchmarks.training.joint import JointFit

SOURCE = Path(__file__).with_name("selfplay.c")
BOARDS = (
    *("6x8+6", "8x10+4", "10x10+10", "6x8+2", "8x10+2", "6x10+9", "8x8+3", "10x12+4", "9x10+1"),
    *("8x10+7", "8x10", "12x12", "6x8", "10x10", "5x6+2", "6x7+1"),
)
JOINT_BOARDS = (
    *BOARDS,
    *("12x12+6", "6x6+2", "5x5+1", "4x4+1", "6x5+2", "4x6+1", "8x8", "6x10"),
)
PARTS = 4
"""Of a round, each with a seed of its own: the numbers do not depend on how many run at once."""


def probe(
    program: Path,
    weights: Path,
    boards: tuple[str, ...],
    number: int,
    games: int,
    options: argparse.Namespace,
) -> list[Path]:
    """Write the positions of a round, and return their files."""

    def part(index: int) -> Path:
        seed = 1000 * options.seed + PARTS * number + index
        budgets = seed, games // PARTS, options.game_nodes, options.nodes
        positions: Path = options.folder / f"positions-{number}-{index}.txt"
        with positions.open("w") as file:
            command = [program, "probes", *map(str, budgets), weights, *boards]
            subprocess.run(command, stdout=file, check=True)
        return positions

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(part, range(PARTS)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="for positions and weights")
    parser.add_argument("--rounds", type=int, default=4, help="of the regression (default: 4)")
    parser.add_argument("--games", type=int, default=2400, help="a round (default: 2400)")
    parser.add_argument("--joint-rounds", type=int, default=14, help="after them (default: 14)")
    parser.add_argument("--joint-games", type=int, default=1700, help="a round (default: 1700)")
    parser.add_argument("--nodes", type=int, default=4000, help="of a search (default: 4000)")
    parser.add_argument("--game-nodes", type=int, default=300, help="a move (default: 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = compiled(SOURCE, options.folder)
    weights = options.folder / "weights-0.txt"
    learned = first_weights()
    write_weights(weights, learned)
    fit = Fit()
    for number in range(1, options.rounds + 1):
        print(f"round {number}", flush=True)
        learned = fit.add(probe(program, weights, BOARDS, number, options.games, options))
        weights = options.folder / f"weights-{number}.txt"
        write_weights(weights, learned)
    joint = JointFit(learned)
    for number in range(options.rounds + 1, options.rounds + options.joint_rounds + 1):
        print(f"round {number}", flush=True)
        games = options.joint_games
        joint.add(probe(program, weights, JOINT_BOARDS, number, games, options), learned)
        weights = options.folder / f"weights-{number}.txt"
        write_weights(weights, learned)
    numbers: dict[str, Any] = packed(read_weights(weights))
    np.savez_compressed(options.folder / "learned.npz", **numbers)


if __name__ == "__main__":
    main()
