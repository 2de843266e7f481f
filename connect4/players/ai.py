"""The agent that this kit is about: the one file that a student edits.

The simulator makes one `AIPlayer` per game and asks it for a move each turn. A state is
`(board, popouts)`: `board` is a numpy array of shape (rows, columns), row 0 on top, 0 for an
empty cell and 1 or 2 for a player's token; `popouts` maps a player to an `Integer`, the number
of pop-outs left. A move is `(column, is_popout)`. Both are the agent's own copies.
"""

import numpy as np

from connect4.utils import Integer, get_pts, get_valid_actions

State = tuple[np.ndarray, dict[int, Integer]]
Move = tuple[int, bool]


class AIPlayer:
    """Takes the move with the best margin right after it."""

    def __init__(self, player_number: int, time: int):
        """Play as `player_number` (1 or 2) with `time` seconds for each move."""
        self.player_number = player_number
        self.type = "ai"
        self.player_string = f"Player {player_number}:ai"
        self.time = time

    def get_expectimax_move(self, state: State) -> Move:
        """Return the move against an opponent that plays at random."""
        return self._greedy_move(state)

    def get_intelligent_move(self, state: State) -> Move:
        """Return the move against an opponent that plays to win."""
        return self._greedy_move(state)

    def _greedy_move(self, state: State) -> Move:
        board, _ = state
        moves = get_valid_actions(self.player_number, state)
        return max(moves, key=lambda move: self._margin(self._after(board, move)))

    def _margin(self, board: np.ndarray) -> int:
        return get_pts(self.player_number, board) - get_pts(3 - self.player_number, board)

    def _after(self, board: np.ndarray, move: Move) -> np.ndarray:
        """Return the board after a valid `move`; `board` itself stays as it is."""
        column, is_popout = move
        after = board.copy()
        if is_popout:
            after[1:, column] = board[:-1, column]
            after[0, column] = 0
        else:
            row = np.count_nonzero(board[:, column] == 0) - 1
            after[row, column] = self.player_number
        return after
