"""The fixed student API: counters, points, valid actions, and the lines of a board.

Students' files import these six names; their signatures and orders do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress, pairwise
from math import prod
from operator import index, not_
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy import equal, ndarray, packbits

from connect4 import config
from connect4.config import win_pts

Cells: TypeAlias = npt.NDArray[np.integer[Any]]
"""Shape `(rows, columns)`, row 0 on top; 0 empty, 1 and 2 the players' tokens."""

Board: TypeAlias = Cells | Sequence[Sequence[int]]
"""The cells as a 2-D array or as a list of rows."""

CACHED_SHAPES = 32
"""Board shapes whose layout is kept: 5 kB each at 12x12; the oldest one goes first."""

_TOKENS = {1: np.array(1), 2: np.array(2)}
"""The players' tokens as arrays: numpy compares with these faster than with Python's int."""

_from_bytes = int.from_bytes


class Integer:
    """A mutable count of pop-outs left, as the course's: `_i` is the count itself.

    `maximum` is the count that the game started with, `i` itself where it is not given. Only with
    `config.debug_mode` is a count kept within 0..maximum, and whatever leaves that refused with
    `ValueError`: searches may count beyond it for a while. The rules keep counts of their own.
    """

    __slots__ = ("_i", "_maximum")

    def __init__(self, i: int, maximum: int | None = None) -> None:
        self._i = i
        self._maximum = i if maximum is None else maximum
        if config.debug_mode:
            self._check()

    def get_int(self) -> int:
        """Return the count."""
        return self._i

    def decrement(self) -> None:
        """Take one off."""
        if config.debug_mode and self._i <= 0:
            raise ValueError(f"cannot decrement a count of {self._i}")
        self._i -= 1

    def increment(self) -> None:
        """Add one."""
        if config.debug_mode and self._i >= self._maximum:
            raise ValueError(f"cannot increment a count above its maximum of {self._maximum}")
        self._i += 1

    def _check(self) -> None:
        """Raise `TypeError` or `ValueError` for a count to start with that no game has."""
        if index(self._i) < 0:
            raise ValueError(f"a count of {self._i} is below 0")
        if self._i > index(self._maximum):
            raise ValueError(f"a count of {self._i} is above its maximum of {self._maximum}")

    def __repr__(self) -> str:
        return f"Integer({self._i}, maximum={self._maximum})"


def get_pts(player_number: int, board: Board) -> int:
    """Return the points of all runs of the player's tokens, in rows, columns and diagonals.

    Any 0/1/2 array of integers or list of rows will do, also one with floating tokens. Raises
    `ValueError` where the board is not 2-D or there is no such player.

    How: the cells of all lines are laid end to end as the bits of one integer, so that a single
    shift-and-and finds the end of every pair, the next one that of every three in a row, and so
    on; the points are a weighted sum of those counts (see `_weights`). This trades obviousness
    (`get_row_score` over each line gives the same) and a cached layout per board shape for speed.
    """
    try:
        order, joined, single_weight, weights = _layouts[board.shape]  # type: ignore[union-attr]
        held = equal(board, _TOKENS[player_number])
    except (AttributeError, KeyError, TypeError):  # a list of rows, or an argument to refuse
        return get_pts(_as_player(player_number), _as_board(board))
    ends = _from_bytes(packbits(held.take(order)).tobytes(), "big")
    points = single_weight * ends.bit_count() if single_weight else 0
    ends &= ends >> 1 & joined
    for weight in weights:
        if not ends:
            break
        points += weight * ends.bit_count()
        ends &= ends >> 1
    return points


def get_valid_actions(
    player_number: int, state: tuple[Board, Mapping[int, Integer]]
) -> list[tuple[int, bool]]:
    """Return the player's actions `(column, is_popout)`: drops, then pop-outs, by column.

    It does not matter who is to move. The board must be one of the game's, without floating
    tokens: only its top and bottom rows are read. Raises `ValueError` where the board is not 2-D
    or there is no such player.
    """
    if player_number not in (1, 2):
        player_number = _as_player(player_number)
    board, popouts_left = state
    if type(board) is not ndarray or board.ndim != 2:
        board = _as_board(board)
    top = board[0].tolist()
    drops, popouts = _all_actions(len(top))
    actions = list(compress(drops, map(not_, top)))
    if popouts_left[player_number].get_int() > 0:
        own = slice(player_number - 1, None, 2)
        actions += compress(popouts[own], board[-1, own].tolist())
    return actions


def get_row_score(player_number: int, row: Iterable[int]) -> int:
    """Return the points of the player's runs in one line of cells."""
    _as_player(player_number)
    points = length = 0
    for cell in row:
        if cell == player_number:
            length += 1
        else:
            points += _run_points(length)
            length = 0
    return points + _run_points(length)


def get_diagonals_primary(board: Board) -> list[list[int]]:
    """Return the rising diagonals from the top left corner on, each from its lower end up."""
    cells = _as_board(board).tolist()
    rows, columns = len(cells), len(cells[0])
    diagonals = []
    for total in range(rows + columns - 1):
        reached = range(max(0, total - rows + 1), min(columns, total + 1))
        diagonals.append([cells[total - column][column] for column in reached])
    return diagonals


def get_diagonals_secondary(board: Board) -> list[list[int]]:
    """Return the falling diagonals from the top right corner on, each from its lower end up."""
    return get_diagonals_primary(_as_board(board)[:, ::-1])


class _Layout(NamedTuple):
    """How `get_pts` reads boards of one shape."""

    order: npt.NDArray[np.intp]
    """The cells of every line, one line after the other, as indices into the flat board."""
    joined: int
    """A bit for each of those, first one highest: whether it continues its predecessor's line."""
    single_weight: int
    weights: tuple[int, ...]


class _Layouts(dict[tuple[int, ...], _Layout]):
    """Layouts by board shape, the `CACHED_SHAPES` newest; a hit is cheaper than `lru_cache`'s."""

    def __missing__(self, shape: tuple[int, ...]) -> _Layout:
        cells = _as_board(np.arange(prod(shape)).reshape(shape))
        lines = [
            *cells.tolist(),
            *cells.T.tolist(),
            *get_diagonals_primary(cells),
            *get_diagonals_secondary(cells),
        ]
        lines.sort(key=len)  # the highest bits die first as runs grow, and the integer shrinks
        joined = [place > 0 for line in lines for place in range(len(line))]
        single_weight, *weights = _weights(max(shape))
        layout = _Layout(
            order=np.array([cell for line in lines for cell in line], dtype=np.intp),
            joined=_from_bytes(packbits(joined).tobytes(), "big"),
            single_weight=single_weight,
            weights=tuple(weights),
        )
        while len(self) >= CACHED_SHAPES:
            self.pop(next(iter(self)), None)
        self[shape] = layout
        return layout


_layouts = _Layouts()


def _weights(longest: int) -> list[int]:
    """Return what each place where `k` tokens in a row end adds to the points, `k` from 1 on.

    A run of `length` has `length - k + 1` such places for each `k <= length`. Weights that are
    the second differences of the points by length therefore add up to the points of the run.
    """
    points = [0, *(_run_points(length) for length in range(longest + 1))]
    gains = [after - before for before, after in pairwise(points)]
    return [after - before for before, after in pairwise(gains)]


def _run_points(length: int) -> int:
    """Return the points of a run, where every four of its tokens count as a run of four."""
    if length == 0:
        return 0
    return win_pts[length % 4] + (length // 4) * win_pts[4]


@lru_cache(maxsize=CACHED_SHAPES)
def _all_actions(columns: int) -> tuple[list[tuple[int, bool]], list[tuple[int, bool]]]:
    """Return a drop for each column, and a pop-out for each column."""
    numbers = range(columns)
    return [(column, False) for column in numbers], [(column, True) for column in numbers]


def _as_board(board: Board) -> Cells:
    try:
        cells = np.asarray(board)
    except ValueError:
        raise ValueError("the rows of a board must be equally long") from None
    if cells.ndim != 2 or 0 in cells.shape:
        raise ValueError(f"a board has rows and columns (2-D), not the shape {cells.shape}")
    if cells.dtype.kind not in "iub":
        raise ValueError(f"the cells of a board are integers, not {cells.dtype}")
    return cells


def _as_player(player_number: object) -> int:
    if isinstance(player_number, int | np.integer) and player_number in (1, 2):
        return int(player_number)
    known = isinstance(player_number, int | float | np.integer | str)
    shown = repr(player_number) if known else f"a value of type {type(player_number).__name__}"
    raise ValueError(f"the player number must be 1 or 2, not {shown}")
