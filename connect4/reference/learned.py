"""The numbers of the reference agent, learned from deeper searches: corrections and networks.

`learned.npz` has them; `python3 -m benchmarks.training` makes them. A set of numbers belongs to a
phase of the game, with pop-outs left (sets 0 to 2) or without (3 to 5).
"""

from __future__ import annotations

from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np

from connect4.reference.lines import KINDS, Lines
from connect4.reference.tables import Array

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


@cache
def network(chosen: int, last_moves: bool) -> Network:
    """Return the network of a set, for the last mover to move or for the other player."""
    return Network(chosen, last_moves)


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
