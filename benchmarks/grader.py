"""Measure the grader: `python3 -m benchmarks.grader [throughput] [load] [report]`.

throughput: games with `--jobs 2` against `--jobs 1`, interleaved; requires two idle cores.
load: positions per move of an agent that uses all of its time, `--jobs 2` against `--jobs 1`.
report: the time to report stored games, and how it grows with their number.
Exits with status 1 if a required figure is missed.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

from tabulate import tabulate

from connect4.games import load_start
from connect4.games.extended import EXTENDED
from grader.handin import Person, Submission
from grader.marks import gradable
from grader.play import local_pool
from grader.play.one_game import play_all, play_game
from grader.play.schedule import Match, PlannedGame, baseline, grade_games, submitted
from grader.results import Attempt
from grader.results.store import Store
from grader.rubric import Board
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

REQUIRED_THROUGHPUT = 1.9
REQUIRED_LOAD = 0.05
REQUIRED_REPORT = 5.0
GROWTH_LIMIT = 1.25

HEAD = """\
import time
from connect4.utils import get_pts, get_valid_actions

class AIPlayer:
    def __init__(self, player_number, limit):
        self.player_number = player_number
        self.limit = limit
        self.opponent = 3 - player_number

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)

    def get_intelligent_move(self, state):
"""

COUNTS = (
    HEAD
    + """\
        moves = get_valid_actions(self.player_number, state)
        for _ in range(1000):
            get_pts(1, state[0].copy())
        return moves[len(moves) // 2]
"""
)
"""Does the same work for every move."""

SAYS_NODES = (
    HEAD
    + """\
        end = time.monotonic() + 0.9 * self.limit
        nodes = 0
        while time.monotonic() < end:
            get_pts(1 + nodes % 2, state[0].copy())
            nodes += 1
        raise ValueError(f"nodes {nodes}")
"""
)
"""Uses all its time, and reports its work in an exception, its only output."""


def submissions(source: str, number: int) -> list[Submission]:
    return [Submission(f"s{place}", "", f"{source}# {place}\n".encode()) for place in range(number)]


def schedule(
    source: str, board: str, games: int, seconds: float
) -> tuple[list[PlannedGame], list[Submission]]:
    """Return games of agents with one source against each other, each game with its own seed."""
    found = submissions(source, 2)
    one, two = gradable(found)
    rubric = rubrics.read()
    start = Board(board, load_start(EXTENDED, board).to_json())
    match = Match("benchmark", one, two)
    return [
        PlannedGame(match, start, number, 1, number, seconds, rubric.limits)
        for number in range(games)
    ], found


def play(
    games: list[PlannedGame], found: list[Submission], jobs: int
) -> tuple[float, list[Attempt]]:
    """Return the wall seconds from the first game handed out to the last one stored."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with (
            Store(place / "r.db", True) as store,
            local_pool(jobs, place / "scratch", "process") as pool,
        ):
            store.set_submissions(found)
            warm = [pool.executor.submit(abs, -1) for _ in range(jobs)]
            for future in warm:
                future.result()
            began = perf_counter()
            played = play_all(games, store, pool)
            results = [result for _, result in played]
            seconds = perf_counter() - began
    assert all(result.fault is None for result in results), results
    return seconds, results


def throughput(repeats: int) -> bool:
    games, found = schedule(COUNTS, "mid8x10", 24, 5.0)
    rates: dict[int, list[float]] = {1: [], 2: []}
    for number in range(repeats):
        for jobs in (1, 2) if number % 2 else (2, 1):
            seconds, _ = play(games, found, jobs)
            rates[jobs].append(len(games) / seconds)
    ratio = median(two / one for one, two in zip(rates[1], rates[2], strict=True))
    rows = [(median(rates[1]), median(rates[2]), ratio, REQUIRED_THROUGHPUT)]
    headers = ("jobs 1, games a second", "jobs 2, games a second", "ratio", "required")
    show("throughput", rows, headers)
    return ratio >= REQUIRED_THROUGHPUT


def load(repeats: int) -> bool:
    nodes: dict[int, list[float]] = {1: [], 2: []}
    limits = rubrics.read().limits
    board = Board("case4", load_start(EXTENDED, "case4").to_json())
    both = submissions(SAYS_NODES, 2)
    games = [
        PlannedGame(Match("load", player, baseline("random")), board, 0, side, 1, 0.5, limits)
        for player in gradable(both)
        for side in (1, 2)
    ]
    for number in range(repeats):
        for jobs in (1, 2) if number % 2 else (2, 1):
            _, results = play(games, both, jobs)
            found = [
                int(match[1])
                for result in results
                for turn in (result.record or {})["turns"]
                if (match := re.search(r"nodes (\d+)", turn["detail"] or ""))
            ]
            nodes[jobs].append(median(found))
    one_job, two_jobs = median(nodes[1]), median(nodes[2])
    difference = median(abs(b / a - 1) for a, b in zip(nodes[1], nodes[2], strict=True))
    ok = difference < REQUIRED_LOAD
    rows = [(one_job, two_jobs, f"{difference:.2%}", f"{REQUIRED_LOAD:.0%}", ok)]
    headers = ("jobs 1, nodes/move", "jobs 2, nodes/move", "difference", "required", "ok?")
    show("load", rows, headers)
    return ok


def fill(place: Path, games: int, rubric: Rubric, real: dict[tuple[str, int], Attempt]) -> None:
    """Write a results file of about N games, each with the record of a real one.

    `real` has a game for each board and side; those that are missing are played here.
    """
    per_student = len(grade_games([submitted("s", "0")], rubric))
    found = [
        Submission(f"student {number:04}", f"{number}.py", f"# {number}\n".encode(), "r", None,
                   (Person(f"student {number:04}"),))
        for number in range(games // per_student)
    ]  # fmt: skip
    with Store(place, writing=True) as store:
        store.set_meta({"kind": "grade", "rubric": json.dumps(rubrics.stored_values(rubric))})
        store.set_submissions(found)
        ahead = grade_games(gradable(found), rubric)
        for game in ahead[:per_student]:
            if (game.board.name, game.side) not in real:
                slow, level, (one, two) = replace(game, time_limit=5.0).job("process", store)
                both = one and COUNTS.encode(), two and COUNTS.encode()
                real[game.board.name, game.side] = play_game(slow, level, both)
        store._database.execute("PRAGMA synchronous = OFF")
        for game in ahead:
            one, two = (player.id for player in game.players)
            attempt = real[game.board.name, game.side]
            store.add(replace(attempt, key=game.key, ids=(one, two)))


def report(repeats: int) -> bool:
    rubric = rubrics.read()
    times: dict[int, dict[str, list[float]]] = {}
    real: dict[tuple[str, int], Attempt] = {}
    with tempfile.TemporaryDirectory() as folder:
        for games in (2500, 5000, 10_000):
            fill(Path(folder, f"{games}.db"), games, rubric, real)
        for number in range(repeats):
            for games in (2500, 5000, 10_000):
                found = times.setdefault(games, {"tables": [], "all files": []})
                out = Path(folder, f"out{games}-{number}")
                base = [sys.executable, "-m", "grader", "report", f"{folder}/{games}.db"]
                for name, more in (("tables", []), ("all files", ["--out", str(out)])):
                    began = perf_counter()
                    subprocess.run([*base, *more], check=True, capture_output=True)
                    found[name].append(perf_counter() - began)
    medians = {
        games: {name: median(values) for name, values in found.items()}
        for games, found in times.items()
    }
    rows = [(games, *found.values()) for games, found in medians.items()]
    ten, few = medians[10_000]["tables"], medians[2500]["tables"]
    growth = ten / few / 4
    ok = ten < REQUIRED_REPORT and growth < GROWTH_LIMIT
    headers = ("games", "tables, s", "all files, s")
    show("report", rows, headers)
    print(f"growth of the tables' time beside linear: {growth:.2f}, required {GROWTH_LIMIT}; {ok}")
    return ok


def show(title: str, rows: list[tuple[object, ...]], headers: tuple[str, ...]) -> None:
    print(f"\n{title}\n{tabulate(rows, headers, floatfmt='.3g')}", flush=True)


MEASURES: dict[str, tuple[Callable[[int], bool], int]] = {
    "throughput": (throughput, 10),
    "load": (load, 3),
    "report": (report, 3),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(MEASURES))
    parser.add_argument("--repeats", type=int, help="of each measure")
    arguments = parser.parse_args()
    unknown = set(arguments.measures) - MEASURES.keys()
    if unknown:
        parser.error(f"no measure {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}")
    good = True
    for name in arguments.measures or MEASURES:
        measure, repeats = MEASURES[name]
        good = measure(arguments.repeats or repeats) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
