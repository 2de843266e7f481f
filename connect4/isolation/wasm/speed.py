"""How fast this machine runs agents by fuel: measured once, used only to estimate durations."""

from __future__ import annotations

import json
import statistics
import time
from contextlib import closing, suppress
from typing import Final

from connect4.config import ALLOWED_MODULES
from connect4.isolation.wasm import images, package
from connect4.isolation.wasm.interpreter import End

USUAL: Final = 4_000_000_000
"""The fuel of a wall-clock second on a typical machine, used until one is measured."""

FILE: Final = "speed.json"

ROUNDS: Final = 5

LOADS: Final = {
    "loops and integers": "s = 0\nfor i in range(150_000): s += i * i % 7",
    "dictionaries and tuples": (
        "d = {}\nfor i in range(40_000): d[i % 997, i % 7] = d.get((i % 997, i % 7), 0) + 1"
    ),
    "small numpy arrays": (
        "import numpy as np\na = np.zeros((8, 10), dtype=int)\n"
        "for i in range(3_000): (a == i).sum()"
    ),
    "calls and lists": ("def f(n):\n    return [n] if n < 2 else f(n - 1) + f(n - 2)\nf(18)"),
}
"""The measured loads: each takes a tenth of a second or less."""


def measure() -> tuple[dict[str, list[float]], float]:
    """Return the fuel per wall-clock second of each load, in each round, and the median of all.

    The median is kept for `fuel_a_second`.
    """
    rounds: dict[str, list[float]] = {name: [] for name in LOADS}
    for _ in range(ROUNDS):
        interpreter, _ = images.copy(ALLOWED_MODULES, 1 << 30, lambda data: None)
        with closing(interpreter):
            for name, text in LOADS.items():
                began = time.monotonic()
                ended = interpreter.run(f"exec({text!r}, {{}})", None)
                assert ended.end is End.RETURNED, ended
                rounds[name].append(ended.fuel / (time.monotonic() - began))
    median = statistics.median(value for values in rounds.values() for value in values)
    package.write_cached(FILE, json.dumps({"fuel_a_second": round(median)}).encode())
    return rounds, median


def fuel_a_second() -> float:
    """Return the fuel a second that `measure` found on this machine, or a typical value."""
    with suppress(ValueError, TypeError, KeyError):
        return float(json.loads(package.read_cached(FILE) or b"")["fuel_a_second"])
    return USUAL
