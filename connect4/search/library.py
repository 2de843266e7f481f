"""Perfect play with the library `bitbully`, if it is installed (extra `solver`).

No other module of the kit uses that library, whose licence is the AGPL, version 3. Its own book
contains every position of up to 12 plies, so it answers at once. The slowest answers, with a dozen
tokens on the board, take a quarter of a second.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Final

from connect4.games.base import State
from connect4.search.deadline import Deadline
from connect4.search.solver import ORDER, check_solvable

if TYPE_CHECKING:
    from bitbully import Board

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
    """Scores positions as `solver.Solver` does: same boards, same errors.

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
        """Return the best move (of several, the most central) and the position's score."""
        board = self._board(state)
        score = int(self._engine.mtdf(board))
        for column in ORDER:
            if board.is_legal_move(column) and self._reaches(board, column, score):
                return column, score
        raise AssertionError("no move reaches the score")

    def scores(self, state: State) -> dict[int, int]:
        """Return the score of the position with each move, by ascending column."""
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
