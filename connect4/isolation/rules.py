"""Make the kernel's rules of what agents may read, once in the referee for all wardens.

There are hundreds. A rule belongs to a file, not to its path, so it also holds inside bubblewrap.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Final

from connect4.isolation import kit_files, python_files, sandbox

_made: Final[dict[tuple[str, ...] | None, int | None]] = {}
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


def handle(allowed: tuple[str, ...] | None) -> int | None:
    """Return a descriptor of the rules, which the caller closes; None without Landlock.

    Raises `OSError`.
    """
    with _making:
        if allowed not in _made:
            narrow = allowed is not None and kit_files.needs_no_package(allowed)
            listable = python_files.listable() if narrow else ()
            _made[allowed] = sandbox.rules(readable(allowed), listable)
        made = _made[allowed]
        return None if made is None else os.dup(made)
