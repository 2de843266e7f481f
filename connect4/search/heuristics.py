"""Heuristics: estimates of unfinished positions, from the mover's view, each in its own units.

`HEURISTICS` lists those that each game uses, and what a point is worth in each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.errors import InputError
from connect4.games.base import Game, State
from connect4.games.board import Grid
from connect4.search import Evaluation, of_tokens, points, win_or_loss


class Planes(NamedTuple):
    """For the windows of both players: which of them hold N of that player's tokens.

    A plane may have bits that are not windows; mask it with `Windows.starts` or a part of it.
    """

    first: int
    """The window's first cell is taken (never so in windows of three)."""
    last: int
    any: int
    """At least one cell is taken."""
    one: int
    two: int
    three: int
    four: int


class Windows:
    """The windows of a grid, as bits of one wide integer.

    A window is a set of cells that can form a line of four (or of three, if the game requires
    three). Each of a grid's four directions has a lane of `width` bits; player 2's lanes are above
    player 1's. A window is the bit of its last cell in the lane of its direction. Multiplying a
    board by a constant with one bit per lane copies the board into every lane and shifts each copy
    along that lane's direction. A few operations on wide integers then process every window.

    `starts` are those that lie on the board, `lanes[direction]` those of one direction, in the
    order of `Grid.shifts`: up, right, down-right, up-right.
    """

    def __init__(self, grid: Grid) -> None:
        """Use `windows_of`, which creates them once for each grid."""
        steps = grid.line - 1
        width = grid.cells.bit_length() + steps * max(grid.shifts)
        self.offset = len(grid.shifts) * width
        self._low = (1 << self.offset) - 1
        self._copy = 1 | 1 << self.offset
        self._spread = [
            sum(1 << lane * width + step * shift for lane, shift in enumerate(grid.shifts))
            if step < grid.line
            else 0
            for step in range(4)
        ]
        self.lanes = [
            (start << steps * shift + lane * width) * self._copy
            for lane, (shift, start) in enumerate(zip(grid.shifts, grid.starts, strict=True))
        ]
        self.starts = sum(self.lanes)

    def planes(self, one: int, two: int) -> Planes:
        """Count the tokens of player 1 and of player 2 in each window."""
        both = one | two << self.offset
        of_last, of_third, of_second, of_first = self._spread
        last, third = both * of_last, both * of_third
        second, first = both * of_second, both * of_first
        early, late = first & second, third & last
        odd_early, odd_late = first ^ second, third ^ last
        odd, unlike = odd_early ^ odd_late, early ^ late
        three = odd & unlike
        return Planes(
            first,
            last,
            first | second | third | last,
            odd ^ three,
            unlike ^ three | odd_early & odd_late,
            three,
            early & late,
        )

    def without_enemy(self, planes: Planes) -> int:
        """Return each player's windows that hold no token of the opponent."""
        taken = planes.any
        return self.starts & ~(taken >> self.offset | (taken & self._low) << self.offset)

    def lead(self, windows: int) -> int:
        """Return how many more of `windows` are player 1's than player 2's."""
        return 2 * (windows & self._low).bit_count() - windows.bit_count()


windows_of = cache(Windows)
"""Returns the windows of a grid."""


Matrix: TypeAlias = npt.NDArray[np.float32]

HARD: Final = (np.ones((1, 4)), np.ones((4, 1)), np.eye(4), np.eye(4)[::-1])
"""The kernels of the lines of four."""

BESIDE: Final = np.array([[0, 1, 1, 1, 1, 0], [1, 2, 2, 2, 2, 1], [0, 1, 1, 1, 1, 0]])
DIAGONAL: Final = np.diag([1, 2, 2, 2, 2, 1]) + np.eye(6, k=1) + np.eye(6, k=-1)
SOFT: Final = (BESIDE, BESIDE.T, DIAGONAL, DIAGONAL[::-1])
"""The kernels of soft lines: the line's own cells count double, their neighbours once."""


@cache
def convolutions_of(grid: Grid) -> tuple[Matrix, Matrix]:
    """Return the convolutions with `HARD` and with `SOFT` as matrices.

    A row has the weights of a board's bits in the value of one kernel at one cell. The kernel's
    middle, `(rows // 2, columns // 2)`, lies on the cell; what is beyond the edge counts 0.
    """
    bits = -(-grid.cells.bit_length() // 8) * 8
    found = []
    for kernels in (HARD, SOFT):
        weights = np.zeros((len(kernels), grid.rows, grid.columns, bits), np.float32)
        for number, row, column in np.ndindex(weights.shape[:-1]):
            kernel = kernels[number]
            for (down, right), weight in np.ndenumerate(kernel):
                y = row + kernel.shape[0] // 2 - down
                x = column + kernel.shape[1] // 2 - right
                if 0 <= y < grid.rows and 0 <= x < grid.columns:
                    weights[number, row, column, grid.bit(y, x).bit_length() - 1] = weight
        found.append(weights.reshape(-1, bits))
    return found[0], found[1]


def margin(state: State) -> int:
    """Return the current margin."""
    return state.margin(state.mover)


@of_tokens
def potential(grid: Grid, one: int, two: int) -> int:
    """Return the sum of 10 ** N over all windows with N tokens of one player and no others."""
    windows = windows_of(grid)
    planes = windows.planes(one, two)
    free = windows.without_enemy(planes)
    lead = windows.lead
    return (
        10 * lead(planes.one & free)
        + 100 * lead(planes.two & free)
        + 1_000 * lead(planes.three & free)
        + 10_000 * lead(planes.four & free)
    )


@of_tokens
def windows(grid: Grid, one: int, two: int) -> int:
    """Return the sum of 2, 5, 8 over all windows with 1, 2, 3 tokens of one player and no others.

    The player can still fill these windows. The weights were found in games between agents that
    differed only in their weights.
    """
    board = windows_of(grid)
    planes = board.planes(one, two)
    free = board.without_enemy(planes)
    lead = board.lead
    return 2 * lead(planes.one & free) + 5 * lead(planes.two & free) + 8 * lead(planes.three & free)


@of_tokens
def v1(grid: Grid, one: int, two: int) -> int:
    """Return the first estimate of the published 64-bit agent.

    For each token it looks at the windows of four that go up, right, up-right and up-left from it.
    A window with n >= 2 own tokens and no enemy counts n; one with three own tokens and an enemy
    counts -1. A window to the left with three own tokens and an empty far cell counts 3 more.
    """
    view = _View(grid, one, two)
    lead, planes = view.lead, view.planes
    return (
        2 * lead(planes.two & view.forward)
        + 3 * lead(planes.three & view.forward)
        + 4 * lead(planes.four & view.forward)
        - lead(planes.three & view.spoilt)
        + 3 * lead(planes.three & view.left)
    )


@of_tokens
def v2(grid: Grid, one: int, two: int) -> int:
    """Return the second estimate of the published 64-bit agent.

    It uses the windows of `v1`, and those that go down-right and down-left to an empty far cell.
    The value of a window depends on how many of its cells are occupied or can be occupied at once.
    """
    view = _View(grid, one, two)
    lead, planes = view.lead, view.planes
    taken = one | two
    reach = view.windows.planes(*[taken | (taken + sum(grid.bottoms)) & grid.cells] * 2)
    two_own, three = planes.two, planes.three
    _, _, down_right, up_right = view.windows.lanes
    first, last = planes.first, planes.last
    down = view.free & (first & ~last & down_right | last & ~first & up_right)
    backward = view.left | down
    return (
        40 * lead(planes.four & view.forward)
        + 15 * lead(three & view.forward)
        + 2 * lead(three & view.forward & reach.four)
        + 2 * lead(two_own & view.forward)
        + 2 * lead(two_own & view.forward & reach.four)
        - 13 * lead(three & view.spoilt)
        + 15 * lead(three & backward)
        + 2 * lead(three & backward & reach.four)
        + 4 * lead(two_own & backward & reach.four)
        + 2 * lead(two_own & down & reach.three)
    )


class _View:
    """Windows of four, seen from the token that starts them, for `v1` and `v2`.

    `forward` go up, right, up-right and up-left from an own token and hold no enemy; `spoilt` have
    three own tokens and exactly one enemy. `left` go left from an own token, hold no enemy, and end
    in an empty cell.
    """

    def __init__(self, grid: Grid, one: int, two: int) -> None:
        self.windows = windows = windows_of(grid)
        self.planes = planes = windows.planes(one, two)
        self.lead = windows.lead
        _, right, down_right, _ = windows.lanes
        self.free = free = windows.without_enemy(planes)
        own = planes.first & (windows.starts ^ down_right) | planes.last & down_right
        self.forward = own & free
        self.spoilt = own ^ self.forward
        self.left = planes.last & ~planes.first & free & right


@of_tokens
def connected(grid: Grid, one: int, two: int) -> int:
    """Return the most own pieces in any one window, gaps allowed, minus the opponent's."""
    board = windows_of(grid)
    first = second = 0
    for count, plane in enumerate(board.planes(one, two)[3:], 1):
        held = plane & board.starts
        first = count if held & (1 << board.offset) - 1 else first
        second = count if held >> board.offset else second
    return first - second


@of_tokens
def fuzzy(grid: Grid, one: int, two: int) -> float:
    """Return the lead in the best line of four, plus an eighth of the lead in the best soft line.

    A line is the most own pieces in four cells in a row, which may hang over the edge. A soft line
    is the greatest convolution with a kernel of `SOFT`, own pieces counted as 1 and the opponent's
    as -1 (the published agent's `fuzzyHeuristic`).
    """
    hard, soft = convolutions_of(grid)
    size = hard.shape[1] // 8
    data = np.frombuffer((one | two << 8 * size).to_bytes(2 * size, "little"), np.uint8)
    boards = np.unpackbits(data, bitorder="little").reshape(2, -1).astype(np.float32)
    lines = (boards @ hard.T).max(axis=1)
    sums = soft @ (boards[0] - boards[1])
    return float(lines[0] - lines[1] + (sums.max() + sums.min()) / 8)


WORTH: Final = (0, 90, 40, 20, 11, 6, 3, 2, 1)
"""The value of a line by the steps that it needs; the last entry is also for more steps."""

BLOCKED: Final = 3
"""The value of a line that lacks one cell, which an enemy occupies."""

AHEAD: Final = 4
"""The value of needing fewer steps to the nearest line than the opponent."""

CENTRAL: Final = 0.5
"""The value of a piece, for each of the three innermost squares that contain it."""

MOBILE: Final = 0.3
"""The value of each step that a piece can make."""


class Steps:
    """How many steps the pieces of a grid need to get somewhere, if they slide."""

    def __init__(self, grid: Grid) -> None:
        """Use `steps_of`, which creates them once for each grid."""
        self._grid = grid
        self.cells = grid.cells
        up, right = grid.shifts[:2]
        cells = [1 << index for index in range(grid.cells.bit_length()) if grid.cells >> index & 1]
        around = {  # the cells one step from each cell
            cell: (cell << up | cell >> up | cell << right | cell >> right) & grid.cells
            for cell in cells
        }
        self._within: dict[int, list[int]] = {}
        """For each cell the cells that are at most 1, 2, 3, ... steps away."""
        for cell in cells:
            reached, rings = cell, []
            while reached != grid.cells:
                for other in [other for other in cells if other & reached]:
                    reached |= around[other]
                rings.append(reached)
            self._within[cell] = rings
        middle_row, middle_column = (grid.rows - 1) / 2, (grid.columns - 1) / 2
        self._squares = [
            sum(
                grid.bit(row, column)
                for row in range(grid.rows)
                for column in range(grid.columns)
                if max(abs(row - middle_row), abs(column - middle_column)) <= size
            )
            for size in range(3)
        ]

    def steps(self, missing: int, rest: int) -> int:
        """Return how many steps the nearest pieces of `rest` need to reach the cells `missing`."""
        needed = 0
        while missing:
            cell = missing & -missing
            missing ^= cell
            for away, reached in enumerate(self._within[cell], 1):
                if reached & rest:
                    needed += away
                    break
        return needed

    def lines(self, own: int, other: int) -> tuple[float, int]:
        """Return the value of the lines of `own`, and the fewest steps that complete one."""
        worth, fewest = 0.0, len(WORTH)
        for window in self._grid.windows:
            held = own & window
            if not held & held - 1:
                continue
            enemy = other & window
            if not enemy:
                needed = min(self.steps(window ^ held, own ^ held), len(WORTH) - 1)
                worth += WORTH[needed]
                fewest = min(fewest, needed)
            elif held | enemy == window and not enemy & enemy - 1:
                worth += BLOCKED
        return worth, fewest

    def freedom(self, own: int, empty: int) -> float:
        """Return the value of the squares of the pieces `own`: central, and free to move."""
        mobile = sum(
            (own << shift & empty).bit_count() + (own >> shift & empty).bit_count()
            for shift in self._grid.shifts[:2]
        )
        central = sum((own & square).bit_count() for square in self._squares)
        return MOBILE * mobile + CENTRAL * central


steps_of = cache(Steps)
"""Returns the steps of a grid."""


@of_tokens
def race(grid: Grid, one: int, two: int) -> float:
    """Return the value of both sides' lines by the steps that they still need.

    The steps are those of the shortest path, even if other pieces block it.
    """
    board = steps_of(grid)
    empty = board.cells & ~(one | two)
    ours, our_steps = board.lines(one, two)
    theirs, their_steps = board.lines(two, one)
    ahead = AHEAD * ((our_steps < their_steps) - (our_steps > their_steps))
    return ours - theirs + ahead + board.freedom(one, empty) - board.freedom(two, empty)


@dataclass(frozen=True, slots=True)
class Heuristic:
    """An estimate of unfinished positions, and how one game uses it."""

    name: str
    estimate: Callable[[State], float]
    """Estimates a state, from the mover's view."""
    point: float = 0
    """The value of a point in the estimate's units; 0 if only winning counts."""
    scale: float = 1
    """A clear advantage in those units, for analyses of games in which only winning counts."""
    beside_points: bool = False
    """Whether it estimates future points only; the current points are then added."""
    rates_wins: bool = False
    """Whether it also values positions that are over."""

    def evaluation(self) -> Evaluation:
        """Return an evaluation that uses the estimate before the end of a game."""
        leaf, point = self.estimate, self.point
        if self.rates_wins:
            return Evaluation(leaf, lambda state, depth: leaf(state))
        if not point:
            return Evaluation(leaf, win_or_loss)
        if self.beside_points:
            return Evaluation(
                lambda state: leaf(state) + point * state.margin(state.mover), points(point)
            )
        return Evaluation(leaf, points(point))


HEURISTICS: Final[dict[str, tuple[Heuristic, ...]]] = {
    "extended": (
        Heuristic("windows", windows, point=1, beside_points=True),
        Heuristic("margin", margin, point=1),
        Heuristic("potential", potential, point=500),
    ),
    "classic": (
        Heuristic("windows", windows, scale=20, beside_points=True),
        # The published agent with this estimate has no other value for a won game, and so may
        # prefer two fours later to one at once; its moves and values are reproduced with that.
        Heuristic("potential", potential, rates_wins=True),
        Heuristic("v1", v1),
        Heuristic("v2", v2),
    ),
    "classic-full": (
        Heuristic("windows", windows, point=20, beside_points=True),
        Heuristic("margin", margin, point=1),
        Heuristic("potential", potential, point=10_000),
        Heuristic("v1", v1, point=4),
        Heuristic("v2", v2, point=40),
    ),
    "dynamic": (
        Heuristic("race", race, scale=60),
        Heuristic("fuzzy", fuzzy, scale=2),
        Heuristic("connected", connected, scale=2),
    ),
    "popout": (
        Heuristic("windows", windows, scale=20, beside_points=True),
        Heuristic("potential", potential, scale=500),
    ),
}
"""The heuristics of each game, the default first. Agents that need one refuse a game without."""


def heuristic_of(game: Game, name: str | None = None) -> Heuristic:
    """Return a game's heuristic of that name, or its default; raises `InputError`."""
    found = HEURISTICS.get(game.name, ())
    for entry in found:
        if name in (None, entry.name):
            return entry
    known = ", ".join(entry.name for entry in found)
    expected = f"expected one of {known}" if known else "the game has none"
    wanted = "" if name is None else f" {name!r}"
    raise InputError(f"no heuristic{wanted} in {game.name}; {expected}")
