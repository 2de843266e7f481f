"""What games of falling tokens share: a position as two masks, drops and pop-outs, its texts."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from connect4.errors import IllegalAction, InputError
from connect4.games.base import Player, State, quoted, whole
from connect4.games.board import Grid, grid_of
from connect4.games.state_files import Rows

MAX_SIDE: Final = 12
"""The most rows and columns of a board of classic Connect 4 or Pop Out."""

ExtendedAction: TypeAlias = tuple[int, bool]
"""`(column, is_popout)`, columns counted from 0."""

ACTION_TEXT: Final = re.compile(r"([0-9]{1,4})([pP]?)")


@dataclass(eq=False, repr=False)
class FallingState(State):
    """A position: the tokens of player 1 and 2 as masks of `grid`, and the mover.

    Constructors take values that are known to be consistent.
    """

    __slots__ = ("grid", "mover", "one", "two")

    grid: Grid
    one: int
    two: int
    mover: Player

    def rows(self) -> Rows:
        """Return the cells as a state file and a record have them."""
        one, two, stride = self.one, self.two, self.grid.rows + 1
        rows: Rows = []
        for low in reversed(range(self.grid.rows)):
            rows.append([])
            for bit in range(low, stride * self.grid.columns, stride):
                rows[-1].append((one >> bit & 1) + 2 * (two >> bit & 1))
        return rows

    def to_text(self) -> str:
        """Return the text of a state file, with the short first line if that is enough."""
        one, two = self.pop_outs_left or (0, 0)
        first = f"{one}" if one == two and self.mover == 1 else f"{one} {two} {self.mover}"
        rows = [" ".join(map(str, row)) for row in self.rows()]
        return "\n".join([first, *rows]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return `board`, and `mover` if player 2 moves."""
        start: dict[str, Any] = {"board": self.rows()}
        if self.mover == 2:
            start["mover"] = 2
        return start


class PoppingState(FallingState):
    """A position in which a turn drops a token, or pops one out of the bottom of a column.

    An action is `(column, is_popout)`, columns counted from 0.
    """

    __slots__ = ()

    @property
    def distances(self) -> Mapping[ExtendedAction, float]:
        return distances_from_middle(self.grid.columns)

    @abstractmethod
    def poppable(self) -> int:
        """Return the cells that the mover may pop out, as a mask."""

    @abstractmethod
    def _why_no_popout(self, column: int) -> str:
        """Return why the mover may not pop out of a column."""

    def legal_actions(self) -> tuple[ExtendedAction, ...]:
        """Return drops by ascending column, then pop-outs by ascending column."""
        grid = self.grid
        return actions_of(grid, (self.one | self.two) & grid.tops, self.poppable())

    def moved(self, action: ExtendedAction) -> tuple[int, int]:
        """Return the tokens of both players after an action; raises `IllegalAction`."""
        column, is_popout = column_and_kind(action, self.grid.columns)
        bottom, cells = self.grid.drops[column]
        one, two = self.one, self.two
        if is_popout:
            if not self.poppable() & bottom:
                raise IllegalAction(self._why_no_popout(column))
            above = cells ^ bottom
            return one & ~cells | (one & above) >> 1, two & ~cells | (two & above) >> 1
        token = ((one | two) + bottom) & cells
        if not token:
            raise IllegalAction(f"column {column} is full")
        return (one | token, two) if self.mover == 1 else (one, two | token)


@lru_cache(1 << 14)
def actions_of(grid: Grid, full: int, poppable: int) -> tuple[ExtendedAction, ...]:
    """Return the drops below the top cells that are not `full`, then the pop-outs."""
    bottoms = enumerate(grid.bottoms)
    return (
        *[(column, False) for column in grid.open_columns(full)],
        *[(column, True) for column, bottom in bottoms if bottom & poppable],
    )


@cache
def distances_from_middle(columns: int) -> dict[ExtendedAction, float]:
    """Return each drop's distance from the middle column; pop-outs have greater distances."""
    return {
        (column, popout): abs(column - (columns - 1) / 2) + popout * columns
        for column in range(columns)
        for popout in (False, True)
    }


def column_and_kind(action: object, columns: int) -> ExtendedAction:
    """Return an action in plain values, which may have been numpy's; raises `IllegalAction`."""
    if type(action) is tuple and len(action) == 2:
        column, is_popout = action
        if type(column) is not int:
            column = whole(column)
        if type(is_popout) is not bool and (
            isinstance(is_popout, np.bool_) or whole(is_popout) in (0, 1)
        ):
            is_popout = bool(is_popout)
        if column is not None and type(is_popout) is bool:
            if 0 <= column < columns:
                return column, is_popout
            raise IllegalAction(f"column {quoted(column)} is outside 0..{columns - 1}")
    raise IllegalAction(
        "an action is a tuple (column, is_popout) of an int and a bool, such as (3, False), "
        f"not {quoted(action)}"
    )


def parse_action(text: str) -> ExtendedAction:
    """Read `3` (drop) or `3P` (pop-out); raises `IllegalAction` for any other text."""
    match = ACTION_TEXT.fullmatch(text.strip())
    if match is None:
        raise IllegalAction(f"{quoted(text.strip())} is not a move: type {ACTION_HELP}")
    return int(match[1]), bool(match[2])


def format_action(action: ExtendedAction) -> str:
    """Return an action as a person types it."""
    column, is_popout = action
    return f"{column}P" if is_popout else f"{column}"


ACTION_HELP: Final = "3 to drop into column 3, 3P to pop out of column 3"


def board_grid(rows: int | None, columns: int | None, game: str) -> Grid:
    """Return the grid of a board, by default 6 by 7.

    Raises `InputError` for a size that the game does not have.
    """
    rows, columns = 6 if rows is None else rows, 7 if columns is None else columns
    if not (1 <= rows <= MAX_SIDE and 1 <= columns <= MAX_SIDE):
        raise InputError(
            f"a board of {rows} rows by {columns} columns: {game} has 1 to {MAX_SIDE} of each"
        )
    return grid_of(rows, columns, 4)


def tokens_on(rows: Rows, game: str) -> tuple[Grid, int, int]:
    """Return the grid of a board and both players' tokens; raises `InputError` for its size."""
    grid = board_grid(len(rows), len(rows[0]), game)
    return grid, *grid.from_rows(rows)
