"""What the grader prints and writes; files below `--out` are written whole or not at all.

GitHub Actions reads workflow commands from the log of a job. A student's text in the log, such as
the message of an exception, could therefore hide lines or mask words. So the grader stops these
commands while it runs, except for its own lines of errors.
"""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from connect4 import safe
from connect4.errors import InputError, harmless


def check_out(out: Path) -> None:
    """Make the folder of `--out`; raises `InputError` if it is not writable."""
    trial = out / ".trial"
    write(trial, "")
    trial.unlink()


def write(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write a file whole or not at all, and its folder; raises `InputError` if that fails."""
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with safe.writing(path, mode) as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def write_changed(path: Path, text: str) -> None:
    """Write a file as `write` does, unless it has this text already."""
    if not path.is_file() or path.read_bytes() != text.encode(errors="backslashreplace"):
        write(path, text)


def beginning(path: Path) -> str:
    """Return the first characters of a text file; empty if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8") as file:
        return file.read(300)
    return ""


_TOKEN: Final = secrets.token_hex(16)
"""Resumes commands; no student's process knows it."""


def in_actions() -> bool:
    """Return whether GitHub Actions reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def commands_stopped() -> Iterator[None]:
    """Let no line of the log be a command, if GitHub Actions reads it."""
    if not in_actions():
        yield
        return
    if all(stat.S_ISFIFO(os.fstat(number).st_mode) for number in (1, 2)):
        os.dup2(1, 2)  # the runner reads two pipes in no certain order
    _print(f"::stop-commands::{_TOKEN}")
    try:
        yield
    finally:
        _print(f"::{_TOKEN}::")


def show_error(path: Path | str, line: int, text: str) -> None:
    """Show an error beside a line of a file on GitHub; nothing elsewhere."""
    if in_actions():
        where = _escaped(str(path)).replace(":", "%3A").replace(",", "%2C")
        error = f"::error file={where},line={line}::{_escaped(text)}"
        _print(f"::{_TOKEN}::", error, f"::stop-commands::{_TOKEN}")


def _escaped(text: str) -> str:
    return harmless(text).replace("%", "%25").replace("\n", "%0A")


def _print(*lines: str) -> None:
    """Print lines at once, after everything that was printed before."""
    sys.stderr.flush()
    print(*lines, sep="\n", flush=True)
