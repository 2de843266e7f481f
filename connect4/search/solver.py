"""Perfect play in classic Connect 4 on 6 rows by 7 columns: bitboards and null windows.

The score of a position is that of the side to move: 22 minus the number of the winner's tokens
once its four is complete, negative if the opponent wins, 0 for a draw. The method is that of
P. Pons, "Solving Connect 4" (2015), after J. D. Allis, "A knowledge-based approach of Connect-Four"
(1988). Here the threats of all moves are found at once, in lanes of one wide integer.

The first plies would take hours; they come from an opening book with outcome and best move of every
position after at most 8 plies. Its file stores no positions, only their values. Each value has five
bits. The table has slightly more slots than there are positions. Hashing a position gives three
slots of the table, and the exclusive or of their contents is its value (Graf & Lemire 2022, "Binary
fuse filters"). A position that is not in the book would get an arbitrary value too, so
`find_opening` refuses such positions. `python3 -m benchmarks.opening_book` makes the file.

`LibrarySolver` answers at once with the library `bitbully`, if it is installed (extra `solver`).
No other module of the kit uses that library, whose licence is the AGPL, version 3.
"""

import importlib.util
from abc import ABC, abstractmethod
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from connect4.errors import AgentError
from connect4.games.base import State
from connect4.games.board import grid_of
from connect4.games.classic import ClassicState
from connect4.search import Deadline, OutOfBudgetError

GRID: Final = grid_of(6, 7, 4)
SETTING: Final = GRID, "first-four"
"""The board and the variant that the solver knows, as in `State.setting`."""
BOARD: Final = GRID.cells
BOTTOMS: Final = sum(GRID.bottoms)
CELLS: Final = GRID.rows * GRID.columns
COLUMNS: Final = GRID.columns

ORDER: Final = (3, 2, 4, 1, 5, 0, 6)
"""The columns from the middle outwards; the move into ORDER[i] has lane i."""

LANE: Final = 80
"""Bits of a lane: the board, and padding for shifts."""

LANES: Final = tuple(range(0, LANE * len(ORDER), LANE))
EVERY_LANE: Final = sum(1 << lane for lane in LANES)
OWN_COLUMN: Final = sum(
    GRID.column_cells[column] << lane for lane, column in zip(LANES, ORDER, strict=True)
)

ZERO: Final = 64
"""Added to a stored score to make it positive."""
IS_LOWER: Final = 128

PLIES: Final = 8
"""The most tokens on the board of a position in the book."""

FILE: Final = Path(__file__).with_name("openings.bin")
BITS: Final = 5
STRIDE: Final = GRID.rows + 1
COLUMN: Final = (1 << STRIDE) - 1
WORD: Final = (1 << 64) - 1


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


def find_opening(own: int, mask: int) -> tuple[int, int] | None:
    """Return column and outcome of the best move in an undecided position.

    The mover cannot win at once. The outcome is 1, 0 or -1: a win, a draw or a loss for the mover.
    If several moves are best, it is the most central one. Returns None for more than `PLIES`
    tokens, and for a position that no game can lead to.
    """
    if mask.bit_count() > PLIES or not is_reachable(own, mask):
        return None
    seed, segment, values = _table()
    key, is_mirrored = key_of(own, mask)
    one, two, three = slots_of(key, seed, len(values), segment)
    outcome, column = divmod(values[one] ^ values[two] ^ values[three], COLUMNS)
    return COLUMNS - 1 - column if is_mirrored else column, outcome - 1


def is_reachable(own: int, mask: int) -> bool:
    """Return whether a game can lead to a position, by removing tokens in turn."""
    if not mask:
        return not own
    other = own ^ mask
    tops = mask + BOTTOMS >> 1 & mask & ~(mask >> 1)
    return any(
        is_reachable(other ^ top, mask ^ top)
        for top in (GRID.column_cells[column] & tops for column in range(COLUMNS))
        if top & other
    )


def winning_cells(own: int, empty: int) -> int:
    """Return the cells of `empty` that complete a four with the tokens `own`.

    The masks are of one board, or of several boards in lanes of `LANE` bits.
    """
    cells = own << 1 & own << 2 & own << 3
    for shift in GRID.shifts[1:]:
        before = own << shift & own << 2 * shift
        behind = own >> shift & own >> 2 * shift
        cells |= before & (own << 3 * shift | own >> shift)
        cells |= behind & (own >> 3 * shift | own << shift)
    return cells & empty


class PerfectPlay(ABC):
    """Scores positions of classic Connect 4, 6 by 7, not over.

    Every method raises `AgentError` for another board and `OutOfBudgetError` at the `deadline`.
    """

    deadline: Deadline

    @abstractmethod
    def score(self, state: State) -> int:
        """Return the score of a position."""

    @abstractmethod
    def beats(self, state: State, score: int) -> bool:
        """Return whether a position's score is above `score`."""

    def best(self, state: State) -> tuple[int, int]:
        """Return the best move (of several, the most central) and the position's score."""
        score, legal = self.score(state), state.legal_actions()
        columns = (column for column in ORDER if column in legal)
        return next(column for column in columns if self._reaches(state, column, score)), score

    def choice(self, state: State) -> tuple[int, int | None]:
        """Return the best move and, if it is known, the position's score."""
        return self.best(state)

    def _reaches(self, state: State, column: int, score: int) -> bool:
        """Return whether the move leads to `score` or more."""
        after = state.apply(column)
        if after.is_over():
            return bool(after.winner()) or score <= 0
        return not self.beats(after, -score)


class Solver(PerfectPlay):
    """The kit's own solver; `nodes` counts the nodes that it has searched."""

    def __init__(self, memory: int = 256) -> None:
        """Use a transposition table of up to `memory` megabytes, allocated as needed."""
        self._size = memory * 2**20 // 8 - 1
        self._table = np.zeros(self._size, dtype=np.uint64).data  # not in shared memory
        self.nodes = 0
        self.deadline = Deadline()

    def score(self, state: State) -> int:
        tokens = tokens_in(state)
        low, high = -((CELLS - tokens) // 2), (CELLS + 1 - tokens) // 2
        while low < high:  # narrowed from both ends; small scores are quicker to test
            middle = (low + high) // 2
            if middle <= 0 and low // 2 < middle:
                middle = low // 2
            elif middle >= 0 and high // 2 > middle:
                middle = high // 2
            if self.beats(state, middle):
                low = middle + 1
            else:
                high = middle
        return low

    def choice(self, state: State) -> tuple[int, int | None]:
        """Return the best move; the opening book, which requires no search, has no wins' scores."""
        own, mask = _read(state)
        opening = None
        if not winning_cells(own, BOARD ^ mask) & mask + BOTTOMS:
            opening = find_opening(own, mask)
        if opening is None:
            return super().choice(state)
        return opening[0], None if opening[1] else 0

    def beats(self, state: State, score: int) -> bool:
        own, mask = _read(state)
        moves = mask.bit_count()
        empty = BOARD ^ mask
        wins = winning_cells(own, empty)
        if wins & mask + BOTTOMS:
            return (CELLS + 1 - moves) // 2 > score
        return self._search(own, mask, winning_cells(own ^ mask, empty), wins, moves, score) > score

    def _search(self, own: int, mask: int, threats: int, wins: int, moves: int, alpha: int) -> int:
        """Return `v`: exact score <= v if v <= alpha, exact score >= v if v > alpha.

        `mask` holds the `moves` tokens played, `own` the mover's, who cannot win at once; `threats`
        and `wins` are the cells that complete a four of the opponent and of the mover.
        """
        self.nodes += 1
        if self.nodes >= self.deadline.next_check:
            self.deadline.check(self.nodes)
        possible = mask + BOTTOMS & BOARD
        forced = possible & threats
        if forced:
            possible = forced
        possible &= ~(threats >> 1)  # do not play below a cell that the opponent needs
        if not possible or forced & forced - 1:
            return -((CELLS - moves) // 2)
        if moves >= CELLS - 2:
            return 0
        best, highest = -((CELLS - 2 - moves) // 2), (CELLS - 1 - moves) // 2
        if best > alpha or highest <= alpha:
            return max(best, min(highest, alpha))
        key = own + mask + BOTTOMS  # never 0, which marks an empty slot
        slot = key % self._size
        entry = self._table[slot]
        if entry >> 8 == key:
            bound = (entry & IS_LOWER - 1) - ZERO
            if (bound > alpha) == (entry & IS_LOWER > 0):
                return bound
        other = own ^ mask
        for _, move, threats_after in self._moves(own, mask, possible):
            value = -self._search(
                other, mask | move, threats_after, threats & ~move, moves + 1, -alpha - 1
            )
            if value > alpha:
                self._table[slot] = key << 8 | IS_LOWER | value + ZERO
                return value
            best = max(best, value)
        self._table[slot] = key << 8 | best + ZERO
        return best

    def _moves(self, own: int, mask: int, possible: int) -> list[tuple[int, int, int]]:
        """Return `(order, move, threats)` of each move in `possible`, most threats first."""
        boards = own * EVERY_LANE | possible * EVERY_LANE & OWN_COLUMN
        cells = winning_cells(boards, (BOARD ^ mask) * EVERY_LANE)
        moves = []
        for place, lane in enumerate(LANES):
            move = possible & OWN_COLUMN >> lane
            if move:
                threats = cells >> lane & BOARD & ~move
                moves.append((place - 8 * threats.bit_count(), move, threats))
        moves.sort()
        return moves


def _read(state: State) -> tuple[int, int]:
    """Return the mover's tokens and all tokens as masks of `GRID`; raises `AgentError`."""
    known = isinstance(state, ClassicState) and state.setting == SETTING
    if not known or state.ending() is not None:
        raise AgentError(
            "the solver scores positions of classic Connect 4 of 6 rows by 7 columns, not over"
        )
    one, two = state.bitboards()
    return one if state.mover == 1 else two, one | two


def tokens_in(state: State) -> int:
    """Return the number of tokens on the board; raises `AgentError` like `Solver`."""
    return _read(state)[1].bit_count()


SLOW: Final = range(12, 18)
"""Numbers of tokens on the board with which the library may take a quarter of a second."""

SLOW_SECONDS: Final = 0.5
"""Seconds for such an answer; with less time left it is not started."""


def is_installed() -> bool:
    """Return whether the library can be loaded."""
    try:
        return importlib.util.find_spec("bitbully") is not None
    except ValueError:  # a test or an import hook has blocked it
        return False


class LibrarySolver(PerfectPlay):
    """The library, whose results are those of `Solver`.

    Its own book contains every position of up to 12 plies. It knows only positions of games without
    a lost turn (`alternates`); of others its methods raise `AgentError`.

    The library cannot be interrupted: `deadline` is checked between moves, and a position of `SLOW`
    needs `SLOW_SECONDS`.
    """

    def __init__(self) -> None:
        """Load the library and its book; raises `ImportError` if it is missing."""
        import bitbully

        self._engine = bitbully.BitBully()
        self._board_of = bitbully.Board.from_array
        self.deadline = Deadline()

    def score(self, state: State) -> int:
        return int(self._engine.mtdf(self._board(state)))

    def beats(self, state: State, score: int) -> bool:
        return int(self._engine.negamax(self._board(state), score, score + 1)) > score

    def _board(self, state: State) -> Any:
        """Return the board as the library wants it: with the tokens of who began the game as 1."""
        self.deadline.check(0)
        tokens = tokens_in(state)  # refuses another board
        if tokens in SLOW and self.deadline.seconds_left() < SLOW_SECONDS:
            raise OutOfBudgetError
        if not alternates(state):
            raise AgentError("the solver knows no position in which a side has missed a turn")
        board = state.board()
        is_swapped = (state.mover == 1) == bool(tokens % 2)
        return self._board_of((np.where(board, 3 - board, 0) if is_swapped else board).tolist())


def alternates(state: State) -> bool:
    """Return whether the sides have moved by turns: the mover has no more tokens than the other."""
    own, other = state.bitboards()[:: 1 if state.mover == 1 else -1]
    return 0 <= other.bit_count() - own.bit_count() <= 1
