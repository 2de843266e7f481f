"""Dynamic Connect-4: six pieces a side slide one square at a time; a line of four wins."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, ClassVar, Final, cast

from connect4.errors import IllegalAction, InputError
from connect4.games.base import LINE, Ending, FaultPolicy, Game, Option, Player, State, quoted
from connect4.games.board import Grid, grid_of
from connect4.games.state_files import Seen, read_rows, read_settings, settings_of, split

DIRECTIONS: Final = {"E": (1, 0), "N": (0, -1), "S": (0, 1), "W": (-1, 0)}
"""The steps `(x, y)` of each direction; x counts columns from the left, y rows from the top."""

COLOURS: Final = ("white", "black")
TITLE: Final = "Dynamic Connect-4"
SYMBOLS: Final = ("O", "X")
SIDES: Final = range(2, 10)
"""The sizes that a board may have: a move names a row and a column with one digit each."""

History = tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class DynamicRules:
    """The options of a game.

    It is a draw after `max_turns` plies or, with `repetition`, when a position occurs for the third
    time.
    """

    line: int = 4
    max_turns: int = 100
    repetition: bool = False

    def __post_init__(self) -> None:
        """Raise `InputError` for an invalid option."""
        if self.line not in (3, 4):
            raise InputError(f"a line of {self.line}: expected 3 or 4")
        if not 1 <= self.max_turns <= 100_000:
            raise InputError(f"max_turns {self.max_turns}: expected 1 to 100000 plies")


class DynamicLayout:
    """Data shared by all states of one board size and one set of rules.

    `slides[text]` is `(source square, target square)` of a move. `moves[square]` holds `(target
    square, text)` for each direction, sorted.
    """

    def __init__(self, rows: int, columns: int, rules: DynamicRules) -> None:
        self.rules = rules
        self.grid = grid_of(rows, columns, rules.line)
        self.slides: dict[str, tuple[int, int]] = {}
        self.distances: dict[str, float] = {}
        self.moves: dict[int, tuple[tuple[int, str], ...]] = {}
        for x in range(columns):
            for y in range(rows):
                source = self.grid.bit(y, x)
                moves = []
                for direction, (right, down) in DIRECTIONS.items():
                    if 0 <= x + right < columns and 0 <= y + down < rows:
                        target = self.grid.bit(y + down, x + right)
                        text = f"{x + 1}{y + 1}{direction}"
                        self.slides[text] = source, target
                        away = abs(x + right - (columns - 1) / 2), abs(y + down - (rows - 1) / 2)
                        self.distances[text] = sum(away)
                        moves.append((target, text))
                self.moves[source] = tuple(moves)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle to the cached layout of `dynamic_layout`."""
        return dynamic_layout, (self.grid.rows, self.grid.columns, self.rules)


@cache
def dynamic_layout(rows: int, columns: int, rules: DynamicRules) -> DynamicLayout:
    """Return the layout of that size; raises `InputError` if there is none."""
    if not (rows in SIDES and columns in SIDES):
        raise InputError(
            f"a board of {rows} rows by {columns} columns: "
            f"Dynamic Connect-4 has {SIDES[0]} to {SIDES[-1]} of each"
        )
    return DynamicLayout(rows, columns, rules)


@dataclass(eq=False, repr=False)
class DynamicState(State):
    """A position: white's (player 1's) and black's pieces as masks of `layout.grid`.

    `turns` counts the plies since the start, passes included; `history` holds the earlier positions
    if a third repetition is a draw. An action is its text, such as `71W`. `position` computes the
    ending.
    """

    __slots__ = ("_actions", "_ending", "history", "layout", "mover", "one", "turns", "two")

    symbols: ClassVar = SYMBOLS
    first_number: ClassVar = 1
    slides: ClassVar = True

    layout: DynamicLayout
    one: int
    two: int
    mover: Player
    turns: int
    _ending: Ending | None
    history: History

    def __post_init__(self) -> None:
        self._actions: tuple[str, ...] | None = None

    @property
    def grid(self) -> Grid:
        return self.layout.grid

    @property
    def distances(self) -> Mapping[str, float]:
        return self.layout.distances

    @property
    def max_plies(self) -> int:
        """Return the number of plies until the game is a draw."""
        return max(0, self.layout.rules.max_turns - self.turns)

    def plane_values(self, player: Player) -> tuple[float, ...]:
        """Return the fraction of the plies that have been played."""
        return (min(1.0, self.turns / self.layout.rules.max_turns),)

    def legal_actions(self) -> tuple[str, ...]:
        """Return the moves, sorted by text; empty if the mover must pass."""
        actions = self._actions
        if actions is None:
            found = []
            if self._ending is None:
                moves = self.layout.moves
                pieces = self.one if self.mover == 1 else self.two
                occupied = self.one | self.two
                while pieces:
                    square = pieces & -pieces
                    pieces ^= square
                    for target, text in moves[square]:
                        if not occupied & target:
                            found.append(text)
                found.sort()
            actions = self._actions = tuple(found)
        return actions

    def apply(self, action: str) -> "DynamicState":
        """Return the position after a move such as `71W`; raises `IllegalAction`."""
        layout = self.layout
        one, two, mover = self.one, self.two, self.mover
        own = one if mover == 1 else two
        if type(action) is not str:
            raise IllegalAction(self._why_not(action))
        try:
            source, target = layout.slides[action]
        except KeyError:
            raise IllegalAction(self._why_not(action)) from None
        if self._ending is not None or not own & source or (one | two) & target:
            raise IllegalAction(self._why_not(action))
        own ^= source | target
        ending = Ending.LINE if layout.grid.has_line(own) else None
        return self._next(own, two, ending) if mover == 1 else self._next(one, own, ending)

    def _next(self, one: int, two: int, ending: Ending | None) -> "DynamicState":
        rules = self.layout.rules
        mover: Player = 2 if self.mover == 1 else 1
        turns = self.turns + 1
        history = self.history
        if rules.repetition:
            history = (*history, (self.one, self.two, self.mover))
            if ending is None and history.count((one, two, mover)) >= 2:
                ending = Ending.REPETITION
        if turns >= rules.max_turns and ending is None:
            ending = Ending.DRAW_LIMIT
        return DynamicState(self.layout, one, two, mover, turns, ending, history)

    def _why_not(self, action: object) -> str:
        if type(action) is not str or re.fullmatch("[0-9][0-9][ENSW]", action) is None:
            return f"{quoted(action)} is not a move: type {ACTION_HELP}"
        if self._ending is not None:
            return "the game is over"
        x, y = int(action[0]), int(action[1])
        grid = self.grid
        if not (1 <= x <= grid.columns and 1 <= y <= grid.rows):
            why = f"the board has columns 1 to {grid.columns} and rows 1 to {grid.rows}"
        elif not (self.one | self.two) & (square := grid.bit(y - 1, x - 1)):
            why = f"there is no piece in column {x}, row {y}"
        elif self.bitboards()[2 - self.mover] & square:
            why = f"the piece there is {COLOURS[2 - self.mover]}'s"
        elif action not in self.layout.slides:
            why = "that leaves the board"
        else:
            why = "the square there is taken"
        return f"{action}: {why}"

    def skip(self) -> "DynamicState":
        """Return the position after a pass, which counts as a ply."""
        return self._next(self.one, self.two, self._ending)

    def scores(self) -> tuple[int, int]:
        """Return (1, 0) or (0, 1) if a side has a line."""
        if self._ending is not Ending.LINE:
            return 0, 0
        return (1, 0) if self.layout.grid.has_line(self.one) else (0, 1)

    def key(self) -> Hashable:
        """Return pieces, mover and plies; with the repetition rule, also the earlier positions."""
        if self.history:
            seen = frozenset(Counter(self.history).items())
            return self.one, self.two, self.mover, self.turns, seen
        return self.one, self.two, self.mover, self.turns

    @property
    def game(self) -> Game:
        return DYNAMIC

    @property
    def setting(self) -> tuple[int, int, DynamicRules]:
        return self.grid.rows, self.grid.columns, self.layout.rules

    def _rows(self) -> list[str]:
        """Return the rows in the form of a state file."""
        symbols = (" ", *SYMBOLS)
        return [",".join(symbols[cell] for cell in row).rstrip() for row in self.board().tolist()]

    def to_text(self) -> str:
        """Return a state file: the board, then `name=value` lines for what is not the default."""
        settings = settings_of(self.to_json(), SETTINGS, TITLE)
        return "\n".join([*self._rows(), *map("=".join, settings.items())]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return `board`, the rows of a state file, and the settings that are not the default."""
        values = {"mover": self.mover, "turns": self.turns, **asdict(self.layout.rules)}
        changed = {name: value for name, value in values.items() if value != SETTINGS[name]}
        start = {"board": self._rows(), **changed}
        if self.history:
            start["history"] = [list(seen) for seen in self.history]
        return start


def position(
    layout: DynamicLayout, one: int, two: int, mover: Player, turns: int = 0, history: History = ()
) -> DynamicState:
    """Return the position and compute its ending; raises `InputError` if it is impossible."""
    lines = [layout.grid.has_line(pieces) for pieces in (one, two)]
    if all(lines):
        raise InputError(f"both sides have {layout.grid.line} in a row; only one can have won")
    ending = Ending.LINE if any(lines) else None
    if ending is None and history.count((one, two, mover)) >= 2:
        ending = Ending.REPETITION
    if ending is None and turns >= layout.rules.max_turns:
        ending = Ending.DRAW_LIMIT
    return DynamicState(layout, one, two, mover, turns, ending, history)


START: Final = """\
 , , , , , ,X
X, , , , , ,O
O, , , , , ,X
X, , , , , ,O
O, , , , , ,X
X, , , , , ,O
O, , , , , ,
"""


def start(rows: int | None = None, columns: int | None = None) -> DynamicState:
    """Return the usual start; raises `InputError` for a size other than 7 by 7."""
    if rows not in (None, 7) or columns not in (None, 7):
        raise InputError(
            "Dynamic Connect-4 starts on 7 rows by 7 columns; a state file can hold another board"
        )
    return read(START, "start")


def read(text: str, source: str) -> DynamicState:
    """Read a state file; raises `InputError` with `source:line: cause`.

    Each line is one row, top first; its cells are `O` (white), `X` (black) or blank, separated by
    commas. Lines `name=value` may follow; `SETTINGS` lists the names.
    """
    lines, settings = split(text, source)
    rows = read_rows(lines, source, _read_cells)
    if not rows:
        raise InputError(f"{source}:1: no board; expected rows of {', '.join(SYMBOLS)} and blanks")
    values, history = read_settings(settings, SETTINGS, source)
    for name, right in (("mover", (1, 2)), ("repetition", (0, 1))):
        if values[name] not in right:
            raise InputError(f"{source}: {name}={values[name]}; expected {right[0]} or {right[1]}")
    try:
        rules = DynamicRules(values["line"], values["max_turns"], bool(values["repetition"]))
        layout = dynamic_layout(len(rows), len(rows[0]), rules)
        one, two = layout.grid.from_rows(rows)
        mover, seen = cast("Player", values["mover"]), history if rules.repetition else ()
        return position(layout, one, two, mover, values["turns"], seen)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


SETTINGS: Final = {"mover": 1, "turns": 0, "line": 4, "max_turns": 100, "repetition": 0}
"""The settings that a state file may have after the board, with their defaults."""


def _read_cells(line: str, where: str) -> list[int]:
    """Read one row of pieces; raises `InputError` whose text begins with the given place."""
    cells = [cell.strip() for cell in line.split(",")]
    for column, cell in enumerate(cells, 1):
        if cell not in ("", *SYMBOLS):
            raise InputError(
                f"{where}: {quoted(cell)} in column {column}; "
                f"expected {' or '.join(SYMBOLS)} or a blank between commas"
            )
    return [1 + SYMBOLS.index(cell) if cell else 0 for cell in cells]


def from_json(value: dict[str, Any]) -> DynamicState:
    """Read the `start` of a record; raises `InputError`."""
    try:
        settings = map("=".join, settings_of(value, SETTINGS, TITLE).items())
        text = "\n".join([*value["board"], *settings])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"start: not a position of {TITLE} ({error!r})") from None
    return read(text, "start")


def parse_action(text: str) -> str:
    """Read a move, its direction in either case; raises `IllegalAction` for any other text."""
    move = text.strip()
    if re.fullmatch("[0-9][0-9][ENSWensw]", move) is None:  # upper() makes S of a long s
        raise IllegalAction(f"{quoted(move)} is not a move: type {ACTION_HELP}")
    return move.upper()


ACTION_HELP: Final = "71W to move the piece in column 7, row 1 one square west (or N, E, S)"

DYNAMIC: Final = Game(
    name="dynamic",
    has_pass=True,
    title=TITLE,
    rules_version=1,
    on_fault=FaultPolicy.FORFEIT,
    start=start,
    read=read,
    from_json=from_json,
    parse_action=parse_action,
    format_action=str,
    action_help=ACTION_HELP,
    folder="dynamic",
    sides=COLOURS,
    resizable=False,
    options=(
        Option("max_turns", int, "a draw after N plies (default 100)"),
        LINE,
        Option("repetition", bool, "a third repetition is a draw"),
    ),
)
