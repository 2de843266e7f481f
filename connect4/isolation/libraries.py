"""Find the shared libraries that programs and extension modules load (ELF files, Linux)."""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

LINKER_CACHE: Final = "/etc/ld.so.cache"
"""Has the path of every library that `ldconfig` knows, each ended by a zero byte."""

DEFAULT_FOLDERS: Final = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")

LOADED_LATER: Final = ("libgcc_s.so.1",)
"""Libraries that no file names: the C library loads this one when a thread ends."""

PT_LOAD: Final = 1
PT_DYNAMIC: Final = 2
PT_INTERP: Final = 3
DT_NEEDED: Final = 1
DT_STRTAB: Final = 5
DT_RPATH: Final = 15
DT_RUNPATH: Final = 29


class Needs(NamedTuple):
    """What one file loads: names of libraries, folders to look in first, the program loader."""

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    loader: tuple[str, ...] = ()


class Segment(NamedTuple):
    """One program header."""

    kind: int
    offset: int
    address: int
    size: int


def needs(path: Path) -> Needs:
    """Return what a file loads; nothing where it is no 64-bit ELF file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:5] != b"\x7fELF\x02":
                return Needs()
            return _needs(data, "<" if data[5] == 1 else ">", path)
    except (OSError, ValueError, OverflowError, struct.error):  # unreadable, empty, cut off
        return Needs()


def _needs(data: mmap.mmap, order: str, path: Path) -> Needs:
    segments = list(_segments(data, order))
    entries = [
        entry
        for segment in segments
        if segment.kind == PT_DYNAMIC
        for entry in struct.iter_unpack(
            f"{order}qQ", data[segment.offset : segment.offset + segment.size // 16 * 16]
        )
    ]
    table = next((value for tag, value in entries if tag == DT_STRTAB), 0)
    begin = next(
        (
            table - segment.address + segment.offset
            for segment in segments
            if segment.kind == PT_LOAD and 0 <= table - segment.address < segment.size
        ),
        0,
    )

    def texts(*tags: int) -> tuple[str, ...]:
        return tuple(_text(data, begin + value) for tag, value in entries if tag in tags)

    folders = [folder for text in texts(DT_RPATH, DT_RUNPATH) for folder in text.split(":")]
    origin = str(path.resolve().parent)
    return Needs(
        texts(DT_NEEDED),
        tuple(re.sub(r"\$(ORIGIN\b|\{ORIGIN\})", lambda _: origin, folder) for folder in folders),
        tuple(_text(data, segment.offset) for segment in segments if segment.kind == PT_INTERP),
    )


def _segments(data: mmap.mmap, order: str) -> Iterator[Segment]:
    (first,) = struct.unpack_from(f"{order}Q", data, 32)
    size, count = struct.unpack_from(f"{order}HH", data, 54)
    for place in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            f"{order}2I4Q", data, first + place * size
        )
        yield Segment(kind, offset, address, length)


def _text(data: mmap.mmap, begin: int) -> str:
    return os.fsdecode(data[begin : data.find(b"\0", begin)])


@cache
def _cached_by_linker() -> dict[str, str]:
    try:
        data = Path(LINKER_CACHE).read_bytes()
    except OSError:
        return {}
    paths = [os.fsdecode(path) for path in re.findall(rb"/[^\0]+(?=\0)", data)]
    return {os.path.basename(path): path for path in reversed(paths)}  # the first one counts


def loaded_by(files: Iterable[Path]) -> set[Path]:
    """Return every library that these files load, directly or not, without the files themselves.

    A library that is not found is left out.
    """
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found: set[Path] = set()
    waiting: list[tuple[Needs, tuple[str, ...]]] = [(needs(file), ()) for file in files]
    waiting.append((Needs(LOADED_LATER), ()))
    while waiting:
        need, inherited = waiting.pop()
        places: tuple[str, ...] = (*need.folders, *inherited)
        candidates = [_find(name, (*places, *folders)) for name in need.names]
        for path in (*candidates, *map(Path, need.loader)):
            if path is not None and path not in found and path.exists():
                found.add(path)
                waiting.append((needs(path), places))
    return found


def _find(name: str, folders: Iterable[str]) -> Path | None:
    if "/" in name:
        return Path(name)
    cached = _cached_by_linker().get(name)
    paths = [
        *(os.path.join(folder, name) for folder in folders if folder),
        *([cached] if cached else []),
        *(os.path.join(folder, name) for folder in DEFAULT_FOLDERS),
    ]
    return next((Path(path) for path in paths if os.path.exists(path)), None)
