"""Measure the points that agents give away: `python3 -m benchmarks.regret [AGENT ...] [options]`.

The positions of the kind `regret` in `grader/solved/positions.txt` have been solved exactly: for
every legal action the final margin with best play on both sides is known, in part A (`--part a`)
that of best play against the random player. The regret of an answer is the best margin minus its
own: the points that it gives away. Agents are files or names (`ai`, `FILE`, `ai:FILE`, `mcts`,
...), the default is `reference`. `--nodes` and `--time` each take several budgets:

    python3 -m benchmarks.regret NEW.py OLD.py --nodes 500 2000 20000 --jobs 2
    python3 -m benchmarks.regret reference --time 0.05 0.2 1 --positions 200

An agent answers each position as a new game, so that with `--nodes` its answers depend on neither
the machine nor the other positions. `--positions N` takes N of the positions, spread evenly. Tables
show the mean regret a move and the share of answers that are exactly best, with 95 % intervals, by
plies left and by the pop-outs left of both players. With several agents the first is compared with
each other one, position by position; below zero it gives away less.
"""

import argparse
import gc
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from statistics import fmean

from tabulate import tabulate

from benchmarks.games import GAME, agent_name, interval, run_main
from connect4.games import extended
from connect4.games.base import Player
from connect4.games.extended import ExtendedState
from connect4.games.falling import ExtendedAction
from connect4.players.base import Agent, Setup
from connect4.players.registry import build, parse_agent
from connect4.players.student import StudentAgent
from grader.handin.positions import METHOD_OF, Part
from grader.solved import POSITIONS, REGRET, Solved, read

PLIES = ((0, 13), (14, 17), (18, 21), (22, 26))
POPOUTS = ((0, 0), (1, 2), (3, 4))

Regrets = dict[tuple[str, str], list[float]]
"""By agent and budget, the regret of each position."""


class Asked:
    """An agent that answers single positions, each of them as a new game.

    A student's file is loaded once for each player, because that takes longer than an answer. With
    a clock each new player first answers the empty board: in a game its tables exist already.
    """

    def __init__(self, name: str, seconds: float | None, part: Part = "b") -> None:
        self.name = parse_agent(name)
        self.seconds = seconds
        self.method = METHOD_OF[part]
        self.loaded: dict[Player, StudentAgent] = {}

    def choose(self, state: ExtendedState) -> ExtendedAction:
        """Return the action of an agent that has not played before."""
        agent = self.new(state.mover)
        if self.seconds is not None:
            agent.choose(
                extended.position(0 * state.for_agent()[0], state.popouts, state.mover), None
            )
        action: ExtendedAction = agent.choose(state, self.seconds)
        return action

    def new(self, player: Player) -> Agent:
        """Return the agent before its first turn."""
        if player in self.loaded:
            student = self.loaded[player]
            student.player = type(student.player)(player, self.seconds or 1)
            if "nodes" in self.name.options:
                student.player.node_budget = int(self.name.options["nodes"])
            return student
        setup = Setup(self.name, player, GAME, self.seconds or 1, 1, self.method)
        agent = build(setup)
        if isinstance(agent, StudentAgent):
            self.loaded[player] = agent
        return agent


def answers(name: str, seconds: float | None, positions: Sequence[Solved]) -> list[ExtendedAction]:
    """Return the agent's action in each position."""
    gc.unfreeze()  # an earlier file's module is a cycle, and its search may have frozen it
    gc.collect()
    agent = Asked(name, seconds, positions[0].part)
    return [agent.choose(solved.state) for solved in positions]


def spread(positions: Sequence[Solved], number: int) -> list[Solved]:
    """Return `number` of the positions, evenly spread; all of them where there are no more."""
    number = min(number, len(positions))
    return [positions[index * len(positions) // number] for index in range(number)]


def asked(
    pool: ProcessPoolExecutor, name: str, seconds: float | None, positions: Sequence[Solved]
) -> list[ExtendedAction]:
    """Return the same as `answers`, worked out in the processes of a pool."""
    size = 25
    chunks = [positions[start : start + size] for start in range(0, len(positions), size)]
    done = pool.map(answers, repeat(name), repeat(seconds), chunks)
    return [action for chunk in done for action in chunk]


def plies_left(solved: Solved) -> int:
    return solved.state.max_plies


def popouts_left(solved: Solved) -> int:
    return sum(solved.state.popouts)


def within(
    positions: Sequence[Solved], of: Callable[[Solved], int], band: tuple[int, int]
) -> list[int]:
    """Return the places of the positions whose number is in the band."""
    low, high = band
    return [place for place, solved in enumerate(positions) if low <= of(solved) <= high]


def figure(regrets: Sequence[float]) -> str:
    """Return the mean regret, its interval, and the share of best answers, as text."""
    if not regrets:
        return ""
    return f"{fmean(regrets):.2f} ± {interval(regrets):.2f}, {best_share(regrets):.0f} %"


def best_share(regrets: Sequence[float]) -> float:
    """Return the per cent of the answers that are exactly best."""
    return 100 * sum(regret == 0 for regret in regrets) / len(regrets)


def overall_table(found: Regrets) -> str:
    """Return the table of agents and budgets."""
    rows = []
    for (agent, budget), regrets in found.items():
        share = best_share(regrets)
        half = 196 * math.sqrt(share / 100 * (1 - share / 100) / len(regrets))
        mean = f"{fmean(regrets):.2f} ± {interval(regrets):.2f}"
        rows.append([agent, budget, mean, f"{share:.1f} ± {half:.1f} %"])
    head = ["agent", "budget", "points a move", "exactly best"]
    return tabulate(rows, head, tablefmt="pipe")


def band_table(
    title: str,
    bands: Sequence[tuple[int, int]],
    of: Callable[[Solved], int],
    positions: Sequence[Solved],
    found: Regrets,
) -> str:
    """Return the table of points a move and best answers, a row for each band."""
    rows = []
    for band in bands:
        places = within(positions, of, band)
        inside = [[regrets[place] for place in places] for regrets in found.values()]
        low, high = band
        text = f"{low}" if low == high else f"{low} to {high}"
        rows.append([text, len(places), *map(figure, inside)])
    head = [title, "positions", *(f"{agent}, {budget}" for agent, budget in found)]
    return tabulate(rows, head, tablefmt="pipe")


def difference_lines(positions: Sequence[Solved], found: Regrets) -> Iterable[str]:
    """Yield how the first agent differs from each other one at equal budgets."""
    first = next(iter(found))[0]
    for (agent, budget), regrets in found.items():
        if agent == first:
            continue
        parts = []
        for title, band in (("all", (0, 99)), ("without pop-outs", (0, 0)), ("with", (1, 99))):
            places = within(positions, popouts_left, band)
            paired = [found[first, budget][place] - regrets[place] for place in places]
            if paired:
                parts.append(f"{title} {fmean(paired):+.2f} ± {interval(paired):.2f}")
        yield f"{first} minus {agent}, {budget}: {'; '.join(parts)} points a move"


def budgets(options: argparse.Namespace) -> list[tuple[str, int | None, float | None]]:
    """Return the budgets as text, nodes and seconds."""
    if options.nodes:
        return [(f"{nodes:,} nodes", nodes, None) for nodes in options.nodes]
    return [(f"{seconds:g} s", None, seconds) for seconds in options.time]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("agents", nargs="*", metavar="AGENT", default=["reference"])
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--nodes", type=int, nargs="+", help="nodes a move in place of the clock")
    budget.add_argument("--time", type=float, nargs="+", default=[0.2], help="seconds a move")
    parser.add_argument("--positions", type=int, default=10**6, help="how many (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--part", choices=tuple(METHOD_OF), default="b", help="default b")
    parser.add_argument("--data", type=Path, default=POSITIONS, help="the file of positions")
    options = parser.parse_args()
    due = options.part, REGRET
    positions = [one for one in read(options.data) if (one.part, one.kind) == due]
    positions = spread(positions, options.positions)
    found: Regrets = {}
    for text, nodes, seconds in budgets(options):
        for agent in options.agents:
            with ProcessPoolExecutor(options.jobs) as pool:  # new ones: an agent keeps its memory
                actions = asked(pool, agent_name(agent, nodes), seconds, positions)
            found[agent, text] = [
                solved.regret(action) for solved, action in zip(positions, actions, strict=True)
            ]
    print(f"{len(positions)} positions\n\n{overall_table(found)}\n")
    print(band_table("plies left", PLIES, plies_left, positions, found), end="\n\n")
    print(band_table("pop-outs left", POPOUTS, popouts_left, positions, found), end="\n\n")
    for line in difference_lines(positions, found):
        print(line)


if __name__ == "__main__":
    run_main(main)
