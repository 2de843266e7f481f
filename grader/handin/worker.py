"""Processes that call functions for the grader: some play games, one reads what strangers hand in.

Reading has limits of time and memory; only the text or archive that exceeds one fails.

A worker reads pickles of `(function, arguments, seconds)`, answers each with a pickle of what came
of it, and ends at the end of its input: with the grader, even within a call. Run as `python3 -m
grader.handin.worker`, this module is such a worker. Agents run in processes of their own, which
have no part in this.
"""

import atexit
import contextlib
import importlib
import io
import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from grader.handin.archive import MAX_CLASS_FILES, MEGABYTE, Tree, opened, packed_tree

ROOT: Final = Path(__file__).resolve().parents[2]

TIMER: Final = hasattr(signal, "setitimer")
"""Whether a process can limit its own processor time; Windows has no such timer."""

QUIET: Final = {"OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
"""Variables of a worker with a limit of memory, which threads of a library would use up."""


class WorkerError(RuntimeError):
    """A call raised an exception in its worker; a note has the worker's traceback."""


class DeathError(Exception):
    """A worker process ended during a call."""

    def __init__(self, cause: str, by_itself: bool, is_late: bool = False) -> None:
        super().__init__(cause)
        self.by_itself = by_itself
        """Whether the call may be the cause; a process killed from outside proves nothing."""
        self.is_late = is_late
        """Whether the call took more time than it had."""


class Worker:
    """A worker process, which is started for the first call and again after each death.

    `folder` is made anew for its temporary files, `core` is the core to which it is pinned if the
    system supports that, and `memory` the bytes that it may use.
    """

    def __init__(
        self, folder: Path | None = None, core: int | None = None, memory: int = 0
    ) -> None:
        self._folder = folder
        self._arguments = ["" if core is None else str(core), str(memory)]
        self._has_limit = memory > 0
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._killed = False
        self._lock = threading.Lock()

    def call(
        self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None
    ) -> Any:
        """Return what a module's function returns there, within `seconds` of processor time.

        Raises the function's `InputError`, a `WorkerError` for its other exceptions, and a
        `DeathError` if the process ends.
        """
        name = f"{function.__module__}:{function.__qualname__}"
        with self._lock:
            answer = self._exchange((name, arguments, seconds), seconds)
        if "refused" in answer:
            raise InputError(answer["refused"])
        if "error" in answer:
            error = WorkerError(answer["error"])
            error.add_note(answer["traceback"])
            raise error
        return answer["result"]

    def _exchange(self, request: object, seconds: float | None) -> dict[str, Any]:
        process, late = self._running(), threading.Event()
        before = machine()
        if self._killed:
            raise DeathError("it was ended", False)
        assert process.stdin is not None
        assert process.stdout is not None

        def stop() -> None:
            late.set()
            process.kill()

        # on a busy machine, its processor time takes longer
        watch = threading.Timer(3 * (seconds or 0) + 5 if TIMER else seconds or 0, stop)
        watch.daemon = True
        if seconds is not None:
            watch.start()
        try:
            pickle.dump(request, process.stdin)
            process.stdin.flush()
            answer: dict[str, Any] = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):  # it died, perhaps within its answer
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5.0)  # its pipe has ended
            status = process.returncode
            self.end()
            if late.is_set() or (TIMER and seconds and status == -signal.SIGPROF):
                raise DeathError("it took too long", True, is_late=True) from None
            raise death(status, machine() != before) from None
        except BaseException:  # Ctrl-C: what it answers later is no answer to the next call
            self.end()
            raise
        finally:
            watch.cancel()
        if late.is_set():  # it was killed just after its answer
            self.end()
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner == os.getpid():  # a fork has one of its own
            return self._process
        self._owner, more = os.getpid(), dict(QUIET) if self._has_limit else {}
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)  # what a killed worker has left
            self._folder.mkdir(0o700)
            more["TMPDIR"] = str(self._folder)
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.handin.worker", *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._has_limit else None,
            env={**os.environ, "PYTHONPATH": path, **more},
            start_new_session=True,  # a Ctrl-C on the terminal is the grader's to handle
        )
        return self._process

    def kill(self) -> None:
        """Kill the process for good, also while it has a call."""
        self._killed = True
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """End the process, which has no call, if this process has started it."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            with contextlib.suppress(OSError), process:
                process.kill()


def death(status: int | None, memory: bool) -> DeathError:
    """Return why a process ended with a status of `subprocess`.

    `memory` says that meanwhile the kernel ended a process for lack of memory. Without that, a
    process that got SIGKILL or another signal was killed by somebody: an administrator, a batch
    system, another program.
    """
    if status is not None and status >= 0:
        return DeathError(f"it ended with status {status}", True)
    name = "" if status is None else signal.Signals(-status).name
    if name == "SIGKILL" and memory:
        return DeathError("the kernel ended it for lack of memory", True)
    if name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"):
        return DeathError(f"it crashed with {name}", True)
    return DeathError("it was killed from outside", False)


def machine() -> str:
    """Return a value that changes when the machine restarts or ends a process for lack of memory.

    The value is empty if the system does not report this.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        counters = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
        return f"{boot} {counters['oom_kill']}"
    except (OSError, KeyError, ValueError):
        return ""


# -- the process


def work(core: str, memory: str) -> None:
    """Serve calls until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if core and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    if memory != "0":
        with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that prints can spoil the answers
    pending: queue.SimpleQueue[tuple[str, tuple[Any, ...], float | None]] = queue.SimpleQueue()

    def read() -> None:
        try:
            while True:
                pending.put(pickle.load(sys.stdin.buffer))
        finally:
            os._exit(0)  # agents hang up with this process

    threading.Thread(target=read, daemon=True).start()
    while True:
        pickle.dump(_answer(*pending.get()), answers)
        answers.flush()


def _answer(name: str, arguments: tuple[Any, ...], seconds: float | None) -> dict[str, Any]:
    """Return what came of a call."""
    module, _, function = name.partition(":")
    try:
        call = getattr(importlib.import_module(module), function)
        _limit(seconds or 0)
        return {"result": call(*arguments)}
    except InputError as error:
        return {"refused": str(error)}
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        return {"error": said, "traceback": traceback.format_exc()}
    finally:
        _limit(0)


def _limit(seconds: float) -> None:
    """End this process after so much more processor time; 0 for no end."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


# -- reading what strangers hand in


ARCHIVE_SECONDS: Final = 2.0
"""Reading the archive of a student takes a tenth of this time."""

MAX_CLASS_MB: Final = 100_000

READER: Final = Worker(memory=2 << 30)
atexit.register(READER.end)


class BoundError(InputError):
    """Reading took more time or memory than it may."""


def ask(function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
    """Return what a module's function returns in the process that reads.

    Raises the function's `InputError`, or `BoundError`.
    """
    why = "reading it took more memory than there is"
    try:
        return READER.call(function, *arguments, seconds=seconds)
    except DeathError as error:
        why = f"not read within {seconds:g} s" if error.is_late else why
    except WorkerError:  # such as a `MemoryError`
        READER.end()
    raise BoundError(why)


def class_tree(path: Path) -> Tree:
    """Return the files of a class's zip; raises `InputError` if it cannot be read."""
    held = path.stat()
    seconds = max(ARCHIVE_SECONDS, 0.2 * held.st_size / MEGABYTE)
    return tree_of(seconds, os.path.abspath(path), held.st_mtime_ns)


def tree_of(seconds: float, *source: Any) -> Tree:
    """Return the files of a zip, given as to `_opened`; raises `InputError` if it is damaged."""

    def asked(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return ask(function, *arguments, *source, seconds=seconds)
        except BoundError as error:
            raise InputError(f"{error}; hand in ai.py or one usual zip of it") from None

    def read(name: str, limit: int) -> bytes:
        data: bytes = asked(_file, name, limit)
        return data

    return {name: partial(read, name) for name in asked(_files)}


@lru_cache(maxsize=2)  # a class's zip, and a student's in it
def _opened(
    name: str,
    changed: int,
    packed: bytes | None = None,
    max_files: int = MAX_CLASS_FILES,
    max_megabytes: int = MAX_CLASS_MB,
) -> Tree:
    """Return the files of a student's zip, or of a class's, at a path that is its name."""
    path = Path(name)
    file = opened(path.parent, path.name) if packed is None else io.BytesIO(packed)
    return packed_tree(file, max_files, max_megabytes)


def _files(*source: Any) -> list[str]:
    return list(_opened(*source))


def _file(name: str, limit: int, *source: Any) -> bytes:
    return _opened(*source)[name](limit)


if __name__ == "__main__":
    work(*sys.argv[1:])
