"""Ends itself by a real-time signal that has no name in Python."""

import os


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        os.kill(os.getpid(), 40)
        return 0, False
