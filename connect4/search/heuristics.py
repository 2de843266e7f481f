"""Estimates of positions that go on, by name: for the mover, each in units of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from connect4.games.base import State
from connect4.search.evaluation import Evaluation, points, win_or_loss
from connect4.search.softlines import soft_lines_of
from connect4.search.windows import windows_of


def margin(state: State) -> int:
    """Return the points as they stand."""
    return state.margin(state.mover)


def potential(state: State) -> int:
    """Return the sum over all windows of one player's tokens alone: 10 to the number of them."""
    windows = windows_of(state.grid)
    planes = windows.planes(*state.bitboards())
    free = windows.without_enemy(planes)
    lead = windows.lead
    value = (
        10 * lead(planes.one & free)
        + 100 * lead(planes.two & free)
        + 1_000 * lead(planes.three & free)
        + 10_000 * lead(planes.four & free)
    )
    return value if state.mover == 1 else -value


def windows(state: State) -> int:
    """Return the sum over all windows of one player's tokens alone: 2, 5, 8 for 1, 2, 3 of them.

    Those are the windows that a player can still fill; the weights were found in games between
    agents that differed in nothing else.
    """
    board = windows_of(state.grid)
    planes = board.planes(*state.bitboards())
    free = board.without_enemy(planes)
    lead = board.lead
    value = (
        2 * lead(planes.one & free) + 5 * lead(planes.two & free) + 8 * lead(planes.three & free)
    )
    return value if state.mover == 1 else -value


def v1(state: State) -> int:
    """Return the first estimate of the published 64-bit agent.

    Every token looks along the windows of four that go up, right, up-right and up-left from it:
    n >= 2 own tokens and no enemy's count n, three own ones with an enemy's -1. A window that goes
    left, with three own tokens and its far cell empty, counts 3 more.
    """
    view = _View(state)
    lead, planes = view.lead, view.planes
    value = (
        2 * lead(planes.two & view.forward)
        + 3 * lead(planes.three & view.forward)
        + 4 * lead(planes.four & view.forward)
        - lead(planes.three & view.spoilt)
        + 3 * lead(planes.three & view.left)
    )
    return value if state.mover == 1 else -value


def v2(state: State) -> int:
    """Return the second estimate of the published 64-bit agent.

    The windows are those of `v1`, and those that go down-right and down-left with the far cell
    empty. What one is worth depends on how many of its cells are taken or can be taken at once.
    """
    view = _View(state)
    lead, planes = view.lead, view.planes
    windows = view.windows
    grid = state.grid
    taken = sum(state.bitboards())
    reach = windows.planes(*[taken | (taken + sum(grid.bottoms)) & grid.cells] * 2)
    two, three = planes.two, planes.three
    backward = view.left | view.down
    value = (
        40 * lead(planes.four & view.forward)
        + 15 * lead(three & view.forward)
        + 2 * lead(three & view.forward & reach.four)
        + 2 * lead(two & view.forward)
        + 2 * lead(two & view.forward & reach.four)
        - 13 * lead(three & view.spoilt)
        + 15 * lead(three & backward)
        + 2 * lead(three & backward & reach.four)
        + 4 * lead(two & backward & reach.four)
        + 2 * lead(two & view.down & reach.three)
    )
    return value if state.mover == 1 else -value


class _View:
    """Windows of four by the token that looks along them, for `v1` and `v2`.

    `forward` go up, right, up-right and up-left from an own token and hold no enemy; `spoilt` are
    those with exactly one enemy, where three are own. `left` and `down` go left, and down-right or
    down-left, from an own token, hold no enemy, and end in an empty cell.
    """

    def __init__(self, state: State) -> None:
        self.windows = windows = windows_of(state.grid)
        self.planes = planes = windows.planes(*state.bitboards())
        self.lead = windows.lead
        up, right, down_right, up_right = windows.lanes
        free = windows.without_enemy(planes)
        own = planes.first & (up | right | up_right) | planes.last & down_right
        self.forward = own & free
        self.spoilt = own & ~free
        self.left = planes.last & ~planes.first & free & right
        self.down = free & (
            planes.first & ~planes.last & down_right | planes.last & ~planes.first & up_right
        )


def connected(state: State) -> int:
    """Return the most own pieces in any one window, gaps allowed, minus the opponent's."""
    windows = windows_of(state.grid)
    planes = windows.planes(*state.bitboards())
    one = two = 0
    for count, plane in enumerate((planes.one, planes.two, planes.three, planes.four), 1):
        in_one, in_two = windows.players(plane & windows.starts)
        if in_one:
            one = count
        if in_two:
            two = count
    return one - two if state.mover == 1 else two - one


def fuzzy(state: State) -> float:
    """Return `connected` plus an eighth of the best soft line, minus the opponent's likewise.

    A soft line is a window whose own cells count double and their neighbours once, for the owner
    and against the other.
    """
    one, two = soft_lines_of(state.grid).best(*state.bitboards())
    return connected(state) + (one - two if state.mover == 1 else two - one) / 8


@dataclass(frozen=True, slots=True)
class Heuristic:
    """An estimate, the games it makes sense in, and what a point of a scored game is worth in it.

    `point` has a game's name for each game; 0 where only winning counts. `beside_points` says that
    the estimate is of what may still come, beside the points so far. In the games of `rates_wins`
    it is also the value of positions that are over.
    """

    leaf: Callable[[State], float]
    point: dict[str, float]
    beside_points: bool = False
    rates_wins: frozenset[str] = frozenset()

    def evaluation(self, game: str) -> Evaluation:
        """Return the estimate together with the value of positions that are over."""
        point, leaf = self.point[game], self.leaf
        if game in self.rates_wins:
            return Evaluation(leaf, lambda state, depth: leaf(state))
        if not point:
            return Evaluation(leaf, win_or_loss)
        if self.beside_points:
            return Evaluation(
                lambda state: leaf(state) + point * state.margin(state.mover), points(point)
            )
        return Evaluation(leaf, points(point))


HEURISTICS: Final[dict[str, Heuristic]] = {
    "margin": Heuristic(margin, {"extended": 1, "classic-full": 1}),
    "windows": Heuristic(
        windows, {"extended": 1, "classic": 0, "classic-full": 20}, beside_points=True
    ),
    # The published agent with this estimate has no other value for a won game, and so may prefer
    # two fours later to one at once; its moves and values are reproduced with that.
    "potential": Heuristic(
        potential,
        {"extended": 500, "classic": 0, "classic-full": 10_000},
        rates_wins=frozenset({"classic"}),
    ),
    "v1": Heuristic(v1, {"classic": 0, "classic-full": 4}),
    "v2": Heuristic(v2, {"classic": 0, "classic-full": 40}),
    "connected": Heuristic(connected, {"dynamic": 0}),
    "fuzzy": Heuristic(fuzzy, {"dynamic": 0}),
}

DEFAULT: Final = {
    "extended": "windows",
    "classic": "windows",
    "classic-full": "windows",
    "dynamic": "fuzzy",
}
"""Each game's default heuristic."""

PAYS_POINTS: Final = frozenset({"extended", "classic-full"})
"""The games whose margin counts; in the others only winning does."""
