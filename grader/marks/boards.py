"""Finds the boards that separate strong submissions from weak ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.marks.points import Mark

FEWEST: Final = 3
"""With fewer submissions, the page does not judge boards."""


@dataclass(frozen=True, slots=True)
class BoardWorth:
    """The contribution of a board to one match of the class."""

    match: str
    board: str
    mean: float
    """Mean margin of a game over all submissions."""
    spread: float
    """Standard deviation of the submissions' mean margins."""
    agreement: float
    """Correlation with each submission's total without this board; NaN if there is none."""

    @property
    def verdict(self) -> str:
        """Return, in words, whether the board separates the class."""
        if self.spread == 0:
            return "does not separate: all have the same margin"
        if math.isnan(self.agreement):
            return "-"
        if self.agreement >= 0.3:
            return "separates"
        return "hardly separates" if self.agreement >= 0 else "ranks against the other games"


def board_worth(marks: Sequence[Mark]) -> list[BoardWorth]:
    """Return the contribution of each board to each match, by item-rest correlation.

    The rest of a submission is the mean of its margins on all other boards, each divided by the
    class's standard deviation there. Submissions with missing games are left out.
    """
    played = [mark for mark in marks if mark.matches and not mark.incomplete]
    if len(played) < FEWEST:
        return []
    columns = [(match.name, board) for match in played[0].matches for board in match.boards]
    margins = np.array(
        [
            [tally.mean_margin for match in mark.matches for tally in match.boards.values()]
            for mark in played
        ]
    )
    spread = margins.std(axis=0, ddof=1)
    scaled = (margins - margins.mean(axis=0)) / np.where(spread > 0, spread, 1)
    found = []
    for number, (match, board) in enumerate(columns):
        rest = np.delete(scaled, number, axis=1)
        agreement = _correlation(scaled[:, number], rest.mean(axis=1)) if rest.size else math.nan
        mean = float(margins[:, number].mean())
        found.append(BoardWorth(match, board, mean, float(spread[number]), agreement))
    return found


def _correlation(one: np.ndarray, two: np.ndarray) -> float:
    if not one.std() or not two.std():
        return math.nan
    return float(np.corrcoef(one, two)[0, 1])
