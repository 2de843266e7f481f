"""Computes for 0.4 of its time limit, measured in processor time, then drops."""

import time

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, limit):
        self.player_number = player_number
        self.limit = limit

    def get_expectimax_move(self, state):
        end = time.process_time() + 0.4 * self.limit
        while time.process_time() < end:
            pass
        return get_valid_actions(self.player_number, state)[0]

    def get_intelligent_move(self, state):
        return self.get_expectimax_move(state)
