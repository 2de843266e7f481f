"""Time isolated agents: `python3 -m benchmarks.isolation [--deadlines] [--turns N]`.

Without an option, measures the cost of a turn, with a process that lives for the whole game and
with one for each move, and the cost of a start. The agent answers
at once, so the whole turn is overhead.
`--deadlines`: how long agents that do not end take to die after the limit, the margin and the wait
for their stack. Exits with status 1 if a required figure is missed.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from tabulate import tabulate

from connect4.games import load_start
from connect4.games.base import State
from connect4.games.extended import EXTENDED
from connect4.isolation.process import STACK_PATIENCE
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import IsolatedSeat, Level, Lifetime, choose_level, open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.registry import parse_agent

START = "mid8x10"
SEED = 7
ROOT = Path(__file__).parent.parent
AGENTS = ROOT / "grader" / "doctor" / "corpus"
ENDLESS = ("c_loop", "ignores_signals", "forks_and_loops", "late_with_threads")

REQUIRED_TURN = {"median": 0.5e-3, "p99": 2e-3}
REQUIRED_START = {"without numpy": 0.150, "with numpy": 0.350}
REQUIRED_OVERSHOOT = 0.050

AT_ONCE = """\
{imports}

class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_intelligent_move(self, state):
        return 0, False
"""


def opened(
    path: Path, level: Level, lifetime: Lifetime = "game", seconds: float = 5.0
) -> IsolatedSeat:
    setup = Setup(parse_agent(f"ai:{path}"), 1, EXTENDED, seconds, SEED, "intelligent")
    many = Limits(reload_seconds=1e9)
    seat = open_seat(setup, level, many, lifetime)
    assert isinstance(seat, IsolatedSeat)
    return seat


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def milliseconds(values: list[float]) -> tuple[str, str]:
    return f"{median(values) * 1e3:.3g}", f"{percentile(values, 0.99) * 1e3:.3g}"


def turn(seat: IsolatedSeat, state: State) -> float:
    began = perf_counter()
    reply = seat.ask(state, 5.0)
    took = perf_counter() - began
    assert reply.outcome is Outcome.PLAYED, reply.detail
    return took


def start(path: Path, level: Level) -> float:
    began = perf_counter()
    seat = opened(path, level)
    took = perf_counter() - began
    seat.close()
    return took


def costs(folder: Path, levels: list[Level], count: int) -> bool:
    """Print what turns and starts cost; return whether all is as required."""
    state = load_start(EXTENDED, START)
    bare, numeric = folder / "bare.py", folder / "numeric.py"
    bare.write_text(AT_ONCE.format(imports=""), encoding="utf-8")
    numeric.write_text(AT_ONCE.format(imports="import numpy as np\n"), encoding="utf-8")
    taken: dict[str, list[float]] = {}
    seats = {
        f"{level}, lifetime {lifetime}": opened(bare, level, lifetime)
        for level in levels
        for lifetime in ("game", "move")
    }
    for number in range(count):
        for name, seat in seats.items():
            if "game" in name or number % 10 == 0:
                taken.setdefault(name, []).append(turn(seat, state))
    for seat in seats.values():
        seat.close()
    rows = [(name, len(values), *milliseconds(values)) for name, values in taken.items()]
    print(tabulate(rows, ("a turn, ms", "turns", "median", "99 %"), disable_numparse=True))
    begun = {
        (level, what): [start(path, level) for _ in range(max(5, count // 50))]
        for level in levels
        for what, path in (("without numpy", bare), ("with numpy", numeric))
    }
    rows = [(*key, len(values), *milliseconds(values)) for key, values in begun.items()]
    print(f"\n{tabulate(rows, ('start', 'agent', 'starts', 'median', '99 %'))}")
    game_turns = [values for name, values in taken.items() if name.endswith("game")]
    return (
        all(median(values) <= REQUIRED_TURN["median"] for values in game_turns)
        and all(percentile(values, 0.99) <= REQUIRED_TURN["p99"] for values in game_turns)
        and all(median(values) <= REQUIRED_START[what] for (_, what), values in begun.items())
    )


def deadlines(levels: list[Level], count: int) -> bool:
    """Print how late endless agents are dead; return whether all are within what is required."""
    state = load_start(EXTENDED, START)
    limit, good = 0.1, True
    allowed = limit + Limits().margin_seconds + STACK_PATIENCE
    rows = []
    for level in levels:
        for name in ENDLESS:
            seat = opened(AGENTS / f"{name}.py", level, seconds=limit)
            late = []
            for _ in range(count):
                if not seat.agent.is_loaded():  # a fresh process, outside the clock as in a game
                    seat._load_again()
                began = perf_counter()
                reply = seat.ask(state, limit)  # returns when the process is gone
                late.append(perf_counter() - began - allowed)
                assert reply.outcome is Outcome.TIMEOUT, reply.detail
            seat.close()
            within = sum(value <= REQUIRED_OVERSHOOT for value in late)
            good &= within == count
            rows.append((level, name, *milliseconds(late), f"{max(late) * 1e3:.3g}", within, count))
    headers = ("level", "agent", "ms late: median", "99 %", "most", "within 50 ms", "of")
    print(tabulate(rows, headers))
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deadlines", action="store_true")
    parser.add_argument("--turns", type=int, help="default 2000; for --deadlines 100")
    arguments = parser.parse_args()
    strongest = choose_level("auto")[0]
    levels: list[Level] = ["process", "strong"] if strongest == "strong" else [strongest]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.deadlines:
            good = deadlines(levels, arguments.turns or 100)
        else:
            good = costs(folder, levels, arguments.turns or 2000)
    print("\nas required" if good else "\nNOT as required")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
