"""Takes back that it is stopped; answers with column 99 if it then thought in its opponent's turn."""

import os
import signal
import threading
import time

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.count = self.seen = 0
        self.answered = None
        threading.Thread(target=self.ponder, daemon=True).start()

    def ponder(self):
        while True:
            self.count += 1
            try:
                os.kill(os.getpid(), signal.SIGCONT)
            except OSError:
                time.sleep(0.005)

    def get_intelligent_move(self, state):
        pondered = self.answered is not None and self.count - self.seen > 20
        time.sleep(0.02)
        self.answered, self.seen = time.monotonic(), self.count
        return (99, False) if pondered else get_valid_actions(self.player_number, state)[0]
