"""A rubric that grades one file in about two minutes: a first estimate, not a mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from connect4.games.base import Seconds
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


TAKEN: Final = 0.5
"""A file that needs up to these seconds per move gets them; above it there are fewer games."""


def quick(rubric: Rubric, folder: Path | None, needed: Seconds = 0.0) -> tuple[Rubric, str]:
    """Return the rubric with the shortest board of each part and less time, and what it leaves out.

    `folder` contains the rubric's own boards. `needed` is the time from which on the file plays.
    """
    values: dict[str, Any] = {**rubric.values, "match": {**rubric.values["match"], "repeats": 1}}
    left: list[str] = []
    for part, boards in (("part_a", rubric.part_a.boards), ("part_b", rubric.part_b.boards)):
        shortest = min(boards, key=lambda board: _turns(board, rubric))
        values[part] = {**values[part], "boards": [shortest.name]}
        left += [board.name for board in boards if board.name != shortest.name]
    games = "one pair of games against each opponent"
    if needed > TAKEN:
        games = "one pair of games in each part"
        baselines = values["part_b"]["baselines"]
        chosen = baselines[min(1, len(baselines) - 1)]  # the first is often random, as in part A
        left += [step["agent"] for step in baselines if step is not chosen]
        values["part_b"] = {**values["part_b"], "baselines": [chosen]}
    shorter = rubrics.from_values(values, rubric.source, folder)
    planned = {game.key: game for game in grade_games([submitted("", "")], shorter)}.values()
    turns = sum(map(timed_turns, planned))
    seconds = (SECONDS - START_SECONDS * len(planned)) / max(1, turns)
    limit = min(rubric.match.time_limit, max(LEAST, round(seconds, 2), needed))
    values["match"] = {**values["match"], "time_limit": limit}
    without = f", without {', '.join(dict.fromkeys(left))}" if left else ""
    why = f" (your file plays from {needed:g} s on)" if needed else ""
    note = (
        f"--quick: {limit:g} s a move in place of {rubric.match.time_limit:g}{why}, "
        f"{games}{without}: a first look, no mark"
    )
    return rubrics.from_values(values, rubric.source, folder), note


def _turns(board: Board, rubric: Rubric) -> int:
    one = submitted("", "")
    terms = (board, 0, 1, 0, rubric.match.time_limit, rubric.limits)
    return timed_turns(PlannedGame(Match("", one, one), *terms))
