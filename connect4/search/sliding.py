"""Alpha-beta for games in which pieces slide: it sees threats, repetitions and forced replies.

It was written for Dynamic Connect-4. In addition to the work of `TableAlphaBeta`, it detects
without a search which side can complete a line with the next move. It tries only the replies to
such a threat and does not count them as depth. A position that occurred before has the value of a
draw, so the better side avoids it. Its heuristic `race` counts the steps that each side needs to
complete each line. The weights were tuned in games between agents that differed only in them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import cache
from typing import Final

from connect4.games.base import State
from connect4.games.board import Grid
from connect4.search import WIN, Deadline, Evaluation, Move, Order, after, ascending, of_tokens
from connect4.search.minimax import Entry, Found, TableAlphaBeta, moved_to_front

LONGEST: Final = 40
"""Plies from the root beyond which forced replies count as depth."""


WORTH: Final = (0, 90, 40, 20, 11, 6, 3, 2, 1)
"""The value of a line by the steps that it needs; the last entry is also for more steps."""

BLOCKED: Final = 3
"""The value of a line that lacks one cell, which an enemy occupies."""

AHEAD: Final = 4
"""The value of needing fewer steps to the nearest line than the opponent."""

CENTRAL: Final = 0.5
"""The value of a piece, for each of the three innermost squares that contain it."""

MOBILE: Final = 0.3
"""The value of each step that a piece can make."""


class Steps:
    """The steps on a grid: which ones complete a line, and how many are needed to get somewhere."""

    def __init__(self, grid: Grid) -> None:
        """Use `steps_of`, which creates them once for each grid."""
        self._grid = grid
        self.cells = grid.cells
        up, right = grid.shifts[:2]
        around: dict[int, int] = {}  # the cells one step from each cell
        self._rest: dict[int, tuple[tuple[int, int], ...]] = {}
        """By cell, the lines through it: the other cells of the line, and the adjacent ones."""
        for index in range(grid.cells.bit_length()):
            cell = 1 << index
            if cell & grid.cells:
                near = (cell << up | cell >> up | cell << right | cell >> right) & grid.cells
                through = [window for window in grid.windows if window & cell]
                around[cell] = near
                self._rest[cell] = tuple((window ^ cell, near & ~window) for window in through)
        self._within: dict[int, list[int]] = {}
        """For each cell the cells that are at most 1, 2, 3, ... steps away."""
        for cell in around:
            reached, rings = cell, []
            while reached != grid.cells:
                for other in [other for other in around if other & reached]:
                    reached |= around[other]
                rings.append(reached)
            self._within[cell] = rings
        middle_row, middle_column = (grid.rows - 1) / 2, (grid.columns - 1) / 2
        self._squares = [
            sum(
                grid.bit(row, column)
                for row in range(grid.rows)
                for column in range(grid.columns)
                if max(abs(row - middle_row), abs(column - middle_column)) <= size
            )
            for size in range(3)
        ]

    def completing(self, own: int, empty: int) -> int:
        """Return the cells of `empty` on which a step completes a line of the pieces `own`."""
        cells = 0
        if self._grid.line == 4:
            for shift in self._grid.shifts:
                before = own << shift & own << 2 * shift
                behind = own >> shift & own >> 2 * shift
                cells |= before & (own << 3 * shift | own >> shift)
                cells |= behind & (own >> 3 * shift | own << shift)
        else:
            for shift in self._grid.shifts:
                cells |= own << shift & (own << 2 * shift | own >> shift)
                cells |= own >> shift & own >> 2 * shift
        cells &= empty
        found = 0
        while cells:
            cell = cells & -cells
            cells ^= cell
            for rest, near in self._rest[cell]:
                if rest & own == rest and near & own:
                    found |= cell
                    break
        return found

    def steps(self, missing: int, rest: int) -> int:
        """Return how many steps the nearest pieces of `rest` need to reach the cells `missing`."""
        needed = 0
        while missing:
            cell = missing & -missing
            missing ^= cell
            for away, reached in enumerate(self._within[cell], 1):
                if reached & rest:
                    needed += away
                    break
        return needed

    def lines(self, own: int, other: int) -> tuple[float, int]:
        """Return the value of the lines of `own`, and the fewest steps that complete one."""
        worth, fewest = 0.0, len(WORTH)
        for window in self._grid.windows:
            held = own & window
            if not held & held - 1:
                continue
            enemy = other & window
            if not enemy:
                needed = min(self.steps(window ^ held, own ^ held), len(WORTH) - 1)
                worth += WORTH[needed]
                fewest = min(fewest, needed)
            elif held | enemy == window and not enemy & enemy - 1:
                worth += BLOCKED
        return worth, fewest

    def freedom(self, own: int, empty: int) -> float:
        """Return the value of the squares of the pieces `own`: central, and free to move."""
        mobile = sum(
            (own << shift & empty).bit_count() + (own >> shift & empty).bit_count()
            for shift in self._grid.shifts[:2]
        )
        central = sum((own & square).bit_count() for square in self._squares)
        return MOBILE * mobile + CENTRAL * central


steps_of = cache(Steps)
"""Returns the steps of a grid."""


class SlidingAlphaBeta(TableAlphaBeta):
    """Alpha-beta with a table for games of sliding pieces.

    A win `ply` plies from the root of a search of `depth` is worth `WIN + depth - ply`, also if
    forced replies have extended the search beyond the depth.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        order: Order = ascending,
        deadline: Deadline | None = None,
        seen: Collection[Hashable] = (),
    ) -> None:
        """Take `seen`, the positions of the game so far as `bare` returns them."""
        super().__init__(evaluation, order, deadline)
        self._seen = seen
        self._path: set[Hashable] = set()
        """The positions from the root to the parent of the one that is searched."""
        self._depth = 0
        self._cutting: dict[Move, int] = {}
        """How many cutoffs each move has caused, for move ordering."""

    def search(self, state: State, depth: int, first: Move = None) -> Found:
        self._depth = depth
        self._path = {bare(state)}
        return super().search(state, depth, first)

    def value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        self.count()
        self.line = ()
        decided, threats = self._look(state)
        if decided is not None:
            return decided
        if depth <= 0 and not threats:
            self.horizon = True
            return self.leaf(state)
        key = state.key()
        entry = self._table.get(key)
        known = self.known(entry, depth, alpha, beta)
        if known is not None:
            return known
        moves = self.replies(state, threats) if threats else self.moves(state, entry)
        below = depth if threats and len(self._path) < LONGEST else depth - 1
        position = bare(state)
        self._path.add(position)
        best = self.best_of(state, moves, below, alpha, beta)
        self._path.discard(position)
        self.store(key, depth, alpha, beta, best)
        return best

    def store(self, key: Hashable, depth: int, alpha: float, beta: float, best: float) -> None:
        if best >= beta:
            move = self.line[0]
            self._cutting[move] = self._cutting.get(move, 0) + max(1, depth) ** 2
        super().store(key, depth, alpha, beta, best)

    def _look(self, state: State) -> tuple[float | None, int]:
        """Return the value of a position that needs no search, and the opponent's threats.

        The threats are the cells on which the opponent would complete a line with the next move.
        """
        won = WIN + self._depth - len(self._path)
        if state.ending() is not None:
            return won * state.margin(state.mover), 0
        position = bare(state)
        if position in self._path or position in self._seen:
            return 0, 0
        steps = steps_of(state.grid)
        one, two = state.bitboards()
        own, other = (one, two) if state.mover == 1 else (two, one)
        empty = steps.cells & ~(one | two)
        if steps.completing(own, empty):
            return won - 1, 0
        return None, steps.completing(other, empty)

    def moves(self, state: State, entry: Entry | None) -> list[Move]:
        """Return the moves, the earlier best one first, then those that caused most cutoffs."""
        cutting = self._cutting
        moves = sorted(self.order(state), key=lambda move: -cutting.get(move, 0))
        return moved_to_front(moves, None if entry is None else entry.best)

    def replies(self, state: State, threats: int) -> Sequence[Move]:
        """Return the moves that parry a threat to step on the cell `threats`.

        If none does, or there are several such cells, return any one move.
        """
        moves = self.order(state)
        found = []
        if not threats & threats - 1:  # one cell, which must be occupied
            found = [move for move in moves if sum(after(state, move).bitboards()) & threats]
        return found or moves[:1]


def bare(state: State) -> Hashable:
    """Return a position without its number of plies: tokens and mover."""
    return *state.bitboards(), state.mover


@of_tokens
def race(grid: Grid, one: int, two: int) -> float:
    """Return the value of both sides' lines by the steps that they still need.

    The steps are those of the shortest path, even if other pieces block it.
    """
    board = steps_of(grid)
    empty = board.cells & ~(one | two)
    ours, our_steps = board.lines(one, two)
    theirs, their_steps = board.lines(two, one)
    ahead = AHEAD * ((our_steps < their_steps) - (our_steps > their_steps))
    return ours - theirs + ahead + board.freedom(one, empty) - board.freedom(two, empty)
