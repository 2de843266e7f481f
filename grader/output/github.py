"""Workflow commands of GitHub Actions, which reads them from the log of a job.

A student's text in the log, such as the message of an exception, could therefore hide lines or mask
words. The grader stops commands while it runs, except for its own annotations.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import Final

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
    _join_streams()
    _print([f"::stop-commands::{_TOKEN}"])
    try:
        yield
    finally:
        _print([f"::{_TOKEN}::"])


def annotate(lines: Iterable[str]) -> None:
    """Print annotations, the grader's only commands; nothing outside GitHub Actions."""
    if in_actions() and (lines := list(lines)):
        _print([f"::{_TOKEN}::", *lines, f"::stop-commands::{_TOKEN}"])


def _join_streams() -> None:
    """Write errors to the pipe of the output: the runner reads two pipes in no certain order."""
    if all(stat.S_ISFIFO(os.fstat(number).st_mode) for number in (1, 2)):
        os.dup2(1, 2)


def _print(lines: Iterable[str]) -> None:
    """Print lines at once, after everything that was printed before."""
    sys.stderr.flush()
    print(*lines, sep="\n", flush=True)
