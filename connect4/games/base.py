"""The interface of every game: immutable states, and one `Game` value that reads and writes them.

The referee, the search algorithms, the records and the views use games only through this module.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.config import MAX_CONSECUTIVE_SKIPS
from connect4.games.board import Grid, Run, runs_on
from connect4.games.board import Player as Player  # noqa: PLC0414 - for those who see only rules
from connect4.utils import Integer

SIDES: Final[tuple[Player, Player]] = (1, 2)

Action: TypeAlias = Any
"""A hashable value; its form depends on the game: `(column, is_popout)` in ExtendedConnect4."""

Seconds: TypeAlias = float

Winner: TypeAlias = Literal[0, 1, 2]
"""1 or 2; 0 if nobody has won."""


def opponent(player: Player) -> Player:
    """Return the other player."""
    return 2 if player == 1 else 1


def leader(scores: tuple[int, int]) -> Winner:
    """Return the player with more points; 0 if both have the same."""
    one, two = scores
    return 1 if one > two else 2 if two > one else 0


def whole(value: object) -> int | None:
    """Return a whole number as an int, numpy's for example; None for a bool and all else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def quoted(value: object) -> str:
    """Return the `repr` of a value that was given as an action, on one line and shortened.

    It is for the text of an `IllegalAction` and never raises, whatever the value is.
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a class with a faulty __repr__, or a number too long for Python to print
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:60] + "..."


class Ending(StrEnum):
    """Why a game ended, by the rules or otherwise. The values are those of the game record."""

    NO_ACTION = "no_action"
    STALLED = "stalled"
    LINE = "line"
    BOARD_FULL = "board_full"
    DRAW_LIMIT = "draw_limit"
    REPETITION = "repetition"
    FORFEIT = "forfeit"
    RESIGNED = "resigned"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    LEFT = "left"
    ABORTED = "aborted"
    NOT_LOADED = "not_loaded"

    @property
    def by_rules(self) -> bool:
        """Return whether the rules end a game this way, not a fault, a clock or a person."""
        return self in (
            Ending.NO_ACTION,
            Ending.LINE,
            Ending.BOARD_FULL,
            Ending.DRAW_LIMIT,
            Ending.REPETITION,
        )

    @property
    def undecided(self) -> bool:
        """Return whether nothing was decided; such a game is not a draw without a winner."""
        return self in (Ending.LEFT, Ending.ABORTED, Ending.NOT_LOADED)


class State(ABC):
    """An immutable position, which includes the player to move.

    Two positions are equal if their `key` and `setting` are equal. This holds for copied and
    unpickled positions too.
    """

    __slots__ = ()

    mover: Player
    one: int
    two: int
    """The tokens of player 1 and of player 2 as masks of `grid`."""
    _ending: Ending | None

    symbols: ClassVar[tuple[str, str]] = ("X", "O")
    """The letters for the tokens of player 1 and player 2."""
    first_number: ClassVar[int] = 0
    """The number that people give to the first column (and the top row, if rows are numbered)."""
    slides: ClassVar[bool] = False
    """Whether pieces slide on squares; rows are then numbered, and the board has no holes."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.key() == other.key() and self.setting == other.setting

    def __hash__(self) -> int:
        return hash(self.key())

    def __str__(self) -> str:
        """Return the board as text, followed by a line that says who moves or who has won."""
        return f"{self.display()}\n{self._status()}"

    def __repr__(self) -> str:
        rows, columns = self.board().shape
        return f"<{type(self).__name__} of {rows} by {columns}: {self._status()}>"

    @abstractmethod
    def legal_actions(self) -> tuple[Action, ...]:
        """Return the mover's legal actions, sorted and unique; empty if the game is over."""

    @abstractmethod
    def apply(self, action: Action) -> Self:
        """Return the position after the mover's `action`.

        Raises `IllegalAction` unless `legal_actions()` contains the action. The types must match
        too: 3.0, True and numpy's 3 are not columns.
        """

    @abstractmethod
    def skip(self) -> Self:
        """Return the same position with the other player to move."""

    def after(self, move: Action | None) -> Self:
        """Return the position after the mover's `move`; None is a pass."""
        return self.skip() if move is None else self.apply(move)

    def ending(self) -> Ending | None:
        """Return why the game is over in this position; None if it is not over."""
        return self._ending

    @abstractmethod
    def scores(self) -> tuple[int, int]:
        """Return the current points of player 1 and player 2."""

    def runs(self) -> tuple[Run, ...]:
        """Return the runs of tokens that score; their points add up to `scores`.

        This default is for games that a line wins. It returns the winner's lines; the longest one
        scores the point.
        """
        if self.ending() is not Ending.LINE:
            return ()
        winner, least = self.winner(), self.grid.line
        runs = runs_on(self.board(), lambda player, length: player == winner and length >= least)
        ordered = sorted(runs, key=lambda run: -run.length)
        return tuple(run._replace(points=int(place == 0)) for place, run in enumerate(ordered))

    @abstractmethod
    def key(self) -> Hashable:
        """Return a hashable value that is the same for equal positions (mover included)."""

    def board(self) -> npt.NDArray[np.int64]:
        """Return the cells, shape `(rows, columns)`, row 0 on top; 0 empty, 1 and 2 the players."""
        return self.grid.to_array(self.one, self.two)

    def for_agent(self) -> tuple[npt.NDArray[np.int64], dict[int, Integer]]:
        """Return the `state` that a student's file receives, with copies of board and counters.

        The counters are 0 in a game that does not count pop-outs.
        """
        return self.board(), {1: Integer(0), 2: Integer(0)}

    @abstractmethod
    def to_text(self) -> str:
        """Return the position as the text of a state file, which `Game.read` parses."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the position as the `start` of a game record."""

    def with_options(self, **options: Any) -> "State":
        """Return the position under other options of its game; None keeps one.

        Raises `InputError`.
        """
        chosen = {name: value for name, value in options.items() if value is not None}
        return self.game.from_json(self.to_json() | chosen)

    @property
    @abstractmethod
    def game(self) -> "Game":
        """Return the game that the position belongs to."""

    @property
    @abstractmethod
    def setting(self) -> Hashable:
        """Return what never changes during a game, such as the size of the board."""

    @property
    def distances(self) -> Mapping[Action, float]:
        """Return the distance of each action from the middle of the board, for move ordering.

        If tokens are dropped, this is the distance from the middle column, and a pop-out has a
        greater distance than any drop. If pieces slide, it is the distance of the target from the
        middle square. The environments number the actions that are listed here.
        """
        return {}

    @property
    @abstractmethod
    def grid(self) -> Grid:
        """Return the geometry of `bitboards`: cells, windows, shifts."""

    def bitboards(self) -> tuple[int, int]:
        """Return the tokens of player 1 and of player 2 as masks of `grid`."""
        return self.one, self.two

    @property
    def max_plies(self) -> int:
        """Return the maximum number of plies from here to the end, without lost turns."""
        return int((self.board() == 0).sum())

    def planes(self, player: Player | None = None) -> npt.NDArray[np.float32]:
        """Return a network's input planes, shape `(rows, columns, planes)`, values from 0 to 1.

        The first plane has the tokens of `player` (None: the mover), the second the opponent's.
        Constant planes follow: those of `plane_values`, and a last one that is 1 if player 1 moves.
        """
        viewer = self.mover if player is None else player
        board, values = self.board(), self.plane_values(viewer)
        planes = np.empty((*board.shape, 3 + len(values)), dtype=np.float32)
        planes[:, :, 0] = board == viewer
        planes[:, :, 1] = board == opponent(viewer)
        planes[:, :, 2:] = (*values, self.mover == 1)
        return planes

    def plane_values(self, player: Player) -> tuple[float, ...]:
        """Return the features other than board and mover, each from 0 to 1."""
        return ()

    def playout(self, rng: Random) -> tuple[int, int]:
        """Return the final scores of a game played from here with uniformly random actions.

        One call of `rng.random()` chooses each action by its index in `legal_actions()`. A game
        that overrides this method makes the same choices.
        """
        state = self
        while True:
            actions = state.legal_actions()
            if actions:
                state = state.apply(actions[int(rng.random() * len(actions))])
            elif state.is_over():
                return state.scores()
            else:
                state = state.skip()

    def display(self) -> str:
        """Return the rows of the board below a line of column numbers.

        If pieces slide, the rows have numbers too, and empty squares are blank.
        """
        rows = self.board().tolist()
        letters = (" " if self.slides else ".", *self.symbols)
        numbers = [str(column + self.first_number) for column in range(len(rows[0]))]
        lines = [numbers, *([letters[cell] for cell in row] for row in rows)]
        if self.slides:
            labels = (" ", *map(str, range(self.first_number, len(lines))))
            lines = [[label, *line] for label, line in zip(labels, lines, strict=True)]
        width = len(numbers[-1])
        return "\n".join(" ".join(word.rjust(width) for word in line).rstrip() for line in lines)

    @property
    def column_owners(self) -> tuple[Player, ...] | None:
        """Return which player may pop out of each column; None if columns have no owners."""
        return None

    @property
    def pop_outs_left(self) -> tuple[int, int] | None:
        """Return the pop-outs that each player has left; None if they are not counted."""
        return None

    @property
    def has_pop_outs(self) -> bool:
        """Return whether tokens can be popped out in a game that begins like this one."""
        actions = (action for action in self.game.actions(self) if action is not None)
        return any(self.game.format_action(action).endswith("P") for action in actions)

    def _status(self) -> str:
        """Return one line: who moves or who has won, points, pop-outs left."""
        winner = self.winner()
        if winner is None:
            parts = [f"player {self.mover} ({self.symbols[self.mover - 1]}) to move"]
        elif winner:
            parts = [f"player {winner} ({self.symbols[winner - 1]}) has won"]
        else:
            parts = ["a draw"]
        if self.game.counts_points:
            parts.append("points {}:{}".format(*self.scores()))
        if self.pop_outs_left is not None:
            parts.append("pop-outs left {}:{}".format(*self.pop_outs_left))
        return ", ".join(parts)

    def winner(self) -> Winner | None:
        """Return the player who has won, 0 for a draw; None if the game is not over.

        The player with more points at the end wins.
        """
        return leader(self.scores()) if self.is_over() else None

    def is_over(self) -> bool:
        return self.ending() is not None

    def margin(self, player: Player) -> int:
        """Return `player`'s points minus the opponent's."""
        one, two = self.scores()
        return one - two if player == 1 else two - one


class FaultPolicy(StrEnum):
    """What a late, invalid or failed turn costs."""

    SKIP = "skip"
    FORFEIT = "forfeit"


@dataclass(frozen=True, slots=True)
class Option:
    """A rule that can be set at the start of a game: `max_turns` is the option `--max-turns`."""

    name: str
    kind: type[int] | type[bool]
    help: str


LINE: Final = Option("line", int, "length of a line that wins, 3 or 4 (default 4)")


@dataclass(frozen=True, slots=True)
class Game:
    """The rules of one game."""

    name: str
    title: str
    rules_version: int
    on_fault: FaultPolicy
    start: Callable[[int | None, int | None], State]
    """Returns the default start for `rows, columns`.

    None stands for the usual size. Raises `InputError` if the game has no board of that size.
    """
    read: Callable[[str, str], State]
    """Reads a state file from `text, source`; raises `InputError` naming source, line and cause."""
    from_json: Callable[[dict[str, Any]], State]
    """Reads the `start` of a record; raises `InputError`."""
    parse_action: Callable[[str], Action]
    """Reads an action as a person types it; raises `IllegalAction` for any other text."""
    format_action: Callable[[Action], str]
    """Writes an action as a person types it."""
    action_help: str
    """How a person types a move, in a few words."""
    file_action: Callable[[tuple[int, bool]], Action] | None = None
    """Converts a student's answer `(column, is_popout)` to an action.

    None: students' files do not play this game. Raises `IllegalAction`.
    """
    folder: str = ""
    """The folder of its state files, below `connect4/initial_states`; empty if it has none."""
    prompt: str = "Player {player}, your move: "
    """The prompt for a person; `{last}` stands for the number of the last column."""
    reply: str = ""
    """The text that announces a program's `{move}` to a person, if the game has its own."""
    sides: tuple[str, str] | None = None
    """The names of the players, if they have any: white and black."""
    resizable: bool = True
    """Whether `start` accepts sizes other than the default."""
    has_pass: bool = False
    """Whether a mover without a legal action passes; otherwise the game is over."""
    options: tuple[Option, ...] = ()
    max_skips: int = MAX_CONSECUTIVE_SKIPS
    """The number of lost turns in a row that ends a game, if lost turns are skipped."""
    counts_points: bool = False
    """Whether points decide, otherwise only winning counts."""
    points: Sequence[int] = ()
    """The points of a run of 0, 1, 2 ... tokens, where `connect4/config.py` can change them."""

    def actions(self, start: State) -> tuple[Action | None, ...]:
        """Return every action that is possible on a board of that size, in a fixed order.

        Drops come first, by column, then pop-outs; slides are sorted by their text. If the rules
        have a pass (for a mover without a legal action), it is the last one, None.
        """
        pairs = any(isinstance(action, tuple) for action in start.distances)
        found = sorted(start.distances, key=(lambda pair: pair[::-1]) if pairs else None)
        return (*found, None) if self.has_pass else tuple(found)
