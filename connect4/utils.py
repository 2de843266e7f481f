"""The fixed student API: counters, points, valid actions, and the lines of a board.

Submissions import these six names. Their signatures, and the order of what they return, do not
change.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, pairwise
from operator import index
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4 import config
from connect4.config import win_pts

Cells: TypeAlias = npt.NDArray[np.integer[Any]]
"""Shape `(rows, columns)`, row 0 on top; 0 empty, 1 and 2 the players' tokens."""

Board: TypeAlias = Cells | Sequence[Sequence[int]]
"""The cells as a 2-D array or as a list of rows."""

_GAINS = [after - before for before, after in pairwise(win_pts)]
_WEIGHTS = [after - before for before, after in pairwise([*_GAINS, _GAINS[0]])]
"""The points that each place adds where 2, 3, 4, 5 tokens in a row end; then the same again.

A run of `n` tokens has `n - 1` places where two in a row end, `n - 2` where three end, and so on.
Its first four tokens add 0, 2, 3 and 15 points (`_GAINS`), the next four the same again. The
differences of these numbers, summed over those places, are the points of the run.
"""


class Integer:
    """The number of pop-outs that a player has left; a search may change it.

    `maximum` is the number at the start of the game, by default `i`. With `config.debug_mode`, a
    number below 0 or above `maximum` raises `ValueError`. Without it any number is allowed, because
    a search may exceed the limits for a moment. The game itself never reads a changed number.
    Older submissions use the attribute `_i`, which is the number.
    """

    __slots__ = ("_i", "_maximum")

    def __init__(self, i: int, maximum: int | None = None) -> None:
        self._i = i
        self._maximum = i if maximum is None else maximum
        if config.debug_mode and index(i) < 0:
            raise ValueError(f"a count of {i} is below 0")
        if config.debug_mode and i > index(self._maximum):
            raise ValueError(f"a count of {i} is above its maximum of {self._maximum}")

    def get_int(self) -> int:
        """Return the number."""
        return self._i

    def decrement(self) -> None:
        """Subtract one."""
        if config.debug_mode and self._i <= 0:
            raise ValueError(f"cannot decrement a count of {self._i}")
        self._i -= 1

    def increment(self) -> None:
        """Add one."""
        if config.debug_mode and self._i >= self._maximum:
            raise ValueError(f"cannot increment a count above its maximum of {self._maximum}")
        self._i += 1

    def __repr__(self) -> str:
        return f"Integer({self._i}, maximum={self._maximum})"


def get_pts(player_number: int, board: Board) -> int:
    """Return the points of all runs of the player's tokens, in rows, columns and diagonals.

    The board may contain floating tokens. Raises `ValueError` if the board is not 2-D or the player
    number is not 1 or 2.

    The sum of `get_row_score` over all lines is the same. This is faster: the board becomes one
    integer with a bit for each cell, set if the player's token is there, and neighbours in a
    direction are a fixed number of bits apart. A column of zeros at the right edge separates the
    rows. `bits & bits >> step` keeps a bit for each place where two tokens in a row end. Repeating
    this keeps the places where three end, then four, and so on. `_WEIGHTS` turns the numbers of
    these places into points.
    """
    player_number = _as_player(player_number)
    cells = _as_board(board)
    rows, columns = cells.shape
    held = np.zeros((rows, columns + 1), dtype=bool)
    np.equal(cells, player_number, out=held[:, :columns])
    bits = int.from_bytes(np.packbits(held).tobytes(), "big")
    # row, rising, column, falling
    return points_of_bits(bits, (1, columns, columns + 1, columns + 2))


def points_of_bits(bits: int, steps: Iterable[int]) -> int:
    """Return the points of all runs of tokens in one integer, as `get_pts` describes it."""
    points = 4 * win_pts[1] * bits.bit_count()
    for step in steps:
        ends = bits & bits >> step
        for weight in cycle(_WEIGHTS):
            if not ends:
                break
            points += weight * ends.bit_count()
            ends &= ends >> step
    return points


def get_valid_actions(
    player_number: int, state: tuple[Board, Mapping[int, Integer]]
) -> list[tuple[int, bool]]:
    """Return the player's actions `(column, is_popout)`: drops, then pop-outs, by column.

    It does not matter whose turn it is. Only the top and bottom rows are read, so the board must
    not contain floating tokens. Raises `ValueError` if the board is not 2-D or the player number is
    not 1 or 2.
    """
    player_number = _as_player(player_number)
    try:
        board, popouts_left = state
        left = popouts_left[player_number].get_int()
    except (TypeError, ValueError, LookupError, AttributeError):
        wanted = "a tuple (board, popouts) with an Integer for each player"
        raise ValueError(f"a state is {wanted}, not this {type(state).__name__}") from None
    cells = _as_board(board)
    top = cells[0].tolist()
    actions = [(column, False) for column, token in enumerate(top) if not token]
    if left > 0:
        bottom = cells[-1].tolist()
        own = range(player_number - 1, len(bottom), 2)
        actions += [(column, True) for column in own if bottom[column]]
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


def _run_points(length: int) -> int:
    """Return the points of a run; every four of its tokens count as a run of four."""
    if length == 0:
        return 0
    return win_pts[length % 4] + (length // 4) * win_pts[4]


def _as_board(board: Board) -> Cells:
    """Return the board as an array, or raise `ValueError`.

    Arrays of floats and of objects are accepted, because the course accepted them.
    """
    if type(board) is np.ndarray and board.ndim == 2 and board.size and board.dtype.kind in "iubfO":
        return board
    if hasattr(board, "for_agent") or (isinstance(board, tuple) and len(board) == 2):
        raise ValueError(f"a board is state[0], not the whole {type(board).__name__}")
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
    if type(player_number) is int and player_number in (1, 2):
        return player_number
    if isinstance(player_number, int | float | np.number) and player_number in (1, 2):
        return int(player_number)
    known = isinstance(player_number, int | float | np.number | str)
    shown = repr(player_number) if known else f"a value of type {type(player_number).__name__}"
    raise ValueError(f"the player number must be 1 or 2, not {shown}")
