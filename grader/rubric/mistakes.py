"""Rejects rubrics that are valid but certainly a mistake, with one line each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from connect4.errors import InputError
from connect4.games.extended import EXTENDED
from grader.rubric.model import Board, Rubric, all_boards

MOST_CELLS: Final = 12
"""Rows, and columns, of the largest board in the assignment."""

MOST_POPOUTS: Final = 10

LEAST_SECONDS: Final = 5
MOST_SECONDS: Final = 20

COLUMNS_WITH_POPOUTS: Final = 10
"""On more columns, a position may have more than the 15 actions of the assignment."""


def refuse_mistakes(rubric: Rubric, allow_large: bool) -> None:
    """Raise `InputError` for a rubric's first mistake, with file and key."""
    for key, what in _mistakes(rubric, allow_large):
        raise InputError(f"{rubric.source}: {key}: {what}")


def _mistakes(rubric: Rubric, allow_large: bool) -> Iterator[tuple[str, str]]:
    for key, boards in _lists_of_boards(rubric):
        yield from ((f"{key}.boards", what) for what in _doubles(boards))
        if not allow_large:
            yield from ((f"{key}.boards", what) for what in _large(boards))
    marked = {board.name for board in (*rubric.part_a.boards, *rubric.part_b.boards)}
    for name in rubric.match.hidden:
        if name not in marked:
            yield "match.hidden", f"board {name!r} is none of the boards of part A or B"
    if rubric.match.counts_points and all(board.hidden for board in rubric.part_a.boards):
        yield (
            "match.hidden",
            "every board of part A is hidden; its margin is in percent of the opponent's points on "
            "the others, so leave one that is not",
        )
    stages = rubric.tournament.stages
    for place, stage in enumerate(stages[:-1], 1):
        if stage.group_size and stage.promote >= stage.group_size:
            yield (
                f"tournament.stages[{place}].promote",
                f"{stage.promote} of {stage.group_size} would all reach the next stage; "
                f"promote {stage.group_size - 1} at most",
            )
    for place, (better, worse) in enumerate(pairwise(rubric.tournament.points), 1):
        if worse > better:
            yield (
                "tournament.points",
                f"place {place + 1} earns {worse:g}, more than place {place} with {better:g}; "
                "points must not rise",
            )


def outside_assignment(rubric: Rubric) -> str | None:
    """Return a note on what exceeds the assignment's limits, None if nothing does."""
    if rubric.match.game != EXTENDED.name:
        return None
    times = {"match.time_limit": rubric.match.time_limit}
    for place, stage in enumerate(rubric.tournament.stages, 1):
        times[f"tournament.stages[{place}].time_limit"] = stage.time_limit
    found = [
        f"{key} is {seconds:g}"
        for key, seconds in times.items()
        if not LEAST_SECONDS <= seconds <= MOST_SECONDS
    ]
    for board in all_boards(rubric):
        rows, columns, popouts = _size(board)
        most = COLUMNS_WITH_POPOUTS if popouts else MOST_CELLS
        if popouts > MOST_POPOUTS or rows > MOST_CELLS or columns > most:
            found.append(f"board {board.name!r} has {rows}x{columns} cells, {popouts} pop-outs")
    if not found:
        return None
    return (
        f"{rubric.source}: outside the assignment's limits (5 to 20 s a move, 15 actions, 10 "
        f"pop-outs, 12x12): {'; '.join(found)}"
    )


def _size(board: Board) -> tuple[int, int, int]:
    """Return the rows, the columns and the pop-outs of the player who has more of them."""
    cells, popouts = board.start["board"], board.start.get("popouts", 0)
    return len(cells), len(cells[0]), max(popouts) if isinstance(popouts, list) else popouts


def _lists_of_boards(rubric: Rubric) -> Iterator[tuple[str, tuple[Board, ...]]]:
    yield "part_a", rubric.part_a.boards
    yield "part_b", rubric.part_b.boards
    yield "compare", rubric.compare.boards
    for place, stage in enumerate(rubric.tournament.stages, 1):
        yield f"tournament.stages[{place}]", stage.boards


def _doubles(boards: tuple[Board, ...]) -> Iterator[str]:
    """Yield an error for each position that is in a list twice: its games would be the same."""
    first: dict[str, str] = {}
    for board in boards:
        name = first.get(board.digest)
        if name == board.name:
            yield f"board {name!r} is listed twice"
        elif name is not None:
            yield f"boards {name!r} and {board.name!r} are one position"
        first[board.digest] = board.name


def _large(boards: tuple[Board, ...]) -> Iterator[str]:
    for board in boards:
        rows, columns, most = _size(board)
        if max(rows, columns) > MOST_CELLS:
            yield (
                f"board {board.name!r} has {rows} rows and {columns} columns, more than "
                f"{MOST_CELLS}x{MOST_CELLS}; --allow-large allows it"
            )
        elif most > MOST_POPOUTS:
            yield (
                f"board {board.name!r} has {most} pop-outs, more than {MOST_POPOUTS}; "
                "--allow-large allows it"
            )
