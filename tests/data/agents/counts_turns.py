"""Keeps a count on itself and prints it."""

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.turns = 0
        print("made", flush=True)

    def get_intelligent_move(self, state):
        self.turns += 1
        print("turn", self.turns, flush=True)
        return get_valid_actions(self.player_number, state)[0]
