"""Make the kernel's rules of what agents may read, once in the referee for all wardens.

There are hundreds. A rule belongs to a file, not to its path, so it also holds inside bubblewrap.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path
from typing import Final

from connect4.isolation import kit_files, python_files, sandbox

_made: Final[dict[tuple[tuple[str, ...] | None, tuple[int, int] | None], int | None]] = {}
_making: Final = threading.Lock()


@cache
def readable(allowed: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return what agents may read, without the kit's files that a warden adds.

    `allowed` are the modules that a submission may import; None for an agent of the kit's own.
    """
    if allowed is not None and kit_files.needs_no_package(allowed):
        return python_files.readable()
    paths = kit_files.readable_paths(None if allowed is None else ())
    return tuple(map(str, paths))


def handle(allowed: tuple[str, ...] | None, root: Path | None) -> int | None:
    """Return a descriptor of the rules, which the caller closes; None without Landlock.

    `root` is the folder that agents have as their file system. Raises `OSError`.
    """
    found = None if root is None else root.stat()
    key = allowed, None if found is None else (found.st_ino, found.st_ctime_ns)
    with _making:
        if key not in _made:  # a copy that was made anew has files of its own
            _made[key] = _rules(allowed, root)
        made = _made[key]
        return None if made is None else os.dup(made)


def _rules(allowed: tuple[str, ...] | None, root: Path | None) -> int | None:
    narrow = allowed is not None and kit_files.needs_no_package(allowed)
    listable = python_files.listable() if narrow else ()
    before = "" if root is None else str(root)
    return sandbox.rules(
        [before + path for path in readable(allowed)], [before + path for path in listable]
    )
