"""The runs that a view marks on the board: those that a move made or broke, or all of one side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from connect4.games.base import Player
from connect4.games.runs import Cell, Run, RunChange

Kind: TypeAlias = Literal["made", "broken", "standing", "won"]

TOLD: Final = 2
"""The maximum number of changes in one line; the board shows them all."""

_PLACES: Final = (0.5, 0.3, 0.7, 0.15, 0.85, 0.0, 1.0)
"""The possible places for the points along a run, the best first."""

DIRECTIONS: Final[dict[Cell, str]] = {(0, 1): "row", (1, 0): "column"}


class RunMark(NamedTuple):
    """A line on the board from cell to cell; a non-empty `label` holds its points."""

    first: Cell
    last: Cell
    kind: Kind
    label: str


Pixel: TypeAlias = tuple[float, float]


def label_place(
    ends: tuple[Pixel, Pixel], room: Pixel, taken: Sequence[Pixel], needed: bool
) -> Pixel | None:
    """Return the place for the points of a run, at least `room` away from the `taken` places.

    If there is no such place, return the best one if the label is `needed`, else None.
    """
    (x1, y1), (x2, y2) = ends
    places = [(x1 + part * (x2 - x1), y1 + part * (y2 - y1)) for part in _PLACES]
    for x, y in places:
        if all(abs(x - a) > room[0] or abs(y - b) > room[1] for a, b in taken):
            return x, y
    return places[0] if needed else None


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
            marks.append(RunMark(run.cells[0], run.cells[-1], kind, label))
    return marks


def standing_marks(runs: Sequence[Run], player: Player) -> list[RunMark]:
    """Return all runs of a player, those with the most points first."""
    own = sorted((run for run in runs if run.player == player), key=lambda run: -run.points)
    return [RunMark(run.cells[0], run.cells[-1], "standing", str(run.points)) for run in own]


def won_marks(runs: Sequence[Run]) -> list[RunMark]:
    """Return the lines that won a game."""
    return [RunMark(run.cells[0], run.cells[-1], "won", "") for run in runs]


def change_text(change: RunChange) -> str:
    """Describe a change of runs: `column of 4, was 3`, `row of 3 broken`."""
    where = DIRECTIONS.get((change.made or change.broken)[0].step, "diagonal")
    made, broken = (
        " and ".join(str(run.length) for run in runs) for runs in (change.made, change.broken)
    )
    if not made:
        return f"{where} of {broken} broken"
    return f"{where} of {made}{f', was {broken}' if broken else ''}"


def why_text(changes: Sequence[RunChange]) -> str:
    """Return why the points changed, the greatest changes first; empty if they did not."""
    return ", ".join(why_lines(changes, TOLD))


def why_lines(changes: Sequence[RunChange], most: int) -> list[str]:
    """Return at most `most` changes of points, the greatest first, and the number of the others."""
    scoring = [change for change in changes if change.points]
    lines = [
        f"player {change.player} {points_text(change.points)} ({change_text(change)})"
        for change in scoring[:most]
    ]
    return [*lines, f"and {len(scoring) - most} more"] if len(scoring) > most else lines


def sum_text(runs: Sequence[Run], player: Player) -> str:
    """Return the sum of a player's points: `2 x 20 + 1 x 5 + 7 x 2 = 59`."""
    points = [run.points for run in runs if run.player == player]
    counts = {worth: points.count(worth) for worth in sorted(set(points), reverse=True)}
    parts = " + ".join(f"{count} × {worth}" for worth, count in counts.items())
    return f"{parts} = {sum(points)}" if parts else "0"
