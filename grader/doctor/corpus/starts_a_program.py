"""Starts another program."""

import subprocess


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        subprocess.run(["/bin/sleep", "3600"], check=False)
        return 0, False
