"""A results file as an SQLite database: opening, locking, transactions, named values.

It survives a kill at any moment.
"""

import contextlib
import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from connect4.errors import InputError, printable

FORMAT: Final = "connect4-results/3"


def is_busy(path: Path) -> bool:
    """Return whether a process writes to a results file."""
    if not os.path.exists(f"{path}.lock"):
        return False
    try:
        os.close(_take_lock(path))
    except InputError:
        return True
    return False


class Database:
    """An open file of named values; a context manager. Only one process at a time may write to it.

    Raises `InputError` if the file is found to be damaged while reading; errors from SQLite are
    converted at the end of the block.
    """

    schema: str
    """Creates the tables, unless they are there."""

    def __init__(self, path: Path, writing: bool) -> None:
        """Open the file, or create it if `writing`; raises `InputError` if that is impossible."""
        self.path = path
        self._lock: int | None = None
        if not writing and not path.is_file():
            raise InputError(f"{path}: no results file there")
        try:
            if writing:
                self._lock = _take_lock(path)
                if not path.exists():  # the seed of a class will be in it
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._database = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._file = _identity(path)
            self._prepare(writing)
        except BaseException as error:  # Ctrl-C too: the lock on the file is given back
            self._release()
            if isinstance(error, sqlite3.Error):
                raise _not_opened(path, writing, error) from None
            raise

    def _prepare(self, writing: bool) -> None:
        """Create the tables of a new file; reject a file of another kind without changing it."""
        new = writing and not self._database.execute("SELECT 1 FROM sqlite_master").fetchone()
        found = None if new else self.meta("format")
        if found not in (None, FORMAT):  # None: a new file, or one whose making was stopped
            raise InputError(
                f"{self.path}: results of another version of the kit; `report` of that version "
                "shows them, --results names a new file to play to"
            )
        if writing:
            self._database.execute("PRAGMA synchronous = EXTRA")
            self._database.executescript(self.schema)
            self.set_meta({"format": FORMAT})

    @property
    def writing(self) -> bool:
        """Return whether the file is open for writing, and locked."""
        return self._lock is not None

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._database.close()
        self._release()
        if isinstance(error, sqlite3.DatabaseError) and not _is_ours(error):
            raise _unreadable(self.path, error) from None

    def _first(self, query: str, *values: object) -> Any:
        """Return the first value of the first row, None if there is no row."""
        row = self._database.execute(query, values).fetchone()
        return None if row is None else row[0]

    def _pairs(self, query: str, *values: object) -> dict[str, Any]:
        """Return the second column of each row by its first."""
        return dict(self._database.execute(query, values).fetchall())

    def meta(self, name: str) -> str | None:
        """Return a named value, None if there is none."""
        held: str | None = self._first("SELECT value FROM meta WHERE name = ?", name)
        return held

    def meta_json(self, name: str) -> Any:
        """Return a named JSON value, None if there is none."""
        return self._json(self.meta(name) or "null")

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise _unreadable(self.path, error) from None

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set named values in one transaction."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", *values.items())

    def _write(self, statement: str, *rows: Sequence[object]) -> None:
        """Execute a statement with each of the rows, in one transaction."""
        with self.transaction() as database:
            database.executemany(statement, rows)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a block from `BEGIN IMMEDIATE` to `COMMIT`, or to `ROLLBACK` if it raises.

        Raises `InputError` if the file cannot be written, as on a full disk, or if it is no longer
        in its place.
        """
        if _identity(self.path) != self._file:
            raise InputError(
                f"{self.path}: moved or replaced during the run: nothing more is written; put the "
                "file back, and the same command goes on"
            )
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:  # Ctrl-C too: half of the block's changes are none
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if _is_ours(error):
                raise
            raise InputError(
                f"{self.path}: cannot be written: {error}; what is in it is kept, and the same "
                "command goes on"
            ) from None


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one in its place, None if there is none."""
    with contextlib.suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_ours(error: Exception) -> bool:
    """Return whether the grader is at fault; without a table, the file's making was stopped."""
    misused = isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError)
    in_query = _code(error) == sqlite3.SQLITE_ERROR and "no such table" not in str(error)
    return misused or in_query


def _unreadable(path: Path, error: Exception) -> InputError:
    if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError(
            f"{path}: another program has locked it, such as a browser of databases or a backup; "
            "let it end, and give the same command again"
        )
    return InputError(
        f"{path}: damaged or unreadable: {printable(str(error))[:80]}; go back to a copy of it, or "
        "play the games again with --results and the name of a new file"
    )


def _not_opened(path: Path, writing: bool, error: sqlite3.Error) -> InputError:
    code = _code(error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _unreadable(path, error)
    unwritable = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY)
    if writing and code in unwritable:
        return InputError(f"{path}: cannot be written: {error}")
    if code == sqlite3.SQLITE_CANTOPEN and not os.access(path, os.R_OK):
        return InputError(
            f"{path}: cannot be read: permission denied; it holds a secret seed, and only who made "
            "it may read it"
        )
    return InputError(f"{path}: no results file of the grader ({error})")


def _take_lock(path: Path) -> int:
    """Lock the results file for this process; the system releases the lock at its end."""
    try:
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    if sys.platform != "win32" and os.fstat(handle).st_mode & 0o077:  # who opens it can lock it
        with contextlib.suppress(OSError):  # a drive without modes
            os.fchmod(handle, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        why = "another grader is at work on these results; let it end"
        if not isinstance(error, BlockingIOError | PermissionError):
            why = (
                f"cannot be locked: {error.strerror}; on a network drive without locks, name a "
                "file on a local disk with --results"
            )
        raise InputError(f"{path}: {why}") from None
    return handle
