"""Detect the effect of a move by comparing two boards, so that views need no rules of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from connect4.games.base import Action, State
from connect4.views.board_data import Board

Cell: TypeAlias = tuple[int, int]
"""`(row, column)`."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A token dropped into `cell`."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class PopOut:
    """The bottom token of `column` was removed, and the others fell by one."""

    column: int


@dataclass(frozen=True, slots=True)
class Slide:
    """A token moved from one cell to another."""

    origin: Cell
    target: Cell


Motion: TypeAlias = Drop | PopOut | Slide


def motion_between(before: Board, after: Board) -> Motion | None:
    """Return the single move that leads from `before` to `after`; None if there is none."""
    rows, columns = (indices.tolist() for indices in np.nonzero(before != after))
    added = int(np.count_nonzero(after)) - int(np.count_nonzero(before))
    if added == 1 and len(rows) == 1:
        return Drop((rows[0], columns[0]))
    if added == -1 and len(set(columns)) == 1:
        column = before[:, columns[0]]
        if np.array_equal(after[1:, columns[0]], column[:-1]):
            return PopOut(columns[0])
    if added == 0 and len(rows) == 2:
        one, two = zip(rows, columns, strict=True)
        if after[one] == 0 and after[two] == before[one]:
            return Slide(one, two)
        if after[two] == 0 and after[one] == before[two]:
            return Slide(two, one)
    return None


def moves_of(state: State) -> dict[Motion, Action]:
    """Return the legal actions of the mover, by their effect on the board."""
    found = {}
    for action in state.legal_actions():
        motion = motion_between(state.board(), state.apply(action).board())
        if motion is not None:
            found[motion] = action
    return found
