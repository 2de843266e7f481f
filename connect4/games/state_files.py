"""Read state files and the `start` of a record: rows of cells, and settings `name=value` below."""

import json
import operator
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias, cast

from connect4.errors import InputError
from connect4.games.base import Player, Winner, quoted

NUMBERS: Final = re.compile(r"(?:[+-]?[0-9]{1,9}(?: |$))+")

FIRST_LINES: Final = (["0"], ["0", "0", "1"], ["0", "0", "2"])
SIDE_BY_SIDE: Final = re.compile("[012._xXoO]{2,}")
FRAME: Final = re.compile("[-+]{2,}")
STATUS: Final = re.compile(r"player ([12]) \([XO]\) (to move|has won)|a draw")
"""How the line begins below a position that the kit has printed."""

CELLS: Final = {".": "0", "_": "0", "x": "1", "o": "2"}
ROWS: Final = "rows of 0, 1 and 2, such as `0 0 1 2`"

Rows: TypeAlias = list[list[int]]
"""The rows of a board, top first: 0 for an empty cell, 1 and 2 for the players."""

Lines: TypeAlias = Sequence[tuple[int, str]]
"""Lines of a file with their numbers; blank ones at both ends are left out."""

Seen: TypeAlias = tuple[int, int, Player]
"""An earlier position: the masks of player 1 and player 2, and the mover."""


class Placed(NamedTuple):
    """A position of falling tokens: the pop-outs of each player, the mover and the rows."""

    popouts: tuple[int, int]
    mover: Player
    rows: Rows


def split(text: str, source: str) -> tuple[Lines, dict[str, str]]:
    """Return the lines of the board, and the settings below it; raises `InputError`."""
    lines = list(enumerate(text.splitlines(), 1))
    end = next((place for place, (_, line) in enumerate(lines) if "=" in line), len(lines))
    settings = {}
    for number, line in lines[end:]:
        name, equals, value = line.partition("=")
        if equals:
            settings[name.strip()] = value.strip()
        elif line.strip():
            raise InputError(
                f"{source}:{number}: {quoted(line)} after the settings; expected name=value"
            )
    filled = [place for place, (_, line) in enumerate(lines[:end]) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else [], settings


def read_rows(lines: Lines, source: str, read_cells: Callable[[str, str], list[int]]) -> Rows:
    """Return the rows in these lines; `read_cells` reads one line, given its text and place.

    Raises `InputError` with `source:line: cause`.
    """
    rows: Rows = []
    for number, line in lines:
        where = f"{source}:{number}"
        if not line.strip():
            raise InputError(f"{where}: a blank line inside the board")
        rows.append(read_cells(line, where))
        if len(rows[-1]) != len(rows[0]):
            text = f"{len(rows[-1])} values in this row, {len(rows[0])} in the first"
            raise InputError(f"{where}: {text}")
    return rows


def read_position(lines: Lines, source: str, game: str, counts: bool = False) -> Placed:
    """Read a position of falling tokens; raises `InputError` with `source:line: cause`.

    Line 1 is `P` (pop-outs of each) or `P1 P2 MOVER`; then one line of 0/1/2 per row. In a `game`
    that counts no pop-outs, the first line is `0` or `0 0 MOVER`, or it is missing. Then the player
    with fewer tokens moves, and the rows may be a picture (see `_unframed`).
    """
    named = None
    if not counts:
        lines, named = _unframed(lines)
    if not lines:
        expected = "the pop-outs, then the board" if counts else ROWS
        raise InputError(f"{source}:1: the file is empty; expected {expected}")
    if not counts and (named is not None or not _has_first_line(lines)):
        rows = _falling(read_rows(lines, source, _numbers), source, lines[0][0])
        ones, twos = (sum(row.count(player) for row in rows) for player in (1, 2))
        return Placed((0, 0), named or (2 if ones > twos else 1), rows)
    popouts, mover = _read_first_line(lines[0], source)
    if not counts and popouts != (0, 0):
        raise InputError(
            f"{source}:1: {game} counts no pop-outs; delete this line "
            "(or write `0 0 2` if player 2 moves)"
        )
    rows = read_rows(lines[1:], source, _numbers)
    return Placed(popouts, mover, _falling(rows, source, lines[0][0] + 1))


def _unframed(lines: Lines) -> tuple[Lines, Winner | None]:
    """Return the rows of a picture as rows of numbers, and the player who moves, if it says so.

    That is 0 if the kit has printed the picture of a game that is over.

    Cells are `.`, `X` and `O`, or numbers, also with a decimal point. They stand side by side or
    between blanks, commas or bars. Frames and numbers of columns are left out.
    """
    rows: list[tuple[int, str]] = []
    mover: Winner | None = None
    if lines and (found := STATUS.match(lines[-1][1].strip())):
        lines, mover = lines[:-1], cast("Winner", int(found[1]) if found[2] == "to move" else 0)
    dense = all(SIDE_BY_SIDE.fullmatch(line.strip()) for _, line in lines)
    for number, line in lines:
        text = line.strip()
        if text.startswith("|"):
            words = [cell.strip() or "." for cell in text[1:].removesuffix("|").split("|")]
        else:
            words = list(text) if dense else text.replace(",", " ").split()
        counted = [list(map(str, range(first, first + len(words)))) for first in (0, 1)]
        is_numbered = words in counted and (len(words) > 3 or mover is not None)
        if not FRAME.fullmatch(text) and not is_numbered:
            cells = (CELLS.get(word.lower()) or re.sub(r"\.0*$", "", word) for word in words)
            rows.append((number, " ".join(cells)))
    return rows, mover


def _has_first_line(lines: Lines) -> bool:
    """Return whether the first line is not a row of the board."""
    first, *below = (line.split() for _, line in lines[:2])
    return bool(below) and (
        first in FIRST_LINES or (len(first) in (1, 3) and len(first) != len(below[0]))
    )


def _read_first_line(line: tuple[int, str], source: str) -> tuple[tuple[int, int], Player]:
    words = line[1].split()
    if len(words) not in (1, 3):
        raise InputError(
            f"{source}:1: {quoted(line[1].strip())}; expected the pop-outs of each player (`6`), "
            "or of both and who moves (`4 3 2`)"
        )
    numbers = _numbers(line[1], f"{source}:{line[0]}")
    one, two, mover = numbers if len(numbers) == 3 else [*numbers * 2, 1]
    for number in (one, two):
        if number < 0:
            raise InputError(f"{source}:1: {number} pop-outs; the number cannot be negative")
    if mover not in (1, 2):
        raise InputError(f"{source}:1: player {mover} to move; expected 1 or 2")
    return (one, two), cast("Player", mover)


def _numbers(line: str, where: str) -> list[int]:
    """Return the numbers of a line; raises `InputError`."""
    words = line.split()
    if not NUMBERS.fullmatch(" ".join(words)):
        wrong = next(word for word in words if not NUMBERS.fullmatch(word))
        raise InputError(f"{where}: {quoted(wrong)} is not a number; expected {ROWS}")
    return list(map(int, words))


def _falling(rows: Rows, source: str, first: int) -> Rows:
    """Return the rows if they are a board of falling tokens; `first` is the line of the first one.

    Raises `InputError` with `source:line: cause`.
    """
    if not rows:
        raise InputError(f"{source}:2: no board; expected {ROWS} below the pop-outs")
    for number, row in enumerate(rows, first):
        for value in row:
            if value not in (0, 1, 2):
                raise InputError(
                    f"{source}:{number}: value {value}; expected 0 (empty), 1 or 2 (the players)"
                )
    for number, (row, below) in enumerate(pairwise(rows), first):
        for column, (cell, under) in enumerate(zip(row, below, strict=True)):
            if cell and not under:
                raise InputError(
                    f"{source}:{number}: the token in column {column} floats above an empty cell"
                )
    return rows


ENCODER: Final = json.JSONEncoder(separators=(" ", ":"), default=operator.index)
"""Writes a row as a line of a state file in brackets, also with cells of numpy arrays."""


def position_from_json(value: Any, game: str, counts: bool = False) -> Placed:
    """Return what `read_position` does, for a record's `start`; raises `InputError`.

    The numbers of the lines are those of a state file.
    """
    try:
        found = value["popouts"] if counts else 0
        one, two = found if isinstance(found, list) else (found, found)
        numbers = [[one, two, value.get("mover", 1)], *value["board"]]
        rows = (ENCODER.encode(list(row))[1:-1] for row in numbers)
        lines = [(number, re.sub(r"\.0\b", "", row)) for number, row in enumerate(rows, 1)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"start: not a position of {game} ({error!r})") from None
    return read_position(lines, "start", game, counts=True)


def settings_of(start: dict[str, Any], usual: dict[str, int], game: str) -> dict[str, str]:
    """Return the settings in the `start` of a record as a state file has them."""
    found = {name: start[name] for name in usual if name in start}
    settings = {name: str(int(v) if isinstance(v, bool) else v) for name, v in found.items()}
    try:
        if "history" in start:
            seen = (":".join(map(str, position)) for position in start["history"])
            settings["history"] = " ".join(seen)
    except TypeError as error:
        raise InputError(f"start: not a position of {game} ({error!r})") from None
    return settings


def read_settings(
    settings: dict[str, str], usual: dict[str, int], source: str
) -> tuple[dict[str, int], tuple[Seen, ...]]:
    """Return the numbers in the settings of a state file, and the earlier positions.

    `usual` has the names of the numbers and their defaults. The setting `history` holds earlier
    positions, each as `mask:mask:mover`. Raises `InputError`.
    """
    values = dict(usual)
    history: list[Seen] = []
    for name, value in settings.items():
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
