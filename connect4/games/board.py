"""Boards without rules: cells as bits of Python integers, lines, and the runs of tokens on them.

Bit `column * (rows + 1) + height` is the cell `height` cells above the bottom of `column`. The bit
above a column's top cell is always 0, so a line that is shifted along itself never wraps around
(the layout of John Tromp's Fhourstones benchmark). A run is a maximal row of one player's tokens
along a row, a column or a diagonal.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Player: TypeAlias = Literal[1, 2]
"""1 or 2; player 1 moves first."""

STEPS: Final = ((0, 1), (1, 0), (1, -1), (1, 1))
"""`(columns, heights)` from one cell of a line to the next: up, right, down-right, up-right."""

Cell: TypeAlias = tuple[int, int]
"""`(row, column)`, row 0 on top."""

DIRECTIONS: Final[tuple[Cell, ...]] = ((0, 1), (1, 0), (1, 1), (-1, 1))
"""From one cell of a line to the next: along a row, a column, a falling and a rising diagonal."""


class Grid:
    """The geometry of a board of `rows` by `columns` on which `line` tokens in a row count.

    `cells`, `tops`, `floor`, `bottoms[c]`, `column_cells[c]` are masks of cells; `drops[c]` holds a
    column's bottom and its cells, `distances[c]` its distance from the middle column. `own_floor`
    has the bottoms of even columns and of odd ones.

    `shifts` holds, for each of the four directions of `STEPS`, the distance in bits from one cell
    of a line to the next, and `starts` the cells at which a whole line in that direction can begin:
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
        self.floor = sum(self.bottoms)
        self.own_floor = sum(self.bottoms[::2]), sum(self.bottoms[1::2])
        self.tops = sum(bottom << (rows - 1) for bottom in self.bottoms)
        self.shifts = tuple(right * stride + up for right, up in STEPS)
        self.steps = tuple(step for shift in self.shifts for step in (shift, (line - 2) * shift))
        away, starts = line - 1, []
        for right, up in STEPS:
            heights = (1 << max(0, rows - away if up else rows)) - 1
            begins = self.bottoms[: max(0, columns - right * away)]
            starts.append(sum(begins) * (heights << away if up < 0 else heights))
        self.starts = tuple(starts)

    @cached_property
    def windows(self) -> tuple[int, ...]:
        """Return the mask of every line of `line` cells."""
        return tuple(
            sum(1 << index + step * shift for step in range(self.line))
            for shift, starts in zip(self.shifts, self.starts, strict=True)
            for index in range(starts.bit_length())
            if starts >> index & 1
        )

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

    def from_rows(self, rows: Iterable[Iterable[int]]) -> tuple[int, int]:
        """Return the masks of the cells with value 1 and 2; the first row is on top."""
        masks = [0, 0, 0]
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                if cell:
                    masks[cell] |= self.bit(row, column)
        return masks[1], masks[2]


@cache
def _order_of_cells(rows: int, columns: int) -> tuple[int, npt.NDArray[np.intp]]:
    """Return the bytes of a mask, and the index of each cell in two concatenated masks."""
    stride = rows + 1
    size = -(-columns * stride // 8)
    row, column = np.indices((rows, columns))
    first = column * stride + rows - 1 - row
    return size, np.stack([first, first + 8 * size])


@cache
def grid_of(rows: int, columns: int, line: int) -> Grid:
    """Return the cached grid of that size."""
    return Grid(rows, columns, line)


class Run(NamedTuple):
    """`length` tokens of `player`, from the cell `first` in steps of `step`, worth `points`."""

    player: Player
    first: Cell
    step: Cell
    length: int
    points: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        (row, column), (down, right) = self.first, self.step
        return tuple((row + down * place, column + right * place) for place in range(self.length))

    @property
    def line(self) -> tuple[Cell, int]:
        """Return a value that identifies the line of the board that the run is on."""
        (row, column), (down, right) = self.first, self.step
        return self.step, row * right - column * down


class RunChange(NamedTuple):
    """How a move changed a player's runs on one line; `points` is gained minus lost."""

    player: Player
    points: int
    made: tuple[Run, ...]
    broken: tuple[Run, ...]


@lru_cache(maxsize=32)
def _lines(rows: int, columns: int) -> tuple[tuple[Cell, tuple[Cell, ...]], ...]:
    """Return every line of a board as its step and its cells."""
    board = dict.fromkeys(np.ndindex(rows, columns))
    found = []
    for down, right in DIRECTIONS:
        for row, column in board:
            if (row - down, column - right) in board:
                continue  # not the first cell of its line
            line = [(row, column)]
            while (following := (line[-1][0] + down, line[-1][1] + right)) in board:
                line.append(following)
            found.append(((down, right), tuple(line)))
    return tuple(found)


def runs_on(board: npt.NDArray[np.int64], points: Callable[[Player, int], int]) -> tuple[Run, ...]:
    """Return the runs on a board for which `points(player, length)` is not 0."""
    rows = board.tolist()
    found = []
    for step, line in _lines(*board.shape):
        place = 0
        for value, group in groupby(rows[row][column] for row, column in line):
            length = len(list(group))
            if value and (worth := points(value, length)):
                found.append(Run(value, line[place], step, length, worth))
            place += length
    return tuple(found)


def run_changes(before: Sequence[Run], after: Sequence[Run]) -> tuple[RunChange, ...]:
    """Return the differences between the runs of two positions, largest first.

    The points of all changes add up to the difference of the scores. A pair that grew to three is
    one change. A run that only moved is one change with 0 points.
    """
    old, new = set(before), set(after)
    lines: dict[tuple[Player, tuple[Cell, int]], tuple[list[Run], list[Run]]] = {}
    for place, runs in enumerate((new - old, old - new)):
        for run in runs:
            lines.setdefault((run.player, run.line), ([], []))[place].append(run)
    changes = [
        RunChange(
            player,
            sum(run.points for run in made) - sum(run.points for run in broken),
            tuple(sorted(made)),
            tuple(sorted(broken)),
        )
        for (player, _), (made, broken) in sorted(lines.items())
    ]
    return tuple(sorted(changes, key=lambda change: -abs(change.points)))
