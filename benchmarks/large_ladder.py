"""Measure a run with one new version in a large ladder: `python3 -m benchmarks.large_ladder`.

The results file is filled with the versions of a whole term and their games, whose results follow
from true strengths. Then one student hands in a new version. The command reports how long the run
takes to decide what to play, how long the whole run takes, and how many pages change.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.simulated import NOISE, RUNGS, hand_in, simulated_pool, source
from grader.handin import find as submissions
from grader.handin.submission import Submission
from grader.ladder.book import Book
from grader.ladder.league import read_league, terms_of
from grader.ladder.run import LadderRun, begin
from grader.ladder.site import write_site
from grader.ladder.standings import Standings
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

FIRST_DAY = datetime.date(2026, 9, 7)
SEED = 518230946017753824

GAME = (
    "INSERT INTO game (key, player1, player2, score1, score2, ending, turns, timeouts1, invalid1, "
    "errors1, starved1, timeouts2, invalid2, errors2, starved2, seconds, worker, attempts, status) "
    "VALUES (?, '', '', ?, ?, 'no_action', 80, 0, 0, 0, 0, 0, 0, 0, 0, 1.0, '', 1, 'PLAYED')"
)


def rubric(folder: Path) -> Rubric:
    """Return the default rubric with a fixed seed, wider intervals and no random openings."""
    path = folder / "rubric.toml"
    text = f"[match]\nseed = {SEED}\n[ladder]\nopening_plies = 0\nwidth = 120.0\n"
    path.write_text(text, encoding="utf-8")
    return rubrics.read(path)


def fill(book: Book, rules: Rubric, students: int, versions: int, pairs: int) -> None:
    """Fill a results file with all versions and the games of each against near opponents."""
    rng = random.Random(SEED)
    base = [rng.gauss(100, 50) for _ in range(students)]
    texts: list[list[str]] = [[] for _ in range(students)]
    players: list[tuple[str, float]] = []
    for version in range(1, versions + 1):
        for number in range(students):
            base[number] += rng.gauss(6, 15)
            text = source(base[number], f"{number} {version}")
            texts[number].append(text)
            players.append((hashlib.sha256(text.encode()).hexdigest(), base[number]))
    names = [f"student {number:03}" for number in range(students)]
    latest = [Submission(name, "", held[-1]) for name, held in zip(names, texts, strict=True)]
    book.note(latest, {}, FIRST_DAY.isoformat(), SEED)
    with book._transaction() as database:
        database.execute("DELETE FROM version")
        for place, (sha256, _) in enumerate(players):
            version, number = divmod(place, students)
            day = (FIRST_DAY + datetime.timedelta(days=5 * version)).isoformat()
            row = (names[number], version + 1, sha256, day)
            database.execute("INSERT INTO version VALUES (?, ?, ?, ?, NULL)", row)
            held = (sha256, texts[number][version])
            database.execute("INSERT OR IGNORE INTO source VALUES (?, ?)", held)
        games = list(_games(list(RUNGS.items()), players, students, pairs, rng))
        terms = terms_of(rules)
        for pair, side, one, two, number, margin in games:
            key = f"{pair}/{side}"
            row = (pair, side, key, one, two, number, one, 1, "", terms)
            database.execute(f"INSERT INTO planned VALUES ({', '.join('?' * 10)})", row)
            scores = (200 + max(margin, 0), 200 + max(-margin, 0))
            database.execute(GAME, (key, *(scores if side == 1 else scores[::-1])))
    book.end_run(book.begin_run(FIRST_DAY.isoformat()), "filled")


def _games(
    rungs: list[tuple[str, float]],
    players: list[tuple[str, float]],
    students: int,
    pairs: int,
    rng: random.Random,
) -> Iterator[tuple[int, int, str, str, int, int]]:
    """Yield pair, side, both players, number and margin of every game."""
    pair = 0
    met: dict[tuple[str, str], int] = {}
    for place, (own, strength) in enumerate(players):
        around = players[max(0, place - 2 * students) : place]
        others = [
            *rungs,
            *sorted(
                rng.sample(around, min(len(around), 5 * pairs)),
                key=lambda item: abs(item[1] - strength),
            )[: pairs - len(rungs)],
        ]
        for other, level in others:
            is_rung = other in RUNGS
            one, two = (own, other) if is_rung or own < other else (other, own)
            number = met.get((one, two), 0)
            met[one, two] = number + 1
            pair += 1
            for side in (1, 2):
                margin = round(strength - level + rng.gauss(0, NOISE * 2**0.5))
                yield pair, side, one, two, number, margin if one == own else -margin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--versions", type=int, default=20, help="of each student")
    parser.add_argument("--pairs", type=int, default=8, help="of each version")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rules = rubric(folder)
        hand_ins = folder / "class"
        with Book(folder / "ladder.db", writing=True) as book:
            fill(book, rules, arguments.students, arguments.versions, arguments.pairs)
            for item in book.submissions():
                path = hand_ins / item.name / "ai.py"
                path.parent.mkdir(parents=True)
                path.write_text(item.source or "", encoding="utf-8")
        day = (FIRST_DAY + datetime.timedelta(weeks=15)).isoformat()
        for what in ("nothing new", "one new version"):
            measure(folder, rules, day, what)
            hand_in(hand_ins, "student 007", 300.0, "new")


def measure(folder: Path, rules: Rubric, day: str, what: str) -> None:
    """Rate the hand-ins once and print how long it took."""
    began, used = time.monotonic(), time.process_time()
    with Book(folder / "ladder.db", writing=True) as book:
        found = submissions.find([folder / "class"], rules.submission)
        begun = begin(book, rules, found, day)
        run = LadderRun(book, rules, begun, simulated_pool(), "process", 1e6)
        league = read_league(book, rules, begun.secret)
        chosen = len(run.decide(league))
        decided = time.monotonic() - began, time.process_time() - used
        print(
            f"{what}: {len(league.players)} players, {len(league.pairs)} pairs: {chosen} pairs "
            f"chosen after {decided[0]:.1f} s ({decided[1]:.1f} s of processor time)",
            flush=True,
        )
        run.go()
        done = time.monotonic() - began, time.process_time() - used
        league = read_league(book, rules, begun.secret)
        standings = Standings(league, book.games(terms_of(rules)), book.day)
        pages = write_site(book, standings, begun.secret, folder / "site")
        kept = sum(path.is_file() for path in (folder / "site").rglob("*"))
    whole = time.monotonic() - began, time.process_time() - used
    print(
        f"  played after {done[0]:.1f} s ({done[1]:.1f}), site after {whole[0]:.1f} s "
        f"({whole[1]:.1f}): {pages} of {kept} files written",
        flush=True,
    )


if __name__ == "__main__":
    main()
