"""Never answers on its first turn, then drops into the first open column."""

import time

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        if (state[0] == self.player_number).sum() == 0 and (state[0] != 0).sum() <= 1:
            while True:
                time.sleep(1)
        return get_valid_actions(self.player_number, state)[0]

    def get_intelligent_move(self, state):
        return self.get_expectimax_move(state)
