"""Simulate a term of the ladder: `python3 -m benchmarks.term [--students N] [--versions N]`.

Games are simulated: each version has a true strength, and a pair's margin is the difference of two
strengths plus noise. All the rest is the ladder's own. Each week some students hand in a new
version. The table shows what each run played, how long it took to decide, how many intervals hold
the true rating, and how many pages of the site changed.
"""

from __future__ import annotations

import argparse
import datetime
import random
import re
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from benchmarks.simulated import RUNGS, hand_in, simulated_pool
from grader.handin import find as submissions
from grader.ladder.book import Book
from grader.ladder.league import read_league, terms_of
from grader.ladder.run import LadderRun, begin
from grader.ladder.site import write_site
from grader.ladder.standings import Standings
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

FIRST_DAY = datetime.date(2026, 9, 7)
SEED = 518230946017753824
HEADERS = (
    "run",
    "new",
    "games",
    "decide",
    "whole run",
    "ratings known",
    "true rating held",
    "pages",
)


def rubric(folder: Path, width: float) -> Rubric:
    """Return the default rubric with a fixed seed."""
    path = folder / "rubric.toml"
    path.write_text(
        f"[match]\nseed = {SEED}\n[ladder]\nopening_plies = 0\nwidth = {width}\n", encoding="utf-8"
    )
    return rubrics.read(path)


class Term:
    """A class whose versions have true strengths."""

    def __init__(self, folder: Path, width: float) -> None:
        self.folder = folder
        self.rubric = rubric(folder, width)
        self.strengths: dict[str, float] = {}
        self.random = random.Random(SEED)

    def hand_in(self, number: int, version: int) -> None:
        """Hand in the next version of a student; it is better than the last one, on average."""
        name = f"student {number:03}"
        before = self.strengths.get(name, self.random.gauss(100, 50))
        self.strengths[name] = before + self.random.gauss(12, 15)
        hand_in(self.folder / "class", name, self.strengths[name], f"{number} {version}")

    def run(self, day: datetime.date) -> list[object]:
        """Rate the hand-ins; return a line of the table."""
        began = time.monotonic()
        with Book(self.folder / "ladder.db", writing=True) as book:
            book._database.execute("PRAGMA synchronous = OFF")  # a simulated game takes no time
            found = submissions.find([self.folder / "class"], self.rubric.submission)
            begun = begin(book, self.rubric, found, day.isoformat())
            pool = simulated_pool()
            run = LadderRun(book, self.rubric, begun, pool, "process", 1e6)
            league = read_league(book, self.rubric, begun.secret)
            run.decide(league)
            decided = time.monotonic() - began
            run.go()
            league = read_league(book, self.rubric, begun.secret)
            standings = Standings(league, book.games(terms_of(self.rubric)), book.day)
            pages = write_site(book, standings, begun.secret, self.folder / "site")
            held = held_in(standings, book)
        seconds = time.monotonic() - began
        games = pool.executor.games  # type: ignore[attr-defined]
        known = sum(item.rating is not None for item in standings.entries)
        return [
            *(begun.number, len(begun.fresh), games, f"{decided:.2f} s", f"{seconds:.1f} s"),
            *(known, f"{100 * held:.0f} %", pages),
        ]


def held_in(standings: Standings, book: Book) -> float:
    """Return the share of intervals that hold the true rating."""
    held = []
    for entry in standings.entries:
        if entry.rating is None or entry.name == "random":
            continue
        true = RUNGS.get(entry.name)
        if true is None and entry.version is not None:
            found = re.search(r"STRENGTH = (\S+)", book.source(entry.version.sha256) or "")
            assert found is not None
            true = float(found[1])
        assert true is not None
        held.append(entry.rating.low <= true <= entry.rating.high)
    return sum(held) / len(held)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--versions", type=int, default=300, help="in all")
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--width", type=float, default=60.0, help="of an interval, in points")
    parser.add_argument("--keep", type=Path, help="keep the results file and the site there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        term = Term(folder, arguments.width)
        count = dict.fromkeys(range(arguments.students), 0)
        rows = []
        for week in range(arguments.weeks):
            goal = arguments.versions * (week + 1) // arguments.weeks
            order = sorted(count, key=lambda number: (count[number] > week, term.random.random()))
            for number in order[: goal - sum(count.values())]:
                count[number] += 1
                term.hand_in(number, count[number])
            rows.append(term.run(FIRST_DAY + datetime.timedelta(weeks=week)))
            print(*rows[-1], flush=True)
        last = FIRST_DAY + datetime.timedelta(weeks=arguments.weeks)
        rows.append(term.run(last))
        term.hand_in(0, 99)
        rows.append(term.run(last + datetime.timedelta(days=1)))
    print(tabulate(rows, HEADERS))


if __name__ == "__main__":
    main()
