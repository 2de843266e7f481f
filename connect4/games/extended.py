"""ExtendedConnect4: drops and pop-outs; four in a row does not end the game, and points decide."""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Mapping
from functools import cache, cached_property
from itertools import compress
from operator import not_
from random import Random
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from connect4.config import win_pts
from connect4.errors import IllegalAction, InputError
from connect4.games.base import (
    Ending,
    FaultPolicy,
    Game,
    Player,
    State,
    opponent,
    quoted,
)
from connect4.games.grid import Grid, grid_of
from connect4.games.runs import Run, runs_on
from connect4.games.state_files import position_from_json, read_position
from connect4.utils import Integer, get_pts, get_row_score

ExtendedAction: TypeAlias = tuple[int, bool]
"""`(column, is_popout)`, columns counted from 0."""

Board: TypeAlias = npt.NDArray[np.int64]

ACTION_TEXT: Final = re.compile(r"([0-9]{1,4})([pP]?)")


class ExtendedState(State):
    """A position: the board, the pop-outs left and the player to move.

    `popouts` and `maximum` are `(player 1, player 2)`; `maximum` holds the counts at the start of
    the game.
    """

    # cached_property needs a __dict__, so this class declares no __slots__.

    def __init__(
        self,
        board: Board,
        popouts: tuple[int, int],
        mover: Player = 1,
        maximum: tuple[int, int] | None = None,
    ) -> None:
        """Store `board`, int64 of shape `(rows, columns)`; the caller must not change it."""
        self._board = board
        self.popouts = popouts
        self.mover = mover
        self.maximum = popouts if maximum is None else maximum

    @property
    def shape(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self._board.shape)

    @cached_property
    def _top(self) -> list[int]:
        return cast("list[int]", self._board[0].tolist())

    @cached_property
    def _poppable(self) -> list[int]:
        """Return the columns that the mover may pop out of."""
        if not self.popouts[self.mover - 1]:
            return []
        first = self.mover - 1
        bottom = self._board[-1].tolist()
        return [column for column in range(first, len(bottom), 2) if bottom[column]]

    def legal_actions(self) -> tuple[ExtendedAction, ...]:
        """Return drops by ascending column, then pop-outs by ascending column."""
        drops, popouts = all_actions(len(self._top))
        open_drops = compress(drops, map(not_, self._top))
        return (*open_drops, *[popouts[column] for column in self._poppable])

    def apply(self, action: ExtendedAction) -> ExtendedState:
        """Return the position after a drop or a pop-out; raises `IllegalAction` with the reason."""
        column, is_popout = column_and_kind(action, len(self._top))
        board = self._board.copy()
        popouts = self.popouts
        if is_popout:
            if column not in self._poppable:
                raise IllegalAction(self._why_no_popout(column))
            board[1:, column] = self._board[:-1, column]
            board[0, column] = 0
            one, two = popouts
            popouts = (one - 1, two) if self.mover == 1 else (one, two - 1)
        else:
            if self._top[column]:
                raise IllegalAction(f"column {column} is full")
            row = board[:, column].tolist().count(0) - 1
            board[row, column] = self.mover
        return ExtendedState(board, popouts, 2 if self.mover == 1 else 1, self.maximum)

    def _why_no_popout(self, column: int) -> str:
        if not self.popouts[self.mover - 1]:
            return f"player {self.mover} has no pop-outs left"
        if column % 2 != self.mover - 1:
            parity = "even" if self.mover == 1 else "odd"
            return f"player {self.mover} pops out of {parity} columns only, not of column {column}"
        return f"column {column} is empty: there is nothing to pop out"

    def skip(self) -> ExtendedState:
        """Return the same position with the other player to move; no pop-out is used up."""
        return ExtendedState(self._board, self.popouts, opponent(self.mover), self.maximum)

    def ending(self) -> Ending | None:
        """Return `NO_ACTION` if the mover has no valid action, even if the opponent has one."""
        return None if 0 in self._top or self._poppable else Ending.NO_ACTION

    def scores(self) -> tuple[int, int]:
        return get_pts(1, self._board), get_pts(2, self._board)

    def runs(self) -> tuple[Run, ...]:
        worth = [get_row_score(1, [1] * length) for length in range(max(self.shape) + 1)]
        return runs_on(self._board, lambda _, length: worth[length])

    @property
    def grid(self) -> Grid:
        return grid_of(*self._board.shape, 4)

    @property
    def distances(self) -> Mapping[tuple[int, bool], float]:
        return distances_from_middle(self._board.shape[1])

    @property
    def column_owners(self) -> tuple[Player, ...] | None:
        """Return player 1 for even columns and player 2 for odd ones; None without pop-outs."""
        if not any(self.maximum):
            return None
        owners: tuple[Player, Player] = (1, 2)
        return tuple(owners[column % 2] for column in range(self.shape[1]))

    @property
    def pop_outs_left(self) -> tuple[int, int] | None:
        """Return the pop-outs left; None if the game began without any."""
        return self.popouts if any(self.maximum) else None

    def bitboards(self) -> tuple[int, int]:
        return self.grid.from_array(self._board)

    @property
    def max_plies(self) -> int:
        """Return one ply for each empty cell, and two for each pop-out left."""
        return super().max_plies + 2 * sum(self.popouts)

    def plane_values(self, player: Player) -> tuple[float, ...]:
        """Return the fraction of pop-outs that `player` and the opponent have left."""
        one, two = (
            left / most if most else 0.0
            for left, most in zip(self.popouts, self.maximum, strict=True)
        )
        return (one, two) if player == 1 else (two, one)

    def playout(self, rng: Random) -> tuple[int, int]:
        rows, columns = self.shape
        stacks = [[cell for cell in column if cell] for column in self._board.T[:, ::-1].tolist()]
        left = list(self.popouts)
        open_columns = [column for column in range(columns) if len(stacks[column]) < rows]
        poppable = [[c for c in range(first, columns, 2) if stacks[c]] for first in (0, 1)]
        mover = self.mover
        while True:
            own = mover - 1
            drops = len(open_columns)
            choices = drops + len(poppable[own]) if left[own] else drops
            if not choices:
                break
            choice = int(rng.random() * choices)
            if choice < drops:
                column = open_columns[choice]
                stack = stacks[column]
                if not stack:
                    insort(poppable[column & 1], column)
                stack.append(mover)
                if len(stack) == rows:
                    del open_columns[choice]
            else:
                column = poppable[own][choice - drops]
                stack = stacks[column]
                if len(stack) == rows:
                    insort(open_columns, column)
                del stack[0]
                if not stack:
                    poppable[own].remove(column)
                left[own] -= 1
            mover = opponent(mover)
        cells = np.array([stack + [0] * (rows - len(stack)) for stack in stacks])
        board = cells.T[::-1]
        return get_pts(1, board), get_pts(2, board)

    def key(self) -> tuple[bytes, tuple[int, int], Player]:
        return self._board.tobytes(), self.popouts, self.mover

    @property
    def game(self) -> Game:
        return EXTENDED

    @property
    def setting(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return self.shape, self.maximum

    def board(self) -> Board:
        return self._board.copy()

    def for_agent(self) -> tuple[Board, dict[int, Integer]]:
        counters = {
            player: Integer(left, maximum)
            for player, left, maximum in zip((1, 2), self.popouts, self.maximum, strict=True)
        }
        return self._board.copy(), counters

    def to_text(self) -> str:
        """Return the text of a state file, with the short first line if that is enough."""
        one, two = self.popouts
        first = f"{one}" if one == two and self.mover == 1 else f"{one} {two} {self.mover}"
        rows = [" ".join(map(str, row)) for row in self._board.tolist()]
        return "\n".join([first, *rows]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return `popouts` (one number, or a pair if the players differ), `board` and `mover`.

        `maximum` is included if the game began with other counts.
        """
        one, two = self.popouts
        start: dict[str, Any] = {
            "popouts": one if one == two else [one, two],
            "board": self._board.tolist(),
        }
        if self.mover == 2:
            start["mover"] = 2
        if self.maximum != self.popouts:
            start["maximum"] = list(self.maximum)
        return start


def column_and_kind(action: object, columns: int) -> ExtendedAction:
    """Return an action of the right form; raises `IllegalAction` for any other value."""
    if type(action) is tuple and len(action) == 2:
        column, is_popout = action
        if type(column) is int and type(is_popout) is bool:
            if 0 <= column < columns:
                return action
            raise IllegalAction(f"column {quoted(column)} is outside 0..{columns - 1}")
    raise IllegalAction(
        "an action is a tuple (column, is_popout) of an int and a bool, such as (3, False), "
        f"not {quoted(action)}"
    )


@cache
def all_actions(
    columns: int,
) -> tuple[tuple[ExtendedAction, ...], tuple[ExtendedAction, ...]]:
    """Return a drop for each column, and a pop-out for each column."""
    numbers = range(columns)
    return tuple((column, False) for column in numbers), tuple((column, True) for column in numbers)


@cache
def distances_from_middle(columns: int) -> dict[tuple[int, bool], float]:
    """Return each drop's distance from the middle column; pop-outs have greater distances."""
    return {
        (column, popout): abs(column - (columns - 1) / 2) + popout * columns
        for column in range(columns)
        for popout in (False, True)
    }


def start(rows: int | None = None, columns: int | None = None) -> ExtendedState:
    """Return an empty board, by default 6 by 8, with 6 pop-outs for each player.

    Raises `InputError` if the number of columns is odd.
    """
    shape = (6 if rows is None else rows, 8 if columns is None else columns)
    if shape[0] < 1 or shape[1] < 2 or shape[1] % 2:
        raise InputError(
            f"a board of {shape[0]} rows by {shape[1]} columns: "
            "ExtendedConnect4 needs at least 1 row and an even number of columns, 2 or more"
        )
    return ExtendedState(np.zeros(shape, dtype=np.int64), (6, 6))


def read(text: str, source: str) -> ExtendedState:
    """Read a state file; raises `InputError` with `source:line: cause`.

    Line 1 is `P` (pop-outs of each) or `P1 P2 MOVER`; then one line of 0/1/2 per row, top first.
    """
    return position(*read_position(text, source), source)


def position(
    popouts: tuple[int, int], mover: Player, rows: list[list[int]], source: str
) -> ExtendedState:
    """Return the position of checked rows; raises `InputError` for an odd number of columns."""
    if len(rows[0]) % 2:
        raise InputError(
            f"{source}:2: {len(rows[0])} columns; the number of columns has to be even"
        )
    return ExtendedState(np.array(rows, dtype=np.int64), popouts, mover)


def from_json(value: dict[str, Any]) -> ExtendedState:
    """Read the `start` of a record; raises `InputError`."""
    state = position(*position_from_json(value, "ExtendedConnect4"), "start")
    if "maximum" in value:
        match value["maximum"]:
            case [one, two] if all(
                type(most) is int and left <= most < 10**9
                for most, left in zip((one, two), state.popouts, strict=True)
            ):
                state.maximum = one, two
            case _:
                raise InputError(
                    "start: maximum is a pair of whole numbers, not below the pop-outs left"
                )
    return state


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

EXTENDED: Final = Game(
    name="extended",
    title="ExtendedConnect4",
    rules_version=1,
    on_fault=FaultPolicy.SKIP,
    start=start,
    read=read,
    from_json=from_json,
    parse_action=parse_action,
    format_action=format_action,
    file_action=lambda answer: answer,
    action_help=ACTION_HELP,
    counts_points=True,
    points=tuple(win_pts),
)
