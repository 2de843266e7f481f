"""The files of a hand-in, from a folder or a zip: their names and a safe way to read them.

Nothing is unpacked to disk. Links are not followed, wherever and whenever a student puts one.
Hidden and generated files are skipped.
"""

from __future__ import annotations

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

MAX_FOLDER_FILES: Final = 10_000
"""More files and folders than one student hands in."""

EMPTY: Final = ".empty"
"""The entry for a folder without visible files, so that its student is not forgotten.
Reading it raises `InputError` if there is a reason."""

METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The allowed compression methods of a zip; the others can unpack to gigabytes at once."""

MAX_DEPTH: Final = 100
"""Deeper than the folders of any hand-in."""

BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether a file can be opened relative to its folder's descriptor; not on Windows."""

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
    if not BY_DESCRIPTOR:
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
    most = MAX_FOLDER_FILES if len(entries) > 1 else MAX_CLASS_FILES  # one is around a whole class
    tree: Tree = {}
    for names, kind in entries:
        part = dict(islice(_below(folder, names, kind), most + 1))
        if len(part) > most:
            why = f"more than {most} files and folders; hand in ai.py and report.txt"
            part = {f"{printable(names[0])}/{EMPTY}": partial(_refuse, why)}
        tree |= {path: file for path, file in part.items() if file}
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


def _below(root: Path, names: Names, kind: str) -> Iterator[tuple[str, File | None]]:
    """Yield an entry of a folder and all that is below it; None is a folder with content."""
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
        yield (path, None) if below else (f"{path}/{EMPTY}", partial(_refuse, why))
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


Packed: TypeAlias = tuple[str, int, File]
"""A file in an archive: its name, size and content."""


def packed_tree(data: BinaryIO, max_files: int, max_megabytes: int, of_class: bool = False) -> Tree:
    """Return the files of a zip.

    Raises `InputError` if it is damaged, too large or unsafe. The declared sizes limit the number
    of bytes that are read. Of a class, an unsafe file is the problem of its hand-in only.
    """
    members = _zip_members(data)
    if len(members) > max_files:
        raise InputError(f"the zip holds {len(members)} files, allowed are {max_files}")
    if sum(size for _, size, _ in members) > max_megabytes * MEGABYTE:
        raise InputError(f"the zip unpacks to more than the {max_megabytes} MB allowed")
    tree: Tree = {}
    refused: Tree = {}
    for name, _, file in members:
        path, why = PurePosixPath(name), ""
        if path.is_absolute() or ".." in path.parts:
            why = f"the zip holds '{short(printable(name))}', a path that leads out of it"
        elif not path.parts:
            why = "the zip holds a file without a name"
        if why and not of_class:
            raise InputError(why)
        top = next((part for part in path.parts if part.strip("/.")), "_")
        if why and is_seen(top):
            refused[f"{printable(top)}/ai.py"] = partial(_refuse, why)
        elif not why and is_seen(str(path)):  # the last one of a name counts, as on a disk
            tree[printable(str(path))] = file
    if not tree and refused:
        next(iter(refused.values()))(0)
    return tree | refused


def _zip_members(data: BinaryIO) -> list[Packed]:
    try:
        archive = zipfile.ZipFile(data)
    except Exception as error:  # a header can say anything: errors of many kinds, by version
        raise InputError(f"no readable zip ({brief(error)})") from None
    found: list[Packed] = []
    for member in archive.infolist():
        name = member.filename.replace("\\", "/")
        if name.endswith("/"):  # not by is_dir, which fails on an empty name
            continue
        why = ""
        if (member.external_attr >> 16) & 0o170000 == 0o120000:
            why = _no_file(name)
        elif member.compress_type not in METHODS:
            what = "is packed in a rare way; make a usual zip of it"
            why = f"{short(printable(member.filename))} in the zip {what}"
        elif member.flag_bits & 1:
            why = "the zip is locked with a password"
        unpack = partial(_unpack, archive, member)
        found.append((name, member.file_size, partial(_refuse, why) if why else unpack))
    return found


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    try:
        with archive.open(member) as file:
            return file.read(limit)
    except Exception as error:  # zlib.error and its kin have no common base
        name, why = short(printable(member.filename)), brief(error)
        raise InputError(f"{name} in the zip cannot be read ({why})") from None


def tops(tree: Tree) -> dict[str, Tree]:
    """Return the names at the top of a tree, sorted, each with the files below it."""
    parts: dict[str, Tree] = {}
    for path, file in tree.items():
        top, slash, inner = path.partition("/")
        part = parts.setdefault(top, {})
        if slash:
            part[inner] = file
    return dict(sorted(parts.items()))
