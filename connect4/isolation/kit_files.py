"""List the files that agents may read: Python, its libraries, and of the kit what they load.

The referee makes the lists; an agent's process is told what it may read.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import py_compile
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from connect4.players.names import STUDENT_FILE

KIT: Final = Path(__file__).resolve().parents[1]

PYTHON: Final = Path(sys.executable).parent.resolve() / Path(sys.executable).name
"""The interpreter, by a path without `..` or linked folders: a sandbox has only the real ones.

If it is a link itself, it stays one: Python finds its environment beside it.
"""

SYSTEM_LIBRARIES: Final = (
    *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/lib", "/lib64"),
    *("/nix/store", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo"),
)
"""Where the interpreter's own shared libraries are, beside the folders of Python."""

Files: TypeAlias = tuple[Path, ...] | None
"""What may be read of the kit; None for all but the students' file."""


@cache
def readable_paths(files: Files = None) -> tuple[Path, ...]:
    """Return Python, its libraries and the kit or some `files` of it, without the grader.

    An agent's own source is sent to it, so that no submission has to be readable.
    """
    known = sysconfig.get_paths()
    folders = [known[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), f"{sys.base_prefix}/lib", f"{sys.base_prefix}/lib64"]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    numeric = Path(np.__file__).resolve().parent
    wanted = [Path(folder) for folder in (*folders, *SYSTEM_LIBRARIES)]
    wanted += [numeric, numeric.with_name("numpy.libs")]
    found = {path.resolve() for path in wanted if os.access(path, os.R_OK)}
    return tuple(
        sorted(
            {part for path in found for part in _without_kit(path)}
            | set(_kit() if files is None else files)
        )
    )


def _without_kit(path: Path) -> Iterator[Path]:
    """Yield the path, or what is in it where the kit is installed among it."""
    if path not in KIT.parents:
        yield path
        return
    for entry in path.iterdir():
        if entry in KIT.parents:
            yield from _without_kit(entry)
        elif entry != KIT and entry.name != "grader":
            yield entry


def _kit() -> Iterator[Path]:
    """Yield the kit, but not the file (nor its compiled form) that belongs to a student."""
    for entry in KIT.iterdir():
        if entry == STUDENT_FILE.parent:
            yield from (path for path in entry.glob("*.py") if path != STUDENT_FILE)
        else:
            yield entry


def importable(folder: Path) -> tuple[Path, ...]:
    """Return the modules and packages in a folder, but for the kit: a policy may read them."""
    entries = set(folder.iterdir()) - {KIT, KIT.with_name("grader")}
    packages = {entry for entry in entries if (entry / "__init__.py").is_file()}
    modules = {entry for entry in entries if entry.is_file() and inspect.getmodulename(entry)}
    return tuple(sorted(packages | modules))


WORKER_FILES: Final = (
    *("__init__.py", "config.py", "errors.py", "games", "utils.py"),
    *(f"isolation/{name}.py" for name in ("__init__", "landlock", "limits", "protocol", "sandbox")),
    *(f"isolation/{name}.py" for name in ("seccomp", "serving", "submission", "warden", "worker")),
    *(f"players/{name}.py" for name in ("__init__", "base", "names", "student")),
)
"""What the process that starts a submission loads of the kit, before the submission can look."""


def needs_no_package(allowed: Sequence[str]) -> bool:
    """Return whether the modules that may be imported all belong to the kit, Python or numpy."""
    known = {"connect4", "numpy", *sys.stdlib_module_names}
    return all(name.partition(".")[0] in known for name in allowed)


@cache
def worker_files(allowed: tuple[str, ...]) -> Files:
    """Return `WORKER_FILES`, compiled ones too.

    None where `allowed` names other modules of the kit: those are narrowed down once loaded.
    """
    paths = [KIT / name for name in WORKER_FILES]
    for name in allowed:
        if (
            f"{name}.".startswith("connect4.")
            and KIT.parent.joinpath(*name.split(".")).with_suffix(".py") not in paths
        ):
            return None
    found = map(compiled, (path for path in paths if path.suffix))
    return (*paths, *(path for path in found if path.exists()))


def compiled(path: Path) -> Path:
    """Return where a file's compiled form is, or will be; no process in bubblewrap can write it."""
    found = Path(cache_from_source(str(path)))
    if not found.exists() and not sys.dont_write_bytecode:
        with contextlib.suppress(OSError):
            py_compile.compile(str(path), doraise=False, quiet=2)
    return found
