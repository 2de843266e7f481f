"""Expectimax and games to the end, against an opponent that plays at random."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

import numpy as np

from connect4.reference.lines import (
    DEEPEST,
    LONGEST_TABLE,
    ME,
    OPPONENT,
    Array,
    Found,
    Lines,
    Position,
    expected_margins,
    share_against_random,
    slot_of,
)
from connect4.search import Deadline, OutOfBudgetError

Values: TypeAlias = list[tuple[float, tuple[float, int]]]
"""The values of actions, each with its (gain, action)."""


class Expectimax:
    """The search, and games to the end that choose among its best actions.

    From five plies on each depth is searched twice: first only with the best of my actions, by the
    values of the search before at the root and by their gains elsewhere, then with all of them.
    Half of the time, and of a second or more three quarters, is left for games to the end: their
    mean margins, added to the values of the best actions, choose among these. Where the search sees
    the end of the game, it alone chooses.

    Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", 1996.
    """

    share = staticmethod(share_against_random)

    WIDTH = 4
    """How many of my actions the first of the two searches tries.

    At five plies the games were as good as with all of them, at a fifth to a tenth of the cost.
    """

    GAMES = 64
    """To the end, played at once from each of the best actions."""

    LEAST_SECONDS = 0.1
    """Less time is all for the search: to lay out the tables of these games takes up to 0.03 s."""

    MANY_SECONDS = 0.85
    """What is left of a second."""

    POPOUT_COSTS = 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 4.0, 4.5, 5.5, 6.5
    """What the Nth pop-out in hand costs me if the opponent makes the last move.

    I am then the one to move when the board is full, and have to pop out at a loss. Measured in
    games from the same positions with N and N - 1.
    """

    TABLE_SIZE = 2**18
    """Entries of the table of positions; a new one takes the place of an old one."""

    def __init__(self, lines: Lines):
        self.lines = lines
        self.seen: list[tuple[int, int, float]] = [(-1, 0, 0.0)] * self.TABLE_SIZE
        self.tables_fit = max(map(len, lines.shares)) <= LONGEST_TABLE
        self.playouts: Playouts | None = None
        self.costs: tuple[float, ...] = (0.0,)
        """Of the search that runs: what using a pop-out saves me, by those in hand."""
        self.narrow = self.solved = False
        """Of the same: only the best actions are tried; it reaches the end of the game."""

    def choose(self, position: Position, budget: Deadline) -> Found:
        self.budget, seconds = budget, budget.seconds_left()
        plays_out = self.tables_fit and self.LEAST_SECONDS < seconds < inf
        if plays_out:
            self.playouts = self.playouts or Playouts(self.lines)
            self.budget = Deadline(seconds / (4 if seconds >= self.MANY_SECONDS else 2), stride=1)
        actions = self.lines.actions(position)
        left = self.lines.plies_left(position)
        self.costs = (0.0,) if left % 2 else self.POPOUT_COSTS
        last: Values = []
        whole = 0  # the depth of `last`
        current: Values = []
        try:
            for depth in range(3, min(left, DEEPEST) + 2, 2):
                self.solved = depth >= left
                for self.narrow in (True, False) if depth > 3 else (False,):
                    current = []
                    for item in actions[: self.WIDTH] if self.narrow else actions:
                        current.append((self._after(position, *item, depth), item))
                    last, whole = sorted(current, reverse=True), depth
                    actions = [item for _, item in last] + actions[len(last) :]
            best = actions[0][1]
        except OutOfBudgetError:
            best = max(current)[1][1] if current else actions[0][1]
            self.budget = budget
            if plays_out:
                best = self._play_out(position, last[: self.WIDTH], best)
        return Found(best, tuple((whole, value) for value, (_, move) in last if move == best))

    def _play_out(self, position: Position, values: Values, best: int) -> int:
        """Let games to the end choose among the actions of the last search that ended.

        Without a game, `best` stays.
        """
        children = [self.lines.play(position, *item) for _, item in values]
        rounds: list[Array] = []
        try:
            while self.playouts and values:
                margins = self.playouts.margins(children, self.GAMES, self.budget)
                rounds.append(margins + [value for value, _ in values])
        except OutOfBudgetError:
            pass
        return values[np.mean(rounds, 0).argmax()][1][1] if rounds else best

    def _after(self, position: Position, gain: float, action: int, depth: int) -> float:
        """Return the mover's expected final margin after an action."""
        value = -self._value(self.lines.play(position, gain, action), depth - 1)
        _, _, _, _, mover, own, _ = position
        return value + self._saved(own) if action < 0 and mover == ME else value

    def _saved(self, popouts: int) -> float:
        """Return what I save by using one of N pop-outs; at the end the margin shows it."""
        return 0.0 if self.solved else self.costs[min(popouts, len(self.costs) - 1)]

    def _value(self, position: Position, depth: int) -> float:
        """Return the mover's expected final margin."""
        self.budget.spend()
        _, _, total, _, mover, _, _ = position
        actions = self.lines.actions(position)
        if not actions or not depth:
            return total
        if depth == 1 and mover == ME:
            return total + actions[0][0]
        slot = slot_of(position)
        searched = -depth if self.narrow and depth > 2 else depth
        key_found, known, value = self.seen[slot % self.TABLE_SIZE]
        if key_found != slot or known != searched:
            if depth == 2 and not self.solved:
                value = self._frontier(position)
            else:
                if mover == ME and self.narrow:
                    actions = actions[: self.WIDTH]
                values = [self._after(position, *item, depth) for item in actions]
                value = max(values) if mover == ME else sum(values) / len(values)
            self.seen[slot % self.TABLE_SIZE] = slot, searched, value
        return value

    def _frontier(self, position: Position) -> float:
        """Return the opponent's mean over its actions, each followed by my greatest gain.

        For a drop no child is made: the gain of an answer has changed only where it shares a line
        with the drop. The gains of my pop-outs are those before the drop.
        """
        codes, drops, total, _, mover, own, other = position
        lines = self.lines
        popouts = lines.pops(codes, ME) if other else []
        popped = max(popouts, default=(-inf, 0))[0] + self._saved(other)
        change_of_margin = 0.0
        for _, cell in drops:
            shared = lines.shared[mover][cell]
            best = max(popped, lines.gain_above(codes, cell, mover))
            for gain, answer in drops:
                if common := shared[answer]:
                    line, changes = common
                    best = max(best, gain + changes[codes[line]])
                elif gain > best and answer != cell:
                    best = gain
            change_of_margin += best - lines.loss(codes, cell)
        pops = lines.pops(codes, mover) if own else []
        for gain, action in pops:
            child = lines.play(position, gain, action)
            change_of_margin += child[2] + total + lines.actions(child)[0][0]
        return total - change_of_margin / (len(drops) + len(pops))


class Playouts:
    """Games to the end against an opponent that plays at random, many at once.

    I always take the greatest gain. Numpy works on all games in one step: each array has a row for
    each game. `values` contains the tables of all lines, one after another. A code here is the
    index in `values`: the code of the line plus the start of its table.
    """

    def __init__(self, lines: Lines):
        self.lines = lines
        self.rows, count = lines.cells // lines.columns, len(lines.shares)
        tables = {shares: expected_margins(shares) for shares in dict.fromkeys(lines.shares)}
        starts = dict(zip(tables, np.cumsum([0, *map(len, tables.values())]), strict=False))
        self.values = np.concatenate([*tables.values(), [0.0]], dtype=np.float32)
        self.start = np.array([*(starts[shares] for shares in lines.shares), len(self.values) - 1])
        self.line = np.full((lines.columns, self.rows + 1, 4), count)  # above the top: one worth 0
        self.weight = np.zeros((lines.columns, self.rows + 1, 4), int)
        self.weights = np.zeros((lines.columns, self.rows, count + 1), np.float32)
        for cell, four in enumerate(lines.crossing):
            height, column = divmod(cell, lines.columns)
            self.line[column, height], self.weight[column, height] = zip(*four, strict=True)
            self.weights[column, height, self.line[column, height]] = self.weight[column, height]
        self.own_columns = [
            np.array([column for column, _, _ in own], int) for own in lines.own_columns
        ]
        self.chance = np.random.default_rng(0)
        self.codes, self.tokens, self.heights, self.hands = [np.empty(0, int)] * 4  # of each game

    def margins(self, positions: list[Position], games: int, budget: Deadline) -> Array:
        """Return my mean final margin from each position, in which the opponent is to move.

        The games from all positions meet the same chances.
        """
        self._begin(positions, games)
        final = np.zeros(len(self.codes))
        game, mover = np.arange(len(self.codes)), OPPONENT
        while len(game):
            budget.spend()
            can = self._possible(mover)
            if not (goes_on := can.any(1)).all():
                final[game[~goes_on]] = self.values[self.codes[~goes_on]].sum(1)
                game, can = game[goes_on], can[goes_on]
                self.codes, self.tokens = self.codes[goes_on], self.tokens[goes_on]
                self.heights, self.hands = self.heights[goes_on], self.hands[goes_on]
            chances = self.chance.random(games)
            self._turn(mover, can, chances[game % games])
            mover = 3 - mover
        means: Array = final.reshape(-1, games).mean(1)
        return means

    def _begin(self, positions: list[Position], games: int) -> None:
        columns = np.array(
            [[codes[line] for line in self.lines.column_line] for codes, *_ in positions]
        )
        codes = np.array([[*codes, 0] for codes, *_ in positions]) + self.start
        tokens = columns[:, :, None] // 3 ** np.arange(self.rows + 1) % 3  # the last one is empty
        hands = np.array([(0, mine, theirs) for *_, theirs, mine in positions])
        self.codes, self.tokens, self.hands = (
            np.repeat(part, games, 0) for part in (codes, tokens, hands)
        )
        self.heights = (self.tokens > 0).sum(2)

    def _possible(self, mover: int) -> Array:
        """Return which drops, and then which pop-outs, are possible in each game."""
        in_hand = self.hands[:, mover, None] > 0
        popouts = in_hand & (self.heights[:, self.own_columns[mover]] > 0)
        return np.concatenate((self.heights < self.rows, popouts), 1)

    def _turn(self, mover: int, can: Array, chances: Array) -> None:
        """Play an action in each game: mine is the best by gain, the opponent's is by chance."""
        if mover == ME:
            pop_gains = self._pop_gains(can[:, self.lines.columns :])
            gains = np.concatenate((self._drop_gains(), pop_gains), 1)
            chosen = np.where(can, gains, -inf).argmax(1)
        else:
            count = can.cumsum(1)
            chosen = (count > (chances * count[:, -1])[:, None]).argmax(1)
        drops = chosen < self.lines.columns
        game, column = np.flatnonzero(drops), chosen[drops]
        height = self.heights[game, column]
        self.codes[game[:, None], self.line[column, height]] += mover * self.weight[column, height]
        self.tokens[game, column, height] = mover
        self.heights[game, column] += 1
        if not drops.all():
            own = self.own_columns[mover]
            game = np.flatnonzero(~drops)
            column = own[chosen[game] - self.lines.columns]
            change = np.diff(self.tokens[game, column])
            self.codes[game] += self._code_changes(change[:, None], column)[:, 0]
            self.tokens[game, column, :-1] += change
            self.heights[game, column] -= 1
            self.hands[game, mover] -= 1

    def _code_changes(self, changes: Array, columns: Array) -> Array:
        """Return how all codes change with changes of the tokens in each of the columns."""
        product: Array = changes.astype(np.float32) @ self.weights[columns]
        return product.astype(int)

    def _drop_gains(self) -> Array:
        """Return my gain in the landing cell of each column."""
        landing = np.arange(self.lines.columns), self.heights
        row = len(self.start) * np.arange(len(self.codes))
        codes = self.codes.take(self.line[landing] + row[:, None, None])
        after = codes + self.weight[landing]
        gains: Array = (self.values.take(after) - self.values.take(codes)).sum(2)
        return gains

    def _pop_gains(self, can_pop: Array) -> Array:
        """Return my gain by popping out of each of my columns; 0 in games where I can't."""
        gains = np.zeros(can_pop.shape)
        games = np.flatnonzero(can_pop.any(1))
        if len(games):
            codes, columns = self.codes[games], self.own_columns[ME]
            changes = np.diff(self.tokens[games[:, None], columns]).swapaxes(0, 1)
            after = codes + self._code_changes(changes, columns)
            gains[games] = (self.values.take(after).sum(2) - self.values.take(codes).sum(1)).T
        return gains
