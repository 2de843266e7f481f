"""Expectimax, against an opponent that plays at random."""

from math import inf
from typing import TypeAlias

from connect4.reference.lines import DEEPEST, ME, Found, Lines, Position, slot_of, uneven_share
from connect4.search import Deadline, OutOfBudgetError

Values: TypeAlias = list[tuple[float, tuple[float, int]]]
"""The values of actions, each with its (gain, action)."""


class Expectimax:
    """The search of one board.

    From five plies on each depth is searched twice: first only with the best of my actions, by the
    values of the search before at the root and by their gains elsewhere, then with all of them.
    """

    share = staticmethod(uneven_share)

    WIDTH = 4
    """How many of my actions the first of the two searches tries.

    At five plies the games were as good as with all of them, at a fifth to a tenth of the cost.
    """

    POPOUT_COSTS = 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 4.0, 4.5, 5.5, 6.5
    """What the Nth pop-out in hand costs me if the opponent makes the last move.

    I am then the one to move when the board is full, and have to pop out at a loss. Measured in
    games from the same positions with N and N - 1.
    """

    TABLE_SIZE = 2**18
    """Entries of the table of positions; a new one takes the place of an old one."""

    def __init__(self, lines: Lines):
        self.lines = lines
        self.seen: list[tuple[int, int, float]] = [(-1, 0, 0.0)] * self.TABLE_SIZE
        self.costs: tuple[float, ...] = (0.0,)
        """Of the search that runs: what using a pop-out saves me, by those in hand."""
        self.narrow = self.solved = False
        """Of the same: only the best actions are tried; it reaches the end of the game."""

    def choose(self, position: Position, budget: Deadline) -> Found:
        self.budget = budget
        actions = self.lines.actions(position)
        left = self.lines.plies_left(position)
        self.costs = (0.0,) if left % 2 else self.POPOUT_COSTS
        last: Values = []
        whole = 0  # the depth of `last`
        current: Values = []
        try:
            for depth in range(3, min(left, DEEPEST) + 2, 2):
                self.solved = depth >= left
                for self.narrow in (True, False) if depth > 3 else (False,):
                    current = []
                    for item in actions[: self.WIDTH] if self.narrow else actions:
                        current.append((self._after(position, *item, depth), item))
                    last, whole = sorted(current, reverse=True), depth
                    actions = [item for _, item in last] + actions[len(last) :]
            best = actions[0][1]
        except OutOfBudgetError:
            best = max(current)[1][1] if current else actions[0][1]
        return Found(best, tuple((whole, value) for value, (_, move) in last if move == best))

    def _after(self, position: Position, gain: float, action: int, depth: int) -> float:
        """Return the mover's expected final margin after an action."""
        value = -self._value(self.lines.play(position, gain, action), depth - 1)
        _, _, _, _, mover, own, _ = position
        return value + self._saved(own) if action < 0 and mover == ME else value

    def _saved(self, popouts: int) -> float:
        """Return what I save by using one of N pop-outs; at the end the margin shows it."""
        return 0.0 if self.solved else self.costs[min(popouts, len(self.costs) - 1)]

    def _value(self, position: Position, depth: int) -> float:
        """Return the mover's expected final margin."""
        self.budget.spend()
        _, _, total, _, mover, _, _ = position
        actions = self.lines.actions(position)
        if not actions or not depth:
            return total
        if depth == 1 and mover == ME:
            return total + actions[0][0]
        slot = slot_of(position)
        searched = -depth if self.narrow and depth > 2 else depth
        key_found, known, value = self.seen[slot % self.TABLE_SIZE]
        if key_found != slot or known != searched:
            if depth == 2 and not self.solved:
                value = self._frontier(position)
            else:
                if mover == ME and self.narrow:
                    actions = actions[: self.WIDTH]
                values = [self._after(position, *item, depth) for item in actions]
                value = max(values) if mover == ME else sum(values) / len(values)
            self.seen[slot % self.TABLE_SIZE] = slot, searched, value
        return value

    def _frontier(self, position: Position) -> float:
        """Return the opponent's mean over its actions, each followed by my greatest gain.

        For a drop no child is made: the gain of an answer has changed only where it shares a line
        with the drop. The gains of my pop-outs are those before the drop.
        """
        codes, drops, total, _, mover, own, other = position
        lines = self.lines
        popouts = lines.pops(codes, ME) if other else []
        popped = max(popouts, default=(-inf, 0))[0] + self._saved(other)
        change_of_margin = 0.0
        for _, cell in drops:
            shared = lines.shared[mover][cell]
            best = max(popped, lines.gain_above(codes, cell, mover))
            for gain, answer in drops:
                if common := shared[answer]:
                    line, changes = common
                    best = max(best, gain + changes[codes[line]])
                elif gain > best and answer != cell:
                    best = gain
            change_of_margin += best - lines.loss(codes, cell)
        pops = lines.pops(codes, mover) if own else []
        for gain, action in pops:
            child = lines.play(position, gain, action)
            change_of_margin += child[2] + total + lines.actions(child)[0][0]
        return total - change_of_margin / (len(drops) + len(pops))
