"""Prove forced wins in games in which pieces slide.

The module was written for Dynamic Connect-4. It only decides whether a side can force a line within
a number of plies, and stops at the first reply that refutes a move. In the same time it therefore
looks two to four plies further than alpha-beta, but it estimates nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from connect4.games.base import State
from connect4.games.grid import Grid
from connect4.search.base import Deadline, Move, after, center
from connect4.search.sliding import steps_of

MAX_ENTRIES: Final = 1_000_000
"""Entries that the table holds before it is emptied, about 150 MB."""


UNKNOWN: Final = (1000, 0)


class Proof(NamedTuple):
    """The end of a game with best play: player 1's outcome (1, 0 or -1), and the plies until then.

    For a draw, these are the plies that are left.
    """

    outcome: int
    plies: int


class ForcedWins:
    """Decides which side can force a line within a number of plies, on one grid.

    All methods take the pieces as masks, those of the side to move first. A table keeps the answers
    between calls.
    """

    def __init__(self, state: State) -> None:
        """Take the grid and the earlier positions of `state`.

        If a third repetition is a draw, a position that has occurred twice does not count as a win.
        """
        grid: Grid = state.grid
        self.deadline = Deadline()
        self.nodes = 0
        self.open_until = 0
        """Plies within which the last call of `prove` found that no side forces a line."""
        self._cells = grid.cells
        self._steps = steps_of(grid)
        self._table: dict[tuple[int, int], tuple[int, int]] = {}
        """By position: the fewest plies in which the mover wins, the most in which it fails."""
        self._best: dict[int, int] = {}
        """By number of plies: the last step that worked, as its two cells."""
        counts = Counter(getattr(state, "history", ()))
        self._drawn = {
            (one, two) if mover == 1 else (two, one)
            for (one, two, mover), times in counts.items()
            if times > 1
        }

    def prove(self, state: State, plies: int) -> Proof | None:
        """Return the ending that a side forces within that many plies; None if neither side can.

        The position must not be over. Wins and losses are the fastest ones. Raises
        `OutOfBudgetError`.
        """
        own, other = in_turn(state)
        sign = 1 if state.mover == 1 else -1
        for left in range(1, min(plies, state.max_plies) + 1):
            self.open_until = left - 1
            if left % 2 and self.wins(own, other, left):
                return Proof(sign, left)
            if not left % 2 and self.loses(own, other, left):
                return Proof(-sign, left)
        self.open_until = min(plies, state.max_plies)
        return Proof(0, state.max_plies) if plies >= state.max_plies else None

    def best(self, state: State, proof: Proof) -> Move:
        """Return a move that achieves `proof`, the result of `prove` for that position.

        The winning side takes the fastest line, the losing side the slowest. Raises
        `OutOfBudgetError`.
        """
        outcome = proof.outcome if state.mover == 1 else -proof.outcome
        rest = proof.plies - 1
        for move in center(state) or (None,):
            child = after(state, move)
            if child.is_over():
                if child.margin(state.mover) == outcome:
                    return move
                continue
            own, other = in_turn(child)
            if outcome > 0:
                kept = self.loses(own, other, rest)
            elif outcome < 0:
                kept = not self.wins(own, other, rest - 2)
            else:
                kept = not self.wins(own, other, rest)
            if kept:
                return move
        raise ValueError(f"no move of this position leads to {proof}")

    def line(self, state: State, proof: Proof, most: int) -> Iterator[Move]:
        """Yield the best moves of both sides, at most `most` of them; see `best`."""
        plies = proof.plies
        while plies and most:
            move = self.best(state, proof._replace(plies=plies))
            yield move
            state = after(state, move)
            plies -= 1
            most -= 1

    def safe_move(self, state: State, first: Move, plies: int) -> Move:
        """Return `first`; if it loses by force within `plies`, return a move that does not.

        Returns `first` if all moves lose. Raises `OutOfBudgetError`.
        """
        for move in (first, *center(state)):
            child = after(state, move)
            own, other = in_turn(child)
            if child.is_over() or not self.wins(own, other, plies - 1):
                return move
        return first

    def wins(self, own: int, other: int, plies: int) -> bool:
        """Return whether the side to move, with the pieces `own`, forces a line within `plies`."""
        if plies < 1:
            return False
        return bool(self._wanted(own) & ~other) or self._attacks(own, other, plies)

    def loses(self, own: int, other: int, plies: int) -> bool:
        """Return whether the opponent of the side to move forces a line within `plies`."""
        if plies < 2 or self._wanted(own) & ~other:
            return False
        return not self._holds(own, other, plies)

    def _wanted(self, own: int) -> int:
        """Return the cells on which a step completes a line, even if the opponent occupies them."""
        return self._steps.completing(own, self._cells & ~own)

    def _attacks(self, own: int, other: int, plies: int) -> bool:
        """Return the result of `wins` for a position in which no step completes a line."""
        if plies < 3:
            return False
        self.nodes += 1
        if self.nodes >= self.deadline.next_check:
            self.deadline.check(self.nodes)
        key = own, other
        won, open_until = self._table.get(key, UNKNOWN)
        if plies >= won or plies <= open_until:
            return plies >= won
        empty = self._cells & ~(own | other)
        danger = self._wanted(other)
        found = False
        for step in self._attempts(own, empty, danger & empty, plies):
            if danger & (empty ^ step) or (other, own ^ step) in self._drawn:
                continue
            if not self._holds(other, own ^ step, plies - 1):
                self._best[plies] = step
                found = True
                break
        if len(self._table) >= MAX_ENTRIES:
            self._table.clear()
        self._table[key] = (plies, open_until) if found else (won, plies)
        return found

    def _holds(self, own: int, other: int, plies: int) -> bool:
        """Return whether the side to move, which completes no line, can prevent one for `plies`."""
        empty = self._cells & ~(own | other)
        wanted = self._wanted(other)
        for step in self._attempts(own, empty, wanted & empty, plies):
            if wanted & (empty ^ step):  # the piece may leave a cell that the opponent needs
                continue
            if (own ^ step, other) in self._drawn or not self._attacks(
                other, own ^ step, plies - 1
            ):
                self._best[plies] = step
                return True
        return False

    def _attempts(self, own: int, empty: int, threats: int, plies: int) -> Iterator[int]:
        """Yield each step of the pieces `own` as its two cells.

        It starts with the step that worked last time.

        If the opponent threatens to complete a line on one cell, `threats`, only steps onto it are
        yielded; if on several, none. Yields 0, a pass, if no step is possible.
        """
        around = self._steps.around
        if threats:
            if not threats & threats - 1:
                pieces = around[threats] & own
                while pieces:
                    source = pieces & -pieces
                    pieces ^= source
                    yield source | threats
            return
        first = self._best.get(plies, 0)
        source = first & own
        if source and first & empty and source != first:
            yield first
        else:
            first = -1
        passes = True
        while own:
            source = own & -own
            own ^= source
            targets = around[source] & empty
            while targets:
                target = targets & -targets
                targets ^= target
                passes = False
                if source | target != first:
                    yield source | target
        if passes:
            yield 0


def in_turn(state: State) -> tuple[int, int]:
    """Return the pieces of the side to move, then those of the other side."""
    one, two = state.bitboards()
    return (one, two) if state.mover == 1 else (two, one)
