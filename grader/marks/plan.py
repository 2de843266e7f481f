"""The games that a tournament still has to play, including those of stages not yet begun."""

from __future__ import annotations

from collections.abc import Sequence

from grader.marks.tournament import StageState, deal, group_count, group_name
from grader.play.schedule import PlannedGame, group_games, submitted
from grader.rubric.model import Rubric


def later_games(begun: Sequence[StageState], rubric: Rubric) -> dict[str, list[PlannedGame]]:
    """Return the games of each stage not yet begun, with placeholders for promoted contestants."""
    groups = [len(group.standings) for group in begun[-1].groups] if begun else []
    found: dict[str, list[PlannedGame]] = {}
    for before, stage in zip(rubric.tournament.stages, rubric.tournament.stages[1:], strict=False):
        if before.name not in found and before is not begun[-1].stage:
            continue  # it has been played
        order = [
            submitted(f"{stage.name} {number}", f"{stage.name} {number}")
            for number in range(sum(min(before.promote, size) for size in groups))
        ]
        count = group_count(len(order), stage)
        dealt = deal(order, count)
        found[stage.name] = [
            game
            for number, group in enumerate(dealt, 1)
            for game in group_games(group_name(stage, number, count), group, stage, rubric)
        ]
        groups = [len(group) for group in dealt]
    return found
