"""Raises an exception of ten megabytes."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        raise ValueError("x" * 10_000_000)
