"""Reads a stranger's texts and archives in a separate process with limits of time and memory.

Only the text or archive that exceeds a limit fails. The process is reused for the next one and ends
with this one.
"""

from __future__ import annotations

import atexit
import os
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
from grader.handin.worker import DeathError, Worker, WorkerError

MEMORY: Final = 2 << 30
"""Bytes of address space for reading."""

ARCHIVE_SECONDS: Final = 2.0
"""Reading the archive of a student takes a tenth of this time."""

SECONDS_PER_MB: Final = 0.2
"""The time for a class's archive grows with its size."""

MAX_CLASS_MB: Final = 100_000
MAX_TAR_MB: Final = 500
"""Size limit of a class in one tar, packed and unpacked: it is read into memory."""

READER: Final = Worker(memory=MEMORY)
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
    """Return the files of a class's zip or tar; raises `InputError` if it cannot be read."""
    held = path.stat()
    seconds = max(ARCHIVE_SECONDS, SECONDS_PER_MB * held.st_size / MEGABYTE)
    return _tree(seconds, os.path.abspath(path), held.st_mtime_ns)


def student_tree(name: str, data: bytes, max_files: int, max_megabytes: int) -> Tree:
    """Return the files of a student's zip or tar; raises `InputError` if it cannot be read."""
    return _tree(ARCHIVE_SECONDS, name, 0, data, max_files, max_megabytes)


def _tree(seconds: float, *source: Any) -> Tree:
    def asked(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return ask(function, *arguments, *source, seconds=seconds)
        except BoundError as error:
            raise InputError(f"{error}; hand in ai.py or one usual zip of it") from None

    def read(name: str, limit: int) -> bytes:
        data: bytes = asked(_file, name, limit)
        return data

    return {name: partial(read, name) for name in asked(_files)}


# -- in the process


@lru_cache(maxsize=2)  # a class's archive, and a student's in it
def _opened(
    name: str,
    changed: int,
    packed: bytes | None = None,
    max_files: int = archive.MAX_CLASS_FILES,
    max_megabytes: int = MAX_CLASS_MB,
) -> Tree:
    """Return the files of a student's archive, or of a class's, at a path that is its name."""
    kind = "tar" if name.lower().endswith(ENDINGS) else "zip"
    if packed is not None:
        return packed_tree(packed, kind, max_files, max_megabytes)
    if kind == "zip":
        file = opened(Path(name).parent, Path(name).name)
        return packed_tree(file, kind, max_files, max_megabytes, of_class=True)
    data = file_reader(Path(name))(MAX_TAR_MB * MEGABYTE + 1)
    if len(data) > MAX_TAR_MB * MEGABYTE:
        raise InputError(f"larger than {MAX_TAR_MB} MB; unpack it and name the folder")
    return packed_tree(data, kind, max_files, MAX_TAR_MB, of_class=True)


def _files(*source: Any) -> list[str]:
    return list(_opened(*source))


def _file(name: str, limit: int, *source: Any) -> bytes:
    return _opened(*source)[name](limit)
