"""Select the agent that analyses the positions of each game, and its scale."""

import gc
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

from connect4.errors import AgentError
from connect4.games.base import Action, Game, Seconds, State, opponent
from connect4.players.registry import PLAYERS
from connect4.search import WIN, Deadline, OutOfBudgetError, center, solver
from connect4.search.heuristics import heuristic_of
from connect4.search.minimax import Minimax, TableAlphaBeta
from connect4.search.solver import LibrarySolver

WON: Final = 100.0
"""The value of a won game if only winning counts; a draw is worth 0."""

ESTIMATE: Final = 40.0
"""The maximum value of an undecided position of such a game."""

DEEPEST: Final = 144
"""The maximum depth of a search in plies."""

LINE: Final = 12
"""The maximum length of a line of best play."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The result of best play from a position: a value from player 1's view, and the moves.

    If `proven`, no deeper search can change the value. `plies` is the number of plies until the
    game is won or lost, None if unknown. `depths` holds the value after each depth of the search,
    the deepest last; if it is empty, a proven value is valid at every depth.
    """

    value: float
    line: tuple[Action | None, ...] = ()
    proven: bool = False
    plies: int | None = None
    depths: tuple[tuple[int, float], ...] = ()

    def at(self, depth: int) -> float | None:
        """Return the value at a depth; None if the search did not reach it."""
        if self.proven and (not self.depths or depth >= self.depths[-1][0]):
            return self.value
        return dict(self.depths).get(depth)


@dataclass(frozen=True, slots=True)
class Expert:
    """The strongest agent for a game, which judges its positions.

    Its values are points, or if only winning counts, hundredths of a win. `evaluate(state,
    seconds)` requires an unfinished game, and raises `AgentError` for a position that the agent
    does not know.
    """

    agent: str
    by_points: bool
    evaluate: Callable[[State, Seconds], Expected]

    @property
    def unit(self) -> str:
        return "points" if self.by_points else "hundredths of a win"

    @property
    def largest(self) -> float:
        return math.inf if self.by_points else ESTIMATE

    def expect(self, state: State, seconds: Seconds) -> Expected | None:
        """Return the result of best play from a position; None if the agent does not know it."""
        if state.is_over():
            worth = 1 if self.by_points else WON
            return Expected(worth * state.margin(1), (), True, 0)
        try:
            return self.evaluate(state, seconds)
        except AgentError:
            return None


def expert_for(game: Game, start: State) -> Expert:
    """Return the expert of a game that begins with `start`.

    Raises `InputError` if the game has neither an expert nor a heuristic.
    """
    return EXPERTS.get(game.name, search_expert)(game, start)


def reference_expert(game: Game, start: State) -> Expert:
    """Return the agent `reference`; in the students' edition, which lacks it, a search."""
    if "reference" not in PLAYERS:
        return search_expert(game, start, "margin")
    from connect4.reference import AIPlayer  # late: not in the students' edition

    def evaluate(state: State, seconds: Seconds) -> Expected:
        player = AIPlayer(state.mover, seconds)
        margin, line, depths, is_exact = player.expected_play(state.for_agent())
        gc.unfreeze()  # its search froze its tables, which may go now
        sign = 1 if state.mover == 1 else -1
        searched = tuple((depth, sign * value) for depth, value in depths)
        return Expected(sign * margin, tuple(line), is_exact, None, searched)

    return Expert("reference", True, evaluate)


def solver_expert(game: Game, start: State) -> Expert:
    """Return perfect play by the library `bitbully`; without it, a search.

    From a start in which a side has missed a turn, it is a search too.
    """
    known = start.setting == solver.SETTING and solver.alternates(start)
    if known and solver.is_installed():
        return Expert("solver", False, best_play)
    return search_expert(game, start)


def search_expert(game: Game, start: State, name: str | None = None) -> Expert:
    """Return alpha-beta with the heuristic of that name, or with the game's default.

    If points decide, values are points; otherwise they are on a scale on which a win is worth 100.
    """
    heuristic = heuristic_of(game, name)
    values, point = heuristic.evaluation(), heuristic.point

    def scaled(value: float) -> float:
        if point:
            return value / point
        if abs(value) >= WIN:
            return math.copysign(WON, value)
        return ESTIMATE * math.tanh(value / heuristic.scale)

    def evaluate(state: State, seconds: Seconds) -> Expected:
        return deepened(TableAlphaBeta(values, center, Deadline(seconds)), state, scaled)

    return Expert(f"alphabeta:heuristic={heuristic.name}", bool(point), evaluate)


EXPERTS: Final[dict[str, Callable[[Game, State], Expert]]] = {
    "extended": reference_expert,
    "classic": solver_expert,
}
"""Who judges a game, if it is not `search_expert`."""


def deepened(search: Minimax, state: State, scaled: Callable[[float], float]) -> Expected:
    """Search 1, 2, ... plies deep until time or game ends; keep the value of each depth.

    A depth that was not completed is left out.
    """
    sign = 1 if state.mover == 1 else -1
    found = None
    depths = []
    with suppress(OutOfBudgetError):
        for plies in range(1, DEEPEST + 1):
            found = search.search(state, plies, found.move if found else None)
            depths.append((plies, sign * scaled(found.value)))
            if found.complete or abs(found.value) >= WIN:
                break
    if found is None:
        return Expected(sign * scaled(search.leaf(state)), tuple(search.order(state)[:1]))
    decided = abs(found.value) >= WIN
    return Expected(
        depths[-1][1],
        found.line,
        found.complete or decided,
        round(found.depth - (abs(found.value) - WIN)) if decided else None,
        tuple(depths),
    )


_library = cache(LibrarySolver)
"""Returns the library's engine, which is loaded late: it takes 170 MB."""


def best_play(state: State, seconds: Seconds) -> Expected:
    """Return what the library knows of a position; its line ends early if the time runs out."""
    engine = _library()
    engine.deadline = Deadline()
    move, score = engine.best(state)
    engine.deadline = Deadline(seconds)
    line, after = [move], state.apply(move)
    with suppress(OutOfBudgetError):
        while not after.is_over() and len(line) < LINE:
            line.append(engine.best(after)[0])
            after = after.apply(line[-1])
    if not score:
        return Expected(0.0, tuple(line), True)
    winner = state.mover if score > 0 else opponent(state.mover)
    tokens = solver.tokens_in(state)
    wins_as_first = (winner == state.mover) == (tokens % 2 == 0)
    plies = 2 * (22 - abs(score)) - wins_as_first - tokens
    return Expected(WON if winner == 1 else -WON, tuple(line), True, plies)
