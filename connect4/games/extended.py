"""ExtendedConnect4: drops and pop-outs; four in a row does not end the game, and points decide."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from connect4.config import win_pts
from connect4.errors import InputError
from connect4.games import falling
from connect4.games.base import Ending, FaultPolicy, Game, Player, opponent
from connect4.games.board import Run, grid_of, runs_on
from connect4.games.state_files import Placed, Rows, position_from_json, read_position, split
from connect4.utils import Integer, get_row_score, points_of_bits


@dataclass(eq=False, repr=False)
class ExtendedState(falling.PoppingState):
    """A position: tokens, the pop-outs left and the player to move.

    `popouts` and `maximum` are `(player 1, player 2)`; `maximum` holds the counts at the start of
    the game.
    """

    __slots__ = ("maximum", "popouts")

    popouts: tuple[int, int]
    maximum: tuple[int, int]

    def poppable(self) -> int:
        """Return the bottom tokens of the mover's columns, if it has pop-outs left."""
        if not self.popouts[self.mover - 1]:
            return 0
        return (self.one | self.two) & self.grid.own_floor[self.mover - 1]

    def apply(self, action: falling.ExtendedAction) -> "ExtendedState":
        one, two = self.moved(action)
        popouts, mover = self.popouts, self.mover
        if action[1]:
            popouts = (popouts[0] - 1, popouts[1]) if mover == 1 else (popouts[0], popouts[1] - 1)
        return ExtendedState(self.grid, one, two, 2 if mover == 1 else 1, popouts, self.maximum)

    def _why_no_popout(self, column: int) -> str:
        if not self.popouts[self.mover - 1]:
            return f"player {self.mover} has no pop-outs left"
        if column % 2 != self.mover - 1:
            parity = "even" if self.mover == 1 else "odd"
            return f"player {self.mover} pops out of {parity} columns only, not of column {column}"
        return f"column {column} is empty: there is nothing to pop out"

    def skip(self) -> "ExtendedState":
        """Return the same position with the other player to move; no pop-out is used up."""
        mover = opponent(self.mover)
        return ExtendedState(self.grid, self.one, self.two, mover, self.popouts, self.maximum)

    def ending(self) -> Ending | None:
        """Return `NO_ACTION` if the mover has no valid action, even if the opponent has one."""
        tops = self.grid.tops
        is_open = (self.one | self.two) & tops != tops
        return None if is_open or self.poppable() else Ending.NO_ACTION

    def scores(self) -> tuple[int, int]:
        shifts = self.grid.shifts
        return points_of_bits(self.one, shifts), points_of_bits(self.two, shifts)

    def runs(self) -> tuple[Run, ...]:
        worth = [get_row_score(1, [1] * length) for length in range(max(self.shape) + 1)]
        return runs_on(self.board(), lambda _, length: worth[length])

    @property
    def shape(self) -> tuple[int, int]:
        return self.grid.rows, self.grid.columns

    @property
    def column_owners(self) -> tuple[Player, ...] | None:
        """Return player 1 for even columns and player 2 for odd ones; None without pop-outs."""
        if not any(self.maximum):
            return None
        owners: tuple[Player, Player] = (1, 2)
        return tuple(owners[column % 2] for column in range(self.grid.columns))

    @property
    def pop_outs_left(self) -> tuple[int, int] | None:
        return self.popouts if any(self.maximum) else None

    @property
    def has_pop_outs(self) -> bool:
        return any(self.maximum)

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

    def key(self) -> tuple[int, int, tuple[int, int], Player]:
        return self.one, self.two, self.popouts, self.mover

    @property
    def game(self) -> Game:
        return EXTENDED

    @property
    def setting(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return self.shape, self.maximum

    def for_agent(self) -> tuple[npt.NDArray[np.int64], dict[int, Integer]]:
        counters = {
            player: Integer(left, maximum)
            for player, left, maximum in zip((1, 2), self.popouts, self.maximum, strict=True)
        }
        return self.board(), counters

    def to_json(self) -> dict[str, Any]:
        """Return `popouts` (one number, or a pair if the players differ), `board` and `mover`.

        `maximum` is included if the game began with other counts.
        """
        one, two = self.popouts
        start = {"popouts": one if one == two else [one, two], **super().to_json()}
        if self.maximum != self.popouts:
            start["maximum"] = list(self.maximum)
        return start


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
    return ExtendedState(grid_of(*shape, 4), 0, 0, 1, (6, 6), (6, 6))


def position(
    rows: Rows | npt.NDArray[np.int64], popouts: tuple[int, int], mover: Player = 1
) -> ExtendedState:
    """Return the position with those cells, top row first, in which a game begins."""
    grid = grid_of(len(rows), len(rows[0]), 4)
    return ExtendedState(grid, *grid.from_rows(rows), mover, popouts, popouts)


def read(text: str, source: str) -> ExtendedState:
    """Read a state file; raises `InputError` with `source:line: cause`.

    Line 1 is `P` (pop-outs of each) or `P1 P2 MOVER`; then one line of 0/1/2 per row, top first.
    """
    lines, _ = split(text, source)
    return _placed(read_position(lines, source, TITLE, counts=True), source)


def from_json(value: dict[str, Any]) -> ExtendedState:
    """Read the `start` of a record; raises `InputError`."""
    state = _placed(position_from_json(value, TITLE, counts=True), "start")
    most = value.get("maximum", list(state.popouts))
    if not (
        isinstance(most, list)
        and [type(number) for number in most] == [int, int]
        and all(left <= number < 10**9 for left, number in zip(state.popouts, most, strict=True))
    ):
        raise InputError("start: maximum is a pair of whole numbers, not below the pop-outs left")
    state.maximum = most[0], most[1]
    return state


def _placed(placed: Placed, source: str) -> ExtendedState:
    """Return the position; raises `InputError` for an odd number of columns."""
    columns = len(placed.rows[0])
    if columns % 2:
        raise InputError(f"{source}:2: {columns} columns; the number of columns has to be even")
    return position(placed.rows, placed.popouts, placed.mover)


TITLE: Final = "ExtendedConnect4"

EXTENDED: Final = Game(
    name="extended",
    title=TITLE,
    rules_version=1,
    on_fault=FaultPolicy.SKIP,
    start=start,
    read=read,
    from_json=from_json,
    parse_action=falling.parse_action,
    format_action=falling.format_action,
    file_action=lambda answer: answer,
    action_help=falling.ACTION_HELP,
    folder=".",
    counts_points=True,
    points=tuple(win_pts),
)
