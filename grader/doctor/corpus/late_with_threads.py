"""Thinks for ever in many threads."""

import threading


def spin():
    while True:
        pass


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        for _ in range(8):
            threading.Thread(target=spin).start()
        spin()
