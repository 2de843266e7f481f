"""Stops its own process."""

import os
import signal


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        os.kill(os.getpid(), signal.SIGSTOP)
        return 0, False
