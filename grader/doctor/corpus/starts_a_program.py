"""Starts another program; answers with column 99 if that works."""

import subprocess


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        subprocess.run(["/bin/true"], check=False)
        return 99, False
