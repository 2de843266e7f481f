"""Expectimax: the best reply to an opponent that moves at random."""

from __future__ import annotations

from random import Random

from connect4.games.base import State
from connect4.search.deadline import Deadline
from connect4.search.evaluation import Evaluation
from connect4.search.minimax import Found, Minimax
from connect4.search.moves import Move, Order, ascending


class Expectimax(Minimax):
    """Max nodes for the player to move at the root, chance nodes for the opponent.

    The opponent's moves are all equally likely. A chance node's value is the mean over all of
    them or, with `samples`, over that many drawn without repetition (Michie 1966, "Game-playing
    and game-learning automata"; Russell & Norvig 2020, section 5.5). Values are written with
    negation as in `Minimax`: a chance node is worth to its mover minus what it is worth to us.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        order: Order = ascending,
        deadline: Deadline | None = None,
        samples: int | None = None,
        rng: Random | None = None,
    ) -> None:
        super().__init__(evaluation, order, deadline)
        self.samples = samples
        self._random = rng or Random(0)
        self._player = 0

    def search(self, state: State, depth: int, first: Move = None) -> Found:
        """See `Minimax.search`."""
        self._player = state.mover
        return super().search(state, depth, first)

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """Return the expected value of `state` for its mover; nothing is pruned."""
        if state.mover == self._player or depth == 0 or state.ending() is not None:
            return super().value(state, depth, alpha, beta)
        self.count()
        moves = self.order(state)
        if self.samples is not None and len(moves) > self.samples:
            moves = self._random.sample(moves, self.samples)
        total = sum(self.value(self.after(state, move), depth - 1, alpha, beta) for move in moves)
        self.line = ()
        return -total / len(moves)
