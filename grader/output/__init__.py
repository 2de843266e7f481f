"""What the grader prints and writes; files below `--out` are written whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from connect4 import safe
from connect4.errors import InputError


def make_folder(folder: Path) -> None:
    """Make a folder and its parents; raises `InputError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None


def check_out(out: Path) -> None:
    """Make the folder of `--out`; raises `InputError` if it is not writable."""
    trial = out / ".trial"
    write(trial, "")
    trial.unlink()


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, and its folder; raises `InputError` if that fails."""
    make_folder(path.parent)
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        with safe.writing(path) as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def beginning(path: Path) -> str:
    """Return the first characters of a text file; empty if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8") as file:
        return file.read(300)
    return ""
