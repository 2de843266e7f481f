"""The operating system that an agent sees at level `wasm`: every answer is the same everywhere.

It implements the functions of WASI preview 1, by their names. Clocks read virtual time, random
bytes come from a seed, and files from a tree in memory. There is no network, and all files are
read-only.
"""

import posixpath
import random
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from connect4.isolation.protocol import ANSWERS, MAX_LINE
from connect4.isolation.wasm.level import FUEL_PER_SECOND

if TYPE_CHECKING:
    from connect4.isolation.wasm.interpreter import Interpreter

SUCCESS: Final = 0
BADF: Final = 8
INVAL: Final = 28
ISDIR: Final = 31
MFILE: Final = 33
NAMETOOLONG: Final = 37
NOENT: Final = 44
NOSYS: Final = 52
NOTDIR: Final = 54
ROFS: Final = 69
SPIPE: Final = 70

FOLDER: Final = 3
FILE: Final = 4
STREAM: Final = 2

ROOT: Final = 3
"""The descriptor of the root folder, which is open from the beginning."""

MOST_OPEN: Final = 64

LONGEST_PATH: Final = 4096
"""The bytes of a path; Linux takes as many."""

CALL_FUEL: Final = 20_000
"""The fuel of each call to this system, about its real cost: it runs outside of the module."""

BYTES_PER_FUEL: Final = 4

PIECE: Final = 1 << 16
"""The bytes that a call copies at once: the copies cost memory outside of the agent's own."""

BOOT_TIME: Final = 1_600_000_000 * 10**9
"""The time on the clock when an agent starts, in nanoseconds since 1970."""

STREAMS: Final = (0, 1, 2, ANSWERS)

ENVIRONMENT: Final = (
    *(b"HOME=/", b"LC_ALL=C.UTF-8", b"PYTHONDONTWRITEBYTECODE=1", b"PYTHONHASHSEED=0"),
    *(b"PYTHONIOENCODING=utf-8:backslashreplace", b"PYTHONTZPATH=", b"PYTHONUTF8=1"),
    *(b"TMPDIR=/tmp", b"TZ=UTC"),
)

CREATES: Final = 1 | 8
"""Bits of `path_open`: create the file, or truncate it."""
ONLY_FOLDER: Final = 2
WRITES: Final = 1 << 6
"""The right to write, among the rights that `path_open` requests."""

CLOCK: Final = 0
ABSOLUTE: Final = 1

STATUS: Final = "QQB7xQQQQQ"
"""The layout of what is told about a file."""


class ExitedError(Exception):
    """The program ended itself."""


class RefusedError(Exception):
    """A call fails with one of the error numbers above, which is the only argument."""


@dataclass(slots=True)
class _Open:
    """An open file or folder, and the place in it that is read next."""

    path: str
    place: int = 0


class Tree:
    """Files by their paths, without a leading slash; folders follow from them."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.folders: dict[str, set[str]] = {"": set()}
        """The names in each folder."""
        for path in self.files:
            below = path
            while below:
                folder, _, name = below.rpartition("/")
                self.folders.setdefault(folder, set()).add(name)
                below = folder
        names = sorted({*self.files, *self.folders})
        self.numbers = {path: number for number, path in enumerate(names, 1)}

    @staticmethod
    def resolved(folder: str, path: str) -> str:
        """Return the path relative to the root, above which there is nothing."""
        return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


class System:
    """One program's operating system. `memory` is set once the module has one."""

    memory: "Interpreter"

    def __init__(self, tree: Tree, printed: Callable[[bytes], None], seed: int = 0) -> None:
        self.tree = tree
        self.printed = printed
        self.requests = b""
        """The standard input of the program."""
        self.answers = bytearray()
        """What it has answered, as far as a line may be long."""
        self._open = {ROOT: _Open("")}
        self._slept = 0
        self._chance = random.Random(f"connect4:{seed}")

    def call(self, name: str, *arguments: int) -> int:
        """Serve a call; an address outside the memory is an error of the program."""
        self.memory.charge(CALL_FUEL)
        function = getattr(self, f"_{name}", None)
        if function is None:
            return ROFS if name.startswith("path_") else NOSYS
        try:
            function(*arguments)
        except RefusedError as error:
            number: int = error.args[0]
            return number
        except (IndexError, struct.error):
            return INVAL
        return SUCCESS

    # -- helpers

    def _pack(self, place: int, layout: str, *values: int) -> None:
        self.memory.write(place, struct.pack(f"<{layout}", *values))

    def _vectors(self, place: int, count: int) -> Iterator[tuple[int, int]]:
        yield from struct.iter_unpack("<II", self.memory.read(place, 8 * (count & 0xFFFF)))

    def _at(self, number: int) -> _Open:
        if number not in self._open:
            raise RefusedError(BADF)
        return self._open[number]

    def _data(self, at: _Open) -> bytes:
        if at.path not in self.tree.files:
            raise RefusedError(ISDIR)
        return self.tree.files[at.path]

    def _folder(self, number: int) -> str:
        path = self._at(number).path
        if path not in self.tree.folders:
            raise RefusedError(NOTDIR)
        return path

    def _path(self, folder: int, place: int, size: int) -> str:
        """Return a path from the root that exists."""
        above = self._folder(folder)
        if size & 0xFFFFFFFF > LONGEST_PATH:  # its parts would take much more memory outside
            raise RefusedError(NAMETOOLONG)
        text = self.memory.read(place, size).decode("utf-8", "replace")
        path = self.tree.resolved(above, text)
        if path not in self.tree.numbers:
            raise RefusedError(NOENT)
        return path

    def _kind(self, path: str) -> int:
        return FOLDER if path in self.tree.folders else FILE

    def _status(self, path: str, out: int) -> None:
        number, size = self.tree.numbers[path], len(self.tree.files.get(path, b""))
        self._pack(out, STATUS, 1, number, self._kind(path), 1, size, *[BOOT_TIME] * 3)

    def _now(self, clock: int) -> int:
        """Return virtual time in nanoseconds: the fuel used, and the time slept."""
        passed = self.memory.spent() * 10**9 // FUEL_PER_SECOND + self._slept
        return passed + (BOOT_TIME if clock == CLOCK else 0)

    # -- the program, its clocks, its random bytes

    def _environ_sizes_get(self, count: int, size: int) -> None:
        self._pack(count, "I", len(ENVIRONMENT))
        self._pack(size, "I", sum(len(text) + 1 for text in ENVIRONMENT))

    def _environ_get(self, places: int, data: int) -> None:
        for number, text in enumerate(ENVIRONMENT):
            self._pack(places + 4 * number, "I", data)
            self.memory.write(data, text + b"\0")
            data += len(text) + 1

    def _clock_res_get(self, clock: int, out: int) -> None:
        self._pack(out, "Q", 1000)

    def _clock_time_get(self, clock: int, precision: int, out: int) -> None:
        self._pack(out, "Q", self._now(clock))

    def _random_get(self, place: int, size: int) -> None:
        size &= 0xFFFFFFFF
        if self.memory.charge(size):  # otherwise the call ends the program
            for begin in range(0, size, PIECE):
                self.memory.write(place + begin, self._chance.randbytes(min(PIECE, size - begin)))

    def _proc_exit(self, status: int) -> None:
        raise ExitedError(f"exit status {status & 0xFF}")

    def _poll_oneoff(self, subscriptions: int, events: int, count: int, out: int) -> None:
        """Sleep: virtual time advances, no fuel is used. There is nothing else to wait for."""
        raw = self.memory.read(subscriptions, 48)
        user, kind, clock, timeout, flags = struct.unpack("<QB7xIxxxxQ8xHxxxxxx", raw)
        if count != 1 or kind != CLOCK:
            raise RefusedError(NOSYS)
        self._slept += max(0, timeout - self._now(clock)) if flags & ABSOLUTE else timeout
        self._pack(events, "QHB21x", user, SUCCESS, CLOCK)
        self._pack(out, "I", 1)

    # -- open files

    def _fd_prestat_get(self, number: int, out: int) -> None:
        if number != ROOT:
            raise RefusedError(BADF)
        self._pack(out, "II", 0, 1)

    def _fd_prestat_dir_name(self, number: int, place: int, size: int) -> None:
        self.memory.write(place, b"/")

    def _fd_fdstat_get(self, number: int, out: int) -> None:
        kind = STREAM if number in STREAMS else self._kind(self._at(number).path)
        everything = 0x1FFFFFFF
        self._pack(out, "BxHxxxxQQ", kind, 0, everything, everything)

    def _fd_filestat_get(self, number: int, out: int) -> None:
        if number in STREAMS:
            self._pack(out, STATUS, 1, 0, STREAM, 1, 0, 0, 0, 0)
        else:
            self._status(self._at(number).path, out)

    def _fd_close(self, number: int) -> None:
        if number not in STREAMS:
            self._at(number)
            del self._open[number]

    def _take(self, number: int, size: int) -> bytes:
        if number == 0:
            data, self.requests = self.requests[:size], self.requests[size:]
            return data
        at = self._at(number)
        data = self._data(at)[at.place : at.place + size]
        at.place += len(data)
        return data

    def _fd_read(self, number: int, vectors: int, count: int, out: int) -> None:
        total = 0
        for place, size in self._vectors(vectors, count):
            data = self._take(number, size)
            self.memory.write(place, data)
            total += len(data)
            if len(data) < size:
                break
        self.memory.charge(total // BYTES_PER_FUEL)
        self._pack(out, "I", total)

    def _fd_write(self, number: int, vectors: int, count: int, out: int) -> None:
        if number not in (1, 2, ANSWERS):
            raise RefusedError(BADF)
        total = 0
        for place, size in self._vectors(vectors, count):
            for begin in range(0, size, PIECE):
                data = self.memory.read(place + begin, min(PIECE, size - begin))
                total += len(data)
                if not self.memory.charge(len(data)):
                    return  # the call ends the program
                if number == ANSWERS:  # what is kept takes memory outside the agent's own
                    self.answers += data[: max(0, MAX_LINE + 1 - len(self.answers))]
                else:
                    self.printed(data)
        self._pack(out, "I", total)

    def _fd_seek(self, number: int, offset: int, whence: int, out: int) -> None:
        if number in STREAMS:
            raise RefusedError(SPIPE)
        at = self._at(number)
        data = self._data(at)
        place = offset + (0, at.place, len(data))[whence & 0xFF]
        if place < 0:
            raise RefusedError(INVAL)
        at.place = place
        self._pack(out, "Q", place)

    def _fd_tell(self, number: int, out: int) -> None:
        self._fd_seek(number, 0, 1, out)

    def _fd_readdir(self, number: int, place: int, size: int, cookie: int, out: int) -> None:
        folder = self._folder(number)
        size &= 0xFFFFFFFF
        data = b""
        names = [".", "..", *sorted(self.tree.folders[folder])]
        for index, name in enumerate(names[cookie:], cookie + 1):
            path = self.tree.resolved(folder, name)
            text = name.encode()
            entry = index, self.tree.numbers[path], len(text), self._kind(path)
            data += struct.pack("<QQIB3x", *entry) + text
            if len(data) >= size:
                break
        self.memory.write(place, data[:size])
        self._pack(out, "I", len(data[:size]))

    # -- paths

    def _path_filestat_get(self, folder: int, flags: int, place: int, size: int, out: int) -> None:
        self._status(self._path(folder, place, size), out)

    def _path_open(
        self,
        folder: int,
        follow: int,
        place: int,
        size: int,
        how: int,
        rights: int,
        inherited: int,
        flags: int,
        out: int,
    ) -> None:
        if how & CREATES:
            raise RefusedError(ROFS)
        path = self._path(folder, place, size)
        is_folder = path in self.tree.folders
        if rights & WRITES and not is_folder:
            raise RefusedError(ROFS)
        if how & ONLY_FOLDER and not is_folder:
            raise RefusedError(NOTDIR)
        number = next(free for free in range(ROOT, ROOT + MOST_OPEN + 1) if free not in self._open)
        if number == ROOT + MOST_OPEN:
            raise RefusedError(MFILE)
        self._open[number] = _Open(path)
        self._pack(out, "I", number)
