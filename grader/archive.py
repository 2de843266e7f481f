"""What a hand-in consists of, be it a folder or a zip: file names and a careful way to read them.

Nothing is unpacked to disk. Links are not followed, hidden and generated files are not seen.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from connect4.errors import BadInput

Tree: TypeAlias = dict[str, Callable[[int], bytes]]
"""Relative path with `/` -> a function that reads at most so many bytes of the file."""

UNSEEN: Final = frozenset({"__MACOSX", "__pycache__", "node_modules", "venv"})
MAX_CLASS_FILES: Final = 200_000
"""More files than any class hands in: the folder named is a wrong one."""

EMPTY: Final = ".empty"
"""Stands for the content of an empty folder, so that its student is not forgotten."""

MEGABYTE: Final = 1_000_000


def is_seen(path: str) -> bool:
    """Return whether no part of a path is hidden or generated."""
    parts = PurePosixPath(path).parts
    return not any(part.startswith(".") or part in UNSEEN for part in parts)


def printable(name: str) -> str:
    """Return a name that any terminal, file and database takes: its other characters as escapes."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in name
    )


def folder_tree(folder: Path) -> Tree:
    """Return the files of a folder; one below it that cannot be read counts as empty."""
    tree: Tree = {}

    def locked(error: OSError) -> None:
        place = Path(error.filename)
        if place == folder:
            raise BadInput(f"{folder}: cannot be read: {error.strerror}")
        tree[printable(Path(place, EMPTY).relative_to(folder).as_posix())] = lambda limit: b""

    for place, folders, files in os.walk(folder, onerror=locked):
        folders[:] = sorted(name for name in folders if is_seen(name))
        count = len(tree)
        for name in sorted(files):
            path = Path(place, name)
            relative = path.relative_to(folder).as_posix()
            if is_seen(relative):
                plain = path.is_file() and not path.is_symlink()
                tree[printable(relative)] = file_reader(path) if plain else _no_file(name)
        if Path(place) == folder:  # links are not followed, but a student behind one is not lost
            for name in folders:
                if Path(folder, name).is_symlink():
                    tree[printable(f"{name}/ai.py")] = _no_file(name)
        if not folders and len(tree) == count and Path(place) != folder:
            empty = Path(place, EMPTY).relative_to(folder).as_posix()
            tree[printable(empty)] = lambda limit: b""
        if len(tree) > MAX_CLASS_FILES:
            raise BadInput(f"{folder}: more than {MAX_CLASS_FILES} files; is it the right folder?")
    return tree


def _no_file(name: str) -> Callable[[int], bytes]:
    """Return a reader that refuses: what stands behind a link may be anybody's."""

    def read(limit: int) -> bytes:
        raise BadInput(f"{name} is a link or no file at all; put the file itself there")

    return read


def file_reader(path: Path) -> Callable[[int], bytes]:
    """Return the function that reads at most so many bytes of a file, or raises `BadInput`."""

    def read(limit: int) -> bytes:
        try:
            with path.open("rb") as file:
                return file.read(limit)
        except OSError as error:
            raise BadInput(f"{path.name} cannot be read: {error.strerror}") from None

    return read


def zip_tree(data: Path | bytes, max_files: int, max_megabytes: int) -> Tree:
    """Return the files of a zip; raises `BadInput` where it is damaged, locked, a bomb or a trap.

    The sizes that a zip declares bound what reading it can give.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise BadInput(f"no readable zip ({error})") from None
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > max_files:
        raise BadInput(f"the zip holds {len(members)} files, allowed are {max_files}")
    size = sum(member.file_size for member in members)
    if size > max_megabytes * MEGABYTE:
        raise BadInput(
            f"the zip unpacks to {size / MEGABYTE:.0f} MB, allowed are {max_megabytes} MB"
        )
    tree: Tree = {}
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise BadInput(f"the zip holds {member.filename!r}, a path that leads out of it")
        if member.flag_bits & 1:
            raise BadInput("the zip is locked with a password")
        if is_seen(str(path)) and not _is_link(member):
            tree[printable(str(path))] = _member_reader(archive, member)
    return tree


def _is_link(member: zipfile.ZipInfo) -> bool:
    return (member.external_attr >> 16) & 0o170000 == 0o120000


def _member_reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        try:
            with archive.open(member) as file:
                return file.read(limit)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
            raise BadInput(
                f"{printable(member.filename)} in the zip cannot be read ({error})"
            ) from None
        except Exception as error:  # zlib.error and its kin have no common base
            raise BadInput(
                f"{printable(member.filename)} in the zip is damaged ({error})"
            ) from None

    return read


def below(tree: Tree, folder: str) -> Tree:
    """Return the part of a tree below one of its folders."""
    prefix = folder + "/"
    return {path[len(prefix) :]: read for path, read in tree.items() if path.startswith(prefix)}


def top_names(tree: Tree) -> list[str]:
    """Return the names of the files and folders at the top of a tree, sorted."""
    return sorted({path.partition("/")[0] for path in tree})
