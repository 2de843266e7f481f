"""Play OpenSpiel's Monte Carlo tree search against the kit's, from both sides.

`python3 -m benchmarks.openspiel --games 40` plays classic Connect 4 with 1,000 iterations a move on
both sides. OpenSpiel's search is `env:connect4.envs.bots:mcts` with its default settings. Each
agent is isolated as in any game.
"""

from __future__ import annotations

import argparse

import connect4

THEIRS = "env:connect4.envs.bots:mcts"
OURS = "mcts:iterations=1000"  # as many as `connect4.envs.bots.SIMULATIONS`


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.openspiel")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--game", choices=connect4.GAMES, default="classic")
    arguments = parser.parse_args()
    won = {THEIRS: 0, OURS: 0, "nobody": 0}
    faults = 0
    for number in range(arguments.games):
        agents = (OURS, THEIRS) if number % 2 == 0 else (THEIRS, OURS)
        record = connect4.play(*agents, game=arguments.game, seconds=120, seed=number)
        won[("nobody", *agents)[record.winner]] += 1
        faults += len(record.faults)
        print(f"game {number + 1}: {record}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in won.items()), f"lost turns: {faults}")


if __name__ == "__main__":
    main()
