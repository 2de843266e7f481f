"""What all searches share: moves and their order, the budget, and the values of positions."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Final, TypeAlias

from connect4.games.base import Action, Seconds, State
from connect4.games.board import Grid

Move: TypeAlias = Action | None
"""An action, or None for the pass of a mover without a legal action."""

Order: TypeAlias = Callable[[State], Sequence[Move]]
"""Returns every move of an unfinished position, in search order."""

PASS: Final[tuple[Move]] = (None,)


def after(state: State, move: Move) -> State:
    """Return the position after the mover's `move`."""
    return state.skip() if move is None else state.apply(move)


def ascending(state: State) -> Sequence[Move]:
    """Return the moves in the order of the game: columns from left to right."""
    return state.legal_actions() or PASS


def center(state: State) -> Sequence[Move]:
    """Return the moves by distance from the middle; ties keep the game's order."""
    actions, distances = state.legal_actions(), state.distances
    return (sorted(actions, key=distances.__getitem__) if distances else actions) or PASS


ORDERS: Final[dict[str, Order]] = {"center": center, "ascending": ascending}


STRIDE: Final = 64
"""Nodes between two looks at the clock: a few milliseconds at most."""


class OutOfBudgetError(Exception):
    """The search has used up its time or its nodes."""


class Deadline:
    """A budget that starts now, limited by `seconds` of `time.monotonic`, `nodes`, both or neither.

    A search counts its nodes and calls `check` when the count reaches `next_check`; or it calls
    `spend`.
    """

    def __init__(
        self, seconds: Seconds | None = None, nodes: int | None = None, stride: int = STRIDE
    ) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._nodes = math.inf if nodes is None else nodes
        self._stride = stride
        self._spent = 0
        self.next_check = min(stride, self._nodes + 1)

    def check(self, nodes: int) -> None:
        """Raise `OutOfBudgetError` if `nodes` exceeds the budget or the time is up."""
        if nodes > self._nodes or time.monotonic() >= self._end:
            raise OutOfBudgetError
        self.next_check = min(nodes + self._stride, self._nodes + 1)

    def spend(self) -> None:
        """Count one node; raises `OutOfBudgetError`."""
        self._spent += 1
        if self._spent >= self.next_check:
            self.check(self._spent)

    def seconds_left(self) -> Seconds:
        """Return the seconds that are left; infinity if there is no time limit."""
        return self._end - time.monotonic()


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the garbage collector during a search, whose many objects take long to traverse.

    Searches create no reference cycles, so there is nothing to collect. The objects that exist at
    the end are frozen until the next search; otherwise the first collection would traverse them.
    """
    collects = gc.isenabled()
    gc.disable()
    gc.unfreeze()
    try:
        yield
    finally:
        if collects:
            gc.freeze()
            gc.enable()


WIN: Final = 1_000_000_000
"""Greater than every heuristic value."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The values of the positions at the end of a search, from their mover's view.

    `leaf(state)` estimates an unfinished position. `final(state, depth)` is the value of a finished
    one that is reached with `depth` plies of the search left.
    """

    leaf: Callable[[State], float]
    final: Callable[[State, int], float]


def win_or_loss(state: State, depth: int) -> float:
    """Return the value of a finished game in which only winning counts.

    A win with `depth` plies of the search left is worth `WIN + depth`, so fast wins and slow losses
    are better. The value depends on the position and the search depth, not on the moves that led to
    it, so a transposition table may store it.
    """
    margin = state.margin(state.mover)
    if not margin:
        return 0
    return WIN + depth if margin > 0 else -WIN - depth


def points(worth: float = 1) -> Callable[[State, int], float]:
    """Return the value of a finished game that points decide: the margin times `worth`."""
    return lambda state, depth: worth * state.margin(state.mover)


REMEMBERED: Final = 50_000
"""Values that each estimate remembers, about 10 MB."""


def of_tokens(value: Callable[[Grid, int, int], float]) -> Callable[[State], float]:
    """Return the mover's estimate from `value`, player 1's estimate for tokens `one` and `two`.

    Recent values are cached, because a search reaches most positions by several move orders.
    """
    remembered = lru_cache(REMEMBERED)(value)

    @wraps(value)
    def leaf(state: State) -> float:
        worth = remembered(state.grid, *state.bitboards())
        return worth if state.mover == 1 else -worth

    return leaf
