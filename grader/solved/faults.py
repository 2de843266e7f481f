"""Typical mistakes, each told as what a player that makes it prefers one move ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from connect4.games.base import opponent
from connect4.games.board import Grid
from connect4.games.extended import ExtendedState, points_of
from connect4.games.falling import ExtendedAction

Tokens: TypeAlias = tuple[int, int]
"""The tokens of player 1 and of player 2, as masks."""

Move: TypeAlias = Callable[[ExtendedState, int], Tokens]
"""Returns the tokens after a drop into a column, or a pop-out of it."""


def _height(state: ExtendedState, column: int) -> int:
    return ((state.one | state.two) & state.grid.column_cells[column]).bit_count()


def _placed(state: ExtendedState, column: int, height: int) -> Tokens:
    """Return the tokens with one of the mover's in a cell, whatever was there."""
    token = state.grid.bottoms[column] << height & state.grid.column_cells[column]
    one, two = state.one & ~token, state.two & ~token
    return (one | token, two) if state.mover == 1 else (one, two | token)


def _dropped(state: ExtendedState, column: int) -> Tokens:
    return _placed(state, column, _height(state, column))


def _landing(
    step: int = 0, height: Callable[[int, int], int] = lambda tokens, rows: tokens
) -> Move:
    """Return drops that land some columns further, or at a height of tokens and rows there."""
    return lambda state, column: _placed(
        state,
        (column + step) % state.grid.columns,
        height(_height(state, column), state.grid.rows),
    )


def _token_of_other(state: ExtendedState, column: int) -> Tokens:
    return _dropped(state.skip(), column)


def _token_of_one(state: ExtendedState, column: int) -> Tokens:
    one, two = _dropped(state, column)
    token = (one | two) & ~(state.one | state.two)
    return one | token, two & ~token


def _upwards(state: ExtendedState, column: int) -> Tokens:
    cells = state.grid.column_cells[column]
    one, two = (own & ~cells | (own & cells) << 1 & cells for own in (state.one, state.two))
    return one, two


def _popped(state: ExtendedState, column: int) -> Tokens:
    bottom, cells = state.grid.drops[column]
    one, two = (own & ~cells | (own & cells & ~bottom) >> 1 for own in (state.one, state.two))
    return one, two


def _cleared(state: ExtendedState, column: int, height: int) -> Tokens:
    """Return the tokens without the one in a cell."""
    cell = state.grid.bottoms[column] << height
    return state.one & ~cell, state.two & ~cell


@cache
def _grid(rows: int, columns: int, seen: Sequence[int]) -> Grid:
    """Return a grid with some of the directions: up a column, along a row, falling, rising."""
    grid = Grid(rows, columns, 4)
    grid.shifts = tuple(grid.shifts[direction] for direction in seen)
    return grid


def _points(state: ExtendedState, tokens: Tokens) -> tuple[int, int]:
    """Return the points of the mover and of the opponent."""
    one, two = points_of(state.grid, tokens[0]), points_of(state.grid, tokens[1])
    return (one, two) if state.mover == 1 else (two, one)


def _margin(state: ExtendedState, tokens: Tokens) -> int:
    own, other = _points(state, tokens)
    return own - other


def _margin_of(player: int) -> Callable[[ExtendedState, Tokens], int]:
    return lambda state, tokens: _margin(state, tokens) * (1 if state.mover == player else -1)


def _seeing(*seen: int) -> Callable[[ExtendedState, Tokens], int]:
    """Return the margin of runs in some of the directions of `_grid`."""

    def margin(state: ExtendedState, tokens: Tokens) -> int:
        one, two = (points_of(_grid(*state.shape, seen), own) for own in tokens)
        return one - two if state.mover == 1 else two - one

    return margin


def _after(state: ExtendedState, tokens: Tokens, of_same: bool) -> int:
    """Return the mover's best margin after another move, of the same player or of the opponent."""
    mover = state.mover if of_same else opponent(state.mover)
    after = ExtendedState(state.grid, *tokens, mover, state.popouts, state.maximum)
    margins = (after.apply(action).margin(state.mover) for action in after.legal_actions())
    return max(margins, default=after.margin(state.mover))


class Fault(NamedTuple):
    """A mistake: its question, and how a player that makes it moves and values a position."""

    question: str
    drop: Move = _dropped
    pop: Move = _popped
    worth: Callable[[ExtendedState, Tokens], float] = _margin

    def preferred(self, state: ExtendedState) -> set[ExtendedAction]:
        """Return the actions that the player prefers."""
        values = {
            action: self.worth(state, (self.pop if action[1] else self.drop)(state, action[0]))
            for action in state.legal_actions()
        }
        best = max(values.values())
        return {action for action, value in values.items() if value == best}


NO_FAULT: Final = Fault("")

SIGN: Final = Fault(
    "Prefers what is worst for it: is the sign of your evaluation right, and do you choose the "
    "largest value?",
    worth=lambda state, tokens: -_margin(state, tokens),
)

ONE: Final = "Plays for player 1 on both sides: does something ask for player 1?"

FAULTS: Final = (
    SIGN,
    Fault(
        "Counts its own points alone: are the opponent's points subtracted?",
        worth=lambda state, tokens: _points(state, tokens)[0],
    ),
    Fault(
        "Counts the opponent's points alone: are your own points added?",
        worth=lambda state, tokens: -_points(state, tokens)[1],
    ),
    Fault(ONE, worth=_margin_of(1)),
    Fault(ONE, _token_of_one, worth=_margin_of(1)),
    Fault(
        "Plays for player 2 on both sides: does something ask for player 2?",
        worth=_margin_of(2),
    ),
    Fault(
        "Drops a token of player 1 on both sides: whose token does your own move add?",
        _token_of_one,
    ),
    Fault(
        "Drops a token of the opponent: whose token does your own move add?",
        _token_of_other,
    ),
    Fault("Does not see diagonals: are both of them counted?", worth=_seeing(0, 1)),
    Fault("Does not see falling diagonals: are both diagonals counted?", worth=_seeing(0, 1, 3)),
    Fault("Does not see rising diagonals: are both diagonals counted?", worth=_seeing(0, 1, 2)),
    Fault("Does not see rows: are runs across the board counted?", worth=_seeing(0, 2, 3)),
    Fault("Sees columns alone: are rows and diagonals counted?", worth=_seeing(0)),
    Fault("Sees rows alone: are columns and diagonals counted?", worth=_seeing(1)),
    Fault(
        "Drops as if a token stayed in the top cell: does your own move fall?",
        _landing(height=lambda tokens, rows: rows - 1),
    ),
    Fault(
        "Drops as if a token stopped one cell too high: where does your own move land?",
        _landing(height=lambda tokens, rows: min(tokens + 1, rows - 1)),
    ),
    Fault(
        "Drops as if a token took the place of the top one: where does your own move land?",
        _landing(height=lambda tokens, rows: max(tokens - 1, 0)),
    ),
    Fault(
        "Plays as if row 0 were the bottom: it is the top row of the array.",
        _landing(height=lambda tokens, rows: rows - 1 - tokens),
        _upwards,
    ),
    Fault("Pops out as if the tokens above rose: do they fall?", pop=_upwards),
    Fault("Drops as if a token landed one column further left: is the column right?", _landing(-1)),
    Fault("Drops as if a token landed one column further right: is the column right?", _landing(1)),
    Fault(
        "Plays as if the board were mirrored: do you count columns from the left?",
        lambda state, column: _dropped(state, state.grid.columns - 1 - column),
        lambda state, column: _popped(state, state.grid.columns - 1 - column),
    ),
    Fault(
        "Pops out as if the tokens above stayed where they are: do they fall?",
        pop=lambda state, column: _cleared(state, column, 0),
    ),
    Fault(
        "Pops out as if the top token went: it is the bottom one.",
        pop=lambda state, column: _cleared(state, column, _height(state, column) - 1),
    ),
    Fault(
        "Pops out as if it were the next column: is the column right?",
        pop=lambda state, column: _popped(state, (column + 1) % state.grid.columns),
    ),
    Fault(
        "Expects replies that help it: does the opponent choose the smallest value?",
        worth=lambda state, tokens: _after(state, tokens, of_same=False),
    ),
    Fault(
        "Expects to move twice in a row: whose turn is it in your search?",
        worth=lambda state, tokens: _after(state, tokens, of_same=True),
    ),
)
