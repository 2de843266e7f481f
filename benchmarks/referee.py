"""Time the referee: `python3 -m benchmarks.referee [--games N]`.

Two agents play in the referee's own process on 6x8 (case1: 6 pop-outs each), as in the kit's
command: with seats, clock and events, and with the record stored and written as text. The
comparison, game by game in the same run, is a plain loop that calls the same agents and applies
their actions, without referee, clock or record. The figures are medians over the games. Exits with
status 1 if two trivial players reach fewer turns a second than required.
"""

import argparse
import sys
from statistics import median
from time import perf_counter

from tabulate import tabulate

from connect4.games import load_start
from connect4.games.base import Action, State
from connect4.games.extended import EXTENDED
from connect4.players.base import Setup
from connect4.players.registry import PLAYERS, PlayerKind, build, parse_agent
from connect4.record import dumps
from connect4.table import Table, Terms

REQUIRED_TURNS_A_SECOND = 20_000
START = "case1"


class Trivial:
    """Takes the last action of the list, for next to no time of its own."""

    def choose(self, state: State, seconds: float | None) -> Action:
        return state.legal_actions()[-1]


def refereed(name: str, seed: int) -> tuple[float, int]:
    """Return the seconds of one game with its record as text, and its turns."""
    agent = parse_agent(name)
    began = perf_counter()
    with Table(
        EXTENDED, load_start(EXTENDED, START), (agent, agent), Terms(20.0, seed, "none")
    ) as table:
        for _ in table.events():
            pass
    dumps(table.record)
    return perf_counter() - began, len(table.record.turns)


def plain_loop(name: str, seed: int) -> tuple[float, int]:
    """Return the seconds of the same game without referee and record, and its turns."""
    agent = parse_agent(name)
    began = perf_counter()
    one, two = (build(Setup(agent, player, EXTENDED, 20.0, seed)) for player in (1, 2))
    state, turns = load_start(EXTENDED, START), 0
    while not state.is_over():
        mover = one if state.mover == 1 else two
        state = state.apply(mover.choose(state, 20.0))
        turns += 1
    state.scores()
    return perf_counter() - began, turns


def row_of(name: str, games: int) -> tuple[float, list[object]]:
    """Return the refereed turns a second, and the line of the table."""
    rates, ratios, turns = [], [], []
    for seed in range(games):
        seconds, played = refereed(name, seed)
        plain_seconds, plain_turns = plain_loop(name, seed)
        assert played == plain_turns, "both play the same game"
        rates.append(played / seconds)
        ratios.append(seconds / plain_seconds)
        turns.append(played)
    rate = median(rates)
    microseconds = 1e6 / rate
    return rate, [
        name,
        median(turns),
        f"{rate:,.0f}",
        f"{microseconds:.1f}",
        f"{median(ratios):.2f}",
    ]


def trivial(setup):
    return Trivial()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=300, help="games per line (default 300)")
    games = parser.parse_args().games
    PLAYERS["trivial"] = PlayerKind("trivial", "benchmarks.referee:trivial")
    for name in ("trivial", "random"):
        row_of(name, max(1, games // 20))
    rate, trivial = row_of("trivial", games)
    _, chance = row_of("random", games)
    headers = ["both players", "turns", "turns a second", "us a turn", "times the plain loop"]
    print(tabulate([trivial, chance], headers, disable_numparse=True))
    met = rate >= REQUIRED_TURNS_A_SECOND
    print(f"required: {REQUIRED_TURNS_A_SECOND:,} turns a second; {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
