"""What games of falling tokens share: a position as two masks, drops and pop-outs, its texts."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from connect4.errors import IllegalAction, InputError
from connect4.games import state_files
from connect4.games.base import Player, State, quoted, whole
from connect4.games.board import Grid, grid_of
from connect4.games.state_files import Seen

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

    def to_text(self) -> str:
        """Return the text of a state file, with the short first line if that is enough."""
        one, two = self.pop_outs_left or (0, 0)
        first = f"{one}" if one == two and self.mover == 1 else f"{one} {two} {self.mover}"
        rows = [" ".join(map(str, row)) for row in self.board().tolist()]
        settings = state_files.settings_of(self.to_json(), SETTINGS, self.game.title)
        return "\n".join([first, *rows, *map("=".join, settings.items())]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return `board`, and `mover` and `line` if they are not the default."""
        start: dict[str, Any] = {"board": self.board().tolist()}
        if self.mover == 2:
            start["mover"] = 2
        if self.grid.line != 4:
            start["line"] = self.grid.line
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


SETTINGS: Final = {"turns": 0, "line": 4}
"""The settings that a state file may have after the board, with their defaults."""


AnyState = TypeVar("AnyState", bound=State)


Placing: TypeAlias = tuple[Grid, int, int, Player, int, tuple[Seen, ...]]
"""A position as it was read: grid, masks of tokens, mover, plies so far, earlier positions."""


def read_moves(text: str, source: str, empty: AnyState) -> AnyState | None:
    """Return the position after the moves that a file consists of; None for another file.

    Raises `InputError` with `source:line: cause`.
    """
    moves = text.strip()
    if re.fullmatch("[1-9]{2,}", moves) is None:
        return None
    if set(moves) <= {"1", "2"}:
        question = f"one row of a board, or moves? For moves write --moves {moves}"
        raise InputError(f"{source}:1: {question}")
    return after_moves(empty, moves, f"{source}:1")


def read_placing(text: str, source: str, title: str) -> Placing:
    """Read the board of a state file; raises `InputError` with `source:line: cause`."""
    lines, settings = state_files.split(text, source)
    return _placing(state_files.read_position(lines, source, title), settings, source, title)


def placing_from_json(value: dict[str, Any], title: str) -> Placing:
    """Read the `start` of a record; raises `InputError`."""
    placed = state_files.position_from_json(value, title)
    return _placing(placed, state_files.settings_of(value, SETTINGS, title), "start", title)


def _placing(
    placed: state_files.Placed, settings: dict[str, str], source: str, title: str
) -> Placing:
    values, history = state_files.read_settings(settings, SETTINGS, source)
    try:
        grid = board_grid(len(placed.rows), len(placed.rows[0]), title, values["line"])
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    return grid, *grid.from_rows(placed.rows), placed.mover, values["turns"], history


def after_moves(state: AnyState, moves: str, source: str) -> AnyState:
    """Return the position after drops into columns; raises `InputError`.

    A column is a number from 1, or a letter from `a` that the number of the token's row may follow,
    from 1 at the bottom: `4453`, `4,4,5,3` and `d1 d2 e1 c1` are the same moves.
    """
    words = re.findall(r"[a-z][0-9]*|[0-9]+|[^,\s]", moves.lower())
    words = list(words[0]) if len(words) == 1 and words[0].isdecimal() else words
    last = state.grid.columns
    for number, word in enumerate(words, 1):
        column = int(word[:3]) - 1 if word.isdecimal() else "abcdefghijkl".find(word[0])
        if not 0 <= column < last:
            raise InputError(
                f"{source}: {quoted(word)} is no column; expected 1 to {last}, as in 4445, "
                f"`4 4 {last}` or `d1 d2`"
            )
        assert state.game.file_action is not None
        action = state.game.file_action((column, False))
        row = ((state.one | state.two) & state.grid.column_cells[column]).bit_count() + 1
        if action not in state.legal_actions():
            why = "the game is over" if state.is_over() else f"column {word} is full"
            raise InputError(f"{source}: move {number}, {word}: {why}")
        if word[0].isalpha() and word[1:] not in ("", str(row)):
            raise InputError(f"{source}: move {number}, {word}: the token falls to {word[0]}{row}")
        state = state.apply(action)
    return state


def board_grid(rows: int | None, columns: int | None, game: str, line: int = 4) -> Grid:
    """Return the grid of a board, by default 6 by 7.

    Raises `InputError` for a size or a line that the game does not have.
    """
    if line not in (3, 4):
        raise InputError(f"a line of {line}: expected 3 or 4")
    rows, columns = 6 if rows is None else rows, 7 if columns is None else columns
    if not (1 <= rows <= MAX_SIDE and 1 <= columns <= MAX_SIDE):
        raise InputError(
            f"a board of {rows} rows by {columns} columns: {game} has 1 to {MAX_SIDE} of each"
        )
    return grid_of(rows, columns, line)
