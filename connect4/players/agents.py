"""The searches as players: the options of each agent, and how it uses its time."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from connect4.games.base import Action, Seconds, State
from connect4.players.base import Setup
from connect4.players.registry import PLAYERS
from connect4.search import ORDERS, Deadline, OutOfBudgetError, Thought, center, uncollected
from connect4.search.heuristics import HEURISTICS, Heuristic, heuristic_of
from connect4.search.mcts import EXPLORATION, Mcts, sampled
from connect4.search.minimax import AlphaBeta, Expectimax, Found, Minimax, TableAlphaBeta, deepen
from connect4.search.solver import LibrarySolver, PerfectPlay, Solver, alternates, is_installed
from connect4.search.trace import Node, Trace, nodes_of_mcts

MAX_DEPTH: Final = 200
"""The depth limit if only time or nodes limit a search; no search reaches it."""


def given(setup: Setup, option: str) -> str:
    """Return the value of an option, or the kind's usual one."""
    return setup.agent.options.get(option, PLAYERS[setup.agent.kind].usual.get(option, "0"))


class Budget:
    """The limits of a search: a depth, seconds or nodes, and always the referee's time limit."""

    def __init__(self, setup: Setup, stride: int = Deadline.STRIDE) -> None:
        """Read the options; without one of the three, the kind's usual depth is the limit."""
        options = setup.agent.options
        self._seconds = float(options["seconds"]) if "seconds" in options else None
        self._nodes = int(options["nodes"]) if "nodes" in options else None
        self.fixed = self._seconds is None and self._nodes is None
        """Whether a depth limits the search, rather than seconds or nodes."""
        self.depth = int(given(setup, "depth")) if self.fixed else MAX_DEPTH
        self._stride = stride

    def deadline(self, limit: Seconds | None, share: float = 1) -> Deadline:
        """Return the deadline of a move that begins now, under the referee's `limit`.

        `share` is the fraction of the time that may be used.
        """
        seconds = [] if self._seconds is None else [self._seconds]
        if limit is not None:  # less a twentieth, 20 ms to half a second, and at most half of it
            seconds.append(limit - min(max(0.02, limit / 20), 0.5, limit / 2))
        time = min(seconds) * share if seconds else None
        return Deadline(time, self._nodes, self._stride)


class DepthAgent:
    """Plays the move that iterative deepening finds within a budget."""

    def __init__(self, budget: Budget, make: Callable[[Deadline], Minimax]) -> None:
        """Take `make`, which creates a search with a deadline."""
        self._budget = budget
        self._make = make
        self.note: str | None = None
        """A remark about the last tree."""
        self.thought: Thought | None = None

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        search = self._make(self._budget.deadline(seconds))
        with uncollected():
            self.thought = as_thought(deepen(search, state, self._budget.depth))
        return self.thought.action

    def explain(self, state: State, seconds: Seconds | None = None) -> list[Node]:
        """Return the tree of a search of an unfinished position to this agent's depth.

        If time or nodes run out earlier, it is the deepest completed tree, and `note` says so if
        the agent has a fixed depth.
        """
        self.note = None
        depth, deadline = self._budget.depth, self._budget.deadline(seconds)
        trace = Trace(search := self._make(deadline))
        if not self._budget.fixed:
            deepen(search, state, depth)
            return trace.nodes
        for plies in range(1, depth + 1):
            last, trace = trace.nodes, Trace(search := self._make(deadline))
            try:  # with a search of its own: the tree is that of one
                deadline.check(0)
                search.search(state, plies)
            except OutOfBudgetError:
                self.note = f"the time ended before depth {depth}; this is depth {plies - 1}"
                return last
        return trace.nodes


def as_thought(found: Found, note: str | None = None) -> Thought:
    """Return the result of a search as an agent says it; without any value if no move has one."""
    value = found.value if found.depth else None
    moves = found.values, found.line
    return Thought(found.move, value, found.depth, found.nodes, None, *moves, note)


def textbook(setup: Setup) -> DepthAgent:
    """Return `minimax`, `alphabeta` or `expectimax` with the heuristic and order of its options.

    The published agent with `potential` tries columns in ascending order, so that is the default
    for this heuristic.
    """
    kind, options = setup.agent.kind, setup.agent.options
    search: Callable[..., Minimax] = AlphaBeta if options.get("tt") == "off" else TableAlphaBeta
    if kind == "minimax" or options.get("pruning") == "off":
        search = Minimax
    elif kind == "expectimax":
        search = partial(Expectimax, cautious=not setup.game.counts_points)
    name = options.get("heuristic")
    order = ORDERS[options.get("order", "ascending" if name == "potential" else "center")]
    estimate = heuristic_of(setup.game, name).evaluation()
    return DepthAgent(Budget(setup), partial(search, estimate, order))


def montecarlo(setup: Setup) -> DepthAgent:
    """Return `montecarlo:depth=2,samples=100`."""
    leaf = sampled(int(given(setup, "samples")), Random(setup.derived_seed()))
    estimate = Heuristic("samples", leaf, setup.game.counts_points).evaluation()
    return DepthAgent(
        Budget(setup, stride=1), lambda deadline: AlphaBeta(estimate, center, deadline)
    )


class Greedy:
    """Maximises the margin after its own move; of several best moves, plays the most central."""

    def __init__(self, setup: Setup) -> None:
        """Use nothing of `setup`: the agent has no options."""
        self.thought: Thought | None = None

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        values = {move: state.apply(move).margin(state.mover) for move in center(state)}
        best = max(values, key=values.__getitem__)
        self.thought = Thought(best, values[best], 1, len(values), None, values, (best,))
        return best


class MctsAgent:
    """Plays the move that Monte-Carlo tree search finds within a number of iterations."""

    def __init__(self, setup: Setup) -> None:
        options = setup.agent.options
        self._budget = Budget(setup)
        self._iterations = int(given(setup, "iterations"))
        self._c = float(options.get("c", EXPLORATION.get(setup.game.name, 2.0)))
        self._random = Random(setup.derived_seed())
        self._decided_by_win = not setup.game.counts_points
        estimated = setup.game.counts_points and setup.game.name in HEURISTICS
        self._leaf = heuristic_of(setup.game).evaluation().leaf if estimated else None
        self._last: Mcts | None = None
        """Keeps the last tree alive: to free it takes time, which would delay the answer."""
        self.thought: Thought | None = None

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        self.thought = self._search(state, seconds).thought()
        return self.thought.action

    def explain(self, state: State, seconds: Seconds | None = None) -> list[Node]:
        return nodes_of_mcts(self._search(state, seconds))

    def _search(self, state: State, seconds: Seconds | None) -> Mcts:
        deadline = self._budget.deadline(seconds)
        self._last = None
        search = Mcts(state, self._c, self._random, self._decided_by_win, self._leaf, deadline)
        with uncollected():
            search.run(self._iterations if self._budget.fixed else None)
        self._last = search
        return search


class SolverAgent:
    """Plays classic Connect 4, 6 by 7, perfectly, with the library if it is installed.

    Without the library it uses the kit's own book and solver. If the time is too short, alpha-beta
    chooses the move, and `note` reports it.
    """

    def __init__(self, setup: Setup) -> None:
        options = setup.agent.options
        self._budget = Budget(setup)
        self._own = Solver()
        self._game = setup.game
        self._library: LibrarySolver | None = None
        self.note: str | None = None
        self.thought: Thought | None = None
        if not {"engine", "nodes"} & options.keys() and is_installed():
            self._library = LibrarySolver()

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return a perfect move, or another move and a `note`; see `players.base.Agent`.

        The solver has two thirds of the time. If it needs more, alpha-beta chooses the move in the
        last third; with `nodes=N` it has another N nodes. Raises `AgentError` for a board of
        another size.
        """
        self.note = None
        deadline = self._budget.deadline(seconds)
        try:
            engine = self._engine(state, self._budget.deadline(seconds, share=2 / 3))
            self.thought = Thought(*engine.choice(state))
        except OutOfBudgetError:
            self.note = NOT_PROVEN
            search = TableAlphaBeta(heuristic_of(self._game).evaluation(), center, deadline)
            self.thought = as_thought(deepen(search, state, MAX_DEPTH), NOT_PROVEN)
        return self.thought.action

    def _engine(self, state: State, deadline: Deadline) -> PerfectPlay:
        """Return the library if it is installed and knows this position, else the kit's solver."""
        self._own.nodes = 0
        engine: PerfectPlay = self._own
        if self._library is not None and alternates(state):
            engine = self._library
        engine.deadline = deadline
        return engine


class ReferenceAgent:
    """Asks the method for its opponent, as a student's file is asked.

    The students' edition lacks the package that it needs.
    """

    def __init__(self, setup: Setup) -> None:
        from connect4.reference import AIPlayer

        self._player = AIPlayer(setup.player, setup.seconds)
        if "nodes" in setup.agent.options:
            self._player.node_budget = int(setup.agent.options["nodes"])
        assert setup.game.file_action is not None  # the registry refuses the other games
        self._action = setup.game.file_action
        against_chance = setup.method == "expectimax"
        player = self._player
        self._ask = player.get_expectimax_move if against_chance else player.get_intelligent_move

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return a move within the limit that the agent was made with."""
        return self._action(self._ask(state.for_agent()))

    @property
    def thought(self) -> dict[str, float] | None:
        return self._player.thought


NOT_PROVEN: Final = "not proven: the time was too short to solve this position"
