"""Reads a stranger's texts and archives in a separate process with limits of time and memory.

Only the text or archive that exceeds a limit fails. The process is reused for the next one and ends
with this one.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from grader.handin import archive
from grader.handin.archive import (
    ENDINGS,
    MEGABYTE,
    Tree,
    file_reader,
    opened,
    packed_tree,
)

MEMORY: Final = 2 << 30
"""Bytes of address space for reading."""

ARCHIVE_SECONDS: Final = 2.0
"""Reading the archive of a student takes a tenth of this time."""

SECONDS_PER_MB: Final = 0.2
"""The time for a class's archive grows with its size."""

MAX_CLASS_MB: Final = 100_000
MAX_TAR_MB: Final = 500
"""Size limit of a class in one tar, packed and unpacked: it is read into memory."""

TIMER: Final = hasattr(signal, "setitimer")
"""Whether the process can limit its own processor time; Windows has no such timer."""

ROOT: Final = Path(__file__).resolve().parents[2]
BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from grader.handin.bounded import serve; serve()"
)


class BoundError(InputError):
    """Reading took more time or memory than it may."""


class Reader:
    """The process that reads; it starts on first use and again after it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self.end)

    def ask(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """Return what a module's function returns there, within so much processor time.

        Arguments and answer are JSON values. Raises the function's `InputError`, or `BoundError`.
        """
        name = f"{function.__module__}:{function.__qualname__}"
        job = {"function": name, "arguments": arguments, "seconds": seconds}
        answer = self._exchange(json.dumps(job).encode() + b"\n", seconds)
        if "refused" in answer:
            raise InputError(answer["refused"])
        return answer["answer"]

    def _exchange(self, line: bytes, seconds: float) -> dict[str, Any]:
        late = BoundError(f"not read within {seconds:g} s")
        with self._lock:
            process = self._running()
            answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()

            def exchange() -> None:
                answer = b""
                with contextlib.suppress(OSError, ValueError):  # the process has ended
                    assert process.stdin is not None
                    assert process.stdout is not None
                    process.stdin.write(line)
                    process.stdin.flush()
                    answer = process.stdout.readline()
                answers.put(answer)

            threading.Thread(target=exchange, daemon=True).start()
            try:  # on a busy machine, its processor time takes longer
                answer = answers.get(timeout=3 * seconds + 5 if TIMER else seconds)
            except queue.Empty:
                self.end()
                raise late from None
            except BaseException:  # Ctrl-C: what it answers later is no answer to the next
                self.end()
                raise
            if not answer.endswith(b"\n"):
                status = process.wait()
                self.end()
                if TIMER and status == -signal.SIGPROF:
                    raise late
                raise BoundError("reading it took more memory than there is")
        found: dict[str, Any] = json.loads(answer)
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():  # a fork has one of its own
            self._owner = os.getpid()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", BOOT, str(ROOT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
                start_new_session=True,  # a Ctrl-C in the terminal is not for it
            )
        return self._process

    def end(self) -> None:
        """End the process if this object has started it."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()


READER: Final = Reader()


def class_tree(path: Path) -> Tree:
    """Return the files of a class's zip or tar; raises `InputError` if it cannot be read."""
    held = path.stat()
    seconds = max(ARCHIVE_SECONDS, SECONDS_PER_MB * held.st_size / MEGABYTE)
    return _tree(seconds, os.path.abspath(path), held.st_mtime_ns)


def student_tree(name: str, data: bytes, max_files: int, max_megabytes: int) -> Tree:
    """Return the files of a student's zip or tar; raises `InputError` if it cannot be read."""
    packed = b64encode(data).decode()
    return _tree(ARCHIVE_SECONDS, name, 0, packed, max_files, max_megabytes)


def _tree(seconds: float, *source: Any) -> Tree:
    def ask(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return READER.ask(function, *arguments, *source, seconds=seconds)
        except BoundError as error:
            raise InputError(f"{error}; hand in ai.py or one usual zip of it") from None

    def read(name: str, limit: int) -> bytes:
        return b64decode(ask(_file, name, limit))

    return {name: partial(read, name) for name in ask(_files)}


# -- the process


def serve() -> None:
    """Run as the reading process: read one job per line, write its answer to standard output."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin.buffer:
        job = json.loads(line)
        module, _, name = job["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        _limit(job["seconds"])
        try:
            answer = {"answer": function(*job["arguments"])}
        except InputError as error:
            answer = {"refused": str(error)}
        _limit(0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _limit(seconds: float) -> None:
    """End this process after so much more processor time; 0 for no end."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


@lru_cache(maxsize=2)  # a class's archive, and a student's in it
def _opened(
    name: str,
    changed: int,
    packed: str | None = None,
    max_files: int = archive.MAX_CLASS_FILES,
    max_megabytes: int = MAX_CLASS_MB,
) -> Tree:
    """Return the files of a student's archive, or of a class's, at a path that is its name."""
    kind = "tar" if name.lower().endswith(ENDINGS) else "zip"
    if packed is not None:
        return packed_tree(b64decode(packed), kind, max_files, max_megabytes)
    if kind == "zip":
        file = opened(Path(name).parent, Path(name).name)
        return packed_tree(file, kind, max_files, max_megabytes, of_class=True)
    data = file_reader(Path(name))(MAX_TAR_MB * MEGABYTE + 1)
    if len(data) > MAX_TAR_MB * MEGABYTE:
        raise InputError(f"larger than {MAX_TAR_MB} MB; unpack it and name the folder")
    return packed_tree(data, kind, max_files, MAX_TAR_MB, of_class=True)


def _files(*source: Any) -> list[str]:
    return list(_opened(*source))


def _file(name: str, limit: int, *source: Any) -> str:
    return b64encode(_opened(*source)[name](limit)).decode()
