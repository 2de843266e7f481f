"""Uses what an honest agent may: threads, timers, pipes, memory of its own, numpy."""

import concurrent.futures
import ctypes
import mmap
import os
import pickle
import random
import resource
import select
import signal
import tempfile
import threading
import time

import numpy as np

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(abs, range(-100, 100))) == 10_000
        alarms = []
        signal.signal(signal.SIGALRM, lambda *_: alarms.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        while not alarms:
            threading.Event().wait(0.01)
        reader, writer = os.pipe()
        os.write(writer, b"x")
        assert select.select([reader], [], [], 1)[0] and os.read(reader, 1) == b"x"
        with mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            memory[0] = 1
        compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda value: value + 1)
        assert compare(1) == 2
        for clock in (time.monotonic, time.process_time, time.thread_time, time.perf_counter):
            assert clock() > 0
        time.sleep(0.001)
        assert resource.getrlimit(resource.RLIMIT_AS)[0] > 0
        assert len(os.sched_getaffinity(0)) > 0 and os.getsid(0) >= 0
        square = np.random.default_rng(1).random((300, 300))
        assert np.allclose(np.linalg.inv(square) @ square, np.eye(300))
        assert np.fft.fft(np.zeros(1 << 20)).sum() == 0
        assert pickle.loads(pickle.dumps(random.sample(range(100), 100)))
        assert not tempfile.SpooledTemporaryFile(1000).closed
        with open(os.__file__) as file:
            assert file.readline() and not file.isatty()
        return get_valid_actions(self.player_number, state)[0]
