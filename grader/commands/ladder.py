"""The command `ladder`: rates every version that a class hands in over a term."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from connect4.errors import InputError
from grader.commands.common import DONE, STOPPED, isolation_level, open_pool, read_rubric, say
from grader.handin import find as submissions
from grader.handin.submission import Submission
from grader.ladder.book import Book
from grader.ladder.league import Standings, player_id, read_league, terms_of
from grader.ladder.listing import played_text, ratings_csv, table_text
from grader.ladder.run import KNOWN, UNPLAYED, Begun, LadderRun, begin
from grader.ladder.serve import Live, serving
from grader.ladder.site import write_site
from grader.output.files import check_out, write
from grader.output.results import note_run
from grader.play.executors import worker_count
from grader.play.schedule import PlannedGame
from grader.rubric.model import PRACTICE_SEED, Rubric
from grader.rubric.reading import PUBLIC_SEED

REWRITE_SECONDS: Final = 5.0
"""During play the site is written at most once in these seconds, and for a tenth of the time."""


HOUR: Final = 3600.0

COPIED_SECONDS: Final = 1.0
"""With `--watch`, new hand-ins are read again after N seconds, until no file has changed."""

Look: TypeAlias = tuple[str, tuple[tuple[str, str | None, str | None], ...]]
"""The day, and name, hash and problem of each hand-in."""


def run_ladder(arguments: argparse.Namespace) -> int:
    """Rate new versions; with `--watch`, repeat this until it is stopped."""
    rubric = read_rubric(arguments)
    if rubric.match.seed == PRACTICE_SEED:
        raise InputError(PUBLIC_SEED.format(source=rubric.source))
    if any(board.hidden for board in rubric.ladder.boards):
        raise InputError(
            f"{rubric.source}: ladder.boards: the ladder shows its games, so it cannot use a "
            "hidden board"
        )
    worker_count(arguments.jobs, arguments.force_jobs)
    if arguments.site is not None:
        check_out(arguments.site)
    with contextlib.ExitStack() as stack:
        book = stack.enter_context(Book(arguments.results or Path("ladder.db"), writing=True))
        live = Live()
        if arguments.serve is not None:
            address = stack.enter_context(serving(arguments.site, arguments.serve, live))
            print(f"the site is at {address}, for this machine only", flush=True)
        command = LadderCommand(arguments, rubric, book, live)
        with contextlib.suppress(KeyboardInterrupt):
            return command.go()
    return STOPPED


def write_tables(book: Book, rubric: Rubric, secret: int) -> Standings:
    """Write the teacher's files beside the results file; return the standings."""
    league = read_league(book, rubric, secret)
    standings = Standings(league, book.games(terms_of(rubric)), book.day)
    text = ratings_csv(standings, book.submissions(), rubric.ladder.address)
    write(book.path.with_suffix(".csv"), text)
    write(book.path.with_name(f"{book.path.stem}-runs.csv"), played_text(book, league))
    return standings


@dataclass
class LadderCommand:
    """One or more runs of the ladder with the same options."""

    arguments: argparse.Namespace
    rubric: Rubric
    book: Book
    live: Live
    written: float = field(default_factory=time.monotonic)
    pause: float = REWRITE_SECONDS
    names: dict[str, str] = field(default_factory=dict)
    """The name of each player on the site, by the player's id."""
    told: bool = False
    """Whether the command has reported that it looks for new hand-ins."""

    def go(self) -> int:
        """Run once, or with `--watch` until it is stopped; return the exit status."""
        try:
            return self._runs()
        except KeyboardInterrupt:
            if not self.told:
                raise
            return DONE  # nothing was being played

    def _runs(self) -> int:
        known: Look | None = None
        found = self._find()
        while True:
            if self._look(found) != known:
                ended = self._one_run(found)
                if ended is None:
                    return STOPPED
                known = self._look(found) if ended == KNOWN else None
            if self.arguments.watch is None:
                break
            if known is not None and not self.told:
                self.told = True
                seconds = self.arguments.watch
                print(f"looking for new hand-ins every {seconds:g} s; Ctrl-C ends this", flush=True)
            next_found = self._find_later(found)
            if next_found is None:
                return DONE
            found = next_found
        if self.arguments.serve is not None:
            print("done; the site is available until Ctrl-C", flush=True)
            while self._wait(HOUR):
                pass
        return STOPPED if ended == UNPLAYED else DONE

    def _find(self) -> list[Submission]:
        return submissions.find(self.arguments.paths, self.rubric.submission)

    def _find_later(self, before: list[Submission]) -> list[Submission] | None:
        """Wait, and return the hand-ins when no file changes any more: one may be half copied.

        If they cannot be read, report it and return those of the last time. Return None if Ctrl-C
        ends the wait.
        """
        pause = self.arguments.watch
        while self._wait(pause):
            try:
                found = self._find()
            except InputError as error:
                say(f"{error}; looking again later")
                return before
            if self._look(found) == self._look(before):
                return found
            before, pause = found, COPIED_SECONDS
        return None

    def _look(self, found: list[Submission]) -> Look:
        return self._day(), tuple((item.name, item.sha256, item.problem) for item in found)

    def _day(self) -> str:
        return str(self.arguments.date or datetime.datetime.now(datetime.UTC).date().isoformat())

    def _wait(self, seconds: float) -> bool:
        """Wait; return False if Ctrl-C ends it."""
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(seconds)
            return True
        return False

    def _one_run(self, found: list[Submission]) -> str | None:
        """Play until the ratings are known or the time is used; return why the run ended.

        None if it was stopped.
        """
        arguments, book = self.arguments, self.book
        begun = begin(book, self.rubric, found, self._day())
        for item in found:
            if item.problem:
                say(f"{item.name}: not read: {item.problem}")
        fresh = [f"{item.student} v{item.number}" for item in begun.fresh]
        more = f"{', ...' if len(fresh) > 8 else ''} ({len(fresh)})"
        print(f"new: {', '.join(fresh[:8])}{more}" if fresh else "no new versions", flush=True)
        ended = None
        self._write(begun)
        with contextlib.suppress(KeyboardInterrupt), open_pool(arguments, book.path) as pool:
            level = isolation_level(arguments, self.rubric)
            note_run(book, level)
            run = LadderRun(
                *(book, self.rubric, begun, pool, level, arguments.minutes),
                follow=lambda game: self._follow(game, begun),
            )
            ended = run.go()
        print(table_text(self._write(begun)))
        print("stopped; the same command continues" if ended is None else ended, flush=True)
        return ended

    def _follow(self, game: PlannedGame, begun: Begun) -> None:
        """Show a game that has just been played; write the site again if it is time."""
        if self.arguments.serve is not None:
            one, two = (self.names.get(player_id(player), player.name) for player in game.players)
            self.live.show(self.book, game.key, (one, two))
        if self.arguments.site is not None and time.monotonic() - self.written > self.pause:
            self._write(begun)

    def _write(self, begun: Begun) -> Standings:
        """Write the teacher's files and the site; return the standings."""
        began = time.monotonic()
        standings = write_tables(self.book, self.rubric, begun.secret)
        if self.arguments.site is not None:
            if write_site(self.book, standings, self.arguments.site):
                self.live.site += 1
            self.names = {
                version.sha256: f"{standings.public_name(student)} v{version.number}"
                for student in reversed(standings.league.students)
                for version in student.versions
            }
        self.written = time.monotonic()
        self.pause = max(REWRITE_SECONDS, 10 * (self.written - began))
        return standings
