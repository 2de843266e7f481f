"""Soft lines for `heuristics.fuzzy`: all windows with their neighbourhoods, as bytes."""

from __future__ import annotations

from functools import cache
from typing import Final

from connect4.games.grid import STEPS, Grid

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
