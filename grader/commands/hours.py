"""How long games take: core-hours of a class for `--dry-run`, and the command `fuel`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from connect4.isolation.wasm import package
from connect4.isolation.wasm.level import OTHER_FUEL, seconds_of, shown
from grader.commands.common import DONE, say
from grader.marks.tournament import later_games, stages
from grader.output.results import GRADE
from grader.output.tables import text_table
from grader.play.schedule import Contestant, PlannedGame, grade_games, worth
from grader.rubric.model import Rubric, level_of_games

HOURS_HEADERS: Final = ("a move", "1 pair on each board", "2 pairs on each board")


def hours_text(kind: str, contestants: Sequence[Contestant], rubric: Rubric) -> str:
    """Return the core-hours of a whole class if every submission uses all of its time."""
    games = list(_games(kind, contestants, rubric))
    once = [game for game in games if game.repeat == 0]
    rows = []
    for label, limit in level_of_games(rubric).other_limits().items():
        one_pair = sum(worth(replace(game, time_limit=limit)) for game in once)
        rows.append((label, _hours(one_pair), _hours(2 * one_pair)))
    return (
        f"{rubric.source} takes {_hours(sum(map(worth, games)))} core-hours if submissions use all "
        "their time.\n"
        "Core-hours with another limit and other `repeats`:\n"
        f"{text_table(rows, HOURS_HEADERS)}"
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


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.1f}" if hours >= 1 else f"{hours:.2g}"


TURNS = 40
"""Turns of a typical game in which both agents search: an 8x6 board with a few pop-outs."""


def fuel(budget: int | None = None) -> int:
    """Measure this machine and print how many seconds each budget takes here."""
    from connect4.isolation.wasm import images  # late: the dry run of a class needs no wasm

    package.compiled(say)
    rounds, median = images.measure_speed()
    medians = [statistics.median(values) for values in rounds.values()]
    rows = [
        (name, *(f"{value / 1e9:.2f}" for value in (sorted(values)[i] for i in (0, 2, -1))))
        for name, values in rounds.items()
    ]
    print(text_table(rows, ("what runs", "slowest", "median", "fastest")))
    print(f"\nGigafuel a second, {images.ROUNDS} rounds. Median of all: {median / 1e9:.2f}.\n")
    budgets = sorted({*OTHER_FUEL, *([budget] if budget else [])})
    games = f"games of {TURNS} full turns an hour, a core"
    rows = [
        (
            shown(one),
            f"{seconds_of(one):g}",
            f"{one / max(medians):.1f} to {one / min(medians):.1f}",
            f"{3600 / (TURNS * one / median):.0f}",
        )
        for one in budgets
    ]
    print(text_table(rows, ("budget", "virtual s", "seconds a move here", games)))
    print("\nMarks do not depend on these figures. --dry-run estimates hours from them.")
    print(f"What counts here: {images.identity_text()}")
    return DONE
