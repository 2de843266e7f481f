"""Expectimax: the best reply to an opponent that moves at random."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from connect4.games.base import State
from connect4.search.deadline import Deadline
from connect4.search.evaluation import Evaluation
from connect4.search.minimax import Found, Minimax
from connect4.search.moves import Move, Order, after, ascending


def can_win(state: State) -> bool:
    """Return whether the mover can win with one move."""
    return any(state.apply(move).margin(state.mover) > 0 for move in state.legal_actions())


class Expectimax(Minimax):
    """Max nodes for the player to move at the root, chance nodes for the opponent.

    The opponent's moves are all equally likely. The value of a chance node is the mean over all of
    them or, with `samples`, over that many drawn without replacement (Michie 1966, "Game-playing
    and game-learning automata"; Russell & Norvig 2020, section 5.5). Values use negation as in
    `Minimax`: a chance node has for its mover minus the value that it has for us.

    With `cautious`, the root skips moves that let the opponent win at once, if it has others. A
    mean over random replies underrates such a threat when only winning counts.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        order: Order = ascending,
        deadline: Deadline | None = None,
        samples: int | None = None,
        rng: Random | None = None,
        cautious: bool = False,
    ) -> None:
        super().__init__(evaluation, order, deadline)
        self.samples = samples
        self._random = rng or Random(0)
        self._cautious = cautious
        self._player = 0

    def search(self, state: State, depth: int, first: Move = None) -> Found:
        self._player = state.mover
        return super().search(state, depth, first)

    def root_moves(self, state: State) -> Sequence[Move]:
        moves = self.order(state)
        if not self._cautious:
            return moves
        return [move for move in moves if not can_win(after(state, move))] or moves

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """Return the expected value of `state` for its mover, without pruning."""
        if state.mover == self._player or depth == 0 or state.ending() is not None:
            return super().value(state, depth, alpha, beta)
        self.count()
        moves = self.order(state)
        if self.samples is not None and len(moves) > self.samples:
            moves = self._random.sample(moves, self.samples)
        total = sum(self.value(self.after(state, move), depth - 1, alpha, beta) for move in moves)
        self.line = ()
        return -total / len(moves)
