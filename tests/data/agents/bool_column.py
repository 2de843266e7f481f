"""Answers with True and False as columns."""

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        column, is_popout = get_valid_actions(self.player_number, state)[0]
        return (bool(column) if column < 2 else column), is_popout
