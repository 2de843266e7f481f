"""The interface of every game: immutable states, and one `Game` value that reads and writes them.

The referee, the search algorithms, the records and the views use games only through this module.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.config import MAX_CONSECUTIVE_SKIPS
from connect4.errors import InputError
from connect4.games.grid import Grid, grid_of
from connect4.utils import Integer

if TYPE_CHECKING:
    from connect4.games.runs import Run

Player: TypeAlias = Literal[1, 2]

SIDES: Final[tuple[Player, Player]] = (1, 2)
"""1 moves first."""

Action: TypeAlias = Any
"""A hashable value whose form is the game's own: `(column, is_popout)` in ExtendedConnect4."""

Seconds: TypeAlias = float

Winner: TypeAlias = Literal[0, 1, 2]
"""0 where nobody has won."""


def opponent(player: Player) -> Player:
    """Return the other player."""
    return 2 if player == 1 else 1


def leader(scores: tuple[int, int]) -> Winner:
    """Return who has more points; 0 where both have the same."""
    one, two = scores
    return 1 if one > two else 2 if two > one else 0


def resolve(name: str) -> Any:
    """Return what `module:name` names; the module is imported now.

    So a game can name what belongs to it in a layer above the rules.
    """
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def quoted(value: object) -> str:
    """Return what somebody gave for an action as Python writes it: one line, cut where it is long.

    For the text of an `IllegalAction`; whatever the value is, no other error comes of it.
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a class of the caller's own, or a number of more digits than Python writes
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:60] + "..."


class Ending(StrEnum):
    """Why a game ended, by the rules or otherwise; its values are the words of the game record."""

    NO_ACTION = "no_action"
    STALLED = "stalled"
    LINE = "line"
    BOARD_FULL = "board_full"
    DRAW_LIMIT = "draw_limit"
    REPETITION = "repetition"
    FORFEIT = "forfeit"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    LEFT = "left"
    ABORTED = "aborted"
    NOT_LOADED = "not_loaded"

    @property
    def by_rules(self) -> bool:
        """Return whether it is `State.ending` of a position; the others are the table's."""
        return self in BY_RULES


BY_RULES: Final = frozenset(
    {
        Ending.NO_ACTION,
        Ending.LINE,
        Ending.BOARD_FULL,
        Ending.DRAW_LIMIT,
        Ending.REPETITION,
    }
)


class State(ABC):
    """A position with the player to move. Callers never see it change.

    Positions with the same `key` under the same `setting` are equal, copied and pickled ones too.
    """

    __slots__ = ()

    mover: Player

    symbols: ClassVar[tuple[str, str]] = ("X", "O")
    """How the tokens of player 1 and 2 are written where plain letters are."""
    first_number: ClassVar[int] = 0
    """What people call the first column (and the top row, where rows are named)."""
    slides: ClassVar[bool] = False
    """Whether pieces slide on squares: rows are numbered too, and there is no plate with holes."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.key() == other.key() and self.setting == other.setting

    def __hash__(self) -> int:
        return hash(self.key())

    def __str__(self) -> str:
        """Return the board in plain letters, and below it who moves or who has won."""
        return "\n".join([*self._drawn(), self._status()])

    def __repr__(self) -> str:
        rows, columns = self.board().shape
        return f"<{type(self).__name__} of {rows} by {columns}: {self._status()}>"

    @abstractmethod
    def legal_actions(self) -> tuple[Action, ...]:
        """Return the mover's legal actions, sorted and unique; empty once a game is over."""

    @abstractmethod
    def apply(self, action: Action) -> Self:
        """Return the position after the mover's `action`; this one stays as it is.

        Raises `IllegalAction` where the action is not one of `legal_actions()`, of the very types
        that those have: 3.0, True and numpy's 3 are no columns.
        """

    @abstractmethod
    def skip(self) -> Self:
        """Return the same position with the other player to move."""

    @abstractmethod
    def ending(self) -> Ending | None:
        """Return why the game is over here, or None while it goes on."""

    @abstractmethod
    def scores(self) -> tuple[int, int]:
        """Return the points of player 1 and player 2 as the position stands."""

    def runs(self) -> tuple[Run, ...]:
        """Return the runs of tokens that `scores` comes from, for views: their points add up to it.

        Here for a game that a line wins: the winner's lines, of which the longest has the point.
        """
        from connect4.games.runs import winning_runs  # late: an agent's process needs none of it

        if self.ending() is not Ending.LINE or not (winner := self.winner()):
            return ()
        return winning_runs(self.board(), winner, self.grid.line)

    @abstractmethod
    def key(self) -> Hashable:
        """Return a value equal for equal positions (mover included), for tables."""

    @abstractmethod
    def board(self) -> npt.NDArray[np.int64]:
        """Return the cells, shape `(rows, columns)`, row 0 on top; 0 empty, 1 and 2 the players."""

    def for_agent(self) -> tuple[npt.NDArray[np.int64], dict[int, Integer]]:
        """Return the `state` that a student's file receives: a board and counters of its own.

        The counters are 0 in a game that does not count pop-outs.
        """
        return self.board(), {1: Integer(0), 2: Integer(0)}

    @abstractmethod
    def to_text(self) -> str:
        """Return the position as a state file that `Game.read` takes back."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the position as the `start` of a game record."""

    @property
    @abstractmethod
    def setting(self) -> Hashable:
        """Return what `key` leaves out for no turn changes it: the board's size, the rules."""

    @property
    def distances(self) -> Mapping[Action, float]:
        """Return how far from the middle each action of such a board leads, to order moves by.

        From the middle column where tokens are dropped, pop-outs beyond all drops; from the middle
        square where pieces slide. A game without distances has its actions tried as listed.
        """
        return {}

    @property
    def grid(self) -> Grid:
        """Return the geometry that `bitboards` is written in: cells, windows, shifts."""
        rows, columns = self.board().shape
        return grid_of(rows, columns)

    def bitboards(self) -> tuple[int, int]:
        """Return the tokens of player 1 and of player 2 as masks of `grid`, for heuristics."""
        return self.grid.from_rows(self.board().tolist())

    @property
    def max_plies(self) -> int:
        """Return how many plies a game from here lasts at most, turns that are lost not counted."""
        return int((self.board() == 0).sum())

    def planes(self, player: Player | None = None) -> npt.NDArray[np.float32]:
        """Return the position as planes of a network, shape `(rows, columns, planes)`, 0 to 1.

        The tokens of `player` (None: the mover), those of the opponent, then constant planes: those
        of `plane_values`, and last 1 where player 1 moves.
        """
        viewer = self.mover if player is None else player
        board, values = self.board(), self.plane_values(viewer)
        planes = np.empty((*board.shape, 3 + len(values)), dtype=np.float32)
        planes[:, :, 0] = board == viewer
        planes[:, :, 1] = board == opponent(viewer)
        planes[:, :, 2:] = (*values, self.mover == 1)
        return planes

    def plane_values(self, player: Player) -> tuple[float, ...]:
        """Return what a position holds besides board and mover, each from 0 to 1."""
        return ()

    def playout(self, rng: Random) -> tuple[int, int]:
        """Return the scores at the end of a game of uniformly random actions from here.

        One call of `rng.random()` chooses each action, by its place in `legal_actions()`; a game
        that has a faster way takes the same steps.
        """
        state = self
        while not state.is_over():
            actions = state.legal_actions()
            if actions:
                state = state.apply(actions[int(rng.random() * len(actions))])
            else:
                state = state.skip()
        return state.scores()

    def display(self) -> str | None:
        """Return the board as the game itself prints it; None leaves the drawing to the views."""
        return None

    @property
    def counts_points(self) -> bool:
        """Return whether `scores` are points; False where they only name the winner."""
        return True

    @property
    def column_owners(self) -> tuple[Player, ...] | None:
        """Return who alone may pop out of each column; None where no column has an owner."""
        return None

    @property
    def pop_outs_left(self) -> tuple[int, int] | None:
        """Return the pop-outs that each player has left; None where nobody counts them."""
        return None

    def _drawn(self) -> list[str]:
        """Return the lines of the board, as `display` or with the columns' numbers on top."""
        printed = self.display()
        if printed is not None:
            return printed.splitlines()
        rows = self.board().tolist()
        letters = (".", *self.symbols)
        width = len(str(len(rows[0]) - 1 + self.first_number))
        numbers = [str(column + self.first_number) for column in range(len(rows[0]))]
        lines = [numbers, *([letters[cell] for cell in row] for row in rows)]
        return [" ".join(word.rjust(width) for word in line) for line in lines]

    def _status(self) -> str:
        """Return one line: who moves or who has won, points, pop-outs left."""
        winner = self.winner()
        if winner is None:
            parts = [f"player {self.mover} ({self.symbols[self.mover - 1]}) to move"]
        elif winner:
            parts = [f"player {winner} ({self.symbols[winner - 1]}) has won"]
        else:
            parts = ["a draw"]
        if self.counts_points:
            parts.append("points {}:{}".format(*self.scores()))
        if self.pop_outs_left is not None:
            parts.append("pop-outs left {}:{}".format(*self.pop_outs_left))
        return ", ".join(parts)

    def winner(self) -> Winner | None:
        """Return who has won, 0 for a draw; None while the game goes on.

        Whoever has more points at the end has won.
        """
        return leader(self.scores()) if self.is_over() else None

    def is_over(self) -> bool:
        """Return whether the game has ended in this position."""
        return self.ending() is not None

    def margin(self, player: Player) -> int:
        """Return `player`'s points minus the opponent's."""
        one, two = self.scores()
        return one - two if player == 1 else two - one


class FaultPolicy(StrEnum):
    """What the referee does with a late, invalid or failed turn."""

    SKIP = "skip"
    FORFEIT = "forfeit"


@dataclass(frozen=True, slots=True)
class Heuristic:
    """An estimate of positions that go on, and how one game uses it."""

    name: str
    function: str
    """`module:name` of a function that returns a state's estimate, the mover's view."""
    point: float = 0
    """What a point is worth in the estimate's units; 0 where only winning counts."""
    scale: float = 1
    """What is a clear advantage in those units, for analyses where only winning counts."""
    beside_points: bool = False
    """Whether it estimates what may still come, so that the points so far are added."""
    rates_wins: bool = False
    """Whether it also values positions that are over."""
    search: str | None = None
    """`module:name` of the alpha-beta that goes with it; None for the usual one."""


@dataclass(frozen=True, slots=True)
class Option:
    """A rule that may be chosen when a game begins: `max_turns` is `--max-turns` of the runner."""

    name: str
    kind: type[int] | type[bool]
    help: str


@dataclass(frozen=True, slots=True)
class Game:
    """All that belongs to one game: its rules, and by name what upper layers have for it."""

    name: str
    title: str
    rules_version: int
    on_fault: FaultPolicy
    start: Callable[[int | None, int | None], State]
    """The position that a game begins with where no file is named, from `rows, columns`.

    None stands for the usual size. Raises `InputError` where the game has no board of that size.
    """
    read: Callable[[str, str], State]
    """Reads a state file from `text, source`; raises `InputError` naming source, line and cause."""
    from_json: Callable[[dict[str, Any]], State]
    """Reads the `start` of a record; raises `InputError`."""
    parse_action: Callable[[str], Action]
    """Reads an action as a person types it; raises `IllegalAction` where the text is none."""
    format_action: Callable[[Action], str]
    """Writes an action as a person types it."""
    action_help: str
    """How a person types a move, in a few words."""
    file_action: Callable[[tuple[int, bool]], Action] | None = None
    """Returns the action for what a student's file answers, `(column, is_popout)`.

    None: students' files do not play this game. Raises `IllegalAction`.
    """
    folder: str = "."
    """Where its state files are, below `connect4/initial_states`."""
    prompt: str = "Player {player}, your move: "
    """How a person is asked; `{last}` stands for the number of the last column."""
    reply: str = ""
    """How a person is told a program's `{move}`, where the game has words of its own for that."""
    sides: tuple[str, str] | None = None
    """What the players are called, where they have names: white and black."""
    resizable: bool = True
    """Whether `start` takes other sizes than the usual one."""
    has_pass: bool = False
    """Whether a mover without a legal action passes; else the game is over there."""
    options: tuple[Option, ...] = ()
    with_options: Callable[[Any, Mapping[str, Any]], State] = lambda state, options: state
    """Returns a state under other `options`; None keeps one. Raises `InputError`."""
    max_skips: int = MAX_CONSECUTIVE_SKIPS
    """Lost turns in a row that end a game, where a lost turn is skipped."""
    counts_points: bool = False
    """Whether points decide; else only winning counts. As `State.counts_points`."""
    heuristics: tuple[Heuristic, ...] = ()
    """What searches go by, the default first. Agents that need one play no game without."""
    exploration: float = 2.0
    """The constant `c` of `mcts`."""
    judge: str | None = None
    """The heuristic that analyses go by; None stands for the default."""
    expert: str = "connect4.analysis.experts:search_expert"
    """`module:name` of the function that returns the judge of an analysis."""
    motion: str = "connect4.views.motion:motion_between"
    """`module:name` of the function that returns what a move changed, from the boards before and
    after it."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let copies and what comes out of a pickle be the one game of that name."""
        return importlib.import_module("connect4.games").find_game, (self.name,)

    def actions(self, start: State) -> tuple[Action | None, ...]:
        """Return every action that can come up on a board of that size, in an order that stays.

        Drops come first, by column, then pop-outs; slides in the order of their texts. None, the
        pass of a mover without a legal action, comes last where the rules have one.
        """
        pairs = any(isinstance(action, tuple) for action in start.distances)
        found = sorted(start.distances, key=(lambda pair: pair[::-1]) if pairs else None)
        return (*found, None) if self.has_pass else tuple(found)

    def heuristic(self, name: str | None = None) -> Heuristic:
        """Return the heuristic of that name, or the default; raises `InputError`."""
        for entry in self.heuristics:
            if name in (None, entry.name):
                return entry
        known = ", ".join(entry.name for entry in self.heuristics)
        expected = f"expected one of {known}" if known else "the game has none"
        wanted = "" if name is None else f" {name!r}"
        raise InputError(f"no heuristic{wanted} in {self.name}; {expected}")
