"""The operating system that an agent sees at level `wasm`: every answer is the same everywhere.

It implements the functions of WASI preview 1, by their names. Clocks read virtual time, random
bytes come from a seed, and files from a tree in memory. There is no network, and all files are
read-only.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from connect4.isolation.limits import MAX_LINE
from connect4.isolation.wasm import ANSWERS
from connect4.isolation.wasm.budget import FUEL_PER_SECOND

if TYPE_CHECKING:
    from connect4.isolation.wasm.images import Tree
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


class ExitedError(Exception):
    """The program ended itself."""


class _Open:
    """An open file or folder."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.path = path
        self.data = data
        """None for a folder."""
        self.place = 0


class System:
    """One program's operating system. `memory` is set once the module has one."""

    memory: Interpreter

    def __init__(self, tree: Tree, printed: Callable[[bytes], None]) -> None:
        self.tree = tree
        self.printed = printed
        self.requests = b""
        """The standard input of the program."""
        self.answers = bytearray()
        """What it has answered, as far as a line may be long."""
        self._open: dict[int, _Open] = {ROOT: _Open("", None)}
        self._slept = 0
        self._seed = b"connect4"
        self._blocks = 0
        self._random = b""

    # -- what the seat does

    def seed(self, seed: int) -> None:
        """Generate random bytes from `seed` from now on."""
        self._seed, self._blocks, self._random = f"connect4:{seed}".encode(), 0, b""

    def now(self) -> int:
        """Return virtual time in nanoseconds: the fuel used, and the time slept."""
        return self.memory.spent() * 10**9 // FUEL_PER_SECOND + self._slept

    def call(self, name: str, *arguments: int) -> int | None:
        """Serve a call; an address outside the memory is an error of the program."""
        self.memory.charge(CALL_FUEL)
        function = getattr(self, f"_{name}", None)
        if function is None:
            return ROFS if name.startswith("path_") else NOSYS
        try:
            answer: int | None = function(*arguments)
        except (IndexError, struct.error):
            return INVAL
        return answer

    # -- helpers

    def _pack(self, place: int, layout: str, *values: int) -> int:
        self.memory.write(place & 0xFFFFFFFF, struct.pack(f"<{layout}", *values))
        return SUCCESS

    def _vectors(self, place: int, count: int) -> Iterator[tuple[int, int]]:
        raw = self.memory.read(place & 0xFFFFFFFF, 8 * (count & 0xFFFF))
        yield from struct.iter_unpack("<II", raw)

    def _sizes(self, texts: tuple[bytes, ...], count: int, size: int) -> int:
        self._pack(count, "I", len(texts))
        return self._pack(size, "I", sum(len(text) + 1 for text in texts))

    def _strings(self, texts: tuple[bytes, ...], places: int, data: int) -> int:
        for number, text in enumerate(texts):
            self._pack(places + 4 * number, "I", data & 0xFFFFFFFF)
            self.memory.write(data & 0xFFFFFFFF, text + b"\0")
            data += len(text) + 1
        return SUCCESS

    def _path(self, folder: int, place: int, size: int) -> str | int:
        """Return a path from the root, or an error number."""
        at = self._open.get(folder)
        if at is None:
            return BADF
        if at.data is not None:
            return NOTDIR
        if size & 0xFFFFFFFF > LONGEST_PATH:  # its parts would take much more memory outside
            return NAMETOOLONG
        text = self.memory.read(place & 0xFFFFFFFF, size & 0xFFFFFFFF).decode("utf-8", "replace")
        path = self.tree.resolved(at.path, text)
        return path if path in self.tree.numbers else NOENT

    def _status(self, path: str, out: int) -> int:
        data = self.tree.files.get(path)
        kind = FOLDER if data is None else FILE
        size = 0 if data is None else len(data)
        number = self.tree.numbers[path]
        return self._pack(
            out, "QQB7xQQQQQ", 1, number, kind, 1, size, BOOT_TIME, BOOT_TIME, BOOT_TIME
        )

    # -- the program, its clocks, its random bytes

    def _environ_sizes_get(self, count: int, size: int) -> int:
        return self._sizes(ENVIRONMENT, count, size)

    def _environ_get(self, places: int, data: int) -> int:
        return self._strings(ENVIRONMENT, places, data)

    def _clock_res_get(self, clock: int, out: int) -> int:
        return self._pack(out, "Q", 1000)

    def _clock_time_get(self, clock: int, precision: int, out: int) -> int:
        now = self.now()
        if clock == CLOCK:
            now += BOOT_TIME
        return self._pack(out, "Q", now)

    def _random_get(self, place: int, size: int) -> int:
        place, size = place & 0xFFFFFFFF, size & 0xFFFFFFFF
        if not self.memory.charge(size):
            return SUCCESS  # the call ends the program
        for begin in range(0, size, PIECE):
            self.memory.write(place + begin, self._draw(min(PIECE, size - begin)))
        return SUCCESS

    def _draw(self, size: int) -> bytes:
        drawn = bytearray(self._random)
        while len(drawn) < size:
            block = self._seed + b":%d" % self._blocks
            drawn += hashlib.sha256(block).digest()
            self._blocks += 1
        self._random = bytes(drawn[size:])
        return bytes(drawn[:size])

    def _sched_yield(self) -> int:
        return SUCCESS

    def _proc_exit(self, status: int) -> None:
        raise ExitedError(f"exit status {status & 0xFF}")

    def _poll_oneoff(self, subscriptions: int, events: int, count: int, out: int) -> int:
        """Answer at once. A wait for a clock advances virtual time and uses no fuel."""
        if not 0 < count <= 64:
            return INVAL
        raw = self.memory.read(subscriptions & 0xFFFFFFFF, 48 * count)
        waits: list[tuple[int, int]] = []
        ready: list[tuple[int, int]] = []
        for user, kind, clock, timeout, flags in struct.iter_unpack("<QB7xIxxxxQ8xHxxxxxx", raw):
            if kind != CLOCK:
                ready.append((user, kind))
                continue
            now = self.now() + (BOOT_TIME if clock == CLOCK else 0)
            waits.append((max(0, timeout - now if flags & ABSOLUTE else timeout), user))
        if not ready:
            shortest = min(waits)[0]
            self._slept += shortest
            ready = [(user, CLOCK) for timeout, user in waits if timeout == shortest]
        for number, (user, kind) in enumerate(ready):
            self._pack(events + 32 * number, "QHB5xQH6x", user, SUCCESS, kind, 0, 0)
        return self._pack(out, "I", len(ready))

    # -- open files

    def _fd_prestat_get(self, number: int, out: int) -> int:
        return self._pack(out, "II", 0, 1) if number == ROOT else BADF

    def _fd_prestat_dir_name(self, number: int, place: int, size: int) -> int:
        if number != ROOT:
            return BADF
        self.memory.write(place & 0xFFFFFFFF, b"/")
        return SUCCESS

    def _kind(self, number: int) -> int | None:
        if number in STREAMS:
            return STREAM
        at = self._open.get(number)
        return None if at is None else FOLDER if at.data is None else FILE

    def _fd_fdstat_get(self, number: int, out: int) -> int:
        kind = self._kind(number)
        if kind is None:
            return BADF
        everything = 0x1FFFFFFF
        return self._pack(out, "BxHxxxxQQ", kind, 0, everything, everything)

    def _fd_filestat_get(self, number: int, out: int) -> int:
        if number in STREAMS:
            return self._pack(out, "QQB7xQQQQQ", 1, 0, STREAM, 1, 0, 0, 0, 0)
        at = self._open.get(number)
        return BADF if at is None else self._status(at.path, out)

    def _fd_close(self, number: int) -> int:
        if number in STREAMS:
            return SUCCESS
        return BADF if self._open.pop(number, None) is None else SUCCESS

    def _take(self, number: int, size: int) -> bytes | int:
        if number == 0:
            data, self.requests = self.requests[:size], self.requests[size:]
            return data
        at = self._open.get(number)
        if at is None:
            return BADF
        if at.data is None:
            return ISDIR
        data = at.data[at.place : at.place + size]
        at.place += len(data)
        return data

    def _fd_read(self, number: int, vectors: int, count: int, out: int) -> int:
        total = 0
        for place, size in self._vectors(vectors, count):
            data = self._take(number, size)
            if isinstance(data, int):
                return data
            self.memory.write(place, data)
            total += len(data)
            if len(data) < size:
                break
        self.memory.charge(total // BYTES_PER_FUEL)
        return self._pack(out, "I", total)

    def _fd_write(self, number: int, vectors: int, count: int, out: int) -> int:
        if number not in (1, 2, ANSWERS):
            return BADF
        total = 0
        for place, size in self._vectors(vectors, count):
            for begin in range(0, size, PIECE):
                data = self.memory.read(place + begin, min(PIECE, size - begin))
                total += len(data)
                if not self.memory.charge(len(data)):
                    return SUCCESS  # the call ends the program
                if number == ANSWERS:  # what is kept takes memory outside the agent's own
                    self.answers += data[: max(0, MAX_LINE + 1 - len(self.answers))]
                else:
                    self.printed(data)
        return self._pack(out, "I", total)

    def _fd_seek(self, number: int, offset: int, whence: int, out: int) -> int:
        at = self._open.get(number)
        if at is None:
            return SPIPE if self._kind(number) else BADF
        if at.data is None:
            return ISDIR
        place = offset + (0, at.place, len(at.data))[whence] if whence in (0, 1, 2) else -1
        if place < 0:
            return INVAL
        at.place = place
        return self._pack(out, "Q", place)

    def _fd_tell(self, number: int, out: int) -> int:
        return self._fd_seek(number, 0, 1, out)

    def _fd_readdir(self, number: int, place: int, size: int, cookie: int, out: int) -> int:
        at = self._open.get(number)
        if at is None or at.data is not None:
            return BADF if at is None else NOTDIR
        size &= 0xFFFFFFFF
        data = b""
        names = [".", "..", *sorted(self.tree.folders[at.path])]
        for index, name in enumerate(names[cookie:], cookie + 1):
            path = self.tree.resolved(at.path, name)
            kind = FOLDER if path in self.tree.folders else FILE
            text = name.encode()
            entry = struct.pack("<QQIB3x", index, self.tree.numbers[path], len(text), kind) + text
            data += entry
            if len(data) >= size:
                break
        data = data[:size]
        self.memory.write(place & 0xFFFFFFFF, data)
        return self._pack(out, "I", len(data))

    # -- paths

    def _path_filestat_get(self, folder: int, flags: int, place: int, size: int, out: int) -> int:
        path = self._path(folder, place, size)
        return path if isinstance(path, int) else self._status(path, out)

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
    ) -> int:
        path = self._path(folder, place, size)
        if isinstance(path, int):
            return ROFS if path == NOENT and how & CREATES else path
        is_folder = path in self.tree.folders
        if how & CREATES or (rights & WRITES and not is_folder):
            return ROFS
        if how & ONLY_FOLDER and not is_folder:
            return NOTDIR
        number = next(free for free in range(ROOT, ROOT + MOST_OPEN + 1) if free not in self._open)
        if number == ROOT + MOST_OPEN:
            return MFILE
        self._open[number] = _Open(path, None if is_folder else self.tree.files[path])
        return self._pack(out, "I", number)
