"""Plays the first valid action; the opponent of all others."""

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return get_valid_actions(self.player_number, state)[0]
