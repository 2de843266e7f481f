"""Answers with numpy's bool for is_popout."""

import numpy as np

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        column, is_popout = get_valid_actions(self.player_number, state)[-1]
        return column, np.bool_(is_popout)
