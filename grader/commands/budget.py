"""The plan of `--budget`: computed once for a class, stored, and used by every run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation.wasm.budget import fuel_of
from grader.handin.submission import Submission
from grader.marks import budget
from grader.marks.budget import SECONDS, TOURNAMENT, Plan
from grader.marks.points import gradable
from grader.output.tables import level_text
from grader.play.progress import duration
from grader.results.store import Store, has_results
from grader.rubric import reading as rubrics
from grader.rubric.fuel import by_fuel
from grader.rubric.model import Rubric, Values


def planned(
    arguments: argparse.Namespace, kind: str, rubric: Rubric, found: Sequence[Submission]
) -> tuple[Rubric, Values | None]:
    """Return the rubric with the plan of `--budget` or of the results file, and that plan.

    Raises `InputError` if the file's plan is for other hours or another rubric.
    """
    path = arguments.results or Path(f"{kind}.db")
    stored, begun = _stored(path)
    basis = budget.basis(rubric, kind)
    if stored is not None and begun == kind:
        plan = _checked(stored, basis, path, arguments.budget)
        print(f"{path}: its plan is used", file=sys.stderr)
    elif arguments.budget is None:
        return rubric, None
    elif begun is not None:
        raise InputError(
            f"--budget: {path} has games without a plan; --results names a new file for a plan"
        )
    else:
        contestants = gradable(found)
        if not contestants:
            return rubric, None
        plan = budget.make_plan(kind, contestants, arguments.budget, rubric)
        stored = {"basis": basis, "plan": plan.to_json()}
    for line in described(plan, rubric):
        print(line, file=sys.stderr)
    folder = rubrics.DEFAULT.parent if arguments.rubric is None else arguments.rubric.parent
    values = budget.planned_values(rubric.values, plan)
    return rubrics.from_values(values, rubric.source, folder), stored


def _stored(path: Path) -> tuple[Any, str | None]:
    """Return the plan of a results file and the kind of its run; None if there is none."""
    if not has_results(path):
        return None, None
    with Store(path, writing=False) as store:
        return store.meta_json("plan"), store.meta("kind")


def _checked(stored: Any, basis: Values, path: Path, hours: float | None) -> Plan:
    """Return a stored plan; raises `InputError` if it is for other hours or another rubric."""
    plan = budget.from_json(stored["plan"])
    if hours is not None and hours != plan.hours:
        raise InputError(
            f"--budget {hours:.3g}h: {path} has a plan for {plan.hours:.3g}h, the same for the "
            "whole class; --results names a new file for another plan"
        )
    if json.loads(json.dumps(basis)) != stored["basis"]:
        raise InputError(
            f"{path}: its plan was made for other boards, repeats, time limits or [budget]; "
            "change the rubric back, or name a new file with --results"
        )
    return plan


def described(plan: Plan, rubric: Rubric) -> Iterator[str]:
    """Yield lines on the games of a plan and on the certainty of its marks."""
    yield (
        f"plan for {duration(plan.hours * SECONDS)} of one core: at most "
        f"{duration(plan.core_seconds)} are used; the whole rubric takes at most "
        f"{duration(plan.whole_core_seconds)}"
    )
    for section in plan.sections:
        pairs = "1 pair" if section.pairs == 1 else f"{section.pairs} pairs"
        name = section.name if plan.kind == TOURNAMENT else section.name.replace("_", " ")
        yield (
            f"  {name}: {pairs} of games in each match, {_limit(section.time_limit, rubric)} a "
            f"move, boards {', '.join(section.boards)}"
        )
    yield f"  certainty: {_certainty(plan, rubric)}"


def _limit(time_limit: Seconds, rubric: Rubric) -> str:
    return f"fuel {fuel_of(time_limit):.3g}" if by_fuel(rubric) else f"{time_limit:g} s"


def _certainty(plan: Plan, rubric: Rubric) -> str:
    """Return how certain a plan's marks are; all numbers are estimates from typical games."""
    if plan.kind == TOURNAMENT:
        ratio = plan.spread / plan.whole_spread
        return f"the error of a margin is about {ratio:.1f} times that of the whole rubric"
    level = level_text(rubric.statistics)
    text = "one pair of games gives no interval"
    if plan.half_width is not None:
        text = f"the {level} interval of a total is about ± {plan.half_width:.1f} points"
    if plan.whole_half_width is not None:
        text += f" (whole rubric: ± {plan.whole_half_width:.1f})"
    if round(plan.shift, 1):
        text += f"; fewer boards and less time move a total by about {plan.shift:.1f} points more"
    return text
