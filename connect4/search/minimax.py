"""Minimax, alpha-beta, alpha-beta with a transposition table, expectimax, iterative deepening.

The first three search a fixed number of plies and use negation: a value is always the mover's, and
a gain for one side is an equal loss for the other (Knuth & Moore 1975, "An analysis of alpha-beta
pruning", section 2). The value of `state` searched `depth` plies deep is

    evaluation.final(state, depth)                      if the game is over
    evaluation.leaf(state)                              else if depth is 0
    the maximum of -value(after a move, depth - 1)      otherwise

A node is a call for a position, including the root.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from connect4.games.base import State
from connect4.search import WIN, Deadline, Evaluation, Move, Order, OutOfBudgetError, ascending

INFINITY: Final = math.inf

Line: TypeAlias = tuple[Any, ...]
"""A line of moves as linked pairs `(move, rest)`; the empty tuple ends it."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search of `depth` plies: the root's value and principal variation.

    `nodes` counts the whole search, over all depths of a deepening search. `complete` means that a
    deeper search cannot change the result.
    """

    value: float
    line: tuple[Move, ...]
    nodes: int
    depth: int
    complete: bool = False
    values: Mapping[Move, float] = field(default_factory=dict)
    """The values of the root's moves that are exact and not only bounds."""

    @property
    def move(self) -> Move:
        """Return the best move; of several, the earliest in the search's move order."""
        return self.line[0]


def moved_to_front(moves: list[Move], first: Move) -> list[Move]:
    """Return the moves, beginning with `first` if it is one of them."""
    if first is not None and first in moves:
        moves.remove(first)
        moves.insert(0, first)
    return moves


def unlinked(line: Line) -> tuple[Move, ...]:
    """Return the moves of a linked line as a tuple."""
    moves = []
    while line:
        move, line = line
        moves.append(move)
    return tuple(moves)


class Minimax:
    """Plain minimax (Russell & Norvig 2020, figure 5.3), the standard for the faster searches.

    After a call of `value`, `line` is the principal variation below that position.
    """

    after: Callable[[State, Move], State] = staticmethod(State.after)
    prunes = False
    """Whether a value outside the window is only a bound."""

    def __init__(
        self, evaluation: Evaluation, order: Order = ascending, deadline: Deadline | None = None
    ) -> None:
        self.leaf = evaluation.leaf
        self.final = evaluation.final
        self.order = order
        self.deadline = deadline or Deadline()
        self.nodes = 0
        self.line: Line = ()
        self.horizon = False
        """Whether the depth limit ended the last search at any position."""
        self.best_so_far: Found | None = None
        """The best move so far, if the budget ends; None before one has a value."""

    def search(self, state: State, depth: int, first: Move = None) -> Found:
        """Search a position that is not over `depth >= 1` plies deep.

        `first` is tried before the other moves; it affects the cost of the search, not its result.
        Raises `OutOfBudgetError` and leaves the result so far in `best_so_far`.
        """
        self.best_so_far = None
        self.horizon = False
        self.count()
        moves = list(self.root_moves(state))
        rank = {move: place for place, move in enumerate(moves)}
        moves = moved_to_front(moves, first)
        best, best_rank = -INFINITY, len(moves)
        values: dict[Move, float] = {}
        for move in moves:
            # Of moves with equal values, the earlier one in the move order wins.
            floor = math.nextafter(best, -INFINITY) if rank[move] < best_rank else best
            value = -self.value(self.after(state, move), depth - 1, -INFINITY, -floor)
            if value > floor or not self.prunes:
                values[move] = value
            if value > floor:
                best, best_rank = value, rank[move]
                line = unlinked((move, self.line))
                self.best_so_far = Found(best, line, self.nodes, depth, values=values)
        return Found(best, line, self.nodes, depth, not self.horizon, values)

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """Return the exact value of `state`; the window is for searches that prune."""
        self.count()
        if state.ending() is not None:
            self.line = ()
            return self.final(state, depth)
        if depth == 0:
            self.line = ()
            self.horizon = True
            return self.leaf(state)
        best = -INFINITY
        line: Line = ()
        for move in self.order(state):
            value = -self.value(self.after(state, move), depth - 1, alpha, beta)
            if value > best:
                best, line = value, (move, self.line)
        self.line = line
        return best

    def root_moves(self, state: State) -> Sequence[Move]:
        return self.order(state)

    def count(self) -> None:
        """Count a node; raises `OutOfBudgetError`."""
        self.nodes += 1
        if self.nodes >= self.deadline.next_check:
            self.deadline.check(self.nodes)


class AlphaBeta(Minimax):
    """Alpha-beta pruning, fail-soft (Knuth & Moore 1975; Russell & Norvig 2020, figure 5.7)."""

    prunes = True

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """Return `v`, which bounds the exact value of `state`; the caller has alpha < beta.

        v <= alpha:         exact <= v
        alpha < v < beta:   exact == v
        v >= beta:          exact >= v
        """
        self.count()
        if state.ending() is not None:
            self.line = ()
            return self.final(state, depth)
        if depth == 0:
            self.line = ()
            self.horizon = True
            return self.leaf(state)
        return self.best_of(state, self.order(state), depth - 1, alpha, beta)

    def best_of(
        self, state: State, moves: Sequence[Move], depth: int, alpha: float, beta: float
    ) -> float:
        """Return the value of the best of `moves`, each searched `depth` plies deep."""
        best = -INFINITY
        line: Line = ()
        for move in moves:
            value = -self.value(self.after(state, move), depth, -beta, -alpha)
            if value > best:
                best, line = value, (move, self.line)
                if value > alpha:
                    alpha = value
                    if alpha >= beta:
                        break
        self.line = line
        return best


MAX_ENTRIES: Final = 300_000
"""Entries that a table holds before it is emptied, about 100 MB."""


class Entry(NamedTuple):
    """What a search of `depth` plies found about a position: `lower <= exact value <= upper`."""

    search: int
    depth: int
    lower: float
    upper: float
    best: Move


class TableAlphaBeta(AlphaBeta):
    """Alpha-beta with a table of positions by `State.key()`, which includes the side to move.

    A value is reused only within one search and at exactly the same depth, so the result is the
    same as without a table. The next, deeper search only takes the best moves from the table and
    tries them first (Russell & Norvig 2020, section 5.2; Breuker 1998, "Memory versus search in
    games", chapter 2).
    """

    def __init__(
        self, evaluation: Evaluation, order: Order = ascending, deadline: Deadline | None = None
    ) -> None:
        super().__init__(evaluation, order, deadline)
        self._table: dict[Hashable, Entry] = {}
        self._search = 0

    def search(self, state: State, depth: int, first: Move = None) -> Found:
        self._search += 1
        return super().search(state, depth, first)

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """Return `v` within the same bounds as `AlphaBeta.value`."""
        if depth == 0 or state.ending() is not None:
            return super().value(state, depth, alpha, beta)
        self.count()
        key = state.key()
        entry = self._table.get(key)
        known = self.known(entry, depth, alpha, beta)
        if known is not None:
            return known
        moves = moved_to_front(list(self.order(state)), None if entry is None else entry.best)
        best = self.best_of(state, moves, depth - 1, alpha, beta)
        if len(self._table) >= MAX_ENTRIES:
            self._table.clear()
        lower = best if best > alpha else -INFINITY
        upper = best if best < beta else INFINITY
        self._table[key] = Entry(self._search, depth, lower, upper, self.line[0])
        return best

    def known(self, entry: Entry | None, depth: int, alpha: float, beta: float) -> float | None:
        """Return the value that an entry of this search gives within the bounds, or None."""
        if entry is None or entry.search != self._search or entry.depth != depth:
            return None
        self.line = (entry.best, ())
        if entry.lower >= beta or entry.lower == entry.upper:
            return entry.lower
        return entry.upper if entry.upper <= alpha else None


class Expectimax(Minimax):
    """Max nodes for the player to move at the root, chance nodes for the opponent.

    The opponent's moves are all equally likely, and the value of a chance node is the mean over
    them (Michie 1966, "Game-playing and game-learning automata"; Russell & Norvig 2020, section
    5.5). Values use negation as in `Minimax`: a chance node has for its mover minus the value that
    it has for us.

    With `cautious`, the root skips moves that let the opponent win at once, if it has others. A
    mean over random replies underrates such a threat when only winning counts.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        order: Order = ascending,
        deadline: Deadline | None = None,
        cautious: bool = False,
    ) -> None:
        super().__init__(evaluation, order, deadline)
        self._cautious = cautious
        self._player = 0

    def search(self, state: State, depth: int, first: Move = None) -> Found:
        self._player = state.mover
        return super().search(state, depth, first)

    def root_moves(self, state: State) -> Sequence[Move]:
        moves = self.order(state)
        if not self._cautious:
            return moves
        safe = []
        for move in moves:
            child = state.after(move)
            replies = (child.apply(reply) for reply in child.legal_actions())
            if not any(reply.margin(child.mover) > 0 for reply in replies):
                safe.append(move)
        return safe or moves

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """Return the expected value of `state` for its mover, without pruning."""
        if state.mover == self._player or depth == 0 or state.ending() is not None:
            return super().value(state, depth, alpha, beta)
        self.count()
        moves = self.order(state)
        total = sum(self.value(self.after(state, move), depth - 1, alpha, beta) for move in moves)
        self.line = ()
        return -total / len(moves)


def deepen(search: Minimax, state: State, depth: int) -> Found:
    """Search an unfinished position 1, 2, ... up to `depth` plies deep, best move first.

    Returns the result of the last search, even if the budget interrupted it: by then it had
    searched at least the best move so far to the new depth (Slate & Atkin 1977, "CHESS 4.5";
    Russell & Norvig 2020, section 5.2.3). Stops early if a deeper search cannot change the result,
    or a win or loss is found; the first one found is the fastest.
    """
    found = Found(0, (search.order(state)[0],), 0, 0)
    try:
        for plies in range(1, depth + 1):
            found = search.search(state, plies, found.move)
            if found.complete or abs(found.value) >= WIN:
                break
    except OutOfBudgetError:
        found = search.best_so_far or found
    return found
