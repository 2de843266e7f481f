"""Plain minimax, alpha-beta, and alpha-beta with a transposition table.

All three search a fixed number of plies and use negation: a value is always the mover's, and a gain
for one side is an equal loss for the other (Knuth & Moore 1975, "An analysis of alpha-beta
pruning", section 2). The value of `state` searched `depth` plies deep is

    evaluation.final(state, depth)                      if the game is over
    evaluation.leaf(state)                              else if depth is 0
    the maximum of -value(after a move, depth - 1)      otherwise

A node is a call for a position, including the root.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from connect4.games.base import State
from connect4.search.deadline import Deadline
from connect4.search.evaluation import Evaluation
from connect4.search.moves import Move, Order, after, ascending

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

    @property
    def move(self) -> Move:
        """Return the best move; of several, the earliest in the search's move order."""
        return self.line[0]


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

    after = staticmethod(after)

    def __init__(
        self, evaluation: Evaluation, order: Order = ascending, deadline: Deadline | None = None
    ) -> None:
        self.leaf = evaluation.leaf
        self.final = evaluation.final
        self.order = order
        self.deadline = deadline or Deadline()
        self.nodes = 0
        self.cutoffs = 0
        self.line: Line = ()
        self.horizon = False
        """Whether the depth limit ended the last search at any position."""
        self.best_so_far: Found | None = None
        """The result of a search that ran out of budget; None before its first move has a value."""

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
        if first in rank:
            moves.remove(first)
            moves.insert(0, first)
        best, best_rank = -INFINITY, len(moves)
        for move in moves:
            # Of moves with equal values, the earlier one in the move order wins.
            floor = math.nextafter(best, -INFINITY) if rank[move] < best_rank else best
            value = -self.value(self.after(state, move), depth - 1, -INFINITY, -floor)
            if value > floor:
                best, best_rank = value, rank[move]
                line = unlinked((move, self.line))
                self.best_so_far = Found(best, line, self.nodes, depth)
        assert self.best_so_far is not None
        return Found(best, self.best_so_far.line, self.nodes, depth, not self.horizon)

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
        """Return the moves of the root, in search order."""
        return self.order(state)

    def count(self) -> None:
        """Count a node; raises `OutOfBudgetError`."""
        self.nodes += 1
        if self.nodes >= self.deadline.next_check:
            self.deadline.check(self.nodes)


class AlphaBeta(Minimax):
    """Alpha-beta pruning, fail-soft (Knuth & Moore 1975; Russell & Norvig 2020, figure 5.7)."""

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
        best = -INFINITY
        line: Line = ()
        for move in self.order(state):
            value = -self.value(self.after(state, move), depth - 1, -beta, -alpha)
            if value > best:
                best, line = value, (move, self.line)
                if value > alpha:
                    alpha = value
                    if alpha >= beta:
                        self.cutoffs += 1
                        break
        self.line = line
        return best
