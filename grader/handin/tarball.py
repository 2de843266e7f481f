"""Hand-ins as `.tar`, `.tar.gz` or `.tgz`: read with the same checks as a zip.

The archive is decompressed in memory, up to a limit. Nothing is unpacked to disk.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final

from connect4.errors import InputError, printable
from grader.handin.archive import (
    MEGABYTE,
    Tree,
    add_file,
    brief,
    leads_out,
    no_file,
    short,
)

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
    archive, members = _members(data, max_files * DIRECTORIES)
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


def _members(data: bytes, most: int) -> tuple[tarfile.TarFile, list[tarfile.TarInfo]]:
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
