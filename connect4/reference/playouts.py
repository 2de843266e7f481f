"""Games to the end against an opponent that plays at random, many at once, in numpy."""

from __future__ import annotations

from math import inf

import numpy as np

from connect4.reference.lines import ME, OPPONENT, Lines, Position
from connect4.reference.searching import Budget
from connect4.reference.tables import Array, expected_margins


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

    def margins(self, positions: list[Position], games: int, budget: Budget) -> Array:
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
        """Set up `games` games from each position."""
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
