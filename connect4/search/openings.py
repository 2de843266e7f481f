"""The opening book of the solver: outcome and best move of every position after at most 8 plies.

The file stores no positions, only their values. Each value has five bits. The table has slightly
more slots than there are positions. Hashing a position gives three slots of the table, and the
exclusive or of their contents is its value (Graf & Lemire 2022, "Binary fuse filters"). A position
that is not in the book would get an arbitrary value too, so `find_opening` refuses such positions.
`python3 -m benchmarks.opening_book` makes the file.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from connect4.games.grid import Grid, grid_of

GRID: Final[Grid] = grid_of(6, 7, 4)
PLIES: Final = 8
"""The most tokens on the board of a position in the book."""

FILE: Final = Path(__file__).with_name("openings.bin")
BITS: Final = 5
COLUMNS: Final = GRID.columns
STRIDE: Final = GRID.rows + 1
COLUMN: Final = (1 << STRIDE) - 1
WORD: Final = (1 << 64) - 1


class Answer(NamedTuple):
    """A move that is proven to keep the position's outcome.

    `outcome` is 1, 0 or -1: a win, a draw or a loss for the mover. `is_best` means that the move is
    also proven to win fastest or to lose slowest.
    """

    column: int
    outcome: int
    is_best: bool


def mirrored(board: int) -> int:
    """Return a mask of `GRID` with left and right exchanged."""
    result = 0
    for _ in range(COLUMNS):
        result = result << STRIDE | board & COLUMN
        board >>= STRIDE
    return result


def key_of(own: int, mask: int) -> tuple[int, bool]:
    """Return the key that a position shares with its mirror image, and whether it is mirrored.

    `own` are the mover's tokens and `mask` all of them.
    """
    key = own + mask
    other = mirrored(own) + mirrored(mask)
    return (key, False) if key <= other else (other, True)


def slots_of(key: int, seed: int, length: int, segment: int) -> tuple[int, int, int]:
    """Return the three slots of a key in a table of `length` slots in segments of `segment`."""
    mixed = (key ^ seed) * 0x9E3779B97F4A7C15 & WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & WORD
    mixed ^= mixed >> 31
    first = mixed * (length - 2 * segment) >> 64
    low = segment - 1
    return first, first + segment ^ mixed >> 18 & low, first + 2 * segment ^ mixed & low


@cache
def _table() -> tuple[int, int, list[int]]:
    """Read the file: seed, segment, number of slots, five bits per slot."""
    data = FILE.read_bytes()
    number = int.from_bytes(data[12:16], "little")
    bits = np.unpackbits(np.frombuffer(data, np.uint8, offset=16), count=BITS * number)
    values = np.packbits(bits.reshape(number, BITS), axis=1)[:, 0] >> 8 - BITS
    return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:12], "little"), values.tolist()


def find_opening(own: int, mask: int) -> Answer | None:
    """Return the best answer to an undecided position whose mover cannot win at once.

    If several moves are best, it is the most central one. Returns None for more than `PLIES`
    tokens, and for a position that no game can lead to.
    """
    if mask.bit_count() > PLIES or not is_reachable(own, mask):
        return None
    seed, segment, values = _table()
    key, is_mirrored = key_of(own, mask)
    one, two, three = slots_of(key, seed, len(values), segment)
    outcome, column = divmod(values[one] ^ values[two] ^ values[three], COLUMNS)
    return Answer(COLUMNS - 1 - column if is_mirrored else column, outcome - 1, True)


def is_reachable(own: int, mask: int) -> bool:
    """Return whether a game can lead to a position, by removing tokens in turn."""
    if not mask:
        return not own
    other = own ^ mask
    tops = (mask + sum(GRID.bottoms)) >> 1 & mask & ~(mask >> 1)
    return any(
        is_reachable(other ^ top, mask ^ top)
        for top in (GRID.column_cells[column] & tops for column in range(COLUMNS))
        if top & other
    )
