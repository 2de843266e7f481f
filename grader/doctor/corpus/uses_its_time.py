"""Keeps its limit: answers after nine tenths of its time, at most 0.1 s."""

from time import monotonic

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.seconds = min(0.9 * time, 0.1)

    def get_intelligent_move(self, state):
        end = monotonic() + self.seconds
        while monotonic() < end:
            pass
        return get_valid_actions(self.player_number, state)[0]
