"""Copy everything that a submission may read into memory, as the root of its file system.

On a disk, folders cache the names that were looked up and not found, and the page cache shows which
parts of a file were read. An agent could leave notes in both for a later game. A `tmpfs` has
neither. All processes of one user share the copy. The last one to end removes it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from compileall import compile_file
from functools import cache
from pathlib import Path
from typing import IO, Final

import numpy as np

from connect4.isolation.kit_files import worker_files
from connect4.isolation.python_files import (
    OF_THE_SYSTEM,
    is_needed,
    library_folders,
    links_to_python,
    shared_libraries,
)
from connect4.isolation.submission import NOT_COPIED


class UnavailableError(Exception):
    """A protection that this machine has could not be set up."""


MOUNT_POINTS: Final = ("proc", "dev", "tmp")

COMPILED: Final = f".{sys.implementation.cache_tag}.pyc"

LIBRARY_FILES: Final = (".so", ".py", ".pyc", ".json", ".txt", ".xml", ".css")

SPARE_BYTES: Final = 64 << 20
"""What has to stay free in memory's folder beside the copy."""


# -- what belongs to it


def _walk(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if is_needed(entry.name):
                    yield from _walk(Path(entry.path))
            elif ".so" in entry.name or (
                entry.name.endswith(LIBRARY_FILES)
                and (not entry.name.endswith(".pyc") or entry.name.endswith(COMPILED))
            ):
                yield Path(entry.path)


@cache
def files() -> tuple[Path, ...]:
    """Return every file that is copied, by the name that it has inside and outside."""
    found = {path for folder in library_folders() for path in _walk(folder)}
    found |= {*shared_libraries(), *map(Path, OF_THE_SYSTEM), Path(sys.prefix, "pyvenv.cfg")}
    for path in worker_files(()) or ():
        found |= set(path.glob("*.py")) | set(path.glob(f"__pycache__/*{COMPILED}"))
        found |= set() if path.is_dir() else {path}
    return tuple(sorted(path for path in found if path.is_file() and os.access(path, os.R_OK)))


def _packages() -> Iterator[Path]:
    """Yield an empty file to write for each installed package that is not copied."""
    numeric = Path(np.__file__).parent
    for folder in {Path(entry) for entry in sys.path if entry.endswith("-packages")}:
        with contextlib.suppress(OSError):
            for entry in folder.iterdir():
                name = entry.name.partition(".")[0]
                if name.isidentifier() and entry != numeric and not name.startswith("__"):
                    yield folder / f"{name}{NOT_COPIED}"


# -- making it


def _memory_folder(size: int) -> Path:
    """Return a folder of this user alone, in memory; raises `UnavailableError`."""
    places = ["/dev/shm", os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()]
    for place in filter(os.path.isdir, places):
        room = os.statvfs(place)
        if not _is_in_memory(place) or room.f_flag & os.ST_NOEXEC:
            continue
        if room.f_bavail * room.f_frsize < size + SPARE_BYTES:
            continue
        folder = Path(place, f"connect4-{os.geteuid()}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir(0o700)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            folder.chmod(0o700)
            return folder
    needed = (size + SPARE_BYTES) >> 20
    raise UnavailableError(
        f"no folder in memory (a tmpfs such as /dev/shm) with {needed} MB free allows programs"
    )


def _is_in_memory(folder: str) -> bool:
    """Return whether a folder is on a `tmpfs`."""
    real, best = os.path.realpath(folder), ("", "")
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4]
        if f"{real}/".startswith(f"{point.rstrip('/')}/") and len(point) >= len(best[0]):
            best = point, after.split()[0]
    return best[1] == "tmpfs"


def _key(paths: Iterable[Path]) -> tuple[str, int]:
    """Return a name for what the files hold, as far as sizes and dates tell, and their size."""
    digest, size = hashlib.sha256(f"{sys.version} {sys.path}".encode()), 0
    for path in paths:
        found = path.stat()
        digest.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
        size += (found.st_size + 4095) & ~4095
    return digest.hexdigest()[:16], size


def _write(root: Path) -> None:
    """Copy everything to an empty folder."""
    made: set[Path] = set()

    def place(path: Path) -> Path:
        target = root / path.relative_to("/")
        if target.parent not in made:
            target.parent.mkdir(0o755, parents=True, exist_ok=True)
            made.add(target.parent)
        return target

    for path in files():
        target = place(path)
        shutil.copyfile(path, target)
        found = path.stat()
        target.chmod(0o755 if found.st_mode & stat.S_IXUSR else 0o644)
        os.utime(target, ns=(found.st_mtime_ns, found.st_mtime_ns))  # as compiled files expect
    for path in worker_files(()) or ():
        for source in (path, *path.glob("*.py")) if path.is_dir() else (path,):
            if source.suffix == ".py":  # no process in there may write what it compiles
                compile_file(place(source), ddir=source.parent, quiet=2)
    for link in links_to_python()[:-1]:
        place(link).symlink_to(os.readlink(link))
    for path in _packages():
        place(path).touch()
    for name in MOUNT_POINTS:
        (root / name).mkdir(exist_ok=True)


def _locked(path: Path, wait: bool) -> IO[bytes] | None:
    """Return the file, open and locked to be shared (or, without waiting, alone); None if not."""
    import fcntl

    while True:
        lock = path.open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_SH if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(lock.fileno())):
                return lock
        except BlockingIOError:
            lock.close()
            return None
        lock.close()  # somebody has removed it meanwhile


def _remove(folder: Path, key: str) -> None:
    """Remove a copy unless somebody uses it."""
    lock = _locked(folder / f"{key}.lock", wait=False)
    if lock is not None:
        with lock:
            for path in (*folder.glob(f"{key}.part-*"), folder / key):
                shutil.rmtree(path, ignore_errors=True)
            (folder / f"{key}.lock").unlink()
        with contextlib.suppress(OSError):  # there may be others in it
            folder.rmdir()


def _fill(folder: Path, key: str) -> None:
    """Make the copy; it gets its name once it is whole."""
    for part in folder.glob(f"{key}.part-*"):  # of a process that was killed
        shutil.rmtree(part, ignore_errors=True)
    part = Path(tempfile.mkdtemp(prefix=f"{key}.part-", dir=folder))
    try:
        part.chmod(0o755)
        _write(part)
        part.rename(folder / key)
    except BaseException:  # no room, or a Ctrl-C
        shutil.rmtree(part, ignore_errors=True)
        raise


@cache
def shared() -> Path:
    """Return the root of the copy, which stays for as long as this process lives.

    Raises `UnavailableError` where there is no room for it.
    """
    import fcntl

    key, size = _key(files())
    while True:
        folder = _memory_folder(size)
        for path in folder.glob("*.lock"):
            if path.stem != key:
                _remove(folder, path.stem)
        try:
            lock = _locked(folder / f"{key}.lock", wait=True)
        except FileNotFoundError:  # somebody has removed the folder meanwhile
            continue
        assert lock is not None
        break
    root = folder / key
    if not root.exists():
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.exists():
            _fill(folder, key)
        fcntl.flock(lock, fcntl.LOCK_SH)
    _held.append((lock, folder, key, os.getpid()))
    return root


_held: list[tuple[IO[bytes], Path, str, int]] = []
"""What `shared` holds: the lock, the folder, the key, and the process that took it."""


@atexit.register
def release() -> None:
    """Let submissions see the files on disk again; the last process removes the copy."""
    shared.cache_clear()
    while _held:
        lock, folder, key, owner = _held.pop()
        if os.getpid() == owner:  # and not a fork of that process
            lock.close()
            with contextlib.suppress(OSError):
                _remove(folder, key)


def use() -> str | None:
    """Let submissions at level `strong` see the copy from now on, in this process.

    Returns why that cannot be; they see the files on disk then.
    """
    try:
        shared()
    except (UnavailableError, OSError) as error:
        return f"agents can leave notes for later games, as no copy of Python in memory: {error}"
    return None


def current() -> Path | None:
    """Return the root of the copy where this process has asked for one with `shared`."""
    return shared() if shared.cache_info().currsize else None
