"""The files of a hand-in, from a folder, a zip or a tar: their names and a safe way to read them.

Nothing is unpacked to disk. Links are not followed. Hidden and generated files are skipped.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from connect4.errors import InputError, one_line, printable


@dataclass(frozen=True, slots=True)
class File:
    """A file of a hand-in: call it with the maximum number of bytes to read.

    It raises `InputError` if the file cannot be read. `times` is the number of files with this name
    in an archive; the last one is used.
    """

    read: Callable[[int], bytes]
    times: int = 1

    def __call__(self, limit: int) -> bytes:
        """Return at most `limit` bytes of the file."""
        return self.read(limit)


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


def folder_tree(folder: Path) -> Tree:
    """Return the files of a folder; reading an unreadable file raises its error."""
    tree: Tree = {}
    place, inside = folder, ""
    try:
        entries = _seen_entries(place)
        while len(entries) == 1 and _kind(entries[0]) == "folder":  # around a whole class
            inner = Path(entries[0].path)
            inside += f"{printable(inner.name)}/"
            place, entries = inner, _seen_entries(inner)
    except OSError as error:
        if place == folder and not inside:
            raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
        return {f"{inside}{EMPTY}": _refusal(f"{short(inside)} cannot be read: {error.strerror}")}
    for entry in entries:
        tree.update(_part(entry, inside))
        if len(tree) > MAX_CLASS_FILES:
            raise InputError(
                f"{folder}: more than {MAX_CLASS_FILES} files; is it the right folder?"
            )
    if inside and not entries:
        tree[f"{inside}{EMPTY}"] = File(_nothing)
    return tree


def _seen_entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """Return the visible entries of a folder, sorted: files before folders."""
    with os.scandir(folder) as listed:
        entries = sorted((entry for entry in listed if is_seen(entry.name)), key=_order)
    return entries


def _order(entry: os.DirEntry[str]) -> tuple[bool, str]:
    return _kind(entry) in ("folder", "linked folder"), entry.name


def _kind(entry: os.DirEntry[str]) -> str:
    """Return the kind of a folder's entry; an entry whose kind is unknown counts as a file."""
    try:
        if entry.is_symlink():
            return "linked folder" if os.path.isdir(entry.path) else "other"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "file"


def _part(top: os.DirEntry[str], inside: str) -> Tree:
    """Return the files below one entry of a class's folder, often one student's hand-in."""
    part: Tree = {}
    pending = [(top, f"{inside}{printable(top.name)}")]
    seen = 0
    while pending:
        entry, name = pending.pop()
        seen += 1
        if seen > MAX_FOLDER_FILES:
            why = f"more than {MAX_FOLDER_FILES} files and folders; hand in ai.py and report.txt"
            return {f"{inside}{printable(top.name)}/{EMPTY}": _refusal(why)}
        kind = _kind(entry)
        if kind == "file":
            part[name] = file_reader(Path(entry.path))
        elif kind != "folder":
            part[f"{name}/{EMPTY}" if kind == "linked folder" else name] = no_file(entry.name)
        else:
            try:
                below_it = _seen_entries(entry.path)
            except OSError as error:
                folder = short(printable(entry.name))
                why = f"the folder {folder} cannot be read: {error.strerror}"
                part[f"{name}/{EMPTY}"] = _refusal(why)
                continue
            if not below_it:
                part[f"{name}/{EMPTY}"] = File(_nothing)
            pending += [(item, f"{name}/{printable(item.name)}") for item in reversed(below_it)]
    return part


def _nothing(limit: int) -> bytes:
    return b""


def _refusal(why: str) -> File:
    """Return a file that raises `InputError` when it is read."""

    def read(limit: int) -> bytes:
        raise InputError(why)

    return File(read)


def no_file(name: str) -> File:
    """Return a file that raises `InputError` when it is read, for links: they may lead anywhere."""
    name = short(printable(name))
    return _refusal(f"{name} is a link or no file at all; put the file itself there")


def _open_at_once(path: str, flags: int) -> int:
    """Open a path without waiting, even if it is a pipe without a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def file_reader(path: Path) -> File:
    """Return a file on disk."""

    def read(limit: int) -> bytes:
        try:
            with open(path, "rb", opener=_open_at_once) as file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return file.read(limit)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"{short(printable(path.name))} cannot be read: {why}") from None
        return no_file(path.name)(limit)

    return File(read)


def zip_tree(data: Path | bytes, max_files: int, max_megabytes: int) -> Tree:
    """Return the files of a student's zip; raises `InputError` if it is damaged or a zip bomb.

    The declared sizes limit the number of bytes that are read. A member that leads out of the
    archive or requires a password also raises `InputError`.
    """
    archive, members = _members(data, max_files, max_megabytes)
    tree: Tree = {}
    for member in members:
        path = _path_of(member)
        trap = _trap(member, path)
        if trap is not None:
            raise InputError(trap)
        _add_member(tree, archive, member, path)
    return tree


def class_zip_tree(data: Path) -> Tree:
    """Return the files of a class's zip; an unsafe member is the problem of its hand-in only.

    Raises `InputError` if the zip as a whole cannot be read.
    """
    archive, members = _members(data, MAX_CLASS_FILES, max_megabytes=100_000)
    tree: Tree = {}
    traps: Tree = {}
    for member in members:
        path = _path_of(member)
        trap = _trap(member, path)
        if trap is None:
            _add_member(tree, archive, member, path)
            continue
        parts = [part for part in PurePosixPath(path).parts if part.strip("/") not in ("", "..")]
        top = parts[0] if parts else "_"
        if is_seen(top):
            traps[f"{printable(top)}/ai.py"] = _refusal(trap)
    if not tree and traps:
        next(iter(traps.values()))(0)
    return tree | traps


def _members(
    data: Path | bytes, max_files: int, max_megabytes: int
) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """Open a zip; return it with its files, after a check of their number and size."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
    except Exception as error:  # a header can say anything: errors of many kinds, by version
        raise InputError(f"no readable zip ({brief(error)})") from None
    members = [  # not by is_dir, which fails on an empty name
        member for member in archive.infolist() if not member.filename.endswith("/")
    ]
    if len(members) > max_files:
        raise InputError(f"the zip holds {len(members)} files, allowed are {max_files}")
    size = sum(member.file_size for member in members)
    if size > max_megabytes * MEGABYTE:
        raise InputError(
            f"the zip unpacks to {size / MEGABYTE:.0f} MB, allowed are {max_megabytes} MB"
        )
    return archive, members


def leads_out(path: str) -> bool:
    """Return whether a path of an archive leads out of it."""
    pure = PurePosixPath(path)
    return pure.is_absolute() or ".." in pure.parts


def _path_of(member: zipfile.ZipInfo) -> str:
    return member.filename.replace("\\", "/")


def _trap(member: zipfile.ZipInfo, path: str) -> str | None:
    """Return the reason why a zip with such a member is rejected."""
    if leads_out(path):
        name = short(printable(member.filename))
        return f"the zip holds '{name}', a path that leads out of it"
    if not PurePosixPath(path).parts:
        return "the zip holds a file without a name"
    if member.flag_bits & 1:
        return "the zip is locked with a password"
    return None


def add_file(tree: Tree, path: str, read: Callable[[int], bytes]) -> None:
    """Add a file; of several with the same name the last one is used, as when unpacking."""
    if is_seen(path):
        name = printable(path)
        times = tree[name].times + 1 if name in tree else 1
        tree[name] = File(read, times)


def _add_member(tree: Tree, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str) -> None:
    path = str(PurePosixPath(path))
    is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
    add_file(tree, path, no_file(path).read if is_link else _member_reader(archive, member))


def _member_reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[int], bytes]:
    name = short(printable(member.filename))

    def read(limit: int) -> bytes:
        if member.compress_type not in METHODS:
            raise InputError(f"{name} in the zip is packed in a rare way; make a usual zip of it")
        try:
            with archive.open(member) as file:
                return file.read(limit)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
            raise InputError(f"{name} in the zip cannot be read ({brief(error)})") from None
        except Exception as error:  # zlib.error and its kin have no common base
            raise InputError(f"{name} in the zip is damaged ({brief(error)})") from None

    return read


def below(tree: Tree, folder: str) -> Tree:
    """Return the part of a tree below one of its folders."""
    prefix = folder + "/"
    return {path[len(prefix) :]: read for path, read in tree.items() if path.startswith(prefix)}


def tops(tree: Tree) -> dict[str, Tree]:
    """Return the names at the top of a tree, sorted, each with the files below it."""
    parts: dict[str, Tree] = {}
    for path, file in tree.items():
        top, slash, inner = path.partition("/")
        part = parts.setdefault(top, {})
        if slash:
            part[inner] = file
    return dict(sorted(parts.items()))


def top_names(tree: Tree) -> list[str]:
    """Return the names of the files and folders at the top of a tree, sorted."""
    return sorted({path.partition("/")[0] for path in tree})


ENDINGS: Final = (".tar", ".tar.gz", ".tgz")

GZIP: Final = b"\x1f\x8b"

HEADERS: Final = 4096
"""Bytes that an archive may use for each file besides its content: headers and padding."""

DIRECTORIES: Final = 10
"""The maximum number of entries for each allowed file: folders have entries too."""


def tar_tree(data: bytes, max_files: int, max_megabytes: int) -> Tree:
    """Return the files of a tar archive; raises `InputError` if it is damaged or unsafe."""
    most = max_megabytes * MEGABYTE + max_files * HEADERS
    if data.startswith(GZIP):
        data = _decompressed(data, most, max_megabytes)
    archive, members = _tar_members(data, max_files * DIRECTORIES)
    files = [member for member in members if not member.isdir()]
    if len(files) > max_files:
        raise InputError(f"the tar holds {len(files)} files, allowed are {max_files}")
    size = sum(member.size for member in files)
    if size > max_megabytes * MEGABYTE:
        raise _too_large(max_megabytes)
    tree: Tree = {}
    for member in files:
        if leads_out(member.name):
            name = short(printable(member.name))
            raise InputError(f"the tar holds '{name}', a path that leads out of it")
        path = str(PurePosixPath(member.name))
        usual = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE)
        if path != ".":
            add_file(tree, path, _reader(archive, member) if usual else no_file(path).read)
    return tree


def _too_large(max_megabytes: int) -> InputError:
    return InputError(f"the tar unpacks to more than the {max_megabytes} MB allowed")


def _decompressed(data: bytes, most: int, max_megabytes: int) -> bytes:
    """Return at most `most` bytes from gzip data, which may have several parts."""
    unpacked = bytearray()
    try:
        while data.startswith(GZIP):
            stream = zlib.decompressobj(wbits=31)
            unpacked += stream.decompress(data, most + 1 - len(unpacked))
            if len(unpacked) > most:
                raise _too_large(max_megabytes)
            if not stream.eof:
                raise InputError("no readable tar.gz (it ends too early)")
            data = stream.unused_data
    except zlib.error as error:
        raise InputError(f"no readable tar.gz ({brief(error)})") from None
    return bytes(unpacked)


def _tar_members(data: bytes, most: int) -> tuple[tarfile.TarFile, list[tarfile.TarInfo]]:
    """Open an archive; return it with its entries, whose offsets must increase."""
    members: list[tarfile.TarInfo] = []
    place = -1
    try:
        archive = tarfile.open(fileobj=io.BytesIO(data), mode="r:")  # noqa: SIM115
        for member in archive:
            if member.offset <= place or member.size < 0:
                raise InputError("no readable tar (its entries overlap)")
            place = member.offset
            members.append(member)
            if len(members) > most:
                raise InputError(f"the tar holds more than {most} files and folders")
    except InputError:
        raise
    except Exception as error:  # a header can say anything: errors of many kinds, by version
        raise InputError(f"no readable tar ({brief(error)})") from None
    return archive, members


def _reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[int], bytes]:
    name = short(printable(member.name))

    def read(limit: int) -> bytes:
        try:
            file = archive.extractfile(member)
            content = b"" if file is None else file.read(limit)
        except Exception as error:
            raise InputError(f"{name} in the tar is damaged ({brief(error)})") from None
        if len(content) < min(limit, member.size):
            raise InputError(f"{name} in the tar is damaged (it ends too early)")
        return content

    return read
