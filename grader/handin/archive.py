"""The files of a hand-in, from a folder or a zip: their names and a safe way to read them.

Nothing is unpacked to disk. Links are not followed, wherever and whenever a student puts one.
Hidden and generated files are skipped.
"""

import errno
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, TypeAlias

from connect4.errors import InputError, one_line, printable

File: TypeAlias = Callable[[int], bytes]
"""Reads a file of a hand-in: takes a number, and returns at most that many bytes.

It raises `InputError` if the file cannot be read.
"""

Tree: TypeAlias = dict[str, File]
"""Relative path with `/` -> the file."""

UNSEEN: Final = frozenset({"__MACOSX", "__pycache__", "node_modules", "venv"})
MAX_CLASS_FILES: Final = 200_000
"""More files than any class hands in: the folder is probably the wrong one."""

EMPTY: Final = ".empty"
"""The entry for a folder without visible files, so that its student is not forgotten.
Reading it raises `InputError` if there is a reason."""

MAX_DEPTH: Final = 100
"""Deeper than the folders of any hand-in."""

MEGABYTE: Final = 1_000_000


def is_seen(path: str) -> bool:
    """Return whether no part of a path is hidden or generated."""
    parts = PurePosixPath(path).parts
    return not any(part.startswith(".") or part in UNSEEN for part in parts)


def brief(text: object) -> str:
    """Return a text as one harmless line of at most 300 characters."""
    line = one_line(" ".join(str(text).split()))
    return line if len(line) <= 300 else f"{line[:200]} ... {line[-90:]}"


def short(name: str) -> str:
    """Return a printable path for a message; a long path keeps its beginning and end."""
    return name if len(name) <= 120 else f"{name[:60]}...{name[-50:]}"


Names: TypeAlias = tuple[str, ...]
"""The names on the way from a folder that a person has named down to a file or folder of it."""


@contextmanager
def _folder(root: Path, names: Names) -> Iterator[int | str]:
    """Open a folder below `root` in the form that `os.scandir` takes; raises `OSError` for a link.

    A student may put a link in the place of a folder at any moment. So each name is opened relative
    to the descriptor of its folder. Windows has no such descriptors.
    """
    if os.open not in os.supports_dir_fd or os.scandir not in os.supports_fd:
        yield str(root.joinpath(*names))
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(root, flags)
    try:
        for name in names:
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def opened(root: Path, *names: str) -> BinaryIO:
    """Open a file below a folder that a person has named.

    Raises `InputError` if it cannot be opened, is no file, or if one of the names is a link.
    """

    def open_in(name: str, flags: int) -> int:
        if isinstance(folder, str):
            return os.open(os.path.join(folder, name), flags)
        return os.open(
            name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder
        )  # or a pipe waits

    try:
        with _folder(root, names[:-1]) as folder:
            file = open(names[-1], "rb", opener=open_in)  # noqa: SIM115
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.ELOOP, errno.ENOTDIR):
            raise InputError(_no_file(names[-1])) from None
        raise _unreadable(names[-1], error) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError(_no_file(names[-1]))
    return file


def _unreadable(name: str, error: Exception) -> InputError:
    why = getattr(error, "strerror", None) or error
    return InputError(f"{short(printable(name))} cannot be read: {why}")


def folder_tree(folder: Path) -> Tree:
    """Return the files of a folder; reading an unreadable file raises its error."""
    try:
        entries = _seen_entries(folder, ())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    below = (item for names, kind in entries for item in _below(folder, names, kind))
    tree = dict(islice(below, MAX_CLASS_FILES + 1))
    if len(tree) > MAX_CLASS_FILES:
        what = f"more than {MAX_CLASS_FILES} files; is it the right folder?"
        raise InputError(f"{folder}: {what}")
    return tree


def _seen_entries(root: Path, names: Names) -> list[tuple[Names, str]]:
    """Return the visible entries of a folder below `root` and their kinds: files before folders.

    A kind is `file`, `folder`, `linked folder` or `other`.
    """
    with _folder(root, names) as folder, os.scandir(folder) as listed:
        seen = [((*names, one.name), _kind(one)) for one in listed if is_seen(one.name)]
    return sorted(seen, key=lambda entry: ("folder" in entry[1], entry[0][-1]))


def _kind(entry: os.DirEntry[str]) -> str:
    """Return the kind of a folder's entry; an entry whose kind is unknown counts as a file."""
    try:
        if entry.is_symlink():
            return "linked folder" if entry.is_dir() else "other"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "file"


def _below(root: Path, names: Names, kind: str) -> Iterator[tuple[str, File]]:
    """Yield the files of an entry of a folder, and of all that is below it."""
    path = "/".join(map(printable, names))
    below: list[tuple[Names, str]] = []
    if kind == "file":
        yield path, partial(_read, root, names)
    elif kind != "folder":
        place = f"{path}/{EMPTY}" if kind == "linked folder" else path
        yield place, partial(_refuse, _no_file(names[-1]))
    elif len(names) > MAX_DEPTH:
        why = f"folders more than {MAX_DEPTH} deep; hand in ai.py and report.txt"
        yield f"{path}/{EMPTY}", partial(_refuse, why)
    else:
        why = "no ai.py and no other .py file in it"
        try:
            below = _seen_entries(root, names)
        except OSError as error:
            why = str(_unreadable(f"the folder {names[-1]}", error))
        if not below:
            yield f"{path}/{EMPTY}", partial(_refuse, why)
    for entry in below:
        yield from _below(root, *entry)


def _refuse(why: str, limit: int) -> bytes:
    """Stand for a file that cannot be read."""
    raise InputError(why)


def _no_file(name: str) -> str:
    """Return what is wrong with a link, which may lead anywhere, or with what is no file."""
    return f"{short(printable(name))} is a link or no file at all; put the file itself there"


def file_reader(path: Path) -> File:
    """Return a file on disk that a person has named; reading a link raises `InputError`."""
    return partial(_read, path.parent, (path.name,))


def _read(root: Path, names: Names, limit: int) -> bytes:
    with opened(root, *names) as file:
        try:
            return file.read(limit)
        except OSError as error:
            raise _unreadable(names[-1], error) from None


def packed_tree(data: BinaryIO, max_files: int, max_megabytes: int) -> Tree:
    """Return the files of a zip; raises `InputError` if it is damaged or too large.

    The declared sizes limit the number of bytes that are read. No path leads out of the tree.
    """
    try:
        archive = zipfile.ZipFile(data)
    except Exception as error:  # a header can say anything: errors of many kinds, by version
        raise InputError(f"no readable zip ({brief(error)})") from None
    members = [member for member in archive.infolist() if member.filename[-1:] not in ("/", "\\")]
    if len(members) > max_files:
        raise InputError(f"the zip holds {len(members)} files, allowed are {max_files}")
    if sum(member.file_size for member in members) > max_megabytes * MEGABYTE:
        raise InputError(f"the zip unpacks to more than the {max_megabytes} MB allowed")
    tree: Tree = {}
    for member in members:
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        path = "/".join(part for part in parts if part.strip("/."))
        if path and is_seen(path):  # the last one of a name counts, as on a disk
            tree[printable(path)] = partial(_unpack, archive, member.filename)
    return tree


def _unpack(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    try:
        with archive.open(name) as file:
            return file.read(limit)
    except Exception as error:  # zlib.error and its kin have no common base
        shown = short(printable(name))
        raise InputError(f"{shown} in the zip cannot be read ({brief(error)})") from None


def tops(tree: Tree) -> dict[str, Tree]:
    """Return the names at the top of a tree, sorted, each with the files below it."""
    parts: dict[str, Tree] = {}
    for path, file in tree.items():
        top, slash, inner = path.partition("/")
        part = parts.setdefault(top, {})
        if slash:
            part[inner] = file
    return dict(sorted(parts.items()))
