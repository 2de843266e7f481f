"""Who judges the positions of which game, and by what."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Action, Game, Seconds, State, opponent, resolve
from connect4.games.extended import EXTENDED
from connect4.isolation.questions import Questions
from connect4.players.base import Setup
from connect4.players.names import AgentName
from connect4.players.student import read_answer
from connect4.search import solver
from connect4.search.deadline import Deadline, OutOfBudgetError
from connect4.search.deepening import deepen
from connect4.search.evaluation import WIN
from connect4.search.heuristics import evaluation
from connect4.search.minimax import Found
from connect4.search.ordering import center
from connect4.search.transposition import TableAlphaBeta

DECIDED: Final = 100.0
"""What a win at once is worth in a game that only winning counts in; each ply until it costs 1."""

ESTIMATE: Final = 40.0
"""What an undecided position of such a game is worth at most."""

UNIT_OF_WINS: Final = "hundredths of a win"

DEEPEST: Final = 144
"""Plies that no search goes beyond."""

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
    """Return the expert that the game names, for a game that begins with `start`.

    `file` is the student's file that may be asked. Raises `InputError` where it cannot be loaded,
    and where a game has neither an expert of its own nor a heuristic.
    """
    expert: Expert = resolve(game.expert)(game, start, file)
    return expert


def file_expert(game: Game, start: State, file: AgentName) -> Expert:
    """Return the student's file, if its `AIPlayer` offers the method `expected_play(state)`.

    That returns the margin that best play expects for that player, and the moves of it. Without it
    a search is the expert.
    """
    if offers_to_judge(file):
        return Expert(file.text, "points", FileJudge(file), lambda state: state.margin(1))
    return search_expert(game, start, file)


def solver_expert(game: Game, start: State, file: AgentName) -> Expert:
    """Return the solver on its board, with alpha-beta where it runs out of time."""
    search = search_expert(game, start, file)
    if start.setting != solver.SETTING:
        return search
    return replace(search, agent=f"solver, else {search.agent}", evaluate=solving(search.evaluate))


def search_expert(game: Game, start: State, file: AgentName) -> Expert:
    """Return alpha-beta with the game's heuristic for judging.

    Its values are points where points decide; else they are on a scale on which a win is worth 100.
    """
    heuristic = game.heuristic(game.judge)
    values = evaluation(game, heuristic.name)
    point = heuristic.point
    agent = f"alphabeta:heuristic={heuristic.name}"

    def evaluate(state: State, seconds: Seconds) -> Expected:
        search = TableAlphaBeta(values, center, Deadline(seconds))
        found = deepen(search, state, DEEPEST)
        value = found.value / point if point else worth(found, heuristic.scale)
        return Expected(value if state.mover == 1 else -value, found.line)

    if point:
        return Expert(agent, "points", evaluate, lambda state: state.margin(1))
    return Expert(agent, UNIT_OF_WINS, evaluate, lambda state: DECIDED * state.margin(1))


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
        except OutOfBudgetError:
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
    """Return whether a student's file has `expected_play`; raises `InputError` if it is broken."""
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
        """See `Expert.evaluate`; raises `InputError` where the answer is none."""
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

    def close(self) -> None:
        """Leave no process behind."""
        if self._questions is not None:
            self._questions[1].close()


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


def _not_judged(file: AgentName, why: object) -> InputError:
    text = " ".join(str(why).split())
    return InputError(f"agent {file.text!r} is asked what each move cost, but {text:.500}")


def worth(found: Found, scale: float) -> float:
    """Return the value of a search, from its mover's view, where only winning counts.

    A win is worth `DECIDED` less the plies to it; a heuristic value of `scale` three quarters of
    what an undecided position can be worth.
    """
    if abs(found.value) < WIN:
        return ESTIMATE * math.tanh(found.value / scale)
    plies = found.depth - (abs(found.value) - WIN)
    return math.copysign(DECIDED - plies, found.value)
