"""Prepare a submission's process: which modules it may import, and notes on denied calls.

`confine` runs before any code of the submission. It restricts honest files to the allowed modules,
with clear error messages. A file that gets around this still cannot read the kit's files.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType

KIT = ("connect4", "grader")
"""Packages of which a submission may import only the allowed modules."""


FOLDER = Path(__file__).resolve().parents[1]


class Imports:
    """Refuses modules of the kit and installed packages, as the first entry of `sys.meta_path`."""

    def __init__(self, allowed: Sequence[str], installed: Iterable[str] = ()) -> None:
        self._allowed = ("numpy", *allowed)
        self._installed = _installed().union(installed)
        *most, last = ("the standard library", *self._allowed)
        self._listed = f"{', '.join(most)} and {last}"

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None, so that the other finders continue, or raise `ImportError`.

        Libraries may import any module outside the kit.
        """
        may = any(
            f"{name}.".startswith(f"{each}.") or each.startswith(f"{name}.")
            for each in self._allowed
        )
        of_kit = name.partition(".")[0] in KIT
        refused = not may and (of_kit or (name in self._installed and _asked_by_submission()))
        if refused:
            raise ImportError(
                f"{name} is not part of what a submission may import: {self._listed}", name=name
            )
        return None


def _asked_by_submission() -> bool:
    """Return whether the current import statement is in the submission itself."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and not os.path.isabs(frame.f_code.co_filename)


def _installed() -> frozenset[str]:
    """Return the names of installed packages, from the names in their folders."""
    names: set[str] = set()
    for folder in [folder for folder in sys.path if "-packages" in folder]:
        with contextlib.suppress(OSError):
            names.update(name.partition(".")[0] for name in os.listdir(folder))
    return frozenset(names - sys.stdlib_module_names)


def confine(
    kept: Iterable[str], allowed: Sequence[str], installed: Iterable[str] = ()
) -> tuple[Path, ...]:
    """Unload the modules of the kit that are not in `kept`, and refuse to load them again.

    `installed` names further packages. Returns the files of the kit that stay readable. Code of the
    kit that is still running can only be found through frames and `gc`; the rest is freed.
    """
    staying = set(kept)
    for name in [name for name in sys.modules if name.partition(".")[0] in KIT]:
        if name not in staying:
            package, _, last = name.rpartition(".")
            del sys.modules[name]
            vars(sys.modules.get(package, sys)).pop(last, None)
    left = vars(sys.modules["__main__"])
    for name in [name for name in left if not name.startswith("__")]:  # left by `spawn.BOOT`
        del left[name]
    sys.meta_path.insert(0, Imports(allowed, installed))
    for folder in [folder for folder in sys.path_importer_cache if "-packages" in folder]:
        del sys.path_importer_cache[folder]  # it caches the names of packages that cannot be read
    gc.collect()
    files = (vars(sys.modules[name]).get("__file__") for name in staying if name in sys.modules)
    return tuple(sorted(Path(file) for file in files if file and FOLDER in Path(file).parents))


# -- what denied calls say

DENIED = "note: agents may not open files (a submission is one file) or sockets, or start processes"


def note(error: BaseException) -> str | None:
    """Return a line for an error caused by a call that is denied to agents, else None.

    It cannot know whether a missing file would exist without the restrictions.
    """
    current: BaseException | None = error
    for _ in range(10):
        if current is None:
            break
        if isinstance(current, OSError) and _was_denied(current):
            return DENIED
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
    return None


def _was_denied(error: OSError) -> bool:
    refused = error.errno in (errno.EPERM, errno.EACCES, errno.EROFS)
    if refused or type(error).__name__ == "gaierror":
        return True
    if error.errno != errno.ENOENT or not isinstance(error.filename, str | bytes):
        return False
    path = os.path.abspath(os.fsdecode(error.filename))
    return not any(path.startswith(f"{folder}/") for folder in sys.path)
