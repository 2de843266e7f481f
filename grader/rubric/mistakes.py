"""Rejects rubrics that are valid but certainly a mistake, with one line each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from connect4.errors import InputError
from grader.rubric.model import Board, Rubric

MOST_CELLS: Final = 12
"""Rows, and columns, of the largest board in the assignment."""

MOST_POPOUTS: Final = 10


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
    if rubric.match.stop is not None and rubric.match.repeats < 2:
        yield (
            "match.stop",
            "a match with one pair on each board has one round and cannot end early; set repeats",
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
        cells, popouts = board.start["board"], board.start.get("popouts", 0)
        rows, columns = len(cells), len(cells[0])
        most = max(popouts) if isinstance(popouts, list) else popouts
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
