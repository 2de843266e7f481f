"""Play a term of the ladder with real games, and kill it: `python3 -m benchmarks.real_term`.

Small agents play on a 4x6 board. An agent searches 1 or 2 plies deep and plays a random move in a
known share of its turns, so its strength is known: a round robin of all kinds of agents, played
without the ladder, gives their true ratings. Each week some students hand in a new version, and
`python3 -m grader ladder` rates them. The command is killed (SIGKILL) at random moments and started
again. In the end, the site must be the one that a new folder gets from the results file.

The first table shows what each run played and why, and how well its ratings agree with the true
ones.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from tabulate import tabulate

from benchmarks.games import empty, play_game, played
from grader.ladder.book import Book
from grader.ladder.choice import LEAST_PAIRS
from grader.ladder.fit import Fit, Pair
from grader.ladder.league import League, read_league, terms_of
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

BOARD = "4x6"
OPENING_PLIES = 3
RUNGS = ("random", "greedy", "minimax:depth=1", "minimax:depth=2")
FIRST_DAY = datetime.date(2026, 9, 7)
SEED = 518230946017753824

Kind: TypeAlias = tuple[int, float]
"""The depth of the search and the share of random moves."""

KINDS: tuple[Kind, ...] = tuple(
    [(1, share) for share in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)]
    + [(2, share) for share in (0.4, 0.3, 0.2, 0.1, 0.0)]
)
"""From weak to strong, roughly; the true ratings give the exact order."""

AGENT = '''"""Looks DEPTH plies ahead, and plays a random move in a SHARE of its turns."""

import random
from functools import lru_cache
from itertools import product

from connect4.utils import get_pts, get_valid_actions

DEPTH = {depth}
SHARE = {share}
STEPS = (0, 1), (1, 0), (1, 1), (1, -1)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)

    def get_intelligent_move(self, state):
        moves = get_valid_actions(self.player_number, state)
        if random.random() < SHARE:
            return random.choice(moves)
        values = {{move: self.value(state, self.player_number, move, DEPTH) for move in moves}}
        best = max(values.values())
        return random.choice([move for move in moves if values[move] == best])

    def value(self, state, player, move, depth):
        board = state[0].copy()
        column = move[0]
        board[(board[:, column] == 0).nonzero()[0][-1], column] = player
        after = board, state[1]
        replies = get_valid_actions(3 - player, after) if depth > 1 else []
        if not replies:
            return self.estimate(board, player) - self.estimate(board, 3 - player)
        return -max(self.value(after, 3 - player, reply, depth - 1) for reply in replies)

    def estimate(self, board, player):
        """Return the points, and some for lines of four in which the opponent has no token."""
        cells = board.ravel().tolist()
        hopes = 0
        for line in lines(*board.shape):
            held = [cells[cell] for cell in line]
            if 3 - player not in held:
                hopes += held.count(player) ** 2
        return 10 * int(get_pts(player, board)) + hopes


@lru_cache
def lines(rows, columns):
    """Return every line of four as indices of cells."""
    found = []
    for row, column in product(range(rows), range(columns)):
        for down, right in STEPS:
            last = row + 3 * down, column + 3 * right
            if last[0] < rows and 0 <= last[1] < columns:
                found.append([(row + n * down) * columns + column + n * right for n in range(4)])
    return found
# {note}
'''

RUBRIC = """[match]
seed = {seed}
[limits]
startup = 60.0
startup_total = 120.0
[ladder]
boards = ["small.txt"]
opening_plies = {plies}
rungs = {rungs}
time_limit = {seconds}
width = {width}
"""

HEADERS = (
    *("run", "new", "pairs", "first / near", "minutes", "killed", "rated", "rank correlation"),
    *("off by", "true rating held", "widths"),
)


def agent(kind: Kind, note: str) -> str:
    """Return the source of an agent; `note` makes it a file of its own."""
    return AGENT.format(depth=kind[0], share=kind[1], note=note)


def true_ratings(pairs: int) -> tuple[dict[Kind, float], dict[str, float]]:
    """Return the ratings of all kinds and rungs by a round robin outside the ladder."""
    names: list[Kind | str] = [*RUNGS, *KINDS]
    rng = random.Random(SEED)
    margins: list[Pair] = []
    with tempfile.TemporaryDirectory() as temporary:
        players = []
        for place, name in enumerate(names):
            if isinstance(name, str):
                players.append(name)
                continue
            path = Path(temporary) / f"{place}" / "ai.py"
            path.parent.mkdir()
            path.write_text(agent(name, ""), encoding="utf-8")
            players.append(f"ai:{path}")
        for one, two in itertools.combinations(range(len(names)), 2):
            for _ in range(pairs):
                start = played(empty(BOARD), OPENING_PLIES, rng)
                total = 0
                for first, second, sign in ((one, two, 1), (two, one, -1)):
                    names_of = {1: players[first], 2: players[second]}
                    result, _ = play_game(
                        start, names_of, 20.0, {1: None, 2: None}, rng.getrandbits(32)
                    )
                    total += sign * (result.scores[0] - result.scores[1])
                margins.append((one, two, total / 2))
    values = Fit(len(names), margins, 0.95).values
    found = dict(zip(names, values.tolist(), strict=True))
    kinds = {name: value for name, value in found.items() if not isinstance(name, str)}
    return kinds, {name: value for name, value in found.items() if isinstance(name, str)}


@dataclass
class RealTerm:
    """A class whose agents play real games; `kills` gives the weeks in which a run is killed."""

    folder: Path
    options: argparse.Namespace
    true: dict[Kind, float]
    kills: list[int]
    chance: random.Random
    held: dict[int, int] = field(default_factory=dict)
    """The number of versions of each student."""
    level: dict[int, float] = field(default_factory=dict)
    """The skill of each student, from 0 (the first kind) to 1 (the last)."""
    begun: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        rows, columns = (int(size) for size in BOARD.split("x"))
        board = "0\n" + f"{' '.join('0' * columns)}\n" * rows
        (self.folder / "small.txt").write_text(board, encoding="utf-8")
        rungs = "[" + ", ".join(f'"{rung}"' for rung in RUNGS) + "]"
        text = RUBRIC.format(
            seed=SEED,
            plies=OPENING_PLIES,
            rungs=rungs,
            seconds=self.options.time,
            width=self.options.width,
        )
        self.rubric_path = self.folder / "rubric.toml"
        self.rubric_path.write_text(text, encoding="utf-8")
        self.rubric: Rubric = rubrics.read(self.rubric_path)

    def hand_in(self, week: int) -> int:
        """Hand in the versions of a week; return how many."""
        options, rng = self.options, self.chance
        goal = options.versions * (week + 1) // options.weeks
        order = sorted(
            range(options.students), key=lambda who: (self.held.get(who, 0) > week, rng.random())
        )
        chosen = order[: goal - sum(self.held.values())]
        for who in chosen:
            number = self.held[who] = self.held.get(who, 0) + 1
            before = self.level.get(who, rng.uniform(0.0, 0.5))
            self.level[who] = min(1.0, max(0.0, before + rng.gauss(0.06, 0.08)))
            kind = KINDS[round(self.level[who] * (len(KINDS) - 1))]
            path = self.folder / "class" / f"student {who:02}" / "ai.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(agent(kind, f"student {who}, version {number}"), encoding="utf-8")
        return len(chosen)

    def command(self, week: int, site: str) -> list[str]:
        """Return the command of a week's run."""
        day = (FIRST_DAY + datetime.timedelta(weeks=week)).isoformat()
        return [
            *(sys.executable, "-m", "grader", "ladder", "class", "--rubric", "rubric.toml"),
            *("--site", site, "--date", day, "--minutes", "600"),
            *("--jobs", str(self.options.jobs), "--isolation", self.options.isolation),
        ]

    def run(self, week: int) -> list[object]:
        """Rate the hand-ins of a week; return a line of the table."""
        began, new, killed = time.monotonic(), self.hand_in(week), 0
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        while True:
            with (self.folder / f"week {week + 1}.txt").open("w", encoding="utf-8") as log:
                command = self.command(week, "site")
                where = {"cwd": self.folder, "env": environment, "stdout": log, "stderr": log}
                must_end = self.kills.count(week) > killed
                patience = self.chance.uniform(1, self.options.within) if must_end else None
                try:
                    done = subprocess.run(command, timeout=patience, check=False, **where)
                    break
                except subprocess.TimeoutExpired:  # it was killed
                    killed += 1
        if done.returncode:
            raise SystemExit((self.folder / f"week {week + 1}.txt").read_text(encoding="utf-8"))
        return self.line(new, killed, (time.monotonic() - began) / 60)

    def league(self, book: Book) -> League:
        """Return the league of the results file."""
        return read_league(book, self.rubric, SEED)

    def line(self, new: int, killed: int, minutes: float) -> list[object]:
        """Return the table's line of the last run."""
        with Book(self.folder / "ladder.db", writing=False) as book:
            league = self.league(book)
            number, _, _, pairs = book.runs()[-1]
            found = list(self.compared(book, league, league.current()))
        reasons = Counter("every rung" in why for _, _, _, why, _ in pairs)
        ranks, off, held = agreement(found)
        widths = np.array([high - low for _, _, low, high in found])
        return [
            *(number, new, len(pairs), f"{reasons[True]} / {reasons[False]}", f"{minutes:.1f}"),
            *(killed, len(found), f"{ranks:.2f}", f"{off:.1f}", f"{100 * held:.0f} %"),
            f"{np.median(widths):.0f} (at most {widths.max():.0f})",
        ]

    def compared(
        self, book: Book, league: League, places: Sequence[int]
    ) -> Iterator[tuple[float, float, float, float]]:
        """Yield the true rating, the rating and its interval's bounds of each rated version."""
        for place in places:
            player = league.players[place]
            if not player.is_submission or not league.fit.is_rated(place):
                continue
            if league.fit.pairs[place] < LEAST_PAIRS:
                continue
            source = book.source(str(player.sha256)) or ""
            depth = re.search(r"^DEPTH = (\S+)$", source, re.MULTILINE)
            share = re.search(r"^SHARE = (\S+)$", source, re.MULTILINE)
            assert depth is not None
            assert share is not None
            true = self.true[int(depth[1]), float(share[1])]
            rating = league.fit.interval(place)
            yield true, rating.mean, rating.low, rating.high


def agreement(found: Sequence[tuple[float, float, float, float]]) -> tuple[float, float, float]:
    """Return the rank correlation, the mean error, and the share of intervals with the truth."""
    table = np.array(found)
    true, rating, low, high = table.T
    ranks = np.corrcoef(_ranks(true), _ranks(rating))[0, 1]
    held = np.mean((low <= true) & (true <= high))
    return float(ranks), float(np.mean(np.abs(rating - true))), float(held)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values; equal ones share their mean rank."""
    _, place, number = np.unique(values, return_inverse=True, return_counts=True)
    means = np.cumsum(number) - (number - 1) / 2
    return np.asarray(means[place])


def files(site: Path) -> dict[str, bytes]:
    """Return every file of a site by its place."""
    return {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--versions", type=int, default=300, help="in all")
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--time", type=float, default=0.1, help="seconds per move")
    parser.add_argument("--width", type=float, default=16.0, help="of an interval, in points")
    parser.add_argument("--jobs", type=int, default=1, help="games at once")
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("--kills", type=int, default=10, help="of the whole term")
    parser.add_argument("--within", type=float, default=90.0, help="seconds until a kill, at most")
    parser.add_argument("--pairs", type=int, default=20, help="of a pairing, for the true ratings")
    parser.add_argument("--keep", type=Path, help="keep the class, the results and the site there")
    options = parser.parse_args()
    began = time.monotonic()
    kinds, rungs = true_ratings(options.pairs)
    listed = [(f"depth {depth}, {share:.0%} random", kinds[depth, share]) for depth, share in KINDS]
    print(tabulate([*rungs.items(), *listed], ("agent", "true rating"), floatfmt=".1f"))
    print(f"after {(time.monotonic() - began) / 60:.1f} minutes\n", flush=True)
    chance = random.Random(SEED)
    kills = sorted(chance.choices(range(options.weeks), k=options.kills))
    with tempfile.TemporaryDirectory() as temporary:
        term = RealTerm(options.keep or Path(temporary), options, kinds, kills, chance)
        rows = []
        for week in range(options.weeks):
            rows.append(term.run(week))
            print(*rows[-1], flush=True)
        print(tabulate(rows, HEADERS))
        tell_all(term)
        tell_site(term, options.weeks - 1)
    print(f"{(time.monotonic() - began) / 60:.0f} minutes in all")


def tell_all(term: RealTerm) -> None:
    """Print how the ratings of all versions of the term agree with the true ones."""
    with Book(term.folder / "ladder.db", writing=False) as book:
        league = term.league(book)
        found = list(term.compared(book, league, range(len(league.players))))
        games = book.games(terms_of(term.rubric))
    ranks, off, held = agreement(found)
    lost = sum(side.total for game in games for side in game.faults)
    print(
        f"all {len(found)} versions with {LEAST_PAIRS} pairs or more: rank correlation "
        f"{ranks:.3f}, "
        f"off by {off:.1f} points on average, true rating held {100 * held:.1f} %; "
        f"{len(games)} games, {lost} lost turns"
    )


def tell_site(term: RealTerm, week: int) -> None:
    """Write the site into a new folder without a kill, and print whether it is the same."""
    subprocess.run(
        term.command(week, "again"),
        cwd=term.folder,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    one, two = files(term.folder / "site"), files(term.folder / "again")
    different = sorted(
        place for place in one.keys() | two.keys() if one.get(place) != two.get(place)
    )
    size = sum(map(len, one.values())) / 1e6
    print(f"the site: {len(one)} files, {size:.1f} MB; different when written anew: {different}")


if __name__ == "__main__":
    main()
