"""Looks for files, processes and the network, eats memory, then ends its Python."""

import os
import socket
import subprocess
import sys
import threading

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        self.turn = getattr(self, "turn", 0) + 1
        attempts = [
            lambda: open("/etc/passwd").read(),
            lambda: open("note.txt", "w").write("mine"),
            lambda: os.listdir("/work"),
            lambda: subprocess.run(["ls"]),
            lambda: socket.create_connection(("127.0.0.1", 22)),
            lambda: threading.Thread(target=print).start(),
            lambda: os.kill(1, 9),
            lambda: bytearray(3 << 29),
        ]
        for attempt in attempts:
            try:
                print("reached", attempt())
            except (OSError, RuntimeError, MemoryError, AttributeError, ImportError) as error:
                print(type(error).__name__)
        if self.turn % 5 == 3:
            os._exit(7)
        if self.turn % 5 == 4:
            sys.exit(3)
        return get_valid_actions(self.player_number, state)[0]

    get_expectimax_move = get_intelligent_move
