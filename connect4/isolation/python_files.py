"""List the files of Python and numpy that a submission may read: only what it can import."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from connect4.isolation.kit_files import PYTHON

LEFT_OUT: Final = (
    *("site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "ensurepip"),
    *("turtledemo", "include"),
)
"""Folders of Python and numpy that no agent needs; so are those that begin with `config-`."""

LIBRARY_FOLDERS: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")

OF_THE_SYSTEM: Final = ("/etc/ld.so.cache", "/etc/localtime")

ZONES: Final = Path("/usr/share/zoneinfo")


def is_needed(name: str) -> bool:
    """Return whether a folder of Python or numpy belongs to what agents import."""
    return name not in LEFT_OUT and not name.startswith("config-")


def links_to_python() -> list[Path]:
    """Return the interpreter as it was started, each link on the way, and last the program."""
    path = PYTHON
    paths = [path]
    while path.is_symlink():
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
        paths.append(path)
    return paths


def library_folders() -> list[Path]:
    """Return the folders of the standard library and of numpy."""
    numeric = Path(np.__file__).parent
    folders = [Path(sysconfig.get_path("stdlib"))]
    folders += [Path(sysconfig.get_config_var("DESTSHARED") or "")]
    folders += [numeric, numeric.with_name("numpy.libs")]
    found = (folder.resolve() for folder in folders if folder.is_absolute() and folder.is_dir())
    return list(dict.fromkeys(found))


@cache
def package_folders() -> tuple[str, ...]:
    """Return the folders of installed packages, that of numpy among them."""
    folders = [entry for entry in sys.path if "-packages" in entry]
    folders.append(str(Path(np.__file__).parent.parent))
    return tuple(dict.fromkeys(map(os.path.realpath, folders)))


def shared_libraries() -> Iterator[Path]:
    """Yield the files that are shared libraries by name, of the system and of Python."""
    more = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders = (f"{sys.base_prefix}/lib", *LIBRARY_FOLDERS, *filter(None, more))
    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        for pattern in ("*.so*", "*-linux-*/*.so*"):
            yield from Path(folder).glob(pattern)


@cache
def readable() -> tuple[str, ...]:
    """Return what Landlock lets a submission read, folders with all that is in them."""
    standard, *others = library_folders()
    paths = [*others, *shared_libraries(), *links_to_python(), ZONES, *map(Path, OF_THE_SYSTEM)]
    paths += [Path(sys.prefix, "pyvenv.cfg")]
    with os.scandir(standard) as entries:
        paths += [Path(entry.path) for entry in entries if is_needed(entry.name)]
    return tuple(sorted({str(path) for path in paths if path.exists()}))


@cache
def listable() -> tuple[str, ...]:
    """Return the folders whose names alone a submission may read: Python looks modules up there."""
    return (str(library_folders()[0]),)
