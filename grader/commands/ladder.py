"""The command `ladder`: rates every version that a class hands in over a term.

A run finds new versions, chooses pairs and plays them, as `grade` does.
"""

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final

from connect4.errors import InputError, headline
from grader.commands import DONE, STOPPED, UNLIKELY, Playing, say
from grader.handin import Submission, form, named_few
from grader.handin import find as submissions
from grader.ladder import Book, Version
from grader.ladder import league as leagues
from grader.ladder.fit import choose, widest_first
from grader.ladder.site import challenge_place, write_site, write_unlikely
from grader.marks.tally import Tally
from grader.output import check_out
from grader.output.results import note_run
from grader.play import EVERY, Pool, duration, number_of, per_minute
from grader.play.one_game import HOPELESS, play_suspects_alone
from grader.play.schedule import PlannedGame
from grader.play.trials import DEADLY, prove_deadly
from grader.play.working_time import Pace, load_all, too_slow
from grader.results import ATTEMPTS, Attempt, Faults, utc_now
from grader.results.store import COMMAND
from grader.rubric.model import PRACTICE_SEED, Rubric
from grader.rubric.reading import PUBLIC_SEED, stored_values

KNOWN: Final = "every rating is known well enough"
UNPLAYED: Final = "no game could be played; see the failures above"


def begin(book: Book, rubric: Rubric, found: Sequence[Submission], day: str) -> list[Version]:
    """Store the hand-ins of a day, check the form of new versions, and return these."""
    secret = book.secret(make=True) if rubric.match.seed is None else rubric.match.seed
    assert secret is not None
    if ended := len(book.take_stock()):
        say(f"the last run was ended by the machine during {number_of(ended, 'game')}")
    values = json.dumps(stored_values(rubric))
    held = book.meta_json("rubric") or {}
    unchanged = held.get("submission") == json.loads(values)["submission"]
    students = book.students() if unchanged else []  # else the form of all is checked
    known = {(of.name, version.sha256) for of in students for version in of.versions}
    problems: dict[str, str | None] = {}
    for item in found:
        if item.source is None or item.problem or (item.name, item.sha256) in known:
            continue
        findings = form.check(item.source, item.report, rubric.submission)
        required = (one for one in findings if one.required and not one.in_report)
        lines = (f"line {broken.line}: {broken.rule}: {broken.text}" for broken in required)
        problems[str(item.sha256)] = next(lines, None)
    fresh = book.note_hand_ins(found, problems, day, secret)
    book.set_meta({"day": day, "rubric": values})
    return fresh


@dataclass
class LadderRun:
    """Plays until every rating is known well enough, or the time is used."""

    book: Book
    rubric: Rubric
    pool: Pool
    minutes: float
    after_round: Callable[[], object] = lambda: None
    began: float = field(default_factory=time.monotonic)
    tries: Counter[str] = field(default_factory=Counter)
    """How often a game has failed in this run, by key."""
    played: int = 0
    told: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.terms = leagues.terms_of(self.rubric)

    @property
    def seconds_left(self) -> float:
        """Return how many seconds of the run's time are left."""
        return max(0.0, self.began + self.minutes * 60 - time.monotonic())

    def go(self) -> str:
        """Play; return why the run ended."""
        league = self._load(leagues.read_league(self.book, self.rubric))
        while True:
            waiting = self._waiting(league)
            if self.seconds_left <= 0:
                return f"the time is used ({self.minutes:g} min)"
            if not waiting:
                current, width = league.current(), self.rubric.ladder.width
                versions = [place for place in current if place not in league.rungs]
                needing = widest_first(league.fit, [place for place in current if place], width)
                rungs, slots = sorted({*current} - {*versions}), self.pool.slots
                pairs = choose(league.fit, needing, current, rungs, slots, self._void(league))
                if not pairs:
                    return KNOWN
                plans = [league.planned(*pair) for pair in pairs]
                self.book.plan([(plan, league.games(plan)) for plan in plans], self.terms)
                continue
            self._play(waiting, league)
            if self.tries.total() >= HOPELESS and not self.played:
                return UNPLAYED

    def challenge(self, names: Sequence[str]) -> str:
        """Play an unrated match of two players, a pair of games on each board; return its end.

        A match of theirs that was stopped goes on instead.
        """
        league = self._load(leagues.read_league(self.book, self.rubric))
        places = [league.find(name) for name in names]
        first, second = (leagues.player_id(league.players[place]) for place in places)
        if first == second:
            raise InputError(f"--challenge: {names[0]} and {names[1]} are the same file")
        both = {first, second}
        if not any({one.one, one.two} == both for one in self.book.unplayed(self.terms, False)):
            plans = [league.planned(*places) for _ in self.rubric.ladder.boards]
            games = [(plan, league.games(plan)) for plan in plans]
            self.book.plan(games, self.terms, rated=False)
        while waiting := self._waiting(league, both):
            if self.seconds_left <= 0:
                return f"the time is used ({self.minutes:g} min)"
            self._play(waiting, league)
        total = Tally()
        for game in self.book.games(self.terms, rated=False):
            if {game.one, game.two} == both:
                total.count(game.margin if game.one == first else -game.margin, 0, Faults())
        if not (self.played and total.games):
            return UNPLAYED
        place = challenge_place(league.secret, first, second)
        result = f"won-drawn-lost {total.record()}, no rating changes; page {place}"
        return f"{' against '.join(names)}: {result}"

    def _void(self, league: leagues.League) -> dict[int, set[int]]:
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

    def _waiting(self, league: leagues.League, both: set[str] | None = None) -> list[PlannedGame]:
        """Return the rated games, or the unrated ones of `both`, without a result to be played."""
        hopeless = self._hopeless()
        able = {leagues.player_id(league.players[place]) for place in league.rungs}
        able |= {item.sha256 for item in league.versions() if item.problem is None}
        return [
            game
            for plan, missing in self.book.unplayed(self.terms, both is None).items()
            if both in (None, {plan.one, plan.two})
            and {plan.one, plan.two} <= able
            and hopeless.isdisjoint(missing)
            for game in league.games(plan)
            if game.key in missing
        ]

    def _play(self, waiting: list[PlannedGame], league: leagues.League) -> None:
        """Play the games of planned pairs until they are done or the time is used."""
        in_time = partial(takewhile, lambda game: self.seconds_left > 0)
        done = play_suspects_alone(waiting, in_time, self.book, self.pool)
        with contextlib.closing(done):
            for game, attempt in done:
                self._count(game, attempt)
        prove_deadly(waiting, self.book, self.pool)
        league.rate(self.book.pairs(self.terms))
        self.after_round()

    def _count(self, game: PlannedGame, attempt: Attempt) -> None:
        self.played += attempt.fault is None
        if attempt.fault:
            self.tries[game.key] += 1
            say(f"{game.title}: {attempt.fault}")
        if time.monotonic() - self.told >= EVERY:
            self.told = time.monotonic()
            rate = per_minute(self.played, time.monotonic() - self.began)
            left = duration(self.seconds_left)
            say(f"{self.played} games played, {rate}, at most {left} left")

    def _load(self, league: leagues.League) -> leagues.League:
        """Load each current version once; return the league without those that fail."""
        names = league.real_names()  # the teacher's terminal shows no pseudonyms
        current = [league.players[place] for place in league.current() if place not in league.rungs]
        wanted = [replace(player, name=names[str(player.sha256)]) for player in current]
        rules = self.rubric.ladder
        pace = Pace(rules.time_limit, ("intelligent",), rules.boards)
        loaded = load_all(wanted, self.rubric, self.book, self.pool, pace)
        failed = [one for one in loaded if any(one[1:])]
        for player, problem, fault in failed:
            say(f"{player.name}: {fault or headline(problem or '')}")
        for line in too_slow(wanted, self.rubric, pace, self.book):
            say(line)
        return leagues.read_league(self.book, self.rubric) if failed else league


def ladder(
    paths: Sequence[Path],
    playing: Playing,
    results: Path | None = None,
    site: Path | None = None,
    playground: str | None = None,
    minutes: float = 30,
    challenge: Sequence[str] = (),
) -> int:
    """Rate new versions until the ratings are known, the time is used or Ctrl-C.

    With the names of two versions as `challenge`, play an unrated match of these instead.
    `playground` is the address of a site that the ladder's `site` links to.
    """
    rubric = playing.rubric
    if rubric.match.seed == PRACTICE_SEED:
        raise InputError(PUBLIC_SEED.format(source=rubric.source))
    if any(board.hidden for board in rubric.ladder.boards):
        raise InputError(
            f"{rubric.source}: ladder.boards: the ladder shows its games, so it cannot use a "
            "hidden board"
        )
    playing.workers()
    if site is not None:
        check_out(site)
    found = submissions.find(paths, rubric.submission)
    with Book(results or Path("ladder.db"), writing=True) as book:
        new = begin(book, rubric, found, utc_now()[:10])
        if not challenge:
            book.set_meta({COMMAND: json.dumps(playing.words)})
        for item in found:
            if item.problem:
                say(f"{item.name}: not read: {item.problem}")
        fresh = [f"{item.student} v{item.number}" for item in new]
        print(f"new: {named_few(fresh)}" if fresh else "no new versions", flush=True)
        write = partial(write_files, book, rubric, site, playground or "")
        write()
        ended, status = "stopped; the same command continues", STOPPED
        with contextlib.suppress(KeyboardInterrupt), playing.pool(playing.level()) as pool:
            note_run(book, pool.level)
            run = LadderRun(book, rubric, pool, minutes, write)
            ended = run.challenge(challenge) if challenge else run.go()
            status = STOPPED if ended == UNPLAYED else DONE
        standings = write()
        print("" if challenge else f"{leagues.table_text(standings)}\n", end="")
        print(ended, flush=True)
    return status


def write_files(
    book: Book, rubric: Rubric, site: Path | None, playground: str
) -> leagues.Standings:
    """Write the teacher's files and the site, before, during and after play."""
    standings = leagues.write_tables(book, rubric)
    pairs, place = write_unlikely(book, standings)
    if pairs:
        say(UNLIKELY.format(pairs, place))
    if site is not None:
        write_site(book, standings, site, playground)
    return standings
