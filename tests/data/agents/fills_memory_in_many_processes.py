"""Takes 2 GB in ten processes; answers with column 99 if each of them gets its part at once."""

import os
import time

PART = 200 << 20


def works():
    ends = []
    for _ in range(10):
        end, told = os.pipe()
        if os.fork() == 0:
            try:
                kept = bytearray(b"x") * PART
                os.write(told, b"1")
                time.sleep(3)
            finally:
                os._exit(len(kept) == 0)
        os.close(told)
        ends.append(end)
    had = sum(os.read(end, 1) == b"1" for end in ends)
    print("processes with memory:", had, flush=True)
    return had == len(ends)
