"""The searches as players: what each agent's options mean, and how it keeps to its time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, TypeAlias

from connect4.games.base import Action, Seconds, State
from connect4.players.base import Setup
from connect4.search.deadline import STRIDE, Deadline
from connect4.search.deepening import deepen
from connect4.search.evaluation import Evaluation, points, win_or_loss
from connect4.search.expectimax import Expectimax
from connect4.search.heuristics import DEFAULT, HEURISTICS, PAYS_POINTS
from connect4.search.mcts import Mcts
from connect4.search.minimax import AlphaBeta, Minimax
from connect4.search.montecarlo import Sampled
from connect4.search.moves import Order
from connect4.search.ordering import ORDERS, center
from connect4.search.trace import Node, Trace
from connect4.search.transposition import TableAlphaBeta

MAX_DEPTH: Final = 200
"""Plies where only time or nodes limit a search; no game here is longer from where it matters."""

MCTS_ITERATIONS: Final = 5_000


def reserve(seconds: Seconds) -> Seconds:
    """Return what an agent keeps of its limit for all but the search itself.

    A twentieth, between 20 ms and half a second, and never more than half of the limit.
    """
    return min(max(0.02, seconds / 20), 0.5, seconds / 2)


class Budget:
    """How far an agent may search: a depth, seconds or nodes, and always the referee's limit."""

    def __init__(self, options: dict[str, str], depth: int, stride: int = STRIDE) -> None:
        """Read the options; `depth` holds where none of the three is given."""
        self._seconds = float(options["seconds"]) if "seconds" in options else None
        self._nodes = int(options["nodes"]) if "nodes" in options else None
        free = self._seconds is not None or self._nodes is not None
        self.depth = int(options.get("depth", MAX_DEPTH if free else depth))
        self._stride = stride

    def deadline(self, limit: Seconds | None) -> Deadline:
        """Return the deadline of a move that begins now under the referee's `limit`."""
        seconds = [] if self._seconds is None else [self._seconds]
        if limit is not None:
            seconds.append(limit - reserve(limit))
        return Deadline(min(seconds, default=None), self._nodes, self._stride)


class DepthAgent:
    """Plays what iterative deepening finds within a budget."""

    def __init__(self, budget: Budget, make: Callable[[Deadline], Minimax]) -> None:
        """Take `make`, which returns the search to use until a deadline."""
        self._budget = budget
        self._make = make

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return the best move found; see `players.base.Agent`."""
        search = self._make(self._budget.deadline(seconds))
        return deepen(search, state, self._budget.depth).move

    def explain(self, state: State, seconds: Seconds | None = None) -> list[Node]:
        """Return the tree of one search as deep as this agent's, from a position that goes on.

        Where only time or nodes limit the agent, it is the deepest tree that was searched whole.
        """
        if self._budget.depth < MAX_DEPTH:
            search = self._make(Deadline())
            trace = Trace(search)
            search.search(state, self._budget.depth)
        else:
            search = self._make(self._budget.deadline(seconds))
            trace = Trace(search)
            deepen(search, state, MAX_DEPTH)
        return trace.nodes


def evaluation(setup: Setup) -> Evaluation:
    """Return the heuristic that the agent's name asks for, or the game's default."""
    game = setup.game.name
    return HEURISTICS[setup.agent.options.get("heuristic", DEFAULT[game])].evaluation(game)


def order(setup: Setup) -> Order:
    """Return the order of moves that the agent's name asks for."""
    return ORDERS[setup.agent.options.get("order", "center")]


def minimax(setup: Setup) -> DepthAgent:
    """Return `minimax:depth=K`."""
    estimate, moves = evaluation(setup), order(setup)
    return DepthAgent(
        Budget(setup.agent.options, depth=2), lambda deadline: Minimax(estimate, moves, deadline)
    )


def alphabeta(setup: Setup) -> DepthAgent:
    """Return `alphabeta:depth=K,...`."""
    options = setup.agent.options
    estimate, moves = evaluation(setup), order(setup)
    kind: type[Minimax] = TableAlphaBeta
    if options.get("pruning") == "off":
        kind = Minimax
    elif options.get("tt") == "off":
        kind = AlphaBeta
    return DepthAgent(Budget(options, depth=4), lambda deadline: kind(estimate, moves, deadline))


def expectimax(setup: Setup) -> DepthAgent:
    """Return `expectimax:depth=K`."""
    options = setup.agent.options
    estimate, moves = evaluation(setup), order(setup)
    samples = int(options["samples"]) if "samples" in options else None
    rng = Random(setup.derived_seed())
    return DepthAgent(
        Budget(options, depth=3),
        lambda deadline: Expectimax(estimate, moves, deadline, samples, rng),
    )


def montecarlo(setup: Setup) -> DepthAgent:
    """Return `montecarlo:depth=2,samples=100`."""
    options = setup.agent.options
    rng = Random(setup.derived_seed())
    sampled = Sampled(int(options.get("samples", 100)), rng)
    estimate = Evaluation(sampled, points() if setup.game.name in PAYS_POINTS else win_or_loss)
    return DepthAgent(
        Budget(options, depth=2, stride=1),
        lambda deadline: AlphaBeta(estimate, center, deadline),
    )


class Greedy:
    """Plays for the best margin right after the move, of equal ones the most central."""

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return the move; see `players.base.Agent`."""
        return max(center(state), key=lambda move: state.apply(move).margin(state.mover))


class MctsAgent:
    """Plays what Monte-Carlo tree search finds within a number of iterations."""

    def __init__(self, setup: Setup) -> None:
        options = setup.agent.options
        self._budget = Budget(options, depth=0)
        free = "seconds" in options or "nodes" in options
        self._iterations = None if free else int(options.get("iterations", MCTS_ITERATIONS))
        self._c = float(options.get("c", 2.0))
        self._random = Random(setup.derived_seed())
        self._decided_by_win = setup.game.name not in PAYS_POINTS

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return the move with the best mean; see `players.base.Agent`."""
        deadline = self._budget.deadline(seconds)
        search = Mcts(state, self._c, self._random, self._decided_by_win, deadline)
        return search.search(self._iterations)


Check: TypeAlias = Callable[[str, str], str | None]
"""Checks an option's value for a game: returns None, or says what would be right."""


def whole_number(value: str, game: str) -> str | None:
    """Check a count."""
    if re.fullmatch(r"0*[1-9][0-9]{0,11}", value):
        return None
    return "a whole number above 0"


def number(value: str, game: str) -> str | None:
    """Check a measure."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) and float(value) > 0:
        return None
    return "a number above 0"


def one_of(*words: str) -> Check:
    """Return the check for one of those words."""
    return lambda value, game: None if value in words else " or ".join(words)


def heuristic(value: str, game: str) -> str | None:
    """Check a heuristic's name: each makes sense in some games only."""
    known = [name for name, entry in HEURISTICS.items() if game in entry.point]
    if value in known:
        return None
    return f"one of {', '.join(known)} in {game}"


BUDGET: Final[dict[str, Check]] = {"seconds": number, "nodes": whole_number}
DEPTH: Final[dict[str, Check]] = {"depth": whole_number, **BUDGET}
ESTIMATE: Final[dict[str, Check]] = {"heuristic": heuristic, "order": one_of(*ORDERS)}
SWITCHES: Final[dict[str, Check]] = {"pruning": one_of("on", "off"), "tt": one_of("on", "off")}


def contradiction(options: Mapping[str, str]) -> str | None:
    """Return which options do not go together, or None."""
    limits = [name for name in ("depth", "iterations", "seconds", "nodes") if name in options]
    if len(limits) > 1:
        return f"{' and '.join(limits)} do not go together; one of them limits the search"
    if options.get("pruning") == "off" and options.get("tt") == "on":
        return "tt=on needs pruning=on"
    return None
