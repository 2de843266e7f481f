"""A board without the rules of its game: its data for pages, what a move changed, its picture.

Data for pages are plain values; the picture is one SVG for notebooks, like the replay page's board.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from connect4.games.base import Player, State
from connect4.games.board import Cell, Run, RunChange, run_changes
from connect4.views import document, palette

Board: TypeAlias = npt.NDArray[np.int64]
"""Shape `(rows, columns)`, row 0 on top."""


def shape_data(start: State) -> dict[str, Any]:
    """Return the board's size and labels, as people number them in the game."""
    rows, columns = start.board().shape
    first = start.first_number
    return {
        "rows": rows,
        "columns": columns,
        "columnLabels": [str(column + first) for column in range(columns)],
        "rowLabels": [str(row + first) for row in range(rows)] if start.slides else None,
        "owners": start.column_owners,
        "plate": not start.slides,
    }


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
        return [
            [
                run.player,
                self._cell_number(run.cells[0]),
                self._cell_number(run.cells[-1]),
                run.length,
                run.points,
            ]
            for run in self._numbers
        ]

    def _cell_number(self, cell: Cell) -> int:
        row, column = cell
        return row * self._columns + column


CELL: Final = 40
EDGE: Final = 12
WIDEST: Final = 480
"""Pixels of a picture in its default size."""

TEXT: Final = 7
"""The estimated width of a letter below the board in pixels."""

LINE: Final = 18
NOTES: Final = 3
"""The height of a line below the board in pixels, and the maximum number of lines."""

Kind: TypeAlias = Literal["made", "broken", "standing", "won"]

DIRECTIONS: Final[dict[Cell, str]] = {(0, 1): "row", (1, 0): "column"}


class RunMark(NamedTuple):
    """A line on the board along a run; a non-empty `label` holds its points."""

    run: Run
    kind: Kind
    label: str


def svg(state: State, before: State | None = None, runs_of: Player | None = None) -> str:
    """Return the picture, in the light or dark colours of the surrounding page.

    `runs_of` marks all runs of a player, `before` the changes by the moves since that position.
    Without either, only the winning lines are marked.
    """
    shape = shape_data(state)
    marks, notes = _marks_and_notes(state, before, runs_of)
    said = re.sub(r" \(\S\)", "", str(state).splitlines()[-1])
    said = said[:1].upper() + said[1:]
    left = EDGE + (20 if shape["rowLabels"] else 0)
    rows, columns = shape["rows"], shape["columns"]
    width = columns * CELL + left + EDGE
    missing = max(0, max(TEXT * len(text) + 22 for text in (said, *notes)) + 2 * EDGE - width)
    left, width = left + missing // 2, width + missing
    below = rows * CELL + (52 if shape["owners"] else 36)
    height = below + 14 + LINE * len(notes) + EDGE
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
            *_last_move(before, state),
            *_runs(marks),
            *_labels(shape),
            *_said(state, said, EDGE - left, below),
            *(
                f'<text class="note" x="{EDGE - left}" y="{below + LINE * line}">'
                f"{html.escape(note)}</text>"
                for line, note in enumerate(notes, 1)
            ),
            "</svg>",
        ]
    )


def _marks_and_notes(
    state: State, before: State | None, runs_of: Player | None
) -> tuple[list[RunMark], list[str]]:
    """Return the runs to mark, and the lines of text about them below the picture."""
    runs = state.runs()
    if not state.game.counts_points:
        return [RunMark(run, "won", "") for run in runs], []
    if runs_of is not None:
        own = sorted((run for run in runs if run.player == runs_of), key=lambda run: -run.points)
        marks = [RunMark(run, "standing", str(run.points)) for run in own]
        return marks, [f"Player {runs_of}: {sum_text([run.points for run in own])}"]
    if before is None:
        return [], []
    changes = run_changes(before.runs(), runs)
    lines = why_lines(changes, NOTES)
    return change_marks(changes), [line[:1].upper() + line[1:] for line in lines]


def _style() -> str:
    """Return the style sheet; its rules apply only to the picture, not to the whole notebook."""
    light, dark = palette.properties("light"), palette.properties("dark")
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


def _last_move(before: State | None, state: State) -> list[str]:
    """Return a ring around the token of the last move, if a single move was made since `before`."""
    move = None if before is None else motion_between(before.board(), state.board())
    if move is None or move.target is None:
        return []
    rings = [(move.target, "last")]
    if move.origin is not None:
        rings = [(move.origin, "from"), (move.target, "last-field")]
    return [
        f'<circle class="{kind}" cx="{_middle(column)}" cy="{_middle(row)}" r="15.5"/>'
        for (row, column), kind in rings
    ]


def _runs(marks: Sequence[RunMark]) -> list[str]:
    """Return the runs as lines, with their points on top if there is room."""
    lines, labels = list[str](), list[str]()
    taken: list[tuple[float, float]] = []
    for mark in marks:
        cells = mark.run.cells
        (y1, x1), (y2, x2) = (tuple(map(_middle, cell)) for cell in (cells[0], cells[-1]))
        ends = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
        lines.append(f'<line class="casing" {ends}/><line class="run {mark.kind}" {ends}/>')
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        crowded = any(abs(x - a) <= 21 and abs(y - b) <= 15 for a, b in taken)
        if not mark.label or (crowded and mark.kind == "standing"):  # a note has their sum
            continue
        taken.append((x, y))
        width = 8 + 6.5 * len(mark.label)
        tag = "tag-made" if mark.kind == "made" else "tag"
        kind = "points points-broken" if mark.kind == "broken" else "points"
        labels.append(
            f'<rect class="{tag}" x="{x - width / 2:g}" y="{y - 7.5:g}" width="{width:g}" '
            f'height="15" rx="7.5"/><text class="{kind}" x="{x:g}" y="{y:g}">{mark.label}</text>'
        )
    return [*lines, *labels]


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


def points_text(points: int) -> str:
    """Return `+5` or `−20`, with a real minus sign."""
    return f"{points:+}".replace("-", "−")


def change_marks(changes: Sequence[RunChange]) -> list[RunMark]:
    """Return the new runs that gained points, and the old runs that lost points."""
    marks = []
    for change in changes:
        kind: Kind = "made" if change.points > 0 else "broken"
        runs = change.made if change.points > 0 else change.broken if change.points else ()
        for place, run in enumerate(runs):
            label = "" if place else points_text(change.points)
            marks.append(RunMark(run, kind, label))
    return marks


def change_text(change: RunChange) -> str:
    """Describe a change of runs: `column of 4, was 3`, `row of 3 broken`."""
    where = DIRECTIONS.get((change.made or change.broken)[0].step, "diagonal")
    made, broken = (
        " and ".join(str(run.length) for run in runs) for runs in (change.made, change.broken)
    )
    if not made:
        return f"{where} of {broken} broken"
    return f"{where} of {made}{f', was {broken}' if broken else ''}"


def why_lines(changes: Sequence[RunChange], most: int) -> list[str]:
    """Return at most `most` changes of points, the greatest first, and the number of the others."""
    scoring = [change for change in changes if change.points]
    lines = [
        f"player {change.player} {points_text(change.points)} ({change_text(change)})"
        for change in scoring[:most]
    ]
    return [*lines, f"and {len(scoring) - most} more"] if len(scoring) > most else lines


def sum_text(points: Sequence[int]) -> str:
    """Return the sum of the points of runs, largest first: `2 × 20 + 1 × 5 + 7 × 2 = 59`."""
    parts = " + ".join(f"{points.count(worth)} × {worth}" for worth in dict.fromkeys(points))
    return f"{parts} = {sum(points)}" if parts else "0"
