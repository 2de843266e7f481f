"""Compare a search's results for two positions.

Estimates of different depths are not comparable, in particular if one search ends with a move of
player 1 and the other with a move of player 2. A position and the position after a move are
therefore compared at the same last ply: the first is searched one ply deeper than the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from connect4.games.base import Action, Player

LAST: Final = 4
"""The number of depths that determine the noise of an estimated cost."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The result of best play from a position: a value from player 1's view, and the moves.

    If `proven`, no deeper search can change the value. `plies` is the number of plies until the
    game is won or lost, None if unknown. `depths` holds the value after each depth of the search,
    the deepest last; if it is empty, a proven value is valid at every depth.
    """

    value: float
    line: tuple[Action | None, ...] = ()
    proven: bool = False
    plies: int | None = None
    depths: tuple[tuple[int, float], ...] = ()

    def at(self, depth: int) -> float | None:
        """Return the value at a depth; None if the search did not reach it."""
        if self.proven and (not self.depths or depth >= self.depths[-1][0]):
            return self.value
        return dict(self.depths).get(depth)


class Cost(NamedTuple):
    """The cost of a turn for its mover, in the analysis' unit; `loss` is never below 0.

    `before` and `after` are the values of best play before and after the turn, from player 1's
    view. A cost that is not `proven` is an estimate greater than its `noise`. If the outcome stays
    the same, `slower` counts the plies by which the mover wins later or loses sooner than possible.
    `line` is the better move and its continuation, as typed; empty if nothing was lost.
    """

    before: float
    after: float
    loss: float
    proven: bool
    noise: float = 0.0
    slower: int = 0
    line: tuple[str, ...] = ()
    turn: int = 0


def cost_of(player: Player, before: Expected, after: Expected, largest: float) -> Cost:
    """Return the cost of the move of `player` that led from `before` to `after`.

    If only one of the two is proven, it counts as an estimate of at most `largest`. A cost within
    the noise also counts if the move led to a forced loss that the search before it would have
    found. If neither has values of single depths, their final values are compared.
    """
    sign = 1 if player == 1 else -1
    if before.proven and after.proven:
        loss = max(0.0, sign * (before.value - after.value))
        slower = 0 if loss else _slower(sign, before, after)
        return Cost(before.value, after.value, loss, True, slower=slower)
    pairs = [
        (max(-largest, min(largest, one)), max(-largest, min(largest, two)))
        for one, two in _pairs(before, after)
    ]
    if not (pairs or before.depths or after.depths):
        pairs = [(before.value, after.value)]
    if not pairs:
        return Cost(after.value, after.value, 0.0, False)
    costs = [sign * (one - two) for one, two in pairs[-LAST:]]
    noise = max(costs) - min(costs)
    depth = before.depths[-1][0] if before.depths else 0
    is_forced_now = bool(after.plies and after.value) and depth > (after.plies or 0)
    if costs[-1] <= (0 if is_forced_now else noise):
        return Cost(after.value, after.value, 0.0, False, noise)
    return Cost(*pairs[-1], costs[-1], False, noise)


def _slower(sign: int, before: Expected, after: Expected) -> int:
    """Return how many plies later a win comes, or earlier a loss, than after the best move."""
    if before.plies is None or after.plies is None or not before.value:
        return 0
    later = after.plies + 1 - before.plies
    return max(0, later if sign * before.value > 0 else -later)


def _pairs(before: Expected, after: Expected) -> Iterator[tuple[float, float]]:
    """Yield the values of both at the same last ply, the deepest last."""
    plies = {depth for depth, _ in before.depths} | {depth + 1 for depth, _ in after.depths}
    for ply in sorted(plies):
        one, two = before.at(ply), after.at(ply - 1)
        if one is not None and two is not None:
            yield one, two
