"""Opens more files than a process may: each thread gets a table of open files of its own."""

import ctypes
import os
import threading

from connect4.utils import get_valid_actions

CLOSE_RANGE = 436
UNSHARE = 2
MOST = 64


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.opened = []
        self.wait = threading.Barrier(5)

    def open_pipes(self):
        ctypes.CDLL(None).syscall(CLOSE_RANGE, 1000, 1000, UNSHARE)
        try:
            while True:
                self.opened.append(os.pipe())
        except OSError:
            self.wait.wait()  # while all have theirs open

    def get_intelligent_move(self, state):
        threads = [threading.Thread(target=self.open_pipes) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.wait.wait()
        count = 2 * len(self.opened)
        print(count, flush=True)
        for thread in threads:
            thread.join()
        for pair in self.opened:
            for handle in pair:
                try:
                    os.close(handle)
                except OSError:
                    pass
        self.opened.clear()
        assert count <= MOST
        return get_valid_actions(self.player_number, state)[0]
