"""All windows of a board at once, as bits of one wide integer.

A window is a set of cells that can form a line of four (or of three, if the game requires three).

Each of a grid's four directions has a lane of `width` bits; player 2's lanes are above player 1's.
A window is the bit of its last cell in the lane of its direction. Multiplying a board by a constant
with one bit per lane copies the board into every lane and shifts each copy along that lane's
direction. A few operations on wide integers then process every window of the board.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from connect4.games.grid import STEPS, Grid


class Planes(NamedTuple):
    """For the windows of both players: which of them hold N of that player's tokens.

    A plane may have bits that are not windows; mask it with `Windows.starts` or a part of it.
    """

    first: int
    """The window's first cell is taken (never so in windows of three)."""
    last: int
    any: int
    """At least one cell is taken."""
    one: int
    two: int
    three: int
    four: int


class Windows:
    """The windows of a grid.

    `starts` are those that lie on the board, `lanes[direction]` those of one direction, in the
    order of `Grid.shifts`: up, right, down-right, up-right.
    """

    def __init__(self, grid: Grid) -> None:
        """Use `windows_of`, which creates them once for each grid."""
        steps = grid.line - 1
        width = grid.cells.bit_length() + steps * max(grid.shifts)
        self.offset = len(grid.shifts) * width
        self._low = (1 << self.offset) - 1
        self._copy = 1 | 1 << self.offset
        self._spread = [
            sum(1 << lane * width + step * shift for lane, shift in enumerate(grid.shifts))
            if step < grid.line
            else 0
            for step in range(4)
        ]
        self.lanes = [
            (start << steps * shift + lane * width) * self._copy
            for lane, (shift, start) in enumerate(zip(grid.shifts, grid.starts, strict=True))
        ]
        self.starts = sum(self.lanes)

    def planes(self, one: int, two: int) -> Planes:
        """Count the tokens of player 1 and of player 2 in each window."""
        both = one | two << self.offset
        of_last, of_third, of_second, of_first = self._spread
        last, third = both * of_last, both * of_third
        second, first = both * of_second, both * of_first
        early, late = first & second, third & last
        odd_early, odd_late = first ^ second, third ^ last
        odd, unlike = odd_early ^ odd_late, early ^ late
        three = odd & unlike
        return Planes(
            first,
            last,
            first | second | third | last,
            odd ^ three,
            unlike ^ three | odd_early & odd_late,
            three,
            early & late,
        )

    def without_enemy(self, planes: Planes) -> int:
        """Return each player's windows that hold no token of the opponent."""
        taken = planes.any
        return self.starts & ~(taken >> self.offset | (taken & self._low) << self.offset)

    def lead(self, windows: int) -> int:
        """Return how many more of `windows` are player 1's than player 2's."""
        return 2 * (windows & self._low).bit_count() - windows.bit_count()

    def players(self, windows: int) -> tuple[int, int]:
        """Return player 1's and player 2's part of `windows`."""
        return windows & self._low, windows >> self.offset


@cache
def windows_of(grid: Grid) -> Windows:
    """Return the windows of that grid."""
    return Windows(grid)


BIAS: Final = 64
"""Added to the sum of each window to keep it positive; no sum exceeds 63."""


class SoftLines:
    """The sum of every window: its own cells count twice, their neighbours once.

    The neighbours of a window along a row or a column are the cells on both sides of each of its
    cells; those of a diagonal window are the cells that touch two of its cells.

    A board is an integer with one byte for each bit of `grid`. One multiplication by a constant
    that has the weights as bytes adds up all windows; each direction has its own lane.
    """

    def __init__(self, grid: Grid) -> None:
        """Use `soft_lines_of`, which creates the constants once for each grid."""
        stride = grid.rows + 1
        anchor = grid.line * max(grid.shifts)
        width = grid.cells.bit_length() + 2 * anchor
        self._kernel = 0
        self._windows = 0
        for lane, ((right, up), start) in enumerate(zip(STEPS, grid.starts, strict=True)):
            for offset, weight in _weights(right, up, stride, grid.line):
                self._kernel += weight << 8 * (lane * width + anchor - offset)
            self._windows |= _as_bytes(start) << 8 * (lane * width + anchor)
        size = len(STEPS) * width + grid.cells.bit_length()
        self._bias = int.from_bytes(bytes([BIAS]) * size, "big")
        self._full = 255 * self._windows

    def best(self, one: int, two: int) -> tuple[int, int]:
        """Return each player's highest sum; own pieces count positive, the opponent's negative."""
        lead = (_as_bytes(one) - _as_bytes(two)) * self._kernel
        return self._highest(self._bias + lead), self._highest(self._bias - lead)

    def _highest(self, sums: int) -> int:
        """Return the highest of the sums of all windows, by bisection."""
        sums &= self._full
        low, high = 0, 127
        while low < high:
            middle = (low + high + 1) // 2
            if (sums + (128 - middle) * self._windows) & 128 * self._windows:
                low = middle
            else:
                high = middle - 1
        return low - BIAS


def _weights(right: int, up: int, stride: int, line: int) -> list[tuple[int, int]]:
    """Return `(distance in bits from the first cell, weight)` of each cell of a window's sum."""
    shift = right * stride + up
    weights = [(step * shift, 2) for step in range(line)]
    if right and up:
        beside, steps = (stride, up), line - 1
    else:
        beside, steps = ((1, -1) if right else (stride, -stride)), line
    return weights + [(step * shift + aside, 1) for step in range(steps) for aside in beside]


def _as_bytes(mask: int) -> int:
    """Return an integer with a byte of value 1 for each bit of `mask`."""
    digits = f"{mask:b}".encode()
    return int.from_bytes(digits, "big") & int.from_bytes(b"\1" * len(digits), "big")


@cache
def soft_lines_of(grid: Grid) -> SoftLines:
    """Return the soft lines of that grid."""
    return SoftLines(grid)
