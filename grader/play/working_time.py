"""Loads each file and asks it for moves with more and more time, until it plays."""

import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias, cast

from connect4.errors import headline
from connect4.games import GAMES
from connect4.games.base import SIDES, Player, Seconds, State
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import LEVELS, IsolatedSeat, Level, level_of, open_seat
from connect4.players.base import Method, Outcome, Reply, Seat, Setup
from connect4.players.thoughts import WRONG
from connect4.referee import step
from grader.handin.positions import METHODS, TIMES
from grader.play import Pool, Progress, one_game
from grader.play.schedule import Contestant, limits_text
from grader.results import LOAD, PACE
from grader.results.store import Store
from grader.rubric import Board
from grader.rubric.model import AgentLimits, Rubric, limit_of_move

MOST: Final = 20.0
"""Seconds for all questions to one file."""


LOADING: Final = "load "
"""The prefix of the key that notes a loading; the hash of the submission follows."""


AT_ONCE: Final = 0.01
"""An answer in less than this share of its time is no search; three times this share is one."""

ANSWERS_AT_ONCE: Final = "answers in under 1 % of its time up to "
"""The beginning of a note: its reserve eats all of a short time."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a method gave no valid action in time: in one line, and with its traceback."""

    text: str
    seconds: Seconds
    """The time that it had."""
    detail: str = ""
    is_late: bool = False
    starved: bool = False
    """Whether it was late because the machine was too busy."""


@dataclass(slots=True)
class Asking:
    """Asks one file for moves, for at most `MOST` seconds."""

    setup: Setup
    level: Level
    limits: Limits
    say: Callable[[str], None] = field(default=lambda line: None)
    """Called with what is being asked, once that takes long."""
    began: float = field(default_factory=time.monotonic)
    is_over: bool = False
    """Whether there was no time left for a question."""
    said: str = ""
    """The last line that `say` was called with."""
    took: dict[tuple[Method, Seconds], list[Seconds]] = field(default_factory=dict)
    """What the answers of each method took with each time, on a processor."""
    changed: list[tuple[Method, str]] = field(default_factory=list)
    """The answers at which a method changed its state, and what."""
    wrong_thought: str = ""
    """The first note on a thought: which method, and what is wrong; empty without one."""
    _seat: IsolatedSeat | None = None

    def fits(self, seconds: Seconds) -> bool:
        """Return whether there is time for a question of so many seconds."""
        if time.monotonic() - self.began + seconds > MOST:
            self.is_over = True
            return False
        return True

    def player(self, method: Method, seconds: Seconds, player: Player) -> IsolatedSeat:
        """Return the seat with a new player, constructed with `seconds`; the one before is gone."""
        setup = replace(self.setup, method=method, seconds=seconds, player=player)
        if self._seat is None:
            self._seat = cast("IsolatedSeat", open_seat(setup, self.level, self.limits))
        else:
            self._seat.restart(setup)
        return self._seat

    def close(self) -> None:
        if self._seat is not None:
            self._seat.close()

    def fails(
        self, seat: Seat, state: State, method: Method, seconds: Seconds, after: Seconds = 0.0
    ) -> Failure | None:
        """Ask a player for a move; return why it is none, or None.

        An answer is waited for `after` seconds longer than its time.
        """
        if seat.load_failure is not None:
            text = f"cannot be loaded: {headline(seat.load_failure)}"
            return Failure(text, seconds, seat.load_failure)
        silent = max(0.0, self.began + 2.0 - time.monotonic())
        word = threading.Timer(silent, self._say_once, (method, seconds))
        word.start()
        try:
            reply = seat.ask(state, seconds + after)
        finally:
            word.cancel()
        used = reply.cpu_seconds or level_of(reply).seconds_of(reply)
        self.took.setdefault((method, seconds), []).append(used - 0.001)  # of doing nothing
        if reply.changed:
            self.changed.append((method, reply.changed))
        if reply.outcome is Outcome.PLAYED and (reply.detail or "").startswith(WRONG):
            self.wrong_thought = self.wrong_thought or f"get_{method}_move: {reply.detail}"
        return _failure(reply, state, seconds, after, self.limits.margin_seconds)

    def _say_once(self, method: Method, seconds: Seconds) -> None:
        line = f"asking get_{method}_move for a move with {seconds:g} s"
        if line != self.said:
            self.say(line)
        self.said = line

    def new_player_fails(
        self, state: State, method: Method, seconds: Seconds, after: Seconds
    ) -> Failure | None:
        """Ask a new player for its first move; return why it is none, or None."""
        seat = self.player(method, seconds, state.mover)
        return self.fails(seat, state, method, seconds, after)

    def at_once_up_to(self, method: Method, state: State, times: Iterable[Seconds]) -> Seconds:
        """Return the longest of `times` with which a method answers at once; 0 if there is none.

        A file that always answers at once is not meant: with more time this one searches.
        """
        last = 0.0
        for seconds in times:
            if len(self.took.get((method, seconds), ())) < 2:
                if not self.fits(2 * seconds):
                    return 0.0
                seat = self.player(method, seconds, state.mover)
                for _ in SIDES:  # the first answer of a process takes longer
                    self.fails(seat, state, method, seconds)
            least = min(self.took[method, seconds])
            if least >= AT_ONCE * seconds:
                return last if least >= 3 * AT_ONCE * seconds else 0.0
            last = seconds
        return 0.0


def _failure(
    reply: Reply, state: State, seconds: Seconds, after: Seconds, margin: Seconds
) -> Failure | None:
    """Return what is wrong with a reply that was waited for `after` seconds longer."""
    detail = reply.detail or ""
    starved = reply.starved and reply.cpu_seconds < seconds
    late = partial(Failure, seconds=seconds, detail=detail, is_late=True, starved=starved)
    if reply.outcome is Outcome.TIMEOUT:
        more = f", nor in the {after:.1g} s after that; does it end?" if after else ""
        return late(f"no answer within {seconds:g} s{more}")
    turn, _ = step(1, state, reply)
    wrong = None if turn.outcome is Outcome.PLAYED else headline(turn.detail or turn.outcome)
    over = reply.seconds - seconds
    if after and over > margin:
        what = wrong or f"the move itself, {reply.text}, is legal"
        shown = math.ceil(over * 100) / 100
        return late(f"the answer came {shown:.2f} s after its {seconds:g} s were over; {what}")
    return None if wrong is None else Failure(wrong, seconds, detail)


def asking_for(
    source: bytes, rubric: Rubric, level: Level, say: Callable[[str], None], seconds: Seconds
) -> Asking:
    """Return what asks a source for moves, which are for games of the rubric."""
    game, limits = GAMES[rubric.match.game], one_game.limits_of(rubric.limits)
    terms = game, seconds, 0, None, source, rubric.submission.allowed
    return Asking(Setup(one_game.OWN_FILE, 1, *terms), level, limits, say)


Trial: TypeAlias = Callable[[Method, Seconds, Seconds], Failure | None]
"""Asks a method with a time, and waits so much longer for late answers; returns what is wrong."""


def probe(
    asking: Asking, methods: Sequence[Method], times: Sequence[Seconds], trial: Trial
) -> Iterator[tuple[Method, Seconds | None, Failure | None]]:
    """Yield for each method the first of `times` at which its trial does not fail, else why.

    Without a time and a failure there was no time left to find out. What one method needs, the next
    ones get.
    """
    left = list(times)
    for method in methods:
        failure = None
        for place, seconds in enumerate(left):
            if not asking.fits(seconds):
                yield method, None, failure
                break
            failure = trial(method, seconds, 2.0 if seconds == times[-1] else 0.0)
            if failure is None:
                yield method, seconds, None
                left = left[place:]
                break
        else:
            yield method, None, failure
            left = left[-1:] if failure is not None and failure.is_late else list(times)


def plays_from(
    asking: Asking, methods: Sequence[Method], state: State, times: Sequence[Seconds]
) -> tuple[Seconds | None, Failure | None]:
    """Return the first of `times` at which each method gives a move, else None and why not."""
    needed = None
    trial = partial(asking.new_player_fails, state)
    for method, seconds, failure in probe(asking, methods, times, trial):
        if seconds is None:
            return None, failure and replace(failure, text=f"get_{method}_move: {failure.text}")
        needed = seconds
    return needed, None


@dataclass(frozen=True, slots=True)
class Pace:
    """What a run asks of a file: moves of these methods with this time, on these boards."""

    seconds: Seconds
    methods: tuple[Method, ...]
    boards: tuple[Board, ...]

    @property
    def times(self) -> list[Seconds]:
        return sorted({*TIMES, self.seconds})

    @property
    def board(self) -> Board:
        """Return the largest board; not a hidden one, which a file's error could show."""
        shown = [board for board in self.boards if not board.hidden]
        if not shown:
            game = GAMES[self.boards[0].game]
            return Board(game.name, game.start(None, None).to_json(), game=game.name)
        return max(shown, key=lambda board: board.state.board().size)

    def key(self, rubric: Rubric) -> str:
        """Return what the answer depends on besides the file."""
        terms = [self.seconds, self.methods, self.board.digest, limits_text(rubric)]
        return json.dumps(terms)


def too_slow(
    contestants: Iterable[Contestant], rubric: Rubric, pace: Pace, store: Store
) -> list[str]:
    """Return lines that name the files for which the time of a run is too short to play well."""
    slow = slow_files(rubric, store, pace)
    lines = [f"  {item.name}: {slow[item.sha256]}" for item in contestants if item.sha256 in slow]
    given = limit_of_move(rubric, pace.seconds)
    return [f"with {given} a move these files do not play as they could:", *lines] if lines else []


def grading_pace(rubric: Rubric) -> Pace:
    """Return what a grading asks of a file."""
    boards = *rubric.part_a.boards, *rubric.part_b.boards
    return Pace(rubric.match.time_limit, METHODS, boards)


def slow_files(rubric: Rubric, store: Store, pace: Pace) -> dict[str, str]:
    """Return from which time on the files play that do not in a run, in words, by hash.

    Also those that answer at once, because their reserve is longer than the time of a move.
    """
    given = limit_of_move(rubric, pace.seconds)
    found: dict[str, str] = {}
    for sha256, text in store.notes(PACE, pace.key(rubric)).items():
        if text is not None:
            found[sha256] = text
            with suppress(ValueError):  # it is no time if the file plays with none
                would_do = limit_of_move(rubric, float(text))
                found[sha256] = f"plays from {would_do} a move, not at {given}"
    return found


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of loading a submission."""

    problem: str | None = None
    """The submission's error, None if it can be loaded."""
    slow: str | None = None
    """The time from which on it plays, or why it does not; None if the job's time will do."""
    fault: str | None = None
    """The grader's error."""


def try_load(
    item: Contestant, source: bytes | None, limits: AgentLimits, pace: Pace, level: Level
) -> Loaded:
    """Load a submission as player 1 and, if that fails, as player 2; then ask it for moves.

    Whether it is too slow stays open if that cannot be known.
    """
    problem: str | None = None
    game, state, limit = GAMES[pace.board.game], pace.board.state, pace.seconds
    try:
        LEVELS[level].check_same(limits.module)
        agent = one_game.agent_of(item, game)
        setup = Setup(agent, 1, game, limit, 0, "intelligent", source, limits.allowed)
        with closing(Asking(setup, level, one_game.limits_of(limits))) as asking:
            for side in SIDES:
                seat = asking.player("intelligent", limit, side)
                if seat.load_failure is not None:
                    problem = problem or seat.load_failure
                    continue
                needed, failure = plays_from(asking, pace.methods, state, pace.times)
                if needed is None:
                    if failure is None or failure.starved or failure.seconds < limit:
                        return Loaded()
                    most = f"no move with up to {failure.seconds:g} s"
                    return Loaded(slow=f"{most}: {failure.text}")
                if needed > limit:
                    return Loaded(slow=f"{needed:g}")
                longer = [seconds for seconds in pace.times if seconds >= needed]
                each = (asking.at_once_up_to(method, state, longer) for method in pace.methods)
                at_once = max(each)
                is_short = at_once >= limit
                return Loaded(slow=f"{ANSWERS_AT_ONCE}{at_once:g} s" if is_short else None)
        return Loaded(problem)
    except Exception as error:  # a grader's fault is never a submission's
        return Loaded(fault=one_game.one_line(error))


def is_passing(problem: str) -> bool:
    """Return whether a load failure may be temporary."""
    passing = r"was not loaded within \S+ s$|its process was killed"
    return re.search(passing, headline(problem)) is not None


def load_all(
    contestants: Iterable[Contestant], rubric: Rubric, store: Store, pool: Pool, pace: Pace
) -> list[tuple[Contestant, str | None, str | None]]:
    """Load each contestant that has a file; return it with its problem and the grader's fault.

    One that can be loaded is asked for moves, see `too_slow`.
    """
    limits, asked = limits_text(rubric), pace.key(rubric)
    found: list[tuple[Contestant, str | None, str | None]] = []
    new = _unknown(contestants, store.notes(LOAD, limits), store.notes(PACE, asked))
    progress = Progress(len(new), "files asked for a move") if len(new) > 3 else None

    def ahead() -> Iterator[tuple[Contestant, tuple[Any, ...]]]:
        for item in new:
            store.begin(f"{LOADING}{item.sha256}")
            yield item, (item, item.source(store), rubric.limits, pace, pool.level)

    try:
        with closing(one_game.spread(pool.executor, try_load, ahead(), pool.slots)) as done:
            for item, future in done:
                try:
                    loaded = future.result()
                except Exception as error:  # the worker could not return it
                    loaded = Loaded(fault=one_game.one_line(error))
                store.end(f"{LOADING}{item.sha256}", died=False)
                if loaded.fault is None:
                    store.note(LOAD, str(item.sha256), limits, loaded.problem)
                    if loaded.problem is None:
                        store.note(PACE, str(item.sha256), asked, loaded.slow)
                if progress is not None:
                    progress.step()
                found.append((item, loaded.problem, loaded.fault))
    finally:
        store.end_all()
    return found


def _unknown(
    contestants: Iterable[Contestant],
    loaded: Mapping[str, str | None],
    asked: Mapping[str, str | None],
) -> list[Contestant]:
    """Return one contestant of each source without a result, or whose failure may be temporary."""
    known = {
        sha256
        for sha256, problem in loaded.items()
        if (sha256 in asked if problem is None else not is_passing(problem))
    }
    by_source = {item.sha256: item for item in contestants if item.sha256 is not None}
    return [item for sha256, item in by_source.items() if sha256 not in known]
