"""A board as lines: their expected margins, and how codes and gains follow from a move.

A line is a row, a column or a diagonal. Its code is its cells read as ternary digits: 0 for empty,
1 for mine, 2 for the opponent's. Its expected margin is what it brings me on average if each empty
cell becomes mine with a fixed probability, its share, and the opponent's otherwise: a table by the
code.

A cell is `height * columns + column`, height 0 at the bottom. An action is the cell of a drop, or
`~column` for a pop-out. ME is the player who searches. The sum of the expected margins of all lines
is the expected margin of a position; on a full board it is the margin. A drop changes the codes of
four lines, so its gain takes eight look-ups. A position keeps the gains of all drops and hands them
on: after a move only the drops that share a line with it have another gain.

Also what both searches share: how deep they go, and the result.
"""

import random
from collections.abc import Callable
from functools import cache
from itertools import chain, permutations
from operator import getitem, itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from connect4.config import win_pts

Array: TypeAlias = np.ndarray[Any, Any]

Shares: TypeAlias = tuple[float, ...]
"""For each cell of a line the probability that it becomes mine if it is empty."""

Table: TypeAlias = "tuple[float, ...] | LongLine"
"""The expected margin of each code of a line."""

LONGEST_TABLE = 12
"""Cells: a table has 3**length entries; longer lines are cut in two."""

MOST_DIFFERENCES = 2000
"""Differences of one kind kept for lines of one form, so that memory has a bound."""


def uneven_share(kind: str, height: int) -> float:
    """Return what serves best against chance: low cells are likelier to become mine than high ones.

    At three plies that gave 10 points a game more than one half everywhere on 8x10 with 4 pop-outs,
    and about 40 on 12x12 with 10 (`benchmarks.versus_random`).
    """
    return 0.5 if kind == "row" else max(0.6 - 0.02 * height, 0.2)


def _points(run: int) -> int:
    return win_pts[run % 4] + run // 4 * win_pts[4]


@cache
def _margins(length: int) -> Array:
    """Return the margins of all full lines, one axis for each cell, the last cell first.

    Index 1 is a cell of mine, 0 one of the opponent's.
    """
    masks = (f"{mask:0{length}b}" for mask in range(2**length))
    points = np.array([sum(_points(len(run)) for run in mask.split("0")) for mask in masks])
    margins: Array = (points - points[::-1]).astype(float)
    return margins.reshape((2,) * length)


def expected_margins(shares: Shares) -> Array:
    """Return the table for lines whose cells, where empty, become mine with these chances."""
    margins = _margins(len(shares))
    for axis, share in enumerate(reversed(shares)):  # from index 0, 1 to the digit 0, 1, 2
        theirs, mine = np.moveaxis(margins, axis, 0)
        margins = np.stack((share * mine + (1 - share) * theirs, mine, theirs), axis)
    return margins.ravel()


class Differences(dict[int, float]):
    """How much each entry of a table changes with a step of the code, when it is asked for.

    Few of all codes come up in a search: to look one of them up here takes less time than to
    subtract. The step of a token gives its gain. Differences of gains, with the step of another
    token, tell how much that one changes them.
    """

    __slots__ = "step", "table"

    def __init__(self, table: "Table | Differences", step: int):
        super().__init__()
        self.table, self.step = table, step

    def __missing__(self, code: int) -> float:
        if len(self) >= MOST_DIFFERENCES:
            self.clear()
        self[code] = difference = self.table[code + self.step] - self.table[code]
        return difference


def _line_tables() -> dict[Shares, tuple[float, ...]]:
    """Return the tables of all lines that a board of up to 12 rows and columns can have."""
    columns = [tuple(uneven_share("column", h) for h in range(top)) for top in range(1, 13)]
    tables = {}
    for length in range(1, LONGEST_TABLE + 1):
        sloping = (column[-length:] for column in columns[length - 1 :])
        for shares in ((0.5,) * length, *sloping):
            margins = expected_margins(shares).tolist()
            tables[shares] = tuple(margins)  # the garbage collector does not walk it
    return tables


TABLES = _line_tables()


def table_of(shares: Shares) -> Table:
    """Return the table of a line; a line of a larger board may have the even one in its place."""
    if len(shares) > LONGEST_TABLE:
        return LongLine(table_of(shares[:LONGEST_TABLE]), table_of(shares[LONGEST_TABLE:]))
    return TABLES.get(shares) or TABLES[(0.5,) * len(shares)]


class LongLine(dict[int, float]):
    """The same for a line that is cut in two: a run across the cut counts as two runs."""

    def __init__(self, low: Table, high: Table):
        super().__init__()
        self.low, self.high = low, high

    def __missing__(self, code: int) -> float:
        high, low = divmod(code, 3**LONGEST_TABLE)
        self[code] = margin = self.low[low] + self.high[high]
        return margin


Move: TypeAlias = tuple[int, bool]
"""What the simulator calls an action: the column, and whether it is a pop-out."""

ME, OPPONENT = 1, 2
KINDS = "row", "rise", "fall", "column"
"""Of lines. Columns come last: `Lines._pop_plan` leaves them out."""

Codes: TypeAlias = list[int]
"""The code of each line."""

Actions: TypeAlias = list[tuple[float, int]]
"""Pairs (gain, action), best first unless stated otherwise.

The gain is the mover's; where the shares are uneven, gains of drops are mine: see `Lines.play`.
"""

Position: TypeAlias = tuple[Codes, Actions, float, int, int, int, int]
"""Codes, drops, expected margin of the mover, key, mover, pop-outs of mover and of the other.

A plain tuple, which each function unpacks into these names: a NamedTuple costs 8 % of the speed.
"""

Changes: TypeAlias = list[tuple[int, int]]
"""Lines and the changes of their codes."""

Shared: TypeAlias = tuple[int, Differences]
"""A line through two cells: its index, and for each of its codes how much the gain in the second
changes with the mover's token in the first."""

PopPlan: TypeAlias = "tuple[float, itemgetter[Any], list[Differences], Changes, int, int]"
"""What a pop-out changes: see `Lines._pop_plan`."""

MOST_PLANS = 2000
"""Pop-out plans kept for a column, so that memory has a bound."""


class Lines:
    """The lines of one board shape: how codes and gains follow from moves.

    Takes time and memory by the square of the cells: made for boards of up to 30x30 or so.
    """

    def __init__(self, rows: int, columns: int, player: int, share: Callable[[str, int], float]):
        self.columns = columns
        self.cells = rows * columns
        self.player = player
        lines: dict[tuple[str, int], list[int]] = {}
        for kind in KINDS:
            for cell in range(self.cells):
                height, column = divmod(cell, columns)
                where = {"row": height, "rise": height - column, "fall": height + column}
                lines.setdefault((kind, where.get(kind, column)), []).append(cell)
        lines = dict(  # short ones first, as they have no windows; columns last
            sorted(lines.items(), key=lambda line: line[0][0] == "column" or len(line[1]) > 3)
        )
        self.column_line = range(len(lines) - columns, len(lines))
        forms = [(kind, line[0], len(line)) for (kind, _), line in lines.items()]
        self.short_lines = sum(kind != "column" and length < 4 for kind, _, length in forms)
        self.forms = forms[self.short_lines :]
        shares = [
            tuple(share(kind, cell // columns) for cell in line)
            for (kind, _), line in lines.items()
        ]
        self.even = {0.5}.issuperset(chain.from_iterable(shares))
        tables = {line: table_of(line) for line in shares}
        self.tables = [tables[line] for line in shares]
        self.crossing: list[list[tuple[int, int]]] = [[] for _ in range(self.cells)]
        for index, line in enumerate(lines.values()):
            for place, cell in enumerate(line):
                self.crossing[cell].append((index, 3**place))
        self.known_differences: dict[tuple[int, int, int], Differences] = {}
        self._prepare(list(lines.values()))
        bits = random.Random(0)
        self.keys = [[bits.getrandbits(60) for _ in range(self.cells)] for _ in range(3)]
        self.turn = bits.getrandbits(60)
        self.pop_plans: list[dict[int, PopPlan]] = [{} for _ in range(columns)]
        columns_kept = list(zip(range(columns), self.column_line, self.pop_plans, strict=True))
        self.own_columns = [columns_kept[(player - mover) % 2 :: 2] for mover in (0, ME, OPPONENT)]

    def _prepare(self, lines: list[list[int]]) -> None:
        """Lay out flat, by cell, what the search looks up all the time."""
        self.look_ups: list[list[tuple[Any, ...]]] = [
            [
                tuple(chain.from_iterable((i, self.differences(i, mover * w)) for i, w in four))
                for four in self.crossing
            ]
            for mover in (0, ME, OPPONENT)
        ]
        self.above = [
            self.look_ups[ME][cell + self.columns :: self.columns] for cell in range(self.cells)
        ]
        self.changes: list[list[tuple[int, ...]]] = [
            [
                tuple(chain.from_iterable((line, mover * w) for line, w in four))
                for four in self.crossing
            ]
            for mover in (0, ME, OPPONENT)
        ]
        self.shared: list[list[list[Shared | None]]] = [
            [[None] * self.cells for _ in range(self.cells)] for _ in range(3)
        ]
        for mover in (ME, OPPONENT):
            for index, line in enumerate(lines):
                for (i, cell), (j, other) in permutations(enumerate(line), 2):
                    both = self.differences(index, 3**j, mover * 3**i)
                    self.shared[mover][cell][other] = index, both

    def differences(self, line: int, step: int, second: int = 0) -> Differences:
        """Return the differences of a line's table, or with a second step those of them.

        Lines of one form share theirs.
        """
        form = id(self.tables[line]), step, second
        if form not in self.known_differences:
            table = self.differences(line, step) if second else self.tables[line]
            self.known_differences[form] = Differences(table, second or step)
        return self.known_differences[form]

    def read(self, board: Array, own: int, other: int) -> Position:
        """Return the position on `board` with me to move."""
        codes = [0] * len(self.tables)
        landing = list(range(self.columns))
        key = 0
        for cell, token in enumerate(board[::-1].ravel().tolist()):
            if token:
                mover = ME if token == self.player else OPPONENT
                for line, weight in self.crossing[cell]:
                    codes[line] += mover * weight
                key ^= self.keys[mover][cell]
                landing[cell % self.columns] += self.columns
        total = sum(table[code] for table, code in zip(self.tables, codes, strict=True))
        return codes, self._drops(codes, landing), total, key, ME, own, other

    def move(self, action: int) -> Move:
        """Return an action as the simulator knows it."""
        return (action % self.columns, False) if action >= 0 else (~action, True)

    def empty_cells(self, drops: Actions) -> int:
        """Return the number of empty cells, given all drops."""
        return sum([len(self.above[cell]) for _, cell in drops], len(drops))

    def plies_left(self, position: Position) -> int:
        """Return the greatest number of moves until the game ends: each one lowers it by 1."""
        _, drops, _, _, _, own, other = position
        return self.empty_cells(drops) + 2 * (own + other)

    def actions(self, position: Position) -> Actions:
        """Return what the mover can do."""
        codes, drops, _, _, mover, own, _ = position
        return sorted(drops + self.pops(codes, mover), reverse=True) if own else drops

    def play(self, position: Position, gain: float, action: int) -> Position:
        """Return the position after one of the mover's `actions`."""
        codes, drops, total, key, mover, own, other = position
        if action >= 0:
            codes, drops = self._drop(codes, drops, action, mover)
            key ^= self.keys[mover][action]
            if mover == OPPONENT and not self.even:
                gain = self.loss(position[0], action)
        else:
            codes, drops, change = self._pop(codes, drops, ~action)
            key ^= change
            own -= 1
        return codes, drops, -total - gain, key ^ self.turn, 3 - mover, other, own

    def loss(self, codes: Codes, cell: int) -> float:
        """Return how much my margin falls with a token of the opponent's in the `cell`."""
        i, a, j, b, k, c, m, d = self.look_ups[OPPONENT][cell]
        change: float = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
        return -change

    def gain_above(self, codes: Codes, cell: int, mover: int) -> float:
        """Return the gain in the cell above `cell` once the mover has taken that one."""
        above = cell + self.columns
        if above >= self.cells:
            return 0.0
        i, a, j, b, k, c, m, d = self.look_ups[ME][above]
        taken = codes[m] + self.changes[mover][cell][-1]
        gain: float = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[taken]
        return gain

    def _drops(self, codes: Codes, landing: list[int]) -> Actions:
        """Return the drops into the `landing` cells that are on the board."""
        drops = []
        for cell in landing:
            if cell < self.cells:
                i, a, j, b, k, c, m, d = self.look_ups[ME][cell]
                gain = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
                drops.append((gain, cell))
        drops.sort(reverse=True)
        return drops

    def _drop(self, codes: Codes, drops: Actions, cell: int, mover: int) -> tuple[Codes, Actions]:
        """Return the codes after a drop, and the drops that are possible then."""
        after = codes[:]
        i, a, j, b, k, c, m, d = self.changes[mover][cell]
        after[i] += a
        after[j] += b
        after[k] += c
        after[m] += d
        shared = self.shared[mover][cell]
        above = cell + self.columns
        replies = []
        if above < self.cells:
            i, a, j, b, k, c, m, d = self.look_ups[ME][above]
            replies.append((a[after[i]] + b[after[j]] + c[after[k]] + d[after[m]], above))
        for drop in drops:
            gain, other = drop
            if common := shared[other]:
                line, changes = common
                replies.append((gain + changes[codes[line]], other))
            elif other != cell:
                replies.append(drop)
        replies.sort(reverse=True)
        return after, replies

    def pops(self, codes: Codes, mover: int) -> Actions:
        """Return the pop-outs in the mover's columns, in no order.

        It repeats what `pop_gain` does: calling that for each column costs 4 to 9 % more time.
        """
        pops = []
        for column, line, plans in self.own_columns[mover]:
            if code := codes[line]:
                plan = plans.get(code) or self._pop_plan(column, code)
                in_column, crossing, differences, _, _, _ = plan
                gain = sum(map(getitem, differences, crossing(codes)), in_column)
                pops.append((gain if mover == ME else -gain, ~column))
        return pops

    def pop_gain(self, codes: Codes, column: int, mover: int) -> float:
        """Return the mover's gain from a pop-out of a column that is not empty."""
        plan = self._pop_plan(column, codes[self.column_line[column]])
        in_column, crossing, differences, _, _, _ = plan
        gain: float = sum(map(getitem, differences, crossing(codes)), in_column)
        return gain if mover == ME else -gain

    def _pop(self, codes: Codes, drops: Actions, column: int) -> tuple[Codes, Actions, int]:
        """Return the codes and drops after a pop-out, and the change of the key."""
        after = codes[:]
        code = codes[self.column_line[column]]
        _, _, _, changes, key, top = self._pop_plan(column, code)
        for line, change in changes:
            after[line] += change
        landing = [cell for _, cell in drops if cell % self.columns != column]
        landing.append(top)
        return after, self._drops(after, landing), key

    def _pop_plan(self, column: int, code: int) -> PopPlan:
        """Return what a pop-out does to a column with this code.

        That is my gain in the column itself, what reads the codes of the rows and diagonals that
        change, their differences, the changes of all codes, the change of the key, and the highest
        cell that was taken.
        """
        if plan := self.pop_plans[column].get(code):
            return plan
        if len(self.pop_plans[column]) >= MOST_PLANS:
            self.pop_plans[column].clear()
        changes: Changes = []
        cell, rest, key = column, code, 0
        while rest:
            rest, token = divmod(rest, 3)
            falling = rest % 3
            if falling != token:
                step = falling - token
                changes += [(line, step * weight) for line, weight in self.crossing[cell][:3]]
                key ^= self.keys[token][cell] ^ (self.keys[falling][cell] if falling else 0)
            cell += self.columns
        crossing = itemgetter(*(line for line, _ in changes))
        differences = [self.differences(*change) for change in changes]
        column_line = self.column_line[column]
        table = self.tables[column_line]
        gain = table[code // 3] - table[code]
        changes.append((column_line, code // 3 - code))
        plan = gain, crossing, differences, changes, key, cell - self.columns
        self.pop_plans[column][code] = plan
        return plan


DEEPEST: Final = 200
"""Plies: what keeps the recursion of a search far from Python's limit."""

OWN_KEY, OTHER_KEY = 0x9E3779B97F4A7C1, 0xD1B54A32D192ED0
"""Numbers without a pattern, which keep positions apart that differ in the pop-outs left."""


class Found(NamedTuple):
    """The result of a search."""

    action: int
    values: tuple[tuple[int, float], ...] = ()
    """Each depth that was searched whole, with the margin found there for the action chosen."""
    solved: bool = False
    """Whether the last depth reached the end of the game."""


def slot_of(position: Position) -> int:
    """Return the number that a table knows a position by."""
    _, _, _, key, _, own, other = position
    return key ^ own * OWN_KEY ^ other * OTHER_KEY
