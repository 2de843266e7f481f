"""Pop Out: classic Connect 4 in which a turn may also remove one's own bottom token."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

from connect4.errors import IllegalAction
from connect4.games import falling, state_files
from connect4.games.base import LINE, Ending, FaultPolicy, Game, Player, opponent
from connect4.games.board import Grid

TITLE: Final = "Pop Out"

MAX_PLIES: Final = 200
"""A game of N plies is a draw; so is the third repetition of a position."""


@dataclass(eq=False, repr=False)
class PopOutState(falling.PoppingState):
    """A position. `turns` counts the plies since the start; `history` holds earlier positions."""

    __slots__ = ("_ending", "history", "turns")

    turns: int
    history: tuple[state_files.Seen, ...]

    def __post_init__(self) -> None:
        self._ending = self._find_ending()

    def _find_ending(self) -> Ending | None:
        if self.grid.has_line(self.one) or self.grid.has_line(self.two):
            return Ending.LINE
        if self.history.count((self.one, self.two, self.mover)) >= 2:
            return Ending.REPETITION
        if self.turns >= MAX_PLIES:
            return Ending.DRAW_LIMIT
        return None if super().legal_actions() else Ending.NO_ACTION

    @property
    def max_plies(self) -> int:
        return max(0, MAX_PLIES - self.turns)

    def plane_values(self, player: Player) -> tuple[float, ...]:
        """Return the fraction of the plies that have been played."""
        return (min(1.0, self.turns / MAX_PLIES),)

    def poppable(self) -> int:
        return self.bitboards()[self.mover - 1] & self.grid.floor

    def legal_actions(self) -> tuple[falling.ExtendedAction, ...]:
        return () if self._ending is not None else super().legal_actions()

    def apply(self, action: falling.ExtendedAction) -> "PopOutState":
        if self._ending is not None and falling.column_and_kind(action, self.grid.columns):
            raise IllegalAction("the game is over")
        return self._next(*self.moved(action))

    def _next(self, one: int, two: int) -> "PopOutState":
        history = (*self.history, (self.one, self.two, self.mover))
        return PopOutState(self.grid, one, two, opponent(self.mover), self.turns + 1, history)

    def _why_no_popout(self, column: int) -> str:
        if not (self.one | self.two) & self.grid.bottoms[column]:
            return f"column {column} is empty: there is nothing to pop out"
        return f"the bottom token of column {column} is player {opponent(self.mover)}'s"

    def skip(self) -> "PopOutState":
        """Return the position after a skipped turn, which counts as a ply."""
        return self._next(self.one, self.two)

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
    def setting(self) -> Grid:
        return self.grid

    def to_json(self) -> dict[str, Any]:
        """Return `board`, and `mover`, `line`, `turns` and `history` if not the default."""
        start = super().to_json()
        if self.turns:
            start["turns"] = self.turns
        if self.history:
            start["history"] = [list(seen) for seen in self.history]
        return start


def start(rows: int | None = None, columns: int | None = None) -> PopOutState:
    """Return an empty board, by default 6 by 7; raises `InputError`."""
    return PopOutState(falling.board_grid(rows, columns, TITLE), 0, 0, 1, 0, ())


def read(text: str, source: str) -> PopOutState:
    """Read a board like that of classic Connect 4, then optionally `turns=` and `history=`.

    Raises `InputError` with `source:line: cause`.
    """
    moved = falling.read_moves(text, source, start())
    return moved or PopOutState(*falling.read_placing(text, source, TITLE))


def from_json(value: dict[str, Any]) -> PopOutState:
    """Read the `start` of a record; raises `InputError`."""
    return PopOutState(*falling.placing_from_json(value, TITLE))


POP_OUT: Final = Game(
    name="popout",
    title=TITLE,
    rules_version=1,
    on_fault=FaultPolicy.FORFEIT,
    start=start,
    read=read,
    from_json=from_json,
    parse_action=falling.parse_action,
    format_action=falling.format_action,
    file_action=lambda answer: answer,
    action_help="3 to drop into column 3, 3P to pop your bottom token out of column 3",
    folder="popout",
    options=(LINE,),
)
