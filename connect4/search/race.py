"""The heuristic `race`: how many steps each side needs to complete each line, and who is ahead.

It is for games in which pieces slide. The weights were tuned in games between agents that differed
only in these weights.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from connect4.games.grid import Grid
from connect4.search.heuristics import of_tokens
from connect4.search.sliding import steps_of

WORTH: Final = (0, 90, 40, 20, 11, 6, 3, 2, 1)
"""The worth of a line by the steps that it needs; the last entry holds for more steps."""

BLOCKED: Final = 3
"""Worth of a line that lacks nothing but one cell, which an enemy holds."""

AHEAD: Final = 4
"""Worth of needing fewer steps to the nearest line than the other side."""

CENTRAL: Final = 0.5
"""Worth of a piece in each of the three innermost squares around the middle that it is in."""

MOBILE: Final = 0.3
"""Worth of a step that a piece can make."""


class Distances:
    """The geometry that the heuristic needs of a grid."""

    def __init__(self, grid: Grid) -> None:
        """Use `distances_of` instead, which makes each grid's once."""
        self.windows = grid.windows
        self.cells = grid.cells
        self.shifts = grid.shifts[:2]
        around = steps_of(grid).around
        self.within: dict[int, list[int]] = {}
        """Of each cell the cells that are at most 1, 2, 3, ... steps away."""
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
        """Return what the lines of the pieces `own` are worth, and the fewest steps to one."""
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
        """Return what the places of the pieces `own` are worth: in the middle, free to move."""
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
    """Return the worth of both sides' lines by the steps that they still need.

    Pieces are taken to reach a cell by the shortest way, whatever stands on it.
    """
    board = distances_of(grid)
    empty = board.cells & ~(one | two)
    ours, our_steps = board.lines(one, two)
    theirs, their_steps = board.lines(two, one)
    ahead = AHEAD * ((our_steps < their_steps) - (our_steps > their_steps))
    return ours - theirs + ahead + board.freedom(one, empty) - board.freedom(two, empty)
