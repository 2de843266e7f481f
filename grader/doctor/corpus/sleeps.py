"""Sleeps."""

import time


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        time.sleep(3600)
