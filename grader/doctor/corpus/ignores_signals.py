"""Ignores every signal that can be ignored."""

import signal
import time


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)
