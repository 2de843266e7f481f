"""What expected margins leave out: corrections of lines, weights of features, small networks.

All of it judges a position two plies before the end of a search, from the side of the last mover:
the player who makes the last move of the game as long as nobody loses a turn.

The numbers are learned from deeper searches. `learned.npz` has them; `python3 -m
benchmarks.training` makes them. A set of numbers belongs to a phase of the game, with pop-outs left
(sets 0 to 2) or without (3 to 5).
"""

from functools import cache
from math import inf
from operator import getitem, mul
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from connect4.config import win_pts
from connect4.reference.lines import KINDS, OPPONENT, Actions, Array, Codes, Lines, Position

STEP = 1 / 32
"""Points: the unit of the numbers that are stored as whole numbers."""

PHASES = 3
"""Of a game, by the share of empty cells: up to a third, up to two thirds, more."""

MOST_IN_HAND = 10
"""More pop-outs in hand count as this many."""

NETWORK_SETS, INPUTS, HIDDEN = PHASES + 1, 33, 64
"""Without pop-outs left only late positions have a network.

In games, one for the middle cost points, and one for earlier positions gained nothing.
"""

LEARNED_POINTS: Final = win_pts == [0, 0, 2, 5, 20]
"""Whether runs have the points for which the numbers were learned; for others they do not count."""

MOST_CORRECTIONS = 5000
"""Corrections kept for lines of one form in one set of numbers, so that memory has a bound."""

with np.load(Path(__file__).with_name("learned.npz")) as _learned:
    LEARNED: Final[dict[str, Array]] = dict(_learned)
"""Arrays by name.

- `windows`, in steps: corrections by the contents of windows of four cells, a row for each set and
  ten tables in it: two of windows in rows, by the parity of their height; four of those in
  diagonals and four of those in columns, by the parity of the lowest cell's height and by whether
  the last mover may pop out of its column. A table has the codes with an empty cell in order, with
  1 for the last mover's tokens.
- `hand`, in steps: the worth of pop-outs in hand, by phase: a table by the pop-outs of the last
  mover and of the other player, and one that is scaled by the taper (see `Judgement`).
- `features`, in steps: the weights of `Evaluation._features` by set and by whether the last mover
  is to move, and those that are scaled by the taper.
- `hidden`, `output`: by set, the weights from each input of a network (`Evaluation._inputs`) to
  each hidden unit, and those from the hidden units to the output, with one constant.
"""

HAND = (LEARNED["hand"] * STEP).tolist()
FEATURES = (LEARNED["features"] * STEP).tolist()


def _windows() -> list[Any]:
    """Return my corrections: by last mover, set, kind of line, height, column, code."""
    digits = np.arange(81)[:, None] // 3 ** np.arange(4) % 3
    tables = np.zeros((2 * PHASES, 10, 81))
    tables[..., np.flatnonzero((digits == 0).any(1))] = LEARNED["windows"] * STEP
    reversed_codes = digits[:, ::-1] @ 3 ** np.arange(4)
    rows = np.stack((tables[:, :2], tables[:, :2, reversed_codes]), 2)  # a mirrored row
    diagonals = tables[:, 2:6].reshape(-1, 2, 2, 81)
    columns = tables[:, 6:].reshape(-1, 2, 2, 81)
    windows = np.stack((rows, diagonals, diagonals, columns), 1)
    exchanged_codes = (3 - digits) % 3 @ 3 ** np.arange(4)
    return [None, windows.tolist(), (-windows[..., exchanged_codes]).tolist()]


WINDOWS = _windows()


class Network:
    """The network of a set and the weights of the features, as one product of matrices.

    The last two columns are the weights of the features and those scaled by the taper: these sums
    may be negative. A hidden unit below zero counts as 0.
    """

    def __init__(self, chosen: int, last_moves: bool):
        features = np.array(FEATURES[chosen][last_moves]).T
        output = LEARNED["output"][chosen].astype(float)
        self.weights = np.zeros((INPUTS, HIDDEN + 2))
        self.weights[:, :HIDDEN] = LEARNED["hidden"][chosen]
        self.weights[: len(features), HIDDEN:] = features
        self.floor = np.array([0.0] * HIDDEN + [-inf] * 2)
        self.output = np.array([*output[:-1], 1.0, 0.0])
        self.added = float(output[-1])

    def worth(self, inputs: list[float], taper: float) -> float:
        """Return what both add for the last mover.

        Rounded, so that it is the same on each machine, whatever the order in which it sums.
        """
        self.output[-1] = taper
        hidden = np.maximum(np.array(inputs).dot(self.weights), self.floor)
        return round((float(hidden.dot(self.output)) + self.added) * 1024) / 1024


network = cache(Network)
"""Returns the network of a set, for the last mover to move or for the other player."""


class Correction(dict[int, float]):
    """The correction of each code of a line when it is asked for: the sum over its windows."""

    def __init__(self, windows: list[list[float]]):
        super().__init__()
        self.windows = windows

    def __missing__(self, code: int) -> float:
        if len(self) >= MOST_CORRECTIONS:
            self.clear()
        correction, rest = 0.0, code
        for window in self.windows:
            correction += window[rest % 81]
            rest //= 3
        self[code] = correction
        return correction


def corrections(lines: Lines, last_mover: int, chosen: int) -> list[Correction]:
    """Return the correction of each line after the short ones by this set of learned numbers.

    Lines of one form share theirs.
    """
    known: dict[Any, Correction] = {}
    found = []
    for kind, first, length in lines.forms:
        height, column = divmod(first, lines.columns)
        own = (column + lines.player + last_mover + 1) % 2
        form = kind, height % 2, own, length
        if form not in known:
            up, sideways = kind != "row", kind != "column"
            windows = WINDOWS[last_mover][chosen][KINDS.index(kind)]
            places = range(length - 3)
            known[form] = Correction(
                [windows[(height + i * up) % 2][(own + i * sideways) % 2] for i in places]
            )
        found.append(known[form])
    return found


MOST_MARGIN, MOST_CORRECTION, MOST_CELLS, MOST_COLUMNS = 100.0, 30.0, 144, 12
"""Greater numbers are cut to these: the networks have seen boards of up to 12x12."""

NO_GAINS = [0.0] * 5
"""Zeros in place of missing gains."""


class Judgement(NamedTuple):
    """What is known of a position two plies before the end of a search; its children use it."""

    phase: int
    """0 late, 1 in the middle, 2 early."""
    taper: float
    """How far the last third of the board is filled, from 0 to 1."""
    added: float
    """What counts for the player who is not to move beside expected margin and pop-outs in hand."""
    replies: Actions
    """The pop-outs of that player, best first."""


class Evaluation:
    """Judges positions of one board and one last mover (see `connect4.reference.evaluation`)."""

    def __init__(self, lines: Lines, last_mover: int):
        self.lines = lines
        self.last_mover = last_mover
        self.size = min(lines.cells, MOST_CELLS), min(lines.columns, MOST_COLUMNS)
        self.corrections: dict[int, list[Correction]] = {}
        """By set of numbers."""
        self.hand_worths: dict[tuple[int, float, int, int, int], float] = {}
        """What `in_hand` returned."""

    def replies(self, position: Position) -> Actions:
        """Return the pop-outs of the player who is not to move, best first."""
        codes, _, _, _, mover, _, other = position
        return sorted(self.lines.pops(codes, 3 - mover), reverse=True) if other else []

    def phase(self, empty_cells: int) -> int:
        """Return the phase of the game: 0 late, 1 in the middle, 2 early."""
        return (3 * empty_cells > self.lines.cells) + (3 * empty_cells > 2 * self.lines.cells)

    def judge(self, position: Position, actions: Actions) -> Judgement:
        codes, drops, _, _, mover, own, other = position
        empty_cells = self.lines.empty_cells(drops)
        phase = self.phase(empty_cells)
        taper = max(0.0, 1 - 3 * empty_cells / self.lines.cells)
        judgement = Judgement(phase, taper, 0.0, self.replies(position))
        if not LEARNED_POINTS:
            return judgement
        chosen = phase if own or other else PHASES + phase
        correction = self.correction(codes, chosen)
        if mover == OPPONENT:
            correction = -correction
        zugzwang, gains = (
            (0.0, []) if own and other else stack_gains(self.lines, codes, drops)
        )  # both count 0 while both players have pop-outs
        last_moves = mover == self.last_mover
        features = self._features(position, actions, judgement.replies, zugzwang)
        if chosen < NETWORK_SETS:
            features += self._inputs(position, judgement, empty_cells, correction, zugzwang, gains)
            worth = network(chosen, last_moves).worth(features, taper)
        else:  # never in the last third of the board
            steady, _ = FEATURES[chosen][last_moves]
            worth = round(sum(map(mul, steady, features)) * 1024) / 1024
        added = correction + (worth if last_moves else -worth)
        return judgement._replace(added=-added)

    def _features(
        self, position: Position, actions: Actions, replies: Actions, zugzwang: float
    ) -> list[float]:
        """Return what the learned weights count, from the last mover's side.

        That is what the pop-outs of the last mover would gain, what those of the other would, the
        worth of zugzwang (three numbers: if nobody has pop-outs in hand, if only the last mover
        has, if only the other has), the gains of the mover's two best drops, and 1.
        """
        _, drops, _, _, mover, own, other = position
        last_moves = mover == self.last_mover
        mine = theirs = NO_GAINS
        if own:
            mine = popout_features([gain for gain, action in actions if action < 0][:own])
        if other:
            theirs = popout_features([gain for gain, _ in replies[:other]])
        zugzwangs = [0.0, 0.0, 0.0]
        holder = 0 if (own > 0) == (other > 0) else 1 if (own > 0) == last_moves else 2
        zugzwangs[holder] = zugzwang if last_moves else -zugzwang
        first = drops[0][0] if drops else 0.0
        second = drops[1][0] if len(drops) > 1 else 0.0
        sides = mine + theirs if last_moves else theirs + mine
        return [*sides, *zugzwangs, first, second, 1.0]

    def _inputs(
        self,
        position: Position,
        judgement: Judgement,
        empty_cells: int,
        correction: float,
        zugzwang: float,
        gains: list[float],
    ) -> list[float]:
        """Return what a network sees besides the features, from the last mover's side.

        - the pop-outs in hand of the last mover and of the other;
        - the share of empty cells, the taper, 1 if the last mover is to move;
        - the cells and the columns of the board;
        - the gains of the third and the fourth drop, and how many drops there are;
        - the expected margin, the correction, the worth of pop-outs in hand;
        - the gains of `stack_gains`: their worth if the players take the greatest in turn, the
          greatest, the second;
        - the worth of zugzwang, if the last mover is to move.
        """
        _, drops, total, _, mover, own, other = position
        last_moves = mover == self.last_mover
        sign = 1 if last_moves else -1
        hands = (own, other) if last_moves else (other, own)
        margin = max(-MOST_MARGIN, min(total, MOST_MARGIN))
        clipped = max(-MOST_CORRECTION, min(correction, MOST_CORRECTION))
        return [
            *(min(hand, MOST_IN_HAND) for hand in hands),
            empty_cells / self.lines.cells,
            judgement.taper,
            last_moves,
            *self.size,
            drops[2][0] if len(drops) > 2 else 0.0,
            drops[3][0] if len(drops) > 3 else 0.0,
            min(len(drops), MOST_COLUMNS),
            sign * margin,
            sign * clipped,
            sign * self.in_hand(judgement, mover, own, other),
            sign * (sum(gains[::2]) - sum(gains[1::2])),
            *(gains + NO_GAINS)[:2],
            zugzwang if last_moves else 0.0,
        ]

    def correction(self, codes: Codes, chosen: int) -> float:
        """Return what the corrections of this set of learned numbers add to my margin."""
        if chosen not in self.corrections:
            self.corrections[chosen] = corrections(self.lines, self.last_mover, chosen)
        return sum(map(getitem, self.corrections[chosen], codes[self.lines.short_lines :]))

    def in_hand(self, judgement: Judgement, mover: int, own: int, other: int) -> float:
        """Return the worth of the pop-outs in hand to the mover.

        Each move lowers the number of plies left by one, so that it is settled from the start who
        makes the last one, as long as nobody loses a turn. The other player is the one to move when
        the board is full, and has to pop out, at a loss, as often as it still can, while the last
        mover drops into the gap. So pop-outs are worth more to the last mover.
        """
        if not LEARNED_POINTS:
            return 0.0
        phase, taper, _, _ = judgement
        hands = phase, taper, mover, own, other
        if hands not in self.hand_worths:
            own, other = min(own, MOST_IN_HAND), min(other, MOST_IN_HAND)
            steady, late = HAND[phase]
            if mover == self.last_mover:
                self.hand_worths[hands] = steady[own][other] + taper * late[own][other]
            else:
                self.hand_worths[hands] = -(steady[other][own] + taper * late[other][own])
        return self.hand_worths[hands]


def stack_gains(lines: Lines, codes: Codes, drops: Actions) -> tuple[float, list[float]]:
    """Return the worth of zugzwang to the mover in a simpler game, and the gains that remain in it.

    In that game each column is a stack of its cells' gains, the lowest empty cell on top, and the
    players take one from the top of a stack in turn. A gain no less than the one before it and the
    one after it makes one of the three, worth `before - gain + after`: with best play they go in
    turn, or none of them. A last pair whose second gain is no less than its first is left alone
    until only such pairs are left. Then whoever is to move must open one, and loses the differences
    of all of them: with an odd number of empty cells that is the opponent. The other gains fall
    from one to the next in each stack; the players take the greatest of them in turn. They are
    returned in this order.
    """
    zugzwang = 0.0
    gains = []
    empty_cells = len(drops)
    for first, cell in drops:
        stack = [first]
        empty_cells += len(lines.above[cell])
        for i, a, j, b, k, c, m, d in lines.above[cell]:
            gain = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
            while len(stack) > 1 and gain <= stack[-1] >= stack[-2]:
                gain += stack[-2] - stack[-1]
                del stack[-2:]
            stack.append(gain)
        while len(stack) > 1 and stack[-1] >= stack[-2]:
            zugzwang += stack.pop() - stack.pop()
        gains += stack
    gains.sort(reverse=True)
    return zugzwang if empty_cells % 2 else -zugzwang, gains


def popout_features(gains: list[float]) -> list[float]:
    """Return sums of the gains of pop-outs, best first, no more than there are pop-outs in hand.

    The positive ones are the best, the second and the sum of the others; the negative ones the
    best and the sum of the others.
    """
    best = second = others = least = losses = 0.0
    for place, gain in enumerate(gains):
        if gain < 0:
            if place:
                losses += gain
            else:
                least = gain
        elif not place:
            best = gain
        elif place == 1:
            second = gain
        else:
            others += gain
    return [best, second, others, least, losses]
