"""Fuel: reads and writes budgets, and converts them to seconds of virtual time.

Fuel counts the WebAssembly instructions that an agent's Python executes. The count is the same on
every machine.
"""

from __future__ import annotations

import argparse
import math
import re
from typing import Final

from connect4.errors import InputError
from connect4.games.base import Seconds

FUEL_PER_SECOND: Final = 25_000_000_000
"""The fuel of one virtual second: the work of ordinary Python in one second on a laptop.

It is constant, so that no mark depends on a machine. `benchmarks.fuel` measures that work.
"""

LEAST: Final = 1_000_000
MOST: Final = 10**15

USAGE: Final = "a number with K, M, G or T, such as 5G, or 5e9"

UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def read_fuel(text: str) -> int:
    """Return the fuel that `text` names, such as `5G`, `500M` or `5e9`; raises `InputError`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,2})?)([KMGT]?)", text.strip())
    if found is None:
        raise InputError(f"fuel {text!r}: expected {USAGE}")
    return checked(float(found[1]) * UNITS[found[2]], text)


def fuel_option(text: str) -> int:
    """Read the value of `--fuel`."""
    try:
        return read_fuel(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def checked(fuel: float, text: str) -> int:
    """Return a budget as a whole number; raises `InputError` if it is out of range."""
    if not (math.isfinite(fuel) and LEAST <= fuel <= MOST):
        raise InputError(f"fuel {text}: expected 1M to 1000T")
    return round(fuel)


def fuel_of(seconds: Seconds) -> int:
    """Return the fuel of virtual seconds, the inverse of `seconds_of`."""
    return round(seconds * FUEL_PER_SECOND)


def seconds_of(fuel: int) -> Seconds:
    """Return the virtual seconds of an amount of fuel."""
    return fuel / FUEL_PER_SECOND


def shown(fuel: int) -> str:
    """Return fuel as text, rounded to four digits: `5G`, `1.5G`, `737M`."""
    for unit, size in reversed(UNITS.items()):
        if fuel >= size:
            return f"{fuel / size:.4g}{unit}"
    return str(fuel)
