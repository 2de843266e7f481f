"""Your agent: the one file that you write. At first it is a stub that plays the first valid move.

A state is `(board, popouts)`. `board` is a numpy array of shape `(rows, columns)`, with row 0 at
the top: 0 is an empty cell, 1 and 2 are the players' tokens. `popouts[1].get_int()` and
`popouts[2].get_int()` are the pop-outs that each player has left. Both are your own copies.

An action is `(column, is_popout)`: `(3, False)` drops a token into column 3, `(3, True)` pops one
out of it. Columns are counted from 0.

A method may also say what it thought, and the replay shows it: `self.thought = {"depth": 2,
"values": {(3, False): 12.5, (0, True): -3.0}}`. See docs/students.md.
"""

import numpy as np
from numpy.typing import NDArray

from connect4.utils import Integer, get_valid_actions


class AIPlayer:
    """One player of one game. Data on `self` is kept from turn to turn."""

    def __init__(self, player_number: int, time: int):
        """Play as `player_number`, 1 or 2, with `time` seconds for each move."""
        self.player_number = player_number
        self.type = "ai"
        self.player_string = f"Player {player_number}:ai"
        self.time = time
        print("ai.py is still the stub: it plays the first valid move")

    def get_expectimax_move(
        self, state: tuple[NDArray[np.int64], dict[int, Integer]]
    ) -> tuple[int, bool]:
        """Return an action against an opponent that plays at random."""
        return get_valid_actions(self.player_number, state)[0]

    def get_intelligent_move(
        self, state: tuple[NDArray[np.int64], dict[int, Integer]]
    ) -> tuple[int, bool]:
        """Return an action against an opponent that plays to win."""
        return get_valid_actions(self.player_number, state)[0]
