"""The progress of a run: a bar on a terminal if tqdm is installed, else a line at intervals."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Final, Self

EVERY: Final = 30.0
"""Seconds between two plain lines."""


class Progress:
    """Counts games; a context manager that writes to standard error only."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = self._told = time.monotonic()
        self._bar = _bar(total) if sys.stderr.isatty() else None

    def step(self, note: str = "") -> None:
        """Count one more game."""
        self._done += 1
        if self._bar is not None:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update()
            return
        now = time.monotonic()
        if now - self._told >= EVERY or self._done == self._total:
            self._told = now
            left = (now - self._began) / self._done * (self._total - self._done)
            line = f"{self._done} of {self._total} games, {duration(left)} left {note}"
            print(line.rstrip(), file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Print a text to standard output without breaking the bar."""
        if self._bar is None:
            print(text, flush=True)
        else:
            self._bar.write(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar(total: int) -> Any:
    """Return a tqdm bar, None if tqdm is not installed."""
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=" games", smoothing=0.05, dynamic_ncols=True)


def duration(seconds: float) -> str:
    """Return a time span in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
