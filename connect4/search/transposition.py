"""Alpha-beta with a transposition table that stores each value as exact or as a bound."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from connect4.games.base import State
from connect4.search.deadline import Deadline
from connect4.search.evaluation import Evaluation
from connect4.search.minimax import INFINITY, AlphaBeta, Found, Line
from connect4.search.moves import Move, Order, ascending

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
        if entry is not None and entry.search == self._search and entry.depth == depth:
            self.line = (entry.best, ())
            if entry.lower >= beta or entry.lower == entry.upper:
                return entry.lower
            if entry.upper <= alpha:
                return entry.upper
        best, best_move = -INFINITY, None
        line: Line = ()
        floor = alpha
        for move in self.moves(state, entry):
            value = -self.value(self.after(state, move), depth - 1, -beta, -floor)
            if value > best:
                best, best_move, line = value, move, (move, self.line)
                if value > floor:
                    floor = value
                    if floor >= beta:
                        self.cutoffs += 1
                        break
        self.line = line
        if len(self._table) >= MAX_ENTRIES:
            self._table.clear()
        lower = best if best > alpha else -INFINITY
        upper = best if best < beta else INFINITY
        self._table[key] = Entry(self._search, depth, lower, upper, best_move)
        return best

    def moves(self, state: State, entry: Entry | None) -> list[Move]:
        """Return the moves, the best one of an earlier search first."""
        moves = list(self.order(state))
        if entry is not None and entry.best in moves:
            moves.remove(entry.best)
            moves.insert(0, entry.best)
        return moves
