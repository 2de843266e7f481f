"""What each move of a finished game cost: `python3 -m connect4.analysis RECORD --time S`.

Every position is searched for `S` seconds by the strongest agent that the kit has for the game.
Where its move is not the one that was played, the position after its move is searched as well, so
that the two are compared at the same depth: what the played move is behind is its cost.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from typing import Any, Final

from connect4 import record as records
from connect4.cli import Parser, check_place, time_limit
from connect4.errors import BadInput
from connect4.games.base import Action, Game, Player, Seconds, State, opponent
from connect4.games.classic import CLASSIC
from connect4.games.extended import EXTENDED
from connect4.isolation.questions import Questions
from connect4.players.base import Outcome, Setup
from connect4.players.names import AgentName
from connect4.players.student import read_answer
from connect4.record import Record
from connect4.search import solver
from connect4.search.deadline import Deadline, OutOfBudget
from connect4.search.deepening import deepen
from connect4.search.evaluation import WIN
from connect4.search.heuristics import DEFAULT, HEURISTICS
from connect4.search.minimax import Found
from connect4.search.ordering import center
from connect4.search.transposition import TableAlphaBeta

DECIDED: Final = 100.0
"""What a win at once is worth in a game that only winning counts in; each ply until it costs 1."""

ESTIMATE: Final = 40.0
"""What an undecided position of such a game is worth at most."""

SCALES: Final = {"windows": 20.0, "fuzzy": 2.0}
"""What is a clear advantage by the heuristics of such games."""

UNIT_OF_WINS: Final = "hundredths of a win"

DEEPEST: Final = 144
"""Plies that no search goes beyond."""

MAX_JOBS: Final = 256

WORST: Final = 3
"""Moves of each side that are named as the worst."""


OWN_FILE: Final = AgentName("ai", "ai")
"""The student's file in its place."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What best play comes to from a position: a value from player 1's view, and its moves."""

    value: float
    line: tuple[Action | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Expert:
    """The strongest agent for a game, as a judge of its positions.

    `unit` says what its values count. `evaluate(state, seconds)` takes positions that are not over.
    """

    agent: str
    unit: str
    evaluate: Callable[[State, Seconds], Expected]
    final: Callable[[State], float]
    """Returns the value, from player 1's view, of a position that is over."""

    def expect(self, state: State, seconds: Seconds) -> Expected:
        """Return what best play comes to from any position."""
        if state.is_over():
            return Expected(self.final(state))
        return self.evaluate(state, seconds)


def expert_for(game: Game, start: State, file: AgentName = OWN_FILE) -> Expert:
    """Return the expert of a game that begins with `start`.

    For ExtendedConnect4 it is the student's file, if its `AIPlayer` offers the method
    `expected_play(state)`, which returns the margin that best play expects for that player, and
    the moves of it; raises `BadInput` where that file cannot be loaded. For Connect 4 of 6 by 7 it
    is the solver, with alpha-beta where it runs out of time. Else it is alpha-beta with a
    heuristic: in points where points decide, on a scale on which a win is worth 100 where they do
    not.
    """
    if game is EXTENDED and offers_to_judge(file):
        return Expert(file.text, "points", FileJudge(file), lambda state: state.margin(1))
    name = "margin" if game is EXTENDED else DEFAULT[game.name]
    heuristic = HEURISTICS[name]
    evaluation = heuristic.evaluation(game.name)
    point = heuristic.point[game.name]
    agent = f"alphabeta:heuristic={name}"

    def evaluate(state: State, seconds: Seconds) -> Expected:
        search = TableAlphaBeta(evaluation, center, Deadline(seconds))
        found = deepen(search, state, DEEPEST)
        value = found.value / point if point else worth(found, SCALES[name])
        return Expected(value if state.mover == 1 else -value, found.line)

    if point:
        return Expert(agent, "points", evaluate, lambda state: state.margin(1))
    solves = game is CLASSIC and start.setting == solver.SETTING
    return Expert(
        f"solver, else {agent}" if solves else agent,
        UNIT_OF_WINS,
        solving(evaluate) if solves else evaluate,
        lambda state: DECIDED * state.margin(1),
    )


def solving(
    otherwise: Callable[[State, Seconds], Expected],
) -> Callable[[State, Seconds], Expected]:
    """Return an `evaluate` that solves what it can in half of the time."""
    perfect = solver.Solver()

    def evaluate(state: State, seconds: Seconds) -> Expected:
        perfect.deadline = Deadline(seconds / 2)
        line = []
        try:
            value = solved_value(state, perfect.best(state)[1])
            while not state.is_over():
                line.append(perfect.best(state)[0])
                state = state.apply(line[-1])
        except OutOfBudget:
            if not line:
                return otherwise(state, seconds / 2)
        return Expected(value, tuple(line))

    return evaluate


def solved_value(state: State, score: int) -> float:
    """Return a solver's score from player 1's view: `DECIDED` less the plies to a win."""
    if not score:
        return 0.0
    winner = state.mover if score > 0 else opponent(state.mover)
    at_the_end = 2 * (22 - abs(score)) - (winner == 1)
    plies = at_the_end - sum(tokens.bit_count() for tokens in state.bitboards())
    return (DECIDED - plies) * (1 if winner == 1 else -1)


def offers_to_judge(file: AgentName) -> bool:
    """Return whether a student's file has `expected_play`; raises `BadInput` where it is broken."""
    with closing(Questions(Setup(file, 1, EXTENDED, 1.0, 0, "intelligent"))) as questions:
        key, value = questions.offers("expected_play")
    if key == "failed":
        raise _not_judged(file, value)
    return key == "answer"


class FileJudge:
    """Asks `AIPlayer.expected_play` of a student's file, which thinks as long as for a move."""

    def __init__(self, file: AgentName) -> None:
        self._file = file
        self._questions: tuple[Seconds, Questions] | None = None

    def __call__(self, state: State, seconds: Seconds) -> Expected:
        """See `Expert.evaluate`; raises `BadInput` where the answer is none."""
        if self._questions is None or self._questions[0] != seconds:
            setup = Setup(self._file, state.mover, EXTENDED, seconds, 0, "intelligent")
            self._questions = seconds, Questions(setup)
        key, value = self._questions[1].ask("expected_play", state, seconds)
        if key != "answer":
            raise _not_judged(self._file, value)
        try:
            margin, moves = value
            return _expected(float(margin), moves, state)
        except (TypeError, ValueError, OverflowError) as error:
            raise _not_judged(self._file, f"expected_play: {error}") from None


def _expected(margin: float, moves: Any, state: State) -> Expected:
    """Return what a student's file expects, its moves played on the board to check them."""
    if not math.isfinite(margin):
        raise ValueError(f"a margin of {margin}")
    line = []
    after = state
    for move in moves:
        line.append(read_answer(tuple(move)))
        after = after.apply(line[-1])
    return Expected(margin if state.mover == 1 else -margin, tuple(line))


def _not_judged(file: AgentName, why: object) -> BadInput:
    text = " ".join(str(why).split())
    return BadInput(f"agent {file.text!r} is asked what each move cost, but {text:.500}")


def worth(found: Found, scale: float) -> float:
    """Return the value of a search, from its mover's view, where only winning counts.

    A win is worth `DECIDED` less the plies to it; a heuristic value of `scale` three quarters of
    what an undecided position can be worth.
    """
    if abs(found.value) < WIN:
        return ESTIMATE * math.tanh(found.value / scale)
    plies = found.depth - (abs(found.value) - WIN)
    return math.copysign(DECIDED - plies, found.value)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a turn cost, in the expert's unit.

    `before` and `after` are what best play comes to before and after the turn, from player 1's
    view; `loss` is what the mover gave away, never below 0. `line` is the better move with what
    follows it; empty where the turn cost nothing.
    """

    before: float
    after: float
    loss: float
    line: tuple[Action | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A position to search: the one of `turn` itself, or the one after `move` there."""

    turn: int
    move: Action | None = None
    after_move: bool = False


class Searcher:
    """Searches the positions of one record; lives in each worker process."""

    def __init__(self, text: str, seconds: Seconds, file: AgentName) -> None:
        """`text` is the record's, as it stands on disk."""
        record = records.loads(text)
        self._states = list(records.replay(record))
        self._expert = expert_for(record.game, record.start, file)
        self._seconds = seconds

    def run(self, job: Job) -> Expected:
        """Search one position."""
        state = self._states[job.turn]
        if job.after_move:
            state = state.skip() if job.move is None else state.apply(job.move)
        return self._expert.expect(state, self._seconds)


_searcher: Searcher | None = None


def _open_worker(text: str, seconds: Seconds, file: AgentName) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a person's Ctrl-C is the parent's to handle
    global _searcher  # noqa: PLW0603 - a worker process has one record
    _searcher = Searcher(text, seconds, file)


def _work(job: Job) -> Expected:
    assert _searcher is not None
    return _searcher.run(job)


Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


def analyse(
    record: Record,
    seconds: Seconds,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
    file: AgentName = OWN_FILE,
) -> dict[str, Any]:
    """Return the `analysis` of a record; `seconds` are those of each search, `jobs` processes.

    `file` is the student's file that may judge. Raises `BadInput` where it is broken.
    """
    expert = expert_for(record.game, record.start, file)
    text = records.dumps(record)
    pool = ProcessPoolExecutor(jobs, initializer=_open_worker, initargs=(text, seconds, file))
    with closing_at_once(pool):

        def searched(what: str, todo: list[Job]) -> list[Expected]:
            results = []
            progress(what, 0, len(todo))
            with uninterrupted():  # a worker that is half started could not be ended
                answers = pool.map(_work, todo)
            for done, expected in enumerate(answers, 1):
                results.append(expected)
                progress(what, done, len(todo))
            return results

        found = searched("positions", [Job(number) for number in range(len(record.turns) + 1)])
        other = [
            Job(turn.number - 1, found[turn.number - 1].line[0], after_move=True)
            for turn in record.turns
            if _plays_otherwise(turn.outcome, turn.action, found[turn.number - 1])
        ]
        searches = searched("better moves", other)
    checked = dict(zip((job.turn for job in other), searches, strict=True))
    judged = [
        judge(turn.player, found[index], found[index + 1], checked.get(index))
        for index, turn in enumerate(record.turns)
    ]
    return to_json(record, expert, seconds, judged)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a Ctrl-C wait. A signal mask would not do: other threads of numpy's would take it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        raise KeyboardInterrupt


@contextmanager
def closing_at_once(pool: ProcessPoolExecutor) -> Iterator[None]:
    """Close the pool; where something went wrong, without waiting for its searches."""
    others = active_children()
    try:
        yield
    except BaseException:  # a Ctrl-C too: its searches may run for minutes
        for child in active_children():
            if child not in others:
                child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _plays_otherwise(outcome: Outcome, action: Action | None, expected: Expected) -> bool:
    """Return whether best play has a move here that is not the one played."""
    if not expected.line or outcome is Outcome.PASS:
        return False
    return outcome is not Outcome.PLAYED or action != expected.line[0]


def judge(player: Player, before: Expected, after: Expected, other: Expected | None) -> Judged:
    """Return what a turn cost; `other` is what the expert's own move comes to, if it differs."""
    if other is None:
        return Judged(after.value, after.value, 0.0)
    gap = other.value - after.value
    loss = gap if player == 1 else -gap
    if loss <= 0:
        return Judged(after.value, after.value, 0.0)
    return Judged(other.value, after.value, loss, (before.line[0], *other.line))


def worst_turns(record: Record, judged: list[Judged]) -> list[list[int]]:
    """Return the numbers of the costliest turns of player 1 and of player 2, worst first."""
    return [
        sorted(
            (
                turn.number
                for turn, found in zip(record.turns, judged, strict=True)
                if turn.player == player and found.loss > 0
            ),
            key=lambda number: (-judged[number - 1].loss, number),
        )[:WORST]
        for player in (1, 2)
    ]


def to_json(
    record: Record, expert: Expert, seconds: Seconds, judged: list[Judged]
) -> dict[str, Any]:
    """Return the analysis as it stands in a record; `docs/formats.md` describes it."""
    write = record.game.format_action
    return {
        "agent": expert.agent,
        "seconds": seconds,
        "unit": expert.unit,
        "turns": [
            {
                "before": round(found.before, 2),
                "after": round(found.after, 2),
                "loss": round(found.loss, 2),
                "line": ["pass" if move is None else write(move) for move in found.line],
            }
            for found in judged
        ],
        "worst": worst_turns(record, judged),
    }


class ProgressLine:
    """Says on standard error how far the analysis is: in place on a terminal, else each tenth."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, what: str, done: int, todo: int) -> None:
        """See `Progress`."""
        if not done:
            self._began = time.monotonic()
        left = ""
        if 0 < done < todo:
            seconds = (time.monotonic() - self._began) / done * (todo - done)
            left = f", about {int(seconds) // 60}:{int(seconds) % 60:02} left"
        line = f"{what}: {done} of {todo}{left}"
        if sys.stderr.isatty():
            end = "\n" if done == todo else ""
            print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
        elif done * 10 // max(1, todo) > (done - 1) * 10 // max(1, todo):
            print(line, file=sys.stderr, flush=True)


def summary(record: Record, found: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each of the worst moves."""
    for player, numbers in zip((1, 2), found["worst"], strict=True):
        name = f"Player {player} ({record.players[player - 1].agent})"
        if not numbers:
            yield f"{name}: no move cost anything"
        for number in numbers:
            turn = record.turns[number - 1]
            judged = found["turns"][number - 1]
            better, *rest = judged["line"]
            deed = turn.text if turn.outcome is Outcome.PLAYED else turn.outcome.value
            then = f", then {' '.join(rest)}" if rest else ""
            yield f"{name}: turn {number}, {deed}, cost {judged['loss']:g}; better {better}{then}"


def job_count(text: str) -> int:
    """Read a `--jobs`."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MAX_JOBS):
        raise argparse.ArgumentTypeError(f"{text!r} jobs; expected a number from 1 to {MAX_JOBS}")
    return int(text)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python3 -m connect4.analysis",
        description="Find out what each move of a recorded game cost, and add it to the record.",
        epilog="example: python3 -m connect4.analysis game.json --time 1 && "
        "python3 -m connect4.views.page game.json -o game.html",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("record", metavar="RECORD", type=Path, help="a game's record (.json)")
    add("--time", type=time_limit, default=1.0, help="seconds per search (default 1)")
    add("-o", metavar="OUT", type=Path, help="where the record goes (default: where it was)")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    add("--jobs", type=job_count, default=cores, help="searches at once (default: one per core)")
    arguments = parser.parse_args(argv)
    place = arguments.o or arguments.record
    try:
        record = records.read(arguments.record)
        check_place("-o", place)
        found = analyse(record, arguments.time, arguments.jobs, ProgressLine())
        record.extra["analysis"] = found
        records.write(record, place)
    except BadInput as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the record is as it was", file=sys.stderr)
        return 130
    for line in summary(record, found):
        print(line)
    return 0
