"""Leaves a daemon for the next game; answers with column 99 if that works."""

import os
import time


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
        return 99, False
