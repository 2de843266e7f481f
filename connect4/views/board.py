"""A board without the rules of its game: its data for pages, what a move changed, its picture.

Data for pages are plain values; the picture is one SVG for notebooks, like the replay page's board.
"""

import html
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.games.base import State
from connect4.games.board import Cell, Run, run_changes
from connect4.views import document

Board: TypeAlias = npt.NDArray[np.int64]
"""Shape `(rows, columns)`, row 0 on top."""


def shape_data(start: State) -> dict[str, Any]:
    """Return the board's size, labels as people number them in the game, and its cells."""
    rows, columns = start.board().shape
    first = start.first_number
    return {
        "rows": rows,
        "columns": columns,
        "columnLabels": [str(column + first) for column in range(columns)],
        "rowLabels": [str(row + first) for row in range(rows)] if start.slides else None,
        "owners": start.column_owners,
        "popOuts": start.has_pop_outs,
        "plate": not start.slides,
        "start": cells_text(start),
    }


def cells_text(state: State) -> str:
    """Return the value of each cell, row by row from the top."""
    return "".join(map(str, state.board().ravel().tolist()))


def changed_cells(before: Board, after: Board) -> list[int]:
    """Return `[cell, new value, ...]` in reading order, cells counted row by row from the top."""
    cells = np.flatnonzero(before != after)
    return [int(value) for cell in cells for value in (cell, after.flat[cell])]


class Motion(NamedTuple):
    """The effect of a move: a token came to `target`, slid there from `origin`, or was popped out.

    `origin` is None after a drop, and `target` after a pop-out.
    """

    origin: Cell | None
    target: Cell | None


def motion_between(before: Board, after: Board) -> Motion | None:
    """Return the single move that leads from `before` to `after`; None if there is none."""
    changed = [(int(row), int(column)) for row, column in np.argwhere(before != after)]
    added = int(np.count_nonzero(after)) - int(np.count_nonzero(before))
    if added == 1 and len(changed) == 1:
        return Motion(None, changed[0])
    if added == -1 and len({column for _, column in changed}) == 1:
        column = changed[0][1]
        if np.array_equal(after[1:, column], before[:-1, column]):
            return Motion((len(before) - 1, column), None)
    if added == 0 and len(changed) == 2:
        for origin, target in (changed, changed[::-1]):
            if after[origin] == 0 and after[target] == before[origin]:
                return Motion(origin, target)
    return None


class RunTable:
    """Numbers the runs of one game in the order of their first occurrence, from `start` on."""

    def __init__(self, start: State) -> None:
        self._columns: int = start.board().shape[1]
        self._numbers: dict[Run, int] = {}
        for run in start.runs():
            self.number(run)

    def number(self, run: Run) -> int:
        """Return the number of a run, which is added if it is new."""
        return self._numbers.setdefault(run, len(self._numbers))

    def changes(self, before: Sequence[Run], after: Sequence[Run]) -> list[list[int]]:
        """Return `[points, run, ...]` of each change: n + 1 if run n was made, -n - 1 if broken."""
        return [
            [
                change.points,
                *(self.number(run) + 1 for run in change.made),
                *(-self.number(run) - 1 for run in change.broken),
            ]
            for change in run_changes(before, after)
        ]

    def rows(self) -> list[Any]:
        """Return `[player, first cell, last cell, length, points]` of each run."""
        found = []
        for run in self._numbers:
            ends = (row * self._columns + column for row, column in (run.cells[0], run.cells[-1]))
            found.append([run.player, *ends, run.length, run.points])
        return found


CELL: Final = 40
EDGE: Final = 12
WIDEST: Final = 480
"""Pixels of a picture in its default size."""

TEXT: Final = 7
"""The estimated width of a letter below the board in pixels."""


def svg(state: State) -> str:
    """Return the picture, in the light or dark colours of the surrounding page.

    The winning lines of a game without points are marked.
    """
    shape = shape_data(state)
    said = re.sub(r" \(\S\)", "", str(state).splitlines()[-1])
    said = said[:1].upper() + said[1:]
    left = EDGE + (20 if shape["rowLabels"] else 0)
    rows, columns = shape["rows"], shape["columns"]
    width = columns * CELL + left + EDGE
    missing = max(0, TEXT * len(said) + 22 + 2 * EDGE - width)
    left, width = left + missing // 2, width + missing
    below = rows * CELL + (52 if shape["owners"] else 36)
    height = below + 14 + EDGE
    shown = min(width * 1.0, WIDEST)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="connect4" role="img" '
            f'width="{shown:.0f}" height="{shown * height / width:.0f}" '
            f'viewBox="{-left} {-EDGE} {width} {height}">',
            f"<title>{html.escape(f'{rows} by {columns} board. {said}.')}</title>",
            f"<style>{_style()}</style>",
            f'<rect class="card" x="{-left + 0.5}" y="{-EDGE + 0.5}" '
            f'width="{width - 1}" height="{height - 1}" rx="10"/>',
            *_cells(shape, state),
            *_winning_lines(state),
            *_labels(shape),
            *_said(state, said, EDGE - left, below),
            "</svg>",
        ]
    )


def _style() -> str:
    """Return the style sheet; its rules apply only to the picture, not to the whole notebook."""
    light, dark = document.properties("light"), document.properties("dark")
    return "\n".join(
        [
            f".connect4 {{ {light} }}",
            f"@media (prefers-color-scheme: dark) {{ .connect4 {{ {dark} }} }}",
            f'[data-jp-theme-light="true"] .connect4, .vscode-light .connect4 {{ {light} }}',
            f'[data-jp-theme-light="false"] .connect4, .vscode-dark .connect4 {{ {dark} }}',
            document.assets(("picture",), "css"),
        ]
    )


def _cells(shape: dict[str, Any], state: State) -> list[str]:
    """Return the board with its tokens: a plate with holes, or a field of squares."""
    rows, columns = shape["rows"], shape["columns"]
    width, height = columns * CELL, rows * CELL
    size = f'x="-4" y="-4" width="{width + 8}" height="{height + 8}"'
    found = [f'<rect class="plate" {size} rx="12"/>']
    if not shape["plate"]:
        lines = "".join(f"M0 {row * CELL}h{width}" for row in range(1, rows))
        lines += "".join(f"M{column * CELL} 0v{height}" for column in range(1, columns))
        found = [
            f'<rect class="field" width="{width}" height="{height}"/>',
            f'<path class="lines" d="{lines}"/>',
        ]
    for row, cells in enumerate(state.board().tolist()):
        for column, player in enumerate(cells):
            x, y = _middle(column), _middle(row)
            if player:
                found.append(_token(player, x, y))
            elif shape["plate"]:
                found.append(f'<circle class="hole" cx="{x}" cy="{y}" r="15.5"/>')
    return found


def _token(player: int, x: float, y: float, size: float = 1.0) -> str:
    """Return a token: with a dot for player 1, with a ring for player 2."""
    mark = '<circle class="dot" r="4.5"/>' if player == 1 else '<circle class="ring" r="7"/>'
    place = f'transform="translate({x} {y}) scale({size})"'
    return f'<g {place}><circle class="p{player}" r="15.5"/>{mark}</g>'


def _winning_lines(state: State) -> list[str]:
    """Return the lines that won, in a game without points."""
    lines = []
    for run in () if state.game.counts_points else state.runs():
        (y1, x1), (y2, x2) = (tuple(map(_middle, run.cells[end])) for end in (0, -1))
        ends = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
        lines.append(f'<line class="casing" {ends}/><line class="run" {ends}/>')
    return lines


def _said(state: State, said: str, x: float, y: float) -> list[str]:
    """Return the line below the board, with the token of the player who moves or has won."""
    winner = state.winner()
    player = state.mover if winner is None else winner
    token = [_token(player, x + 8, y, 0.5)] if player else []
    x += 22 if player else 0
    return [*token, f'<text class="said" x="{x}" y="{y}">{html.escape(said)}</text>']


def _labels(shape: dict[str, Any]) -> list[str]:
    """Return the numbers of columns and rows, and the owner of each column."""
    bottom = shape["rows"] * CELL
    found = []
    for column, label in enumerate(shape["columnLabels"]):
        x = _middle(column)
        found.append(f'<text class="label" x="{x}" y="{bottom + 16}">{label}</text>')
        if shape["owners"]:
            owner = shape["owners"][column]
            found.append(f'<path class="p{owner}" d="M{x - 6} {bottom + 27}h12l-6 8z"/>')
    for row, label in enumerate(shape["rowLabels"] or ()):
        found.append(f'<text class="label" x="-13" y="{_middle(row)}">{label}</text>')
    return found


def _middle(place: float) -> float:
    return (place + 0.5) * CELL
