"""A rubric that grades one file in about two minutes: a first estimate, not a mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from grader.play.schedule import (
    START_SECONDS,
    Match,
    PlannedGame,
    grade_games,
    submitted,
    timed_turns,
)
from grader.rubric import reading as rubrics
from grader.rubric.model import Board, Rubric

SECONDS: Final = 120.0
"""The duration of a run on one core if the submission uses all its time."""

LEAST: Final = 0.05
"""Seconds per move; below this, process start and communication would dominate."""


def quick(rubric: Rubric, folder: Path | None) -> tuple[Rubric, str]:
    """Return the rubric with the shortest board of each part and less time, and what it leaves out.

    `folder` contains the rubric's own boards.
    """
    values: dict[str, Any] = {**rubric.values, "match": {**rubric.values["match"], "repeats": 1}}
    left: list[str] = []
    for part, boards in (("part_a", rubric.part_a.boards), ("part_b", rubric.part_b.boards)):
        shortest = min(boards, key=lambda board: _turns(board, rubric))
        values[part] = {**values[part], "boards": [shortest.name]}
        left += [board.name for board in boards if board.name != shortest.name]
    shorter = rubrics.from_values(values, rubric.source, folder)
    games = {game.key: game for game in grade_games([submitted("", "")], shorter)}.values()
    seconds = (SECONDS - START_SECONDS * len(games)) / max(1, sum(map(timed_turns, games)))
    limit = min(rubric.match.time_limit, max(LEAST, round(seconds, 2)))
    values["match"] = {**values["match"], "time_limit": limit}
    without = f", without {', '.join(dict.fromkeys(left))}" if left else ""
    note = (
        f"--quick: {limit:g} s a move in place of {rubric.match.time_limit:g}, one pair of games "
        f"against each opponent{without}: a first look, no mark"
    )
    return rubrics.from_values(values, rubric.source, folder), note


def _turns(board: Board, rubric: Rubric) -> int:
    one = submitted("", "")
    terms = (board, 0, 1, 0, rubric.match.time_limit, rubric.limits)
    return timed_turns(PlannedGame(Match("", one, one), *terms))
