"""Shared code of the command lines: a parser with one-line error messages, and number checks."""

import argparse
import math
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from connect4.config import VERSION
from connect4.errors import InputError, one_line


class Parser(argparse.ArgumentParser):
    """Reports errors in one line; shows an epilog of several lines unchanged."""

    def __init__(self, **options: Any) -> None:
        if "\n" in options.get("epilog", ""):
            options["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, **options)
        self.add_argument("--version", action="version", version=f"connect4-course-kit {VERSION}")

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"error: {one_line(message)} (--help shows examples)\n")


def end_on_sigterm() -> None:
    """Let SIGTERM stop a command as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def fail(error: Exception, status: int = 2) -> int:
    """Report an error in one line, after its notes; return the exit status."""
    for note in getattr(error, "__notes__", ()):
        print(note, file=sys.stderr)
    print(f"error: {one_line(error)}", file=sys.stderr)
    return status


def _number_above_0(most: float, expected: str) -> Callable[[str], float]:
    """Return a reader of numbers above 0 and below `most`; `expected` completes its message."""

    def read(text: str) -> float:
        try:  # float() also accepts digits of other scripts, and underscores
            value = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            value = math.nan
        if not 0 < value < most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
        return value

    return read


def _whole_number(least: int, most: int, expected: str) -> Callable[[str], int]:
    """Return a reader of whole numbers; `expected` completes its error message."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not (digits and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
        return int(text)

    return read


time_limit = _number_above_0(1e6, "a time limit; expected seconds above 0 and below 1e6")
span = _number_above_0(math.inf, "a number above 0")
count = _whole_number(1, 999_999, "a whole number above 0 and below 1e6")
port_number = _whole_number(0, 65535, "a port; expected 0 to 65535")
seed_number = _whole_number(0, 10**39 - 1, "a seed; expected a whole number from 0")


def agreed(told: Iterable[str], question: str, without: str) -> bool:
    """Print lines and ask on the terminal.

    Without a terminal, raises `InputError` with the text `without`: what to do instead.
    """
    if not sys.stdin.isatty():
        raise InputError(without)
    for line in told:
        print(line, file=sys.stderr)
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def refuse_gone(add: Callable[..., object], option: str, instead: str) -> None:
    """Refuse an option that is gone, and say what to do instead."""

    def refuse(text: str) -> NoReturn:
        raise argparse.ArgumentTypeError(f"is gone: {instead}")

    none = argparse.SUPPRESS
    add(option, nargs="?", const="", type=refuse, default=none, help=none)


def check_place(option: str, path: Path) -> None:
    """Raise `InputError` before any work is done if no file can be written to `path`."""
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: no folder {str(path.parent)!r}")
    if path.is_dir():
        raise InputError(f"{option} {path}: that is a folder; expected the name of a file")
