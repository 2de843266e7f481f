"""What all searches share: moves and their order, the budget, and the values of positions."""

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Final, TypeAlias

from connect4.games.base import Action, Seconds, State
from connect4.games.board import Grid

Move: TypeAlias = Action | None
"""An action, or None for the pass of a mover without a legal action."""

Order: TypeAlias = Callable[[State], Sequence[Move]]
"""Returns every move of an unfinished position, in search order."""

PASS: Final[tuple[Move]] = (None,)


def ascending(state: State) -> Sequence[Move]:
    """Return the moves in the order of the game: columns from left to right."""
    return state.legal_actions() or PASS


def center(state: State) -> Sequence[Move]:
    """Return the moves by distance from the middle; ties keep the game's order."""
    actions, distances = state.legal_actions(), state.distances
    return (sorted(actions, key=distances.__getitem__) if distances else actions) or PASS


ORDERS: Final[dict[str, Order]] = {"center": center, "ascending": ascending}


class OutOfBudgetError(Exception):
    """The search has used up its time or its nodes."""


class Deadline:
    """A budget that starts now, limited by `seconds` of `time.monotonic`, `nodes`, both or neither.

    A search counts its nodes and calls `check` when the count reaches `next_check`; or it calls
    `spend`.
    """

    STRIDE = 64
    """Nodes between two looks at the clock: a few milliseconds at most."""

    def __init__(
        self, seconds: Seconds | None = None, nodes: int | None = None, stride: int = STRIDE
    ) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._nodes = math.inf if nodes is None else nodes
        self._stride = stride
        self.spent = 0
        """The nodes that `spend` has counted."""
        self.next_check = min(stride, self._nodes + 1)

    def check(self, nodes: int) -> None:
        """Raise `OutOfBudgetError` if `nodes` exceeds the budget or the time is up."""
        if nodes > self._nodes or time.monotonic() >= self._end:
            raise OutOfBudgetError
        self.next_check = min(nodes + self._stride, self._nodes + 1)

    def spend(self) -> None:
        """Count one node; raises `OutOfBudgetError`."""
        self.spent += 1
        if self.spent >= self.next_check:
            self.check(self.spent)

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


def value_text(value: float) -> str:
    """Return a value of a search in words: a decided game is a win or a loss."""
    if abs(value) >= WIN:
        return "a win" if value > 0 else "a loss"
    return f"value {round(value, 3):.12g}"


@dataclass(frozen=True, slots=True, repr=False)
class Thought:
    """What an agent thought of a position; None or empty is what it does not say.

    Values are for the side to move, in the agent's own units. From `WIN` on the game is won.
    """

    action: Action = None
    """The chosen action; None is a pass."""
    value: float | None = None
    """The value of that action."""
    depth: int | None = None
    """Plies that the agent looked ahead."""
    nodes: int | None = None
    """Positions that it looked at; playouts of a Monte-Carlo tree search."""
    seconds: Seconds | None = field(default=None, compare=False)
    values: Mapping[Action, float] = field(default_factory=dict)
    """The exact values by action; pruning leaves out actions of which it knows only a bound."""
    line: tuple[Move, ...] = ()
    """The principal variation, from `action` on."""
    note: str | None = None

    def __repr__(self) -> str:
        parts = [str(self.action)]
        parts += [] if self.value is None else [value_text(self.value)]
        parts += [] if self.depth is None else [f"depth {self.depth}"]
        parts += [] if self.nodes is None else [f"{self.nodes:,} nodes"]
        parts += [] if self.seconds is None else [f"{self.seconds:.2f} s"]
        parts += ["line " + " ".join(map(str, self.line))] if self.line else []
        parts += [self.note] if self.note else []
        return f"<Thought: {', '.join(parts)}>"


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
