"""Classic Connect 4 on boards up to 12 by 12: the first four wins, or the most fours."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final, Literal, TypeAlias, cast

from connect4.errors import IllegalAction, InputError
from connect4.games import falling
from connect4.games.base import LINE, Ending, FaultPolicy, Game, Player, opponent, quoted, whole
from connect4.games.board import Grid, Run, runs_on

Variant: TypeAlias = Literal["first-four", "most-fours"]

TITLE: Final = "classic Connect 4"


@dataclass(eq=False, repr=False)
class ClassicState(falling.FallingState):
    """A position; an action is a column, counted from 0."""

    __slots__ = ("_ending", "variant")

    variant: Variant
    _ending: Ending | None

    @property
    def distances(self) -> Mapping[int, float]:
        return self.grid.distances

    def legal_actions(self) -> tuple[int, ...]:
        """Return the columns that are not full, ascending, counted from 0."""
        grid = self.grid
        full = (self.one | self.two) & grid.tops
        return () if self._ending is not None else grid.open_columns(full)

    def apply(self, action: int) -> "ClassicState":
        if type(action) is not int and (column := whole(action)) is not None:
            action = column
        grid = self.grid
        one, two = self.one, self.two
        mask = one | two
        over = self._ending is not None
        if over or type(action) is not int or action not in grid.open_columns(mask & grid.tops):
            raise IllegalAction(self._why_not(action))
        bottom, cells = grid.drops[action]
        token = (mask + bottom) & cells
        if self.mover == 1:
            own = one = one | token
            mover: Player = 2
        else:
            own = two = two | token
            mover = 1
        ending = None
        if self.variant == "first-four" and grid.has_line(own):
            ending = Ending.LINE
        elif mask | token == grid.cells:
            ending = Ending.BOARD_FULL
        return ClassicState(grid, one, two, mover, self.variant, ending)

    def _why_not(self, action: object) -> str:
        last, column = self.grid.columns - 1, whole(action)
        if column is None:
            return f"a column is an int from 0 to {last}, not {quoted(action)}"
        if self._ending is not None:
            return "the game is over"
        if not 0 <= column <= last:
            return f"column {quoted(column)} is outside 0..{last}"
        return f"column {column} is full"

    def skip(self) -> "ClassicState":
        mover = opponent(self.mover)
        return ClassicState(self.grid, self.one, self.two, mover, self.variant, self._ending)

    def scores(self) -> tuple[int, int]:
        """Return (1, 0) or (0, 1) for the first four; with most-fours, the fours of each player."""
        grid = self.grid
        if self.variant == "most-fours":
            return grid.count_lines(self.one), grid.count_lines(self.two)
        if self._ending is not Ending.LINE:
            return 0, 0
        return (1, 0) if grid.has_line(self.one) else (0, 1)

    def runs(self) -> tuple[Run, ...]:
        """Return the winner's lines; with most-fours, every run that contains a four."""
        if self.variant != "most-fours":
            return super().runs()
        return runs_on(self.board(), lambda _, length: max(0, length - self.grid.line + 1))

    def playout(self, rng: Random) -> tuple[int, int]:
        if self._ending is not None:
            return self.scores()
        grid = self.grid
        if self.variant == "most-fours":
            return super().playout(rng)
        draw = rng.random
        a, aa, b, bb, c, cc, d, dd = grid.steps
        drops, full = grid.drops, grid.cells
        own, other, tops = self.one, self.two, grid.tops
        mask = own | other
        open_columns = grid.open_columns(mask & tops)
        count = len(open_columns)
        if self.mover == 2:
            own, other = other, own
        first = self.mover == 1
        while True:
            bottom, cells = drops[open_columns[int(draw() * count)]]
            token = (mask + bottom) & cells
            mask |= token
            own |= token
            if (
                ((pairs := own & own >> a) and pairs & pairs >> aa)
                or ((pairs := own & own >> b) and pairs & pairs >> bb)
                or ((pairs := own & own >> c) and pairs & pairs >> cc)
                or ((pairs := own & own >> d) and pairs & pairs >> dd)
            ):
                return (1, 0) if first else (0, 1)
            if token & tops:
                if mask == full:
                    return 0, 0
                open_columns = grid.open_columns(mask & tops)
                count = len(open_columns)
            own, other = other, own
            first = not first

    def key(self) -> int:
        """Return one number for tokens and mover, unique among boards of one size."""
        return (2 * self.one + self.two) << 1 | (self.mover == 2)

    @property
    def game(self) -> Game:
        return CLASSIC if self.variant == "first-four" else CLASSIC_FULL

    @property
    def setting(self) -> tuple[Grid, Variant]:
        return self.grid, self.variant


def _placed(variant: Variant, placing: falling.Placing, source: str) -> ClassicState:
    grid, one, two, mover, *_ = placing
    ending = Ending.BOARD_FULL if one | two == grid.cells else None
    if variant == "first-four":
        lines = [grid.has_line(tokens) for tokens in (one, two)]
        if all(lines):
            raise InputError(f"{source}both have {grid.line} in a row; only one can have won")
        if any(lines):
            ending = Ending.LINE
    return ClassicState(grid, one, two, mover, variant, ending)


def start(variant: Variant, rows: int | None = None, columns: int | None = None) -> ClassicState:
    """Return an empty board, by default 6 by 7; raises `InputError`."""
    return ClassicState(falling.board_grid(rows, columns, TITLE), 0, 0, 1, variant, None)


def read(variant: Variant, text: str, source: str) -> ClassicState:
    """Read the rows of a board, with or without a first line `0 0 MOVER`; raises `InputError`."""
    moved = falling.read_moves(text, source, start(variant))
    return moved or _placed(variant, falling.read_placing(text, source, TITLE), f"{source}: ")


def from_json(variant: Variant, value: dict[str, Any]) -> ClassicState:
    """Read the `start` of a record; raises `InputError`."""
    return _placed(variant, falling.placing_from_json(value, TITLE), "start: ")


def parse_action(text: str) -> int:
    """Read a column; raises `IllegalAction` for any other text."""
    word = text.strip()
    if not (word.isascii() and word.isdigit() and len(word) <= 4):
        raise IllegalAction(f"{quoted(word)} is not a move: type {ACTION_HELP}")
    return int(word)


def file_action(answer: tuple[int, bool]) -> int:
    """Return the column of a student's answer; raises `IllegalAction` for a pop-out."""
    column, is_popout = answer
    if is_popout:
        raise IllegalAction(f"({column}, True) is a pop-out; classic Connect 4 has none")
    return column


BITS_SHAPE: Final = (6, 7)
BITS_MARK: Final = 1 << 63

VARIANTS: Final[dict[str, Variant]] = {"classic": "first-four", "classic-full": "most-fours"}
"""The variant of each game of this module, by the name of the game."""


def to_bits(state: ClassicState, ai: Player = 1) -> int:
    """Return a 6 by 7 position as the 64-bit number of the published agent.

    Bit 63 is 1. Column c has its next free row (1 to 7, 7 when full) at bits 60-9c to 62-9c, and
    below that a bit for each row from the bottom up: 1 for a token of player `ai`.
    Raises `InputError` for a board of another size.
    """
    grid = state.grid
    if (grid.rows, grid.columns) != BITS_SHAPE:
        raise InputError(
            f"a board of {grid.rows} rows by {grid.columns} columns; the 64-bit state is 6 by 7"
        )
    own, mask = state.bitboards()[ai - 1], state.one | state.two
    bits = BITS_MARK
    for column, cells in enumerate(grid.column_cells):
        height = (mask & cells).bit_count()
        bits |= (height + 1) << 60 - 9 * column
        for row in range(height):
            if own & grid.bit(5 - row, column):
                bits |= 1 << 59 - 9 * column - row
    return bits


def from_bits(bits: int, game: str = "classic", ai: Player = 1) -> ClassicState:
    """Return the position of a 64-bit number, in `classic` or `classic-full`; see `to_bits`.

    The number does not contain the mover: player 1 moves unless player 1 has more tokens than
    player 2. Raises `InputError` for a number that is not a position.
    """
    if game not in VARIANTS:
        raise InputError(f"from_bits: game {game!r}; write {' or '.join(map(repr, VARIANTS))}")
    rows = [[0] * 7 for _ in range(6)]
    for column in range(7):
        for row in range((bits >> 60 - 9 * column & 7) - 1):
            is_own = bits >> 59 - 9 * column - row & 1
            rows[5 - row][column] = ai if is_own else opponent(ai)
    one, two = (sum(row.count(player) for row in rows) for player in (1, 2))
    mover: Player = 1 if one <= two else 2
    grid = falling.board_grid(*BITS_SHAPE, TITLE)
    placing = (grid, *grid.from_rows(rows), mover, 0, ())
    if to_bits(_placed("most-fours", placing, ""), ai) != bits:
        raise InputError(f"{bits} is not the 64-bit state of a board of 6 by 7")
    return _placed(VARIANTS[game], placing, "")


ACTION_HELP: Final = "3 to drop into column 3"


def _game(name: str, title: str, **more: Any) -> Game:
    variant = VARIANTS[name]
    return Game(
        name=name,
        title=title,
        rules_version=1,
        on_fault=FaultPolicy.FORFEIT,
        start=partial(start, variant),
        read=partial(read, variant),
        from_json=partial(from_json, variant),
        parse_action=parse_action,
        format_action=cast("Any", str),
        file_action=file_action,
        action_help=ACTION_HELP,
        prompt="Please input your move(integer 0~{last}):  ",
        reply="Bot's move: {move}",
        **more,
    )


CLASSIC: Final = _game("classic", "Connect 4", options=(LINE,))
CLASSIC_FULL: Final = _game("classic-full", "Connect 4 to the last cell", counts_points=True)
