"""Closes all descriptors."""

import os

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        os.closerange(0, 1024)
        return get_valid_actions(self.player_number, state)[0]
