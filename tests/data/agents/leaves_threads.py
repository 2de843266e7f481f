"""Leaves threads behind that never end."""

import threading

from connect4.utils import get_valid_actions


def spin():
    while True:
        pass


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        threading.Thread(target=spin).start()
        return get_valid_actions(self.player_number, state)[0]
