"""The files that an agent sees at level `wasm`: a read-only tree in memory, and nothing else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from connect4.isolation.wasm import package

KIT: Final = Path(__file__).resolve().parents[2]

LIBRARY: Final = "usr/local/lib/python315.zip"

KIT_FOLDER: Final = "kit"

EPOCH: Final = (1980, 1, 1, 0, 0, 0)


class Tree:
    """Files by their paths, without a leading slash; folders follow from them."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self._folders: dict[str, set[str]] = {"": set()}
        for path in self.files:
            below = path
            while below:
                folder, _, name = below.rpartition("/")
                self._folders.setdefault(folder, set()).add(name)
                below = folder
        names = sorted({*self.files, *self._folders})
        self._numbers = {path: number for number, path in enumerate(names, 1)}

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder of that path."""
        return path in self._folders

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted."""
        return sorted(self._folders[folder])

    def number(self, path: str) -> int:
        """Return a number that is unique to this path in the tree."""
        return self._numbers[path]

    @staticmethod
    def resolved(folder: str, path: str) -> str | None:
        """Return the path relative to the root; None if it leaves the tree."""
        parts = folder.split("/") if folder else []
        for part in path.split("/"):
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts)


@cache
def library(everything: bool) -> bytes:
    """Return the library as a zip file that is the same on every machine.

    Without `everything` it contains only the standard library and numpy.
    """
    name = f"library-{'all' if everything else 'standard'}-{package.stdlib_digest()[:16]}-1.zip"
    data = package.read_cached(name)
    if data is None:
        data = _library(everything)
        package.write_cached(name, data)
    return data


def _library(everything: bool) -> bytes:
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(package.stdlib())) as source,
        zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as target,
    ):
        for name in sorted(source.namelist()):
            top = name.partition("/")[0].partition(".")[0]
            other = top in package.OTHER_PACKAGES or "-" in name.partition("/")[0]
            if not name.endswith("/") and (everything or not other):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.create_system = 3  # the same bytes on Windows
                target.writestr(entry, source.read(name))
    return written.getvalue()


def kit_files(patterns: Iterable[str]) -> dict[str, bytes]:
    """Return files of the kit, by their paths in an agent's Python."""
    paths = {path for pattern in patterns for path in KIT.parent.glob(pattern)}
    return {
        f"{KIT_FOLDER}/{path.relative_to(KIT.parent).as_posix()}": _text(path)
        for path in sorted(paths)
        if path.is_file() and not path.name.endswith("_test.py")
    }


def _text(path: Path) -> bytes:
    """Return a file; sources have the same line ends on every system."""
    data = path.read_bytes()
    return data.replace(b"\r\n", b"\n") if path.suffix in (".py", ".txt") else data
