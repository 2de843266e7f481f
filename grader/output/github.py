"""Workflow commands of GitHub Actions, which reads them from the log of a job.

A student's text in the log, such as the message of an exception, could therefore hide lines or mask
words. The grader stops commands while it runs, except for its own lines of errors.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from connect4.errors import harmless

_TOKEN: Final = secrets.token_hex(16)
"""Resumes commands; no student's process knows it."""


def in_actions() -> bool:
    """Return whether GitHub Actions reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextlib.contextmanager
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
