"""One run of the ladder: finds new versions, chooses pairs and plays them, as `grade` does."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from connect4.errors import headline
from grader.handin import form
from grader.handin.submission import Submission
from grader.ladder.book import Book, PlannedPair, Version
from grader.ladder.fit import choose, widest_first
from grader.ladder.league import League, player_id, read_league, terms_of
from grader.play.executors import Pool, duration
from grader.play.one_game import DEADLY, HOPELESS, play_suspects_alone
from grader.play.schedule import PlannedGame, opponent
from grader.play.trials import agent_trials, play_trials
from grader.play.working_time import Pace, load_all, too_slow
from grader.results.store import ATTEMPTS, Attempt
from grader.rubric.model import Rubric
from grader.rubric.reading import stored_values

KNOWN: Final = "every rating is known well enough"
UNPLAYED: Final = "no game could be played; see the failures above"

EVERY: Final = 30.0
"""Seconds between two lines of progress."""

Follow = Callable[[PlannedGame], None]
"""Called after each game has been stored."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that has begun: its number, and the new versions."""

    number: int
    fresh: list[Version]


def begin(book: Book, rubric: Rubric, found: Sequence[Submission], day: str) -> Begun:
    """Store the hand-ins of a day, and begin a run or continue a stopped one.

    The form of new versions is checked.
    """
    secret = book.secret(make=True) if rubric.match.seed is None else rubric.match.seed
    assert secret is not None
    for title in book.take_stock():
        print(f"the last run was ended by the machine during {title}", file=sys.stderr)
    known = book.known()
    problems: dict[str, str] = {}
    for item in found:
        if item.source is None or item.problem or item.sha256 in known:
            continue
        findings = form.check_source(item.source, rubric.submission)
        broken = next((finding for finding in findings if finding.required), None)
        if broken is not None:
            problems[str(item.sha256)] = f"line {broken.line}: {broken.rule}: {broken.text}"
    fresh = book.note(found, problems, day, secret)
    book.set_meta({"day": day, "rubric": json.dumps(stored_values(rubric))})
    return Begun(book.begin_run(day), fresh)


@dataclass
class LadderRun:
    """Plays until every rating is known well enough, or the time is used."""

    book: Book
    rubric: Rubric
    begun: Begun
    pool: Pool
    level: str
    minutes: float
    follow: Follow = lambda game: None
    began: float = field(default_factory=time.monotonic)
    held: set[str] = field(default_factory=set)
    """The sources whose processes could not be ended."""
    tries: Counter[str] = field(default_factory=Counter)
    """How often a game has failed in this run, by key."""
    played: int = 0
    failed: int = 0
    told: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.terms = terms_of(self.rubric)

    @property
    def seconds_left(self) -> float:
        """Return how many seconds of the run's time are left."""
        return self.minutes * 60 - (time.monotonic() - self.began)

    def go(self) -> str:
        """Play; return why the run ended."""
        ended = self._play_rounds()
        self.book.end_run(self.begun.number, f"{len(self.begun.fresh)} new; {ended}")
        return ended

    def _play_rounds(self) -> str:
        rules = self.rubric.ladder
        trials = agent_trials(map(opponent, rules.rungs), rules.boards, self.rubric)
        play_trials(trials, "rung", self.rubric.source, self.book, self.pool, self.level)
        league = self._load(read_league(self.book, self.rubric))
        while True:
            waiting = self._waiting(league)
            if self.seconds_left <= 0:
                return f"the time is used ({self.minutes:g} min)"
            if not waiting:
                plans = self._next_round(league)
                if not plans:
                    return KNOWN
                rows = [(plan, [game.key for game in league.games(plan)]) for plan in plans]
                self.book.plan(rows, self.begun.number, self.terms)
                continue
            self._play(waiting, league)
            if self.failed >= HOPELESS and not self.played:
                return UNPLAYED

    def _next_round(self, league: League) -> list[PlannedPair]:
        """Return the pairs of the next round; none if no player needs one."""
        rules = self.rubric.ladder
        players = league.players
        current = [at for at in league.current() if player_id(players[at]) not in self.held]
        needing = widest_first(league.fit, [place for place in current if place], rules.width)
        chosen = choose(
            league.fit,
            needing,
            current,
            [place for place in league.rungs if place in current],
            self.pool.slots,
            self._void(league),
        )
        return [league.planned(item) for item in chosen]

    def _void(self, league: League) -> dict[int, set[int]]:
        """Return for each player the opponents against which a game keeps failing."""
        found: dict[int, set[int]] = {}
        hopeless = self._hopeless()
        for plan, missing in self.book.unplayed(self.terms).items():
            if not hopeless.isdisjoint(missing):
                one, two = league.index.get(plan.one), league.index.get(plan.two)
                if one is not None and two is not None:
                    found.setdefault(one, set()).add(two)
                    found.setdefault(two, set()).add(one)
        return found

    def _hopeless(self) -> set[str]:
        """Return the keys of the games that are no longer tried."""
        final = {key for key, count in self.tries.items() if count >= ATTEMPTS}
        return final | {key for key, deaths in self.book.suspects().items() if deaths >= DEADLY}

    def _waiting(self, league: League) -> list[PlannedGame]:
        """Return the games of planned pairs that have no result and can be played."""
        hopeless = self._hopeless()
        able = {player_id(league.players[place]) for place in league.rungs}
        able |= {item.sha256 for item in league.versions() if item.problem is None}
        return [
            game
            for plan, missing in self.book.unplayed(self.terms).items()
            if {plan.one, plan.two} <= able - self.held and hopeless.isdisjoint(missing)
            for game in league.games(plan)
            if game.key in missing
        ]

    def _play(self, waiting: list[PlannedGame], league: League) -> None:
        """Play the games of planned pairs until they are done or the time is used."""

        def in_time(games: Iterable[PlannedGame]) -> Iterator[PlannedGame]:
            for game in games:
                if self.seconds_left <= 0:
                    return
                yield game

        done = play_suspects_alone(waiting, in_time, self.book, self.pool, self.level)
        with contextlib.closing(done):
            for game, attempt in done:
                self._count(game, attempt)
                self.follow(game)
        league.rate(self.book.pairs(self.terms))

    def _count(self, game: PlannedGame, attempt: Attempt) -> None:
        self.played += attempt.fault is None
        self.failed += attempt.fault is not None
        if attempt.fault:
            self.tries[game.key] += 1
            print(f"{game.title}: {attempt.fault}", file=sys.stderr)
        for side in attempt.left_behind:
            self.held.add(str(game.players[side - 1].sha256))
        if time.monotonic() - self.told >= EVERY:
            self.told = time.monotonic()
            left = duration(max(0.0, self.seconds_left))
            print(f"{self.played} games played, at most {left} left", file=sys.stderr, flush=True)

    def _load(self, league: League) -> League:
        """Load each current version once; return the league without those that fail."""
        names = league.real_names()  # the teacher's terminal shows no pseudonyms
        current = [league.players[place] for place in league.current() if place not in league.rungs]
        wanted = [replace(player, name=names[str(player.sha256)]) for player in current]
        rules = self.rubric.ladder
        pace = Pace(rules.time_limit, ("intelligent",), rules.boards)
        trials = load_all(wanted, self.rubric, self.book, self.pool, self.level, pace)
        changed = False
        with contextlib.closing(trials):
            for player, problem, fault in trials:
                if problem is not None or fault is not None:
                    changed = True
                    print(f"{player.name}: {fault or headline(problem or '')}", file=sys.stderr)
        for line in too_slow(wanted, self.rubric, pace, self.book):
            print(line, file=sys.stderr, flush=True)
        return read_league(self.book, self.rubric) if changed else league
