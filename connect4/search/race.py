"""The heuristic `race`: how many steps each side needs to complete each line, and who is ahead.

It is for games in which pieces slide. Its weights were tuned in games between agents that differed
only in these weights.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from connect4.games.grid import Grid
from connect4.search.heuristics import of_tokens
from connect4.search.sliding import steps_of

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


class Distances:
    """The geometry of a grid that the heuristic needs."""

    def __init__(self, grid: Grid) -> None:
        """Use `distances_of`, which creates them once for each grid."""
        self.windows = grid.windows
        self.cells = grid.cells
        self.shifts = grid.shifts[:2]
        around = steps_of(grid).around
        self.within: dict[int, list[int]] = {}
        """For each cell the cells that are at most 1, 2, 3, ... steps away."""
        for cell in around:
            reached, rings = cell, []
            while reached != grid.cells:
                for other in [other for other in around if other & reached]:
                    reached |= around[other]
                rings.append(reached)
            self.within[cell] = rings
        middle_row, middle_column = (grid.rows - 1) / 2, (grid.columns - 1) / 2
        self.squares = [
            sum(
                grid.bit(row, column)
                for row in range(grid.rows)
                for column in range(grid.columns)
                if max(abs(row - middle_row), abs(column - middle_column)) <= size
            )
            for size in range(3)
        ]

    def steps(self, missing: int, rest: int) -> int:
        """Return how many steps the nearest of the pieces `rest` need to the cells `missing`."""
        needed = 0
        while missing:
            cell = missing & -missing
            missing ^= cell
            for away, reached in enumerate(self.within[cell], 1):
                if reached & rest:
                    needed += away
                    break
        return needed

    def lines(self, own: int, other: int) -> tuple[float, int]:
        """Return the value of the lines of the pieces `own`, and the fewest steps to one."""
        worth, fewest = 0.0, len(WORTH)
        for window in self.windows:
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
            for shift in self.shifts
        )
        central = sum((own & square).bit_count() for square in self.squares)
        return MOBILE * mobile + CENTRAL * central


@cache
def distances_of(grid: Grid) -> Distances:
    """Return the distances of that grid."""
    return Distances(grid)


@of_tokens
def race(grid: Grid, one: int, two: int) -> float:
    """Return the value of both sides' lines by the steps that they still need.

    The steps are those of the shortest path, even if other pieces block it.
    """
    board = distances_of(grid)
    empty = board.cells & ~(one | two)
    ours, our_steps = board.lines(one, two)
    theirs, their_steps = board.lines(two, one)
    ahead = AHEAD * ((our_steps < their_steps) - (our_steps > their_steps))
    return ours - theirs + ahead + board.freedom(one, empty) - board.freedom(two, empty)
