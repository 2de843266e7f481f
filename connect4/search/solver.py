"""Perfect play in classic Connect 4 on 6 rows by 7 columns: bitboards and null windows.

The score of a position is that of the side to move: 22 minus the number of the winner's tokens
once its four is complete, negative if the opponent wins, 0 for a draw. The method is that of
P. Pons, "Solving Connect 4" (2015), after J. D. Allis, "A knowledge-based approach of Connect-Four"
(1988). Here the threats of all moves are found at once, in lanes of one wide integer. The first
plies would take hours; they come from the opening book (`search/book.py`).

`LibrarySolver` answers at once with the library `bitbully`, if it is installed (extra `solver`).
No other module of the kit uses that library, whose licence is the AGPL, version 3.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from connect4.errors import AgentError
from connect4.games.base import State
from connect4.games.classic import ClassicState
from connect4.games.grid import grid_of
from connect4.search.base import Deadline
from connect4.search.book import Answer, find_opening

if TYPE_CHECKING:
    from bitbully import Board

GRID: Final = grid_of(6, 7, 4)
SETTING: Final = (GRID.rows, GRID.columns, "first-four")
"""The board and the variant that the solver knows, as in `State.setting`."""
BOARD: Final = GRID.cells
BOTTOMS: Final = sum(GRID.bottoms)
CELLS: Final = GRID.rows * GRID.columns

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


class Solver:
    """Scores positions; `nodes` counts the nodes that it has searched.

    Positions are those of classic Connect 4, 6 by 7, not over. Every method raises `AgentError` for
    another board and `OutOfBudgetError` at the `deadline`.
    """

    def __init__(self, memory: int = 256) -> None:
        """Use a transposition table of up to `memory` megabytes, allocated as needed."""
        self._size = memory * 2**20 // 8 - 1
        self._table = np.zeros(self._size, dtype=np.uint64).data  # not in shared memory
        self.nodes = 0
        self.deadline = Deadline()

    def score(self, state: State) -> int:
        own, mask = _read(state)
        low, high = -((CELLS - mask.bit_count()) // 2), (CELLS + 1 - mask.bit_count()) // 2
        while low < high:  # narrowed from both ends; small scores are quicker to test
            middle = (low + high) // 2
            if middle <= 0 and low // 2 < middle:
                middle = low // 2
            elif middle >= 0 and high // 2 > middle:
                middle = high // 2
            if self._beats(own, mask, middle):
                low = middle + 1
            else:
                high = middle
        return low

    def best(self, state: State) -> tuple[int, int]:
        """Return the best move (of several, the most central) and the position's score."""
        score = self.score(state)
        return self._first(*_read(state), score), score

    def answers(self, state: State) -> Iterator[Answer]:
        """Yield a move that keeps the outcome as soon as one is known, then the best move.

        Positions of the opening book require no search.
        """
        own, mask = _read(state)
        if not winning_cells(own, BOARD ^ mask) & mask + BOTTOMS:
            opening = find_opening(own, mask)
            if opening is not None:
                yield opening
                return
        outcome = 1 if self._beats(own, mask, 0) else 0 if self._beats(own, mask, -1) else -1
        if outcome >= 0:
            column = self._first(own, mask, outcome)
            yield Answer(column, outcome, outcome == 0)
        if outcome:
            yield Answer(self.best(state)[0], outcome, True)

    def scores(self, state: State) -> dict[int, int]:
        """Return the score of the position with each move, by ascending column."""
        _, mask = _read(state)
        found = {}
        for column in state.legal_actions():
            after = state.apply(column)
            if after.ending() is None:
                found[column] = -self.score(after)
            else:
                won = after.margin(state.mover) > 0
                found[column] = (CELLS + 1 - mask.bit_count()) // 2 if won else 0
        return found

    def _first(self, own: int, mask: int, score: int) -> int:
        """Return the first column in `ORDER` that leads to `score` or more; one must exist."""
        for column in ORDER:
            move = mask + BOTTOMS & GRID.column_cells[column]
            if move and self._reaches(own, mask, move, score):
                return column
        raise AssertionError("no move reaches the score")

    def _reaches(self, own: int, mask: int, move: int, score: int) -> bool:
        """Return whether `move` leads to `score` or more."""
        if winning_cells(own, BOARD ^ mask) & move:
            return True
        if mask | move == BOARD:
            return score <= 0
        return not self._beats(own ^ mask, mask | move, -score)

    def _beats(self, own: int, mask: int, score: int) -> bool:
        """Return whether a position's score is above `score`; `own` are the mover's tokens."""
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


def check_solvable(state: State) -> None:
    """Raise `AgentError` if the game is another one or over, or the board has another size."""
    known = isinstance(state, ClassicState) and state.setting == SETTING
    if not known or state.ending() is not None:
        raise AgentError(
            "the solver scores positions of classic Connect 4 of 6 rows by 7 columns, not over"
        )


def _read(state: State) -> tuple[int, int]:
    """Return the mover's tokens and all tokens as masks of `GRID`."""
    check_solvable(state)
    one, two = state.bitboards()
    return one if state.mover == 1 else two, one | two


MISSING: Final = (
    "the package bitbully (licence AGPL-3.0) is not installed: pip install -e '.[solver]'"
)

SLOW: Final = range(12, 18)
"""Numbers of tokens on the board with which an answer may take a quarter of a second."""

SLOW_SECONDS: Final = 0.5
"""Seconds for such an answer; with less time left it is not started."""


def is_installed() -> bool:
    """Return whether the library can be loaded."""
    try:
        return importlib.util.find_spec("bitbully") is not None
    except ValueError:  # a test or an import hook has blocked it
        return False


class LibrarySolver:
    """Scores positions as `Solver` does: same boards, same errors.

    Its own book contains every position of up to 12 plies. The slowest answers, with a dozen tokens
    on the board, take a quarter of a second.

    The library cannot be interrupted: `deadline` is checked between moves.
    """

    def __init__(self) -> None:
        """Load the library and its book; raises `ImportError` if it is missing."""
        import bitbully

        self._engine = bitbully.BitBully()
        self._board_of = bitbully.Board.from_array
        self.deadline = Deadline()

    def score(self, state: State) -> int:
        return int(self._engine.mtdf(self._board(state)))

    def best(self, state: State) -> tuple[int, int]:
        board = self._board(state)
        score = int(self._engine.mtdf(board))
        for column in ORDER:
            if board.is_legal_move(column) and self._reaches(board, column, score):
                return column, score
        raise AssertionError("no move reaches the score")

    def scores(self, state: State) -> dict[int, int]:
        board = self._board(state)
        found = {}
        for column in state.legal_actions():
            self.deadline.check(0)
            found[column] = int(self._engine.score_move(board, column))
        return found

    def _reaches(self, board: Board, column: int, score: int) -> bool:
        """Return whether a move leads to `score`, the maximum over all moves, by a null window."""
        self.deadline.check(0)
        if board.can_win_next(column):
            return True
        after = board.play_on_copy(column)
        return after.is_full() or int(self._engine.negamax(after, -score, 1 - score)) <= -score

    def _board(self, state: State) -> Board:
        check_solvable(state)
        return self._board_of(state.board().tolist())


def may_be_late(state: State, deadline: Deadline) -> bool:
    """Return whether the answer may take longer than the deadline allows."""
    tokens = sum(board.bit_count() for board in state.bitboards())
    return tokens in SLOW and deadline.seconds_left() < SLOW_SECONDS
