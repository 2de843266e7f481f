"""Safe input and output: checks of JSON from elsewhere, and files written whole or not at all.

Each check returns the value or raises `InputError`.
"""

import contextlib
import os
import reprlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from connect4.errors import InputError


def number(value: Any, name: str, most: float, least: float = 0.0) -> float:
    """Return a number of a range; NaN, infinity and booleans are none."""
    fits = type(value) in (int, float) and least <= value <= most
    return float(_fitting(value, name, fits, f"a number from {least:g} to {most:g}"))


def whole(value: Any, name: str, most: int, least: int = 0) -> int:
    """Return a whole number of a range; booleans are none."""
    fits = type(value) is int and least <= value <= most
    expected = f"a whole number from {least:.6g} to {most:.6g}"
    return int(_fitting(value, name, fits, expected))


def flag(value: Any, name: str) -> bool:
    """Return a boolean; 0 and 1 are none."""
    return bool(_fitting(value, name, type(value) is bool, "true or false"))


def text(value: Any, name: str) -> str:
    """Return a text."""
    return str(_fitting(value, name, isinstance(value, str), "a text"))


def items(value: Any, name: str, most: int) -> list[Any]:
    """Return a list that has at most `most` items."""
    found: list[Any] = _fitting(value, name, isinstance(value, list), "a list")
    if len(found) > most:
        raise InputError(f"{name} has {len(found)} items; expected at most {most}")
    return found


def fields(value: Any, name: str) -> dict[str, Any]:
    """Return an object."""
    return dict(_fitting(value, name, isinstance(value, dict), "an object"))


def _fitting(value: Any, name: str, fits: bool, expected: str) -> Any:
    if not fits:
        raise InputError(f"{name} is {shown(value)}; expected {expected}")
    return value


def is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects are nested more than `most` deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most < 0 or any(is_deeper(each, most - 1) for each in inner)


def shown(value: Any) -> str:
    """Return a short text of a value, however long or deep it is."""
    return reprlib.repr(value)


def write_text(path: Path, text: str, what: str = "it") -> None:
    """Write a text as UTF-8 without changing its line ends; raises `InputError` about `what`.

    A lone surrogate, which UTF-8 cannot encode, is written as its escape.
    """
    try:
        with writing(path) as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError as error:
        raise InputError(f"{path}: {what} cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def writing(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` at the end of the block; raises `OSError`.

    A link stays a link; a device or a pipe is written directly. A new file gets `mode`.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb", opener=lambda name, how: os.open(name, how, mode)) as file:
            yield file
        os.replace(temporary, path)
    except BaseException:  # also on Ctrl-C: remove an incomplete file
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
