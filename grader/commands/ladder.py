"""The command `ladder`: rates every version that a class hands in over a term."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands.common import DONE, STOPPED, isolation_level, open_pool, read_rubric
from grader.handin import find as submissions
from grader.handin.submission import Submission
from grader.ladder.book import Book
from grader.ladder.gradebook import grade_book, played_text, table_text
from grader.ladder.league import read_league, terms_of
from grader.ladder.run import LadderRun, begin
from grader.ladder.standings import Standings
from grader.output.files import write
from grader.play.executors import worker_count
from grader.rubric.model import PRACTICE_SEED, Rubric
from grader.rubric.reading import PUBLIC_SEED

RESULTS: Final = Path("ladder.db")


def run_ladder(arguments: argparse.Namespace) -> int:
    """Rate new versions; with `--watch`, again and again."""
    rubric = read_rubric(arguments)
    if arguments.time is not None:
        rubric = replace(rubric, ladder=replace(rubric.ladder, time_limit=arguments.time))
    if rubric.match.seed == PRACTICE_SEED:
        raise InputError(PUBLIC_SEED.format(source=rubric.source))
    if any(board.hidden for board in rubric.ladder.boards):
        raise InputError(
            f"{rubric.source}: ladder.boards: the ladder shows its games, so it cannot "
            "use a hidden board"
        )
    worker_count(arguments.jobs, arguments.force_jobs)
    path: Path = arguments.results or RESULTS
    with Book(path, writing=True) as book:
        while True:
            found = submissions.find(arguments.paths, rubric.submission)
            ended = _one_run(arguments, rubric, book, found)
            if not ended or arguments.watch is None:
                return DONE if ended else STOPPED
            try:
                time.sleep(arguments.watch)
            except KeyboardInterrupt:
                return DONE


def _one_run(
    arguments: argparse.Namespace, rubric: Rubric, book: Book, found: list[Submission]
) -> bool:
    """Play until the ratings are known or the time is used; return False if it was stopped."""
    day = arguments.date or datetime.datetime.now(datetime.UTC).date().isoformat()
    begun = begin(book, rubric, found, day)
    _tell_new([f"{item.student} v{item.number}" for item in begun.fresh], found)
    ended = None
    with contextlib.suppress(KeyboardInterrupt), open_pool(arguments, book.path) as pool:
        level = isolation_level(arguments, rubric)
        ended = LadderRun(book, rubric, begun, pool, level, arguments.minutes).go()
    _write(arguments, rubric, book, begun.secret)
    print("stopped; the same command goes on" if ended is None else ended)
    return ended is not None


def _tell_new(fresh: list[str], found: list[Submission]) -> None:
    for item in found:
        if item.problem:
            print(f"{item.name}: not read: {item.problem}", file=sys.stderr)
    if fresh:
        print(f"new: {', '.join(fresh[:8])}{', ...' if len(fresh) > 8 else ''} ({len(fresh)})")
    else:
        print("no new versions")


def _write(arguments: argparse.Namespace, rubric: Rubric, book: Book, secret: int) -> None:
    """Write the teacher's files and print the table."""
    league = read_league(book, rubric, secret)
    standings = Standings(league, book.games(terms_of(rubric)), book.day)
    text = grade_book(standings, book.submissions(), rubric.ladder.address)
    write(book.path.with_suffix(".csv"), text)
    write(book.path.with_name(f"{book.path.stem}-runs.csv"), played_text(book, league))
    print(table_text(standings))
