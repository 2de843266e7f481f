"""Ends itself when it is asked a second time, to think while it is loaded again."""

import os

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.asked = False

    def get_intelligent_move(self, state):
        if self.asked:
            os._exit(0)
        self.asked = True
        return get_valid_actions(self.player_number, state)[0]
