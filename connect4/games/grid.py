"""Boards as bits of Python integers: the bit of each cell, and the cells that form a line.

Bit `column * (rows + 1) + height` is the cell `height` cells above the bottom of `column`. The bit
above a column's top cell is always 0, so a line that is shifted along itself never wraps around
(the layout of John Tromp's Fhourstones benchmark).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

STEPS: Final = ((0, 1), (1, 0), (1, -1), (1, 1))
"""`(columns, heights)` from one cell of a line to the next: up, right, down-right, up-right."""


class Grid:
    """The geometry of a board of `rows` by `columns` on which `line` tokens in a row count.

    `cells`, `tops`, `bottoms[c]`, `column_cells[c]` are masks of cells; `drops[c]` holds a column's
    bottom and its cells, `distances[c]` its distance from the middle column.

    `windows` holds the mask of every line of `line` cells. `shifts` holds, for each of the four
    directions of `STEPS`, the distance in bits from one cell of a line to the next, and `starts`
    the cells at which a whole line in that direction can begin:
    `(x & x >> s & x >> 2*s & x >> 3*s) & start` are the lines of 4 in x. `steps` has two shifts for
    each direction: pairs of neighbours, then pairs of such pairs. They find lines of 2 to 4.
    """

    def __init__(self, rows: int, columns: int, line: int) -> None:
        """Use `grid_of`, which creates each grid once; `line` is 2, 3 or 4."""
        self.rows = rows
        self.columns = columns
        self.line = line
        stride = rows + 1
        self.bottoms = tuple(1 << column * stride for column in range(columns))
        self.column_cells = tuple(bottom * ((1 << rows) - 1) for bottom in self.bottoms)
        self.drops = tuple(zip(self.bottoms, self.column_cells, strict=True))
        self.distances = {column: abs(column - (columns - 1) / 2) for column in range(columns)}
        self.open_columns = cache(self._open_columns)
        self.cells = sum(self.column_cells)
        self.tops = sum(bottom << (rows - 1) for bottom in self.bottoms)
        self.shifts = tuple(right * stride + up for right, up in STEPS)
        self.steps = tuple(step for shift in self.shifts for step in (shift, (line - 2) * shift))
        starts = []
        windows = []
        for (right, up), shift in zip(STEPS, self.shifts, strict=True):
            here = [
                column * stride + height
                for column in range(columns - right * (line - 1))
                for height in range(rows)
                if 0 <= height + up * (line - 1) < rows
            ]
            starts.append(sum(1 << index for index in here))
            windows += [sum(1 << index + step * shift for step in range(line)) for index in here]
        self.starts = tuple(starts)
        self.windows = tuple(windows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle to the cached grid of `grid_of`."""
        return grid_of, (self.rows, self.columns, self.line)

    def _open_columns(self, taken: int) -> tuple[int, ...]:
        """Return the columns that are not full; `taken` is the mask of the occupied top cells."""
        tops = (bottom << (self.rows - 1) for bottom in self.bottoms)
        return tuple(column for column, top in enumerate(tops) if not taken & top)

    def bit(self, row: int, column: int) -> int:
        """Return the mask of one cell; row 0 is on top."""
        return 1 << column * (self.rows + 1) + self.rows - 1 - row

    def has_line(self, tokens: int) -> bool:
        """Return whether `tokens` contains a line."""
        a, aa, b, bb, c, cc, d, dd = self.steps  # unrolled: called for every move
        return bool(
            ((pairs := tokens & tokens >> a) and pairs & pairs >> aa)
            or ((pairs := tokens & tokens >> b) and pairs & pairs >> bb)
            or ((pairs := tokens & tokens >> c) and pairs & pairs >> cc)
            or ((pairs := tokens & tokens >> d) and pairs & pairs >> dd)
        )

    def count_lines(self, tokens: int) -> int:
        """Return the number of lines in `tokens`; a run of 5 contains two lines of 4."""
        count = 0
        for shift in self.shifts:
            pairs = tokens & tokens >> shift
            count += (pairs & pairs >> (self.line - 2) * shift).bit_count()
        return count

    def to_array(self, one: int, two: int) -> npt.NDArray[np.int64]:
        """Return the cells, shape `(rows, columns)`, row 0 on top: 1 and 2 for the two masks."""
        size, order = _order_of_cells(self.rows, self.columns)
        data = one.to_bytes(size, "little") + two.to_bytes(size, "little")
        bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")
        board: npt.NDArray[np.int64] = bits[order[0]] + 2 * bits[order[1]].astype(np.int64)
        return board

    def from_array(self, board: npt.NDArray[np.int64]) -> tuple[int, int]:
        """Return the masks of the cells with value 1 and 2; row 0 is on top."""
        order = _order_of_bits(self.rows, self.columns)
        one, two = (
            int.from_bytes(np.packbits((board == player).take(order)).tobytes(), "big")
            for player in (1, 2)
        )
        return one & self.cells, two & self.cells


@cache
def _order_of_cells(rows: int, columns: int) -> tuple[int, npt.NDArray[np.intp]]:
    """Return the bytes of a mask, and the index of each cell in two concatenated masks."""
    stride = rows + 1
    size = -(-columns * stride // 8)
    row, column = np.indices((rows, columns))
    first = column * stride + rows - 1 - row
    return size, np.stack([first, first + 8 * size])


@cache
def _order_of_bits(rows: int, columns: int) -> npt.NDArray[np.intp]:
    """Return for each bit of a mask, highest first, the index of its cell in a flat board.

    The bits above the columns and the padding of the first byte get an arbitrary cell and must be
    masked.
    """
    stride = rows + 1
    bits = np.arange(-(-columns * stride // 8) * 8)[::-1]
    column, height = bits // stride % columns, np.minimum(bits % stride, rows - 1)
    return (rows - 1 - height) * columns + column


@cache
def grid_of(rows: int, columns: int, line: int) -> Grid:
    """Return the cached grid of that size."""
    return Grid(rows, columns, line)
