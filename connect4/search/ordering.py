"""Orders in which a search tries moves, by name. Of this package's modules only this one and
`heuristics` know particular games.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from connect4.games.base import Action, State
from connect4.games.dynamic import DIRECTIONS
from connect4.games.grid import Grid
from connect4.search.moves import PASS, Move, Order, ascending


def center(state: State) -> Sequence[Move]:
    """Return the moves by distance from the middle of the board, of two equal ones as listed.

    That is from the middle column where tokens are dropped; pop-outs come after all drops. Where
    pieces slide it is the square they slide to.
    """
    actions = state.legal_actions()
    return sorted(actions, key=_ranks(state.grid).__getitem__) if actions else PASS


@cache
def _ranks(grid: Grid) -> dict[Action, float]:
    """Return the sort keys of all games' actions on such a board."""
    middle_column, middle_row = (grid.columns - 1) / 2, (grid.rows - 1) / 2
    ranks: dict[Action, float] = {}
    for column in range(grid.columns):
        away = abs(column - middle_column)
        ranks |= {column: away, (column, False): away, (column, True): away + grid.columns}
        for row in range(grid.rows):
            for direction, (right, down) in DIRECTIONS.items():
                target = abs(column + right - middle_column) + abs(row + down - middle_row)
                ranks[f"{column + 1}{row + 1}{direction}"] = target
    return ranks


ORDERS: Final[dict[str, Order]] = {"center": center, "ascending": ascending}
