"""Raises an exception whose text would clear a terminal."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        raise ValueError("\x1b[2J\x07 boo")
