"""The command `ladder`: rates every version that a class hands in over a term.

It can show the site on this machine during play, beside the game that was played last.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

from connect4.errors import InputError
from connect4.views import document
from connect4.views.page.page import PARTS
from connect4.views.web.server import POLICY, Content, Server
from grader.commands.common import DONE, STOPPED, isolation_level, open_pool, read_rubric, say
from grader.handin import find as submissions
from grader.handin.submission import Submission
from grader.ladder.book import Book
from grader.ladder.league import Standings, played_text, ratings_csv, table_text
from grader.ladder.run import KNOWN, UNPLAYED, LadderRun, begin
from grader.ladder.site import write_site
from grader.output.files import check_out, write
from grader.output.replays import made_public, replay
from grader.output.results import note_run
from grader.play.executors import worker_count
from grader.play.schedule import PlannedGame
from grader.rubric.model import PRACTICE_SEED, Rubric
from grader.rubric.reading import PUBLIC_SEED

KINDS: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
}
"""The media types of the files of a site."""

NO_GAME: Final = "<main><p>No game has ended yet.</p></main>"


def _waiting() -> str:
    return document.whole("No game yet", document.style_sheet(("base",)), NO_GAME)


@dataclass
class Live:
    """The state that the page polls: numbers that increase when the site or the game changes."""

    site: int = 0
    game: int = 0
    text: str = "no game yet"
    latest: str = field(default_factory=_waiting)

    def show(self, book: Book, key: str, names: tuple[str, str]) -> None:
        """Show a game that has just been played."""
        data = replay(book, key, names)
        if data is None:
            return
        one, two = data["scores_end"]
        title = f"{names[0]} {one}, {names[1]} {two}"
        self.latest = document.build(title, PARTS, {"games": [made_public(data)]})
        self.text = f"just played: {title}"
        self.game += 1


def site_file(site: Path, path: str) -> Content | None:
    """Return a file of the site, None if there is none of that name."""
    files = {file.relative_to(site).as_posix(): file for file in site.rglob("*") if file.is_file()}
    found = files.get(unquote(path.removeprefix("site/"))) if path.startswith("site/") else None
    kind = None if found is None else KINDS.get(found.suffix)
    if found is None or kind is None:
        return None
    return Content(kind, found.read_text(encoding="utf-8"), "")


@contextlib.contextmanager
def serving(site: Path, port: int, live: Live) -> Iterator[str]:
    """Serve the site on this machine only; yield the address. Port 0 takes any free one."""
    page = document.served("Ladder", document.assets(("live",), "html"))
    style, script = document.style_sheet(("base", "live")), document.assets(("theme", "live"), "js")

    def state() -> str:
        return json.dumps({"site": live.site, "game": live.game, "text": live.text})

    with Server(port, with_token=False) as server:
        server.gets = {
            "": lambda: Content("text/html", page, f"{POLICY}; frame-src 'self'"),
            "page.css": lambda: Content("text/css", style),
            "page.js": lambda: Content("text/javascript", script),
            "live.json": lambda: Content("application/json", state()),
            "latest.html": lambda: Content("text/html", live.latest, ""),
        }
        server.find = lambda path: site_file(site, path)
        yield server.address


REWRITE_SECONDS: Final = 5.0
"""During play the site is written at most once in these seconds, and for a tenth of the time."""


EARLY: Final = "stopped; the same command continues"
"""Why a run ended that Ctrl-C has stopped."""

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
            command.go()
    return command.status


def write_tables(book: Book, rubric: Rubric) -> Standings:
    """Write the teacher's files beside the results file; return the standings."""
    standings = Standings(book, rubric)
    text = ratings_csv(standings, book.submissions(), rubric.ladder.address)
    write(book.path.with_suffix(".csv"), text)
    write(book.path.with_name(f"{book.path.stem}-runs.csv"), played_text(book, standings.league))
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
    told: bool = False
    """Whether the command has reported that it looks for new hand-ins."""
    status: int = STOPPED
    """The exit status if the command ends now."""

    def go(self) -> None:
        """Run once, or with `--watch` until it is stopped."""
        known: Look | None = None
        found = self._find()
        while True:
            if self._look(found) != known:
                ended = self._one_run(found)
                if ended == EARLY:
                    return
                known = self._look(found) if ended == KNOWN else None
            if self.arguments.watch is None:
                break
            if known is not None and not self.told:
                self.told = True
                seconds = self.arguments.watch
                print(f"looking for new hand-ins every {seconds:g} s; Ctrl-C ends this", flush=True)
            found = self._find_later(found)
        if self.arguments.serve is not None:
            print("done; the site is available until Ctrl-C", flush=True)
            while True:
                time.sleep(HOUR)

    def _find(self) -> list[Submission]:
        return submissions.find(self.arguments.paths, self.rubric.submission)

    def _find_later(self, before: list[Submission]) -> list[Submission]:
        """Wait, and return the hand-ins when no file changes any more: one may be half copied.

        If they cannot be read, report it and return those of the last time.
        """
        pause = self.arguments.watch
        while True:
            time.sleep(pause)
            try:
                found = self._find()
            except InputError as error:
                say(f"{error}; looking again later")
                return before
            if self._look(found) == self._look(before):
                return found
            before, pause = found, COPIED_SECONDS

    def _look(self, found: list[Submission]) -> Look:
        return self._day(), tuple((item.name, item.sha256, item.problem) for item in found)

    def _day(self) -> str:
        return str(self.arguments.date or datetime.datetime.now(datetime.UTC).date().isoformat())

    def _one_run(self, found: list[Submission]) -> str:
        """Play until the ratings are known, the time is used or Ctrl-C; return why it ended."""
        arguments, book = self.arguments, self.book
        self.status = STOPPED
        begun = begin(book, self.rubric, found, self._day())
        for item in found:
            if item.problem:
                say(f"{item.name}: not read: {item.problem}")
        fresh = [f"{item.student} v{item.number}" for item in begun.fresh]
        more = f"{', ...' if len(fresh) > 8 else ''} ({len(fresh)})"
        print(f"new: {', '.join(fresh[:8])}{more}" if fresh else "no new versions", flush=True)
        ended = EARLY
        self._write()
        with contextlib.suppress(KeyboardInterrupt), open_pool(arguments, book.path) as pool:
            level = isolation_level(arguments, self.rubric)
            note_run(book, level)
            terms = book, self.rubric, begun, pool, level, arguments.minutes
            ended = LadderRun(*terms, self._follow).go()
            self.status = STOPPED if ended == UNPLAYED else DONE
        print(table_text(self._write()))
        print(ended, flush=True)
        return ended

    def _follow(self, game: PlannedGame) -> None:
        """Show a game that has just been played; write the site again if it is time."""
        if self.arguments.serve is not None:
            one, two = game.players
            self.live.show(self.book, game.key, (one.name, two.name))
        if self.arguments.site is not None and time.monotonic() - self.written > self.pause:
            self._write()

    def _write(self) -> Standings:
        """Write the teacher's files and the site; return the standings."""
        began = time.monotonic()
        standings = write_tables(self.book, self.rubric)
        if self.arguments.site is not None:
            link = self.arguments.playground or ""
            if write_site(self.book, standings, self.arguments.site, link):
                self.live.site += 1
        self.written = time.monotonic()
        self.pause = max(REWRITE_SECONDS, 10 * (self.written - began))
        return standings
