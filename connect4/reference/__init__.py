"""The strongest agent of the kit, `reference`: expected line margins, expectimax and alpha-beta.

`lines` values a board, `evaluation` adds what was learned, `expectimax` plays
against chance and `alphabeta` against an opponent that plays to win. `AIPlayer` has the constructor
and the two methods of a submission.
"""

from typing import TypeAlias

from connect4.reference.alphabeta import AlphaBeta
from connect4.reference.expectimax import Expectimax
from connect4.reference.lines import Array, Lines, Move, Position
from connect4.search import Deadline, uncollected
from connect4.utils import Integer, get_valid_actions

State: TypeAlias = tuple[Array, dict[int, Integer]]

Search: TypeAlias = AlphaBeta | Expectimax


class AIPlayer:
    """Plays ExtendedConnect4 against random and against thinking opponents."""

    node_budget: int | None = None
    """A limit on the positions that a move may visit; it replaces the clock. None for no limit."""

    def __init__(self, player_number: int, time: float):
        """Play as `player_number` (1 or 2) with `time` seconds for each move."""
        self.player_number = player_number
        self.time = time
        self.thought: dict[str, float] | None = None
        self.kept: dict[tuple[type[Search], tuple[int, ...]], Search] = {}
        """Searches with their tables, by board shape; lost with a late turn."""

    def get_expectimax_move(self, state: State) -> Move:
        """Return the move against an opponent that plays at random."""
        return self._choose(state, Expectimax)

    def get_intelligent_move(self, state: State) -> Move:
        """Return the move against an opponent that plays to win."""
        return self._choose(state, AlphaBeta)

    def expected_play(
        self, state: State
    ) -> tuple[float, list[Move], list[tuple[int, float]], bool]:
        """Return the margin that best play expects for this player, and the moves of that play.

        Also each depth searched with the margin found there for the action it chose, and whether
        the last one is exact.
        """
        search, position = self._prepare(state, AlphaBeta)
        assert isinstance(search, AlphaBeta)
        with uncollected():
            found = search.choose(position, self._budget())
        depth, value = found.values[-1] if found.values else (0, position[2])
        line = [search.lines.move(step) for step in search.line(position, found.action, depth)]
        return value, line, [*found.values], found.solved

    def _choose(self, state: State, method: type[Search]) -> Move:
        budget, self.thought = self._budget(), None
        moves = get_valid_actions(self.player_number, state)
        if len(moves) == 1:
            return moves[0]
        search, position = self._prepare(state, method)
        with uncollected():
            found = search.choose(position, budget)
        if found.values:
            depth, value = found.values[-1]
            self.thought = {"value": value, "depth": depth, "nodes": budget.spent}
        return search.lines.move(found.action)

    def _budget(self) -> Deadline:
        if self.node_budget is not None:
            return Deadline(nodes=self.node_budget, stride=1)
        margin = min(0.1 * self.time + 0.02, 0.6 * self.time)  # for a machine with other work to do
        return Deadline(self.time - margin, stride=1)

    def _prepare(self, state: State, method: type[Search]) -> tuple[Search, Position]:
        """Return the search by `method` on such a board, and the position as it reads it."""
        board, popouts = state
        own = popouts[self.player_number].get_int()
        other = popouts[3 - self.player_number].get_int()
        if (method, board.shape) not in self.kept:
            rows, columns = board.shape
            lines = Lines(rows, columns, self.player_number, method.share)
            self.kept[method, board.shape] = method(lines)
        search = self.kept[method, board.shape]
        return search, search.lines.read(board, own, other)
