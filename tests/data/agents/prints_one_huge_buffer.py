"""Prints 16 MB in one call: what is kept of it outside must stay small."""

import os

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.text = b"x" * (16 << 20)

    def get_intelligent_move(self, state):
        left = memoryview(self.text)
        while left:
            left = left[os.write(1, left) :]
        return get_valid_actions(self.player_number, state)[0]
