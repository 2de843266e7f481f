"""One table of a TOML file, read with checks; every error contains file and key."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from connect4.errors import InputError
from connect4.games import nearest

T = TypeVar("T")
Word = TypeVar("Word", bound=str)


class TomlTable:
    """A TOML table that remembers which of its keys were read."""

    def __init__(self, values: object, source: str, where: str) -> None:
        self._source = source
        self._where = where
        self._asked: set[str] = set()
        self._inside: list[TomlTable] = []
        if not isinstance(values, dict):
            raise InputError(f"{source}: {where}: expected a table, got {_shown(values)}")
        self._values = values

    def wrong(self, key: str, what: str) -> InputError:
        """Return the error for one key."""
        dot = "." if self._where else ""
        return InputError(f"{self._source}: {self._where}{dot}{key}: {what}")

    def finish(self, *also: str) -> None:
        """Raise `InputError` for a key that was not read, here or in a table inside."""
        for key in self._values:
            if key not in self._asked and key not in also:
                raise self.wrong(key, f"unknown key{nearest(key, self._asked)}")
        for table in self._inside:
            table.finish()

    def has(self, key: str) -> bool:
        """Return whether an optional key exists."""
        self._asked.add(key)
        return key in self._values

    def _get(self, key: str) -> Any:
        self._asked.add(key)
        if key not in self._values:
            raise self.wrong(key, "is missing")
        return self._values[key]

    def table(self, key: str) -> TomlTable:
        """Return a table inside this one."""
        return self._table(self._get(key), key)

    def _table(self, values: object, place: str) -> TomlTable:
        dot = "." if self._where else ""
        self._inside.append(TomlTable(values, self._source, f"{self._where}{dot}{place}"))
        return self._inside[-1]

    def tables(self, key: str) -> list[TomlTable]:
        """Return an array of tables."""
        items = self._get(key)
        if not isinstance(items, list):
            raise self.wrong(key, f"expected a list of tables, got {_shown(items)}")
        return [self._table(item, f"{key}[{place}]") for place, item in enumerate(items, 1)]

    def text(self, key: str) -> str:
        """Return a nonempty text."""
        return self.text_value(key, self._get(key))

    def text_value(self, key: str, value: object) -> str:
        """Check one text value."""
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, f"expected a text, got {_shown(value)}")
        return value

    def choice(self, key: str, among: tuple[Word, ...]) -> Word:
        """Return one of the words in `among`."""
        return self.choice_value(key, self._get(key), among)

    def choice_value(self, key: str, value: Any, among: tuple[Word, ...]) -> Word:
        """Check one word value."""
        if value not in among:
            raise self.wrong(key, f"{_shown(value)}; expected one of {', '.join(among)}")
        return among[among.index(value)]

    def whole(self, key: str, minimum: int) -> int:
        """Return a whole number."""
        value = self._get(key)
        if type(value) is not int or value < minimum:
            raise self.wrong(key, f"expected a whole number from {minimum}, got {_shown(value)}")
        return value

    def number(self, key: str, minimum: float = -math.inf, above: float = -math.inf) -> float:
        """Return a finite number, at least `minimum` and greater than `above`."""
        return self.number_value(key, self._get(key), minimum, above)

    def number_value(
        self, key: str, value: Any, minimum: float = -math.inf, above: float = -math.inf
    ) -> float:
        """Check one number value."""
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self.wrong(key, f"expected a number, got {_shown(value)}")
        number = float(value)
        if number < minimum:
            raise self.wrong(key, f"expected a number from {minimum:g}, got {number:g}")
        if number <= above:
            raise self.wrong(key, f"expected a number above {above:g}, got {number:g}")
        return number

    def share(self, key: str) -> float:
        """Return a number between 0 and 1, exclusive."""
        value = self.number(key, above=0)
        if value >= 1:
            raise self.wrong(key, f"expected a number below 1, got {value:g}")
        return value

    def list(self, key: str, check: Callable[[object], T]) -> tuple[T, ...]:
        """Return a list whose items have passed `check`."""
        items = self._get(key)
        if not isinstance(items, list):
            raise self.wrong(key, f"expected a list, got {_shown(items)}")
        return tuple(check(item) for item in items)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
