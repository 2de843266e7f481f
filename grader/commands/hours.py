"""The core-hours that `--dry-run` prints: the rubric's own, and those of other limits and pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from connect4.isolation.wasm.budget import seconds_of, shown
from grader.marks.tournament import later_games, stages
from grader.output.results import GRADE
from grader.output.tables import text_table
from grader.play.schedule import Contestant, PlannedGame, grade_games, worth
from grader.rubric.fuel import by_fuel
from grader.rubric.model import Rubric

SECONDS: Final = (5.0, 2.0, 1.0)
FUEL: Final = (20 * 10**9, 5 * 10**9, 10**9)

HEADERS: Final = ("a move", "1 pair on each board", "2 pairs on each board")


def hours_text(kind: str, contestants: Sequence[Contestant], rubric: Rubric) -> str:
    """Return the core-hours of a whole class if every submission uses all of its time."""
    own = sum(map(worth, _games(kind, contestants, rubric)))
    once = list(_games(kind, contestants, _one_pair(rubric)))
    limits = {f"{seconds:g} s": seconds for seconds in SECONDS}
    if by_fuel(rubric):
        limits = {shown(fuel): seconds_of(fuel) for fuel in FUEL}
    rows = []
    for label, limit in limits.items():
        one_pair = sum(worth(replace(game, time_limit=limit)) for game in once)
        rows.append((label, _hours(one_pair), _hours(2 * one_pair)))
    return (
        f"{rubric.source} takes {_hours(own)} core-hours if submissions use all their time.\n"
        "Core-hours with another limit and other `repeats`:\n"
        f"{text_table(rows, HEADERS)}"
    )


def _games(kind: str, contestants: Sequence[Contestant], rubric: Rubric) -> Iterable[PlannedGame]:
    """Return all games, each once: several matches may share a game."""
    if kind == GRADE:
        games = grade_games(contestants, rubric)
    else:
        begun = stages(contestants, {}, rubric)
        games = [game for group in begun[0].groups for game in group.games]
        games += (game for later in later_games(begun, rubric).values() for game in later)
    return {game.key: game for game in games}.values()


def _one_pair(rubric: Rubric) -> Rubric:
    """Return the rubric with one pair of games on each board."""
    once = tuple(replace(stage, repeats=1) for stage in rubric.tournament.stages)
    return replace(
        rubric,
        match=replace(rubric.match, repeats=1),
        tournament=replace(rubric.tournament, stages=once),
    )


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.1f}" if hours >= 1 else f"{hours:.2g}"
