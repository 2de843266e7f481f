"""Overwrites the board and the counters it was given."""

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        board, popouts = state
        action = get_valid_actions(self.player_number, state)[0]
        board[:] = self.player_number
        for counter in popouts.values():
            while counter.get_int():
                counter.decrement()
        popouts.clear()
        return action
