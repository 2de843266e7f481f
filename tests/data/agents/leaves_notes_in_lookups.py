"""Leaves notes for a later game in names that it looks up and does not find, and reads them.

Nothing denies a look-up (docs/isolation.md); the game goes on as any other.
"""

import encodings
import os
import time

from connect4.utils import get_valid_actions

FOLDER = os.path.dirname(encodings.__file__)


def look_up(name):
    began = time.perf_counter_ns()
    try:
        os.stat(f"{FOLDER}/{name}")
    except OSError:
        pass
    return time.perf_counter_ns() - began


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.turn = 0

    def get_intelligent_move(self, state):
        self.turn += 1
        for number in range(100):
            look_up(f"warm-{os.getpid()}-{self.turn}-{number}")
        if self.turn == 1:
            print("read", *[look_up(f"note-{number}") for number in range(0, 128, 2)])
            for number in range(0, 128, 2):
                look_up(f"note-{number}")
        return get_valid_actions(self.player_number, state)[0]
