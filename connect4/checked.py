"""Checks of values in somebody else's JSON: each returns the value or raises `InputError`."""

from __future__ import annotations

import reprlib
from typing import Any

from connect4.errors import InputError


def number(value: Any, name: str, most: float, least: float = 0.0) -> float:
    """Return a number of a range; NaN, infinity and booleans are none."""
    if type(value) not in (int, float) or not least <= value <= most:
        expected = f"expected a number from {least:g} to {most:g}"
        raise InputError(f"{name} is {shown(value)}; {expected}")
    return float(value)


def whole(value: Any, name: str, most: int, least: int = 0) -> int:
    """Return a whole number of a range; booleans are none."""
    if type(value) is not int or not least <= value <= most:
        expected = f"expected a whole number from {least:.6g} to {most:.6g}"
        raise InputError(f"{name} is {shown(value)}; {expected}")
    return value


def flag(value: Any, name: str) -> bool:
    """Return a boolean; 0 and 1 are none."""
    if type(value) is not bool:
        raise InputError(f"{name} is {shown(value)}; expected true or false")
    return value


def text(value: Any, name: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {shown(value)}; expected a text")
    return value


def items(value: Any, name: str, most: int) -> list[Any]:
    """Return a list that has at most `most` items."""
    if not isinstance(value, list):
        raise InputError(f"{name} is {shown(value)}; expected a list")
    if len(value) > most:
        raise InputError(f"{name} has {len(value)} items; expected at most {most}")
    return value


def fields(value: Any, name: str) -> dict[str, Any]:
    """Return an object."""
    if not isinstance(value, dict):
        raise InputError(f"{name} is {shown(value)}; expected an object")
    return value


def is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects are nested more than `most` deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most < 0 or any(is_deeper(each, most - 1) for each in inner)


def shown(value: Any) -> str:
    """Return a short text of a value, however long or deep it is."""
    return reprlib.repr(value)
