"""Answers four milliseconds after its time, hoping that communication is paid for."""

import time

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, seconds):
        self.player_number, self.seconds = player_number, seconds

    def get_intelligent_move(self, state):
        time.sleep(self.seconds + 0.004)
        return get_valid_actions(self.player_number, state)[0]
