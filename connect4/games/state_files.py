"""Read state files: rows of 0, 1 and 2 below a line of numbers, or pieces separated by commas."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias, cast

from connect4.errors import InputError
from connect4.games.base import Player, quoted
from connect4.games.grid import Grid, grid_of

NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}")
MAX_SIDE: Final = 12
"""The most rows and columns of a board of classic Connect 4 or Pop Out."""

FIRST_LINES: Final = (["0"], ["0", "0", "1"], ["0", "0", "2"])
GRID_LINE: Final = re.compile("[012]{2,}")


def board_grid(rows: int, columns: int, game: str) -> Grid:
    """Return the grid of a board; raises `InputError` for a size that the game does not have."""
    if not (1 <= rows <= MAX_SIDE and 1 <= columns <= MAX_SIDE):
        raise InputError(
            f"a board of {rows} rows by {columns} columns: {game} has 1 to {MAX_SIDE} of each"
        )
    return grid_of(rows, columns, 4)


def read_position(text: str, source: str) -> tuple[tuple[int, int], Player, list[list[int]]]:
    """Read a state file; return the pop-outs of each player, the mover and the rows, top first.

    Line 1 is `P` (pop-outs of each) or `P1 P2 MOVER`; then one line of 0/1/2 per row. Raises
    `InputError` with `source:line: cause`.
    """
    lines = text.rstrip().splitlines()
    if not lines:
        raise InputError(f"{source}:1: the file is empty; expected the pop-outs, then the board")
    popouts, mover = _read_first_line(lines[0], source)
    if len(lines) == 1:
        raise InputError(f"{source}:2: no board; expected rows of 0, 1 and 2 below the pop-outs")
    return popouts, mover, _read_rows(lines[1:], source, 2)


def read_grid(text: str, source: str, game: str) -> tuple[Player, list[list[int]]]:
    """Read the mover and the rows of a game that counts no pop-outs; raises `InputError`.

    The first line, `0` or `0 0 MOVER`, may be missing. Then the player with fewer tokens moves, and
    the rows may have no spaces.
    """
    lines = text.rstrip().splitlines()
    if not lines:
        raise InputError(f"{source}:1: the file is empty; expected rows of 0, 1 and 2")
    first, below = lines[0].split(), len(lines[1].split()) if len(lines) > 1 else 0
    if below and ((len(first) != below and len(first) in (1, 3)) or first in FIRST_LINES):
        popouts, mover, rows = read_position(text, source)
        if popouts != (0, 0):
            raise InputError(
                f"{source}:1: {game} counts no pop-outs; delete this line "
                "(or write `0 0 2` if player 2 moves)"
            )
        return mover, rows
    if all(GRID_LINE.fullmatch(line.strip()) for line in lines):
        lines = [" ".join(line.strip()) for line in lines]
    rows = _read_rows(lines, source, 1)
    ones, twos = (sum(row.count(player) for row in rows) for player in (1, 2))
    return 2 if ones > twos else 1, rows


def _read_rows(lines: list[str], source: str, first: int) -> list[list[int]]:
    """Return the rows of a board; `first` is the number of their first line."""
    rows = [_read_row(line, f"{source}:{number}") for number, line in enumerate(lines, first)]
    return _checked_rows(rows, source, first)


def _checked_rows(rows: list[list[int]], source: str, first: int) -> list[list[int]]:
    """Return the rows of a board if they are one; raises `InputError` with `source:line: cause`."""
    for number, row in enumerate(rows, first):
        for value in row:
            if value not in (0, 1, 2):
                raise InputError(
                    f"{source}:{number}: value {value}; expected 0 (empty), 1 or 2 (the players)"
                )
    for number, row in enumerate(rows, first):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{source}:{number}: {len(row)} values in this row, {len(rows[0])} in the first"
            )
    for number, (row, below) in enumerate(pairwise(rows), first):
        for column, (cell, under) in enumerate(zip(row, below, strict=True)):
            if cell and not under:
                raise InputError(
                    f"{source}:{number}: the token in column {column} floats above an empty cell"
                )
    return rows


def _read_first_line(line: str, source: str) -> tuple[tuple[int, int], Player]:
    words = line.split()
    if len(words) not in (1, 3):
        raise InputError(
            f"{source}:1: {quoted(line.strip())}; expected the pop-outs of each player (`6`), "
            "or of both and who moves (`4 3 2`)"
        )
    numbers = [_read_number(word, f"{source}:1") for word in words]
    if len(numbers) == 1:
        numbers = [numbers[0], numbers[0], 1]
    return _checked_counts(numbers, source)


def _checked_counts(numbers: list[int], source: str) -> tuple[tuple[int, int], Player]:
    """Return the pop-outs of each player, and the mover; raises `InputError`."""
    one, two, mover = numbers
    for number in (one, two):
        if number < 0:
            raise InputError(f"{source}:1: {number} pop-outs; the number cannot be negative")
    if mover not in (1, 2):
        raise InputError(f"{source}:1: player {mover} to move; expected 1 or 2")
    return (one, two), cast("Player", mover)


def _read_number(word: str, where: str) -> int:
    if not NUMBER.fullmatch(word):
        raise InputError(f"{where}: {quoted(word)} is not a number")
    return int(word)


def _read_row(line: str, where: str) -> list[int]:
    words = line.split()
    if not words:
        raise InputError(f"{where}: a blank line inside the board")
    return [_read_number(word, where) for word in words]


def position_from_json(
    value: Any, game: str, popouts: int | None = None
) -> tuple[tuple[int, int], Player, list[list[int]]]:
    """Return what `read_position` does, for a record's `start`; raises `InputError`.

    `popouts` is given if the record of that game holds none. Lines are those of a state file.
    """
    try:
        found = value["popouts"] if popouts is None else popouts
        rows = [list(row) for row in value["board"]]
        one, two = found if isinstance(found, list) else (found, found)
        numbers = [one, two, value.get("mover", 1), *chain.from_iterable(rows)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"start: not a position of {game} ({error!r})") from None
    for number in numbers:
        if type(number) is not int:
            raise InputError(f"start: {quoted(str(number))} where a whole number is expected")
    if not rows:
        raise InputError("start:2: no board; expected rows of 0, 1 and 2 below the pop-outs")
    if not all(rows):
        raise InputError("start: a row without cells")
    popouts_left, mover = _checked_counts(numbers[:3], "start")
    return popouts_left, mover, _checked_rows(rows, "start", 2)


Seen: TypeAlias = tuple[int, int, Player]
"""An earlier position: the masks of player 1 and player 2, and the mover."""


def setting_lines(start: dict[str, Any], usual: dict[str, int]) -> list[str]:
    """Return what `read_settings` reads: the lines for the settings in the `start` of a record."""
    lines = []
    for name in (name for name in usual if name in start):
        value = start[name]
        lines.append(f"{name}={int(value) if isinstance(value, bool) else value}")
    if "history" in start:
        seen = (":".join(map(str, position)) for position in start["history"])
        lines.append(f"history={' '.join(seen)}")
    return lines


def read_settings(
    settings: dict[str, str], usual: dict[str, int], source: str
) -> tuple[dict[str, int], tuple[Seen, ...]]:
    """Read the `name=value` lines below a board; return the numbers and the earlier positions.

    `usual` has the names of the numbers and their defaults. The setting `history` holds earlier
    positions, each as `mask:mask:mover`. Raises `InputError`.
    """
    values = dict(usual)
    history: list[Seen] = []
    for name, value in ((name.strip(), value.strip()) for name, value in settings.items()):
        if name == "history":
            for word in value.split():
                match = re.fullmatch("([0-9]{1,60}):([0-9]{1,60}):([12])", word)
                if match is None:
                    raise InputError(
                        f"{source}: {quoted(word)} in history; expected number:number:player"
                    )
                history.append((int(match[1]), int(match[2]), cast("Player", int(match[3]))))
        elif name not in usual:
            raise InputError(f"{source}: no setting {quoted(name)}; expected {', '.join(usual)}")
        elif re.fullmatch("[0-9]{1,9}", value) is None:
            raise InputError(f"{source}: {name}={quoted(value)}; expected a whole number")
        else:
            values[name] = int(value)
    return values, tuple(history)


def read_pieces(
    text: str, source: str, symbols: tuple[str, str]
) -> tuple[list[list[int]], dict[str, str]]:
    """Read comma-separated rows of pieces; return the rows, top first, and the settings below them.

    Raises `InputError` with `source:line: cause`.
    """
    rows: list[list[int]] = []
    settings: dict[str, str] = {}
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not numbered or "=" in numbered[0][1]:
        raise InputError(f"{source}:1: no board; expected rows of {', '.join(symbols)} and blanks")
    for number, line in numbered:
        where = f"{source}:{number}"
        name, equals, value = line.partition("=")
        if equals:
            settings[name] = value
        elif settings:
            raise InputError(f"{where}: {quoted(line)} after the settings; expected name=value")
        elif number > numbered[0][0] + len(rows):
            raise InputError(f"{where}: a blank line inside the board")
        else:
            rows.append(_read_cells(line, where, symbols))
            if len(rows[-1]) != len(rows[0]):
                raise InputError(
                    f"{where}: {len(rows[-1])} cells in this row, {len(rows[0])} in the first"
                )
    return rows, settings


def _read_cells(line: str, where: str, symbols: tuple[str, str]) -> list[int]:
    """Read one row of pieces; raises `InputError` whose text begins with the given place."""
    cells = [cell.strip() for cell in line.split(",")]
    for column, cell in enumerate(cells, 1):
        if cell not in ("", *symbols):
            raise InputError(
                f"{where}: {quoted(cell)} in column {column}; "
                f"expected {' or '.join(symbols)} or a blank between commas"
            )
    return [1 + symbols.index(cell) if cell else 0 for cell in cells]
