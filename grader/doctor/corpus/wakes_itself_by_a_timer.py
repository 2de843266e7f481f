"""Has a timer wake it; answers with column 99 if it then thought in its opponent's turn."""

import ctypes
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
            time.sleep(0.005)

    def set_timer(self):
        """Have the kernel send SIGCONT once a millisecond, which a handler keeps from being lost."""
        signal.signal(signal.SIGCONT, lambda *_: None)
        libc = ctypes.CDLL(None)
        event = (ctypes.c_int * 16)()
        event[2] = signal.SIGCONT
        timer = ctypes.c_void_p()
        libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(timer))
        libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 1_000_000, 0, 1_000_000), None)

    def get_intelligent_move(self, state):
        pondered = self.answered is not None and self.count - self.seen > 20
        time.sleep(0.02)
        self.set_timer()
        self.answered, self.seen = time.monotonic(), self.count
        return (99, False) if pondered else get_valid_actions(self.player_number, state)[0]
