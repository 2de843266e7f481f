"""Learn the corrections of the reference agent: `python3 -m benchmarks.training FOLDER [options]`.

Each round plays quick games with the weights of the round before, leaves each of their positions by
some random plies and searches there (`selfplay probes`). Then `fit` adds to the weights what the
searches found beyond the agent's evaluation. The last lines are `LEARNED` as `ai.py` has it.
"""

from __future__ import annotations

import argparse
import subprocess
import textwrap
from pathlib import Path

from benchmarks.exact import compiler
from benchmarks.training.fit import fit, packed, read_weights, write_weights

SOURCE = Path(__file__).with_name("selfplay.c")
FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Wno-clobbered")
BOARDS = ("6x8+6", "8x10+4", "10x10+10", "6x8+2", "8x10+2", "6x10+9", "8x8+3", "10x12+4")
BOARDS += ("9x10+1", "8x10+7")
LINE = 94


def compiled(folder: Path) -> Path:
    """Compile the generator into `folder`; ends the program where there is no compiler."""
    cc = compiler()
    if cc is None:
        raise SystemExit("the generator of games needs a C compiler: apt install gcc")
    program = folder / "selfplay"
    subprocess.run([cc, *FLAGS, "-o", program, SOURCE, "-lm"], check=True)
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="for positions and weights")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--games", type=int, default=1000, help="a round (default: 1000)")
    parser.add_argument("--nodes", type=int, default=4000, help="of a search (default: 4000)")
    parser.add_argument("--game-nodes", type=int, default=300, help="a move (default: 300)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = compiled(options.folder)
    weights: Path | None = None
    for number in range(1, options.rounds + 1):
        print(f"round {number}", flush=True)
        positions = options.folder / f"positions-{number}.txt"
        budgets = options.seed + number, options.games, options.game_nodes, options.nodes
        command = [program, "probes", *map(str, budgets), weights or "-", *BOARDS]
        with positions.open("w") as file:
            subprocess.run(command, stdout=file, check=True)
        windows = fit(positions)
        if weights:
            windows += read_weights(weights)
        weights = options.folder / f"weights-{number}.txt"
        write_weights(weights, windows)
    if weights:
        for line in textwrap.wrap(packed(read_weights(weights)), LINE):
            print(f'    b"{line}"')


if __name__ == "__main__":
    main()
