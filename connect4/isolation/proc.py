"""Read the small files of `/proc` about a process or a thread, again and again (Linux).

Each is opened once: to open one takes fifteen times as long as to read it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

from connect4.games.base import Seconds


class KeptFile:
    """A file that is opened when it is first read, or before."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1

    def read(self) -> bytes:
        """Return its current content; raises `OSError`."""
        self.open()
        return os.pread(self._handle, 4096, 0)

    def open(self) -> None:
        """Open it now, if it is not open; raises `OSError`."""
        if self._handle < 0:
            self._handle = os.open(self._path, os.O_RDONLY)

    def close(self) -> None:
        """Close it; it may be read again."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def busy_and_waited(file: KeptFile) -> tuple[Seconds, Seconds]:
    """Return how long a thread ran and waited to, by its `schedstat`; raises `OSError`."""
    busy, waited, _ = file.read().split()
    return int(busy) / 1e9, int(waited) / 1e9


def fields(text: bytes) -> list[str]:
    """Return the fields of a `stat` file after the name: the state letter is the first."""
    return text.decode("latin-1").rpartition(")")[2].split()


class ProcessFiles:
    """What the system reports of one process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._times = KeptFile(f"/proc/{pid}/schedstat")
        self._state = KeptFile(f"/proc/{pid}/stat")
        for file in (self._times, self._state):
            with contextlib.suppress(OSError):  # no such process
                file.open()

    def times(self) -> tuple[Seconds, Seconds]:
        """Return how long its first thread ran and waited to; raises `OSError`."""
        return busy_and_waited(self._times)

    def states(self) -> Iterator[str]:
        """Yield the state letter of each thread; nothing for a process that has ended."""
        with contextlib.suppress(OSError):
            found = fields(self._state.read())
            yield found[0]
            if found[17] != "1":  # the number of threads
                for thread in os.listdir(f"/proc/{self.pid}/task"):
                    yield _state_of(f"/proc/{self.pid}/task/{thread}/stat")

    def close(self) -> None:
        """Close the files."""
        self._times.close()
        self._state.close()


def _state_of(path: str) -> str:
    """Return the letter of one thread."""
    file = KeptFile(path)
    try:
        return fields(file.read())[0]
    except OSError:  # it has ended
        return "X"
    finally:
        file.close()


class OwnWait:
    """How long the calling thread has waited for a processor, whichever thread that is."""

    def __init__(self) -> None:
        self._thread = 0
        self._file = KeptFile("")

    def seconds(self) -> Seconds:
        """Return it; 0 where the system does not say."""
        if sys.platform == "linux":
            thread = threading.get_native_id()
            if thread != self._thread:
                self.close()
                self._thread = thread
                self._file = KeptFile(f"/proc/self/task/{thread}/schedstat")
            with contextlib.suppress(OSError):
                return busy_and_waited(self._file)[1]
        return 0.0

    def close(self) -> None:
        """Close the file."""
        self._file.close()
