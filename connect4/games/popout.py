"""Pop Out: classic Connect 4 in which a turn may also remove one's own bottom token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np

from connect4.errors import IllegalAction, InputError
from connect4.games.base import (
    Ending,
    FaultPolicy,
    Game,
    Player,
    State,
    opponent,
)
from connect4.games.extended import (
    ExtendedAction,
    all_actions,
    column_and_kind,
    distances_from_middle,
    format_action,
    parse_action,
)
from connect4.games.grid import Grid
from connect4.games.state_files import (
    Seen,
    board_grid,
    position_from_json,
    read_grid,
    read_settings,
    setting_lines,
)

MAX_PLIES: Final = 200
"""A game of N plies is a draw; so is the third repetition of a position."""


class PopOutState(State):
    """A position: the tokens of player 1 and 2 as masks of `grid`, and the mover.

    An action is `(column, is_popout)`, columns counted from 0. `turns` counts the plies since the
    start; `history` holds the earlier positions.
    """

    __slots__ = ("_actions", "_ending", "grid", "history", "mover", "one", "turns", "two")

    grid: Grid

    def __init__(
        self, grid: Grid, one: int, two: int, mover: Player, turns: int, history: tuple[Seen, ...]
    ) -> None:
        self.grid = grid
        self.one = one
        self.two = two
        self.mover: Player = mover
        self.turns = turns
        self.history = history
        self._actions = self._possible()
        self._ending = self._find_ending()
        if self._ending is not None:
            self._actions = ()

    def _find_ending(self) -> Ending | None:
        if self.grid.has_line(self.one) or self.grid.has_line(self.two):
            return Ending.LINE
        if self.history.count((self.one, self.two, self.mover)) >= 2:
            return Ending.REPETITION
        if self.turns >= MAX_PLIES:
            return Ending.DRAW_LIMIT
        return None if self._actions else Ending.NO_ACTION

    @property
    def distances(self) -> Mapping[ExtendedAction, float]:
        return distances_from_middle(self.grid.columns)

    def bitboards(self) -> tuple[int, int]:
        return self.one, self.two

    @property
    def max_plies(self) -> int:
        """Return the number of plies until the game is a draw."""
        return max(0, MAX_PLIES - self.turns)

    def plane_values(self, player: Player) -> tuple[float, ...]:
        """Return the fraction of the plies that have been played."""
        return (min(1.0, self.turns / MAX_PLIES),)

    def _possible(self) -> tuple[ExtendedAction, ...]:
        """Return the drops into open columns, then the pop-outs of the mover's bottom tokens."""
        grid = self.grid
        drops, popouts = all_actions(grid.columns)
        taken = self.one | self.two
        own = self.bitboards()[self.mover - 1]
        columns = list(enumerate(grid.drops))
        return (
            *[drops[column] for column, (_, cells) in columns if cells & ~taken],
            *[popouts[column] for column, (bottom, _) in columns if own & bottom],
        )

    def legal_actions(self) -> tuple[ExtendedAction, ...]:
        """Return drops by ascending column, then pop-outs by ascending column."""
        return self._actions

    def apply(self, action: ExtendedAction) -> PopOutState:
        """Return the position after a drop or a pop-out; raises `IllegalAction` with the reason."""
        column, is_popout = column_and_kind(action, self.grid.columns)
        if action not in self._actions:
            raise IllegalAction(self._why_not(column, is_popout))
        bottom, cells = self.grid.drops[column]
        one, two = self.one, self.two
        if is_popout:
            above = cells ^ bottom
            return self._next(one & ~cells | (one & above) >> 1, two & ~cells | (two & above) >> 1)
        token = ((one | two) + bottom) & cells
        return self._next(one | token, two) if self.mover == 1 else self._next(one, two | token)

    def _next(self, one: int, two: int) -> PopOutState:
        history = (*self.history, (self.one, self.two, self.mover))
        return PopOutState(self.grid, one, two, opponent(self.mover), self.turns + 1, history)

    def _why_not(self, column: int, is_popout: bool) -> str:
        if self._ending is not None:
            return "the game is over"
        if not is_popout:
            return f"column {column} is full"
        if not (self.one | self.two) & self.grid.bottoms[column]:
            return f"column {column} is empty: there is nothing to pop out"
        return f"the bottom token of column {column} is player {opponent(self.mover)}'s"

    def skip(self) -> PopOutState:
        """Return the position after a skipped turn, which counts as a ply."""
        return self._next(self.one, self.two)

    def ending(self) -> Ending | None:
        """Return `LINE`, `REPETITION`, `DRAW_LIMIT` or `NO_ACTION` if the game is over."""
        return self._ending

    def scores(self) -> tuple[int, int]:
        """Return (1, 0) or (0, 1) if there is a line; if both have one, the last mover wins."""
        lines = self.grid.has_line(self.one), self.grid.has_line(self.two)
        if all(lines):
            return (1, 0) if self.mover == 2 else (0, 1)
        return int(lines[0]), int(lines[1])

    def key(self) -> Hashable:
        """Return tokens, mover, plies and the earlier positions."""
        return self.one, self.two, self.mover, self.turns, frozenset(Counter(self.history).items())

    @property
    def game(self) -> Game:
        return POP_OUT

    @property
    def setting(self) -> tuple[int, int]:
        return self.grid.rows, self.grid.columns

    def to_text(self) -> str:
        """Return the text of a state file; `turns` and `history` follow unless they are empty."""
        first = "0" if self.mover == 1 else "0 0 2"
        rows = [" ".join(map(str, row)) for row in self.board().tolist()]
        return "\n".join([first, *rows, *setting_lines(self.to_json(), SETTINGS)]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return `board`, and `mover`, `turns` and `history` if they are not the default."""
        start: dict[str, Any] = {"board": self.board().tolist()}
        if self.mover == 2:
            start["mover"] = 2
        if self.turns:
            start["turns"] = self.turns
        if self.history:
            start["history"] = [list(seen) for seen in self.history]
        return start


def start(rows: int | None = None, columns: int | None = None) -> PopOutState:
    """Return an empty board, by default 6 by 7; raises `InputError`."""
    grid = board_grid(6 if rows is None else rows, 7 if columns is None else columns, "Pop Out")
    return PopOutState(grid, 0, 0, 1, 0, ())


def read(text: str, source: str) -> PopOutState:
    """Read a board like that of classic Connect 4, then optionally `turns=` and `history=`.

    Raises `InputError` with `source:line: cause`.
    """
    lines = text.splitlines()
    board = "\n".join("" if "=" in line else line for line in lines)
    mover, rows = read_grid(board, source, "Pop Out")
    return _placed(rows, mover, [line for line in lines if "=" in line], source)


def _placed(rows: list[list[int]], mover: Player, settings: list[str], source: str) -> PopOutState:
    """Return the position of checked rows and lines of settings; raises `InputError`."""
    named = dict(line.split("=", 1) for line in settings)
    values, history = read_settings(named, SETTINGS, source)
    try:
        grid = board_grid(len(rows), len(rows[0]), "Pop Out")
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    one, two = grid.from_array(np.array(rows))
    return PopOutState(grid, one, two, mover, values["turns"], history)


SETTINGS: Final = {"turns": 0}
"""The settings that a state file may have after the board, with their defaults."""


def from_json(value: dict[str, Any]) -> PopOutState:
    """Read the `start` of a record; raises `InputError`."""
    _, mover, rows = position_from_json(value, "Pop Out", popouts=0)
    try:
        settings = setting_lines(value, SETTINGS)
    except TypeError as error:
        raise InputError(f"start: not a position of Pop Out ({error!r})") from None
    return _placed(rows, mover, settings, "start")


POP_OUT: Final = Game(
    name="popout",
    title="Pop Out",
    rules_version=1,
    on_fault=FaultPolicy.FORFEIT,
    start=start,
    read=read,
    from_json=from_json,
    parse_action=parse_action,
    format_action=format_action,
    file_action=lambda answer: answer,
    action_help="3 to drop into column 3, 3P to pop your bottom token out of column 3",
    folder="popout",
)
