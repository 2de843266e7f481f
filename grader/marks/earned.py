"""Converts margins into points by the rubric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from grader.marks.tally import Tally
from grader.play.schedule import PART_A, Match
from grader.rubric.model import Baseline, PartA, Rubric


@dataclass(frozen=True, slots=True)
class Earned:
    """The points for the games of a match, with their confidence interval if there is one."""

    points: float
    full: float
    bounds: tuple[float, float] | None


def points_a(percent: float, part: PartA) -> float:
    """Return the points of part A: by percentage margin, up to the cap, never below 0."""
    return max(0.0, part.points * min(percent, part.cap_percent) / part.cap_percent)


def points_b(margin: float, step: Baseline) -> float:
    """Return the points against one baseline: linear between its two mean margins."""
    share = (margin - step.low) / (step.high - step.low)
    return step.points * min(1.0, max(0.0, share))


def baseline_of(match: Match, rubric: Rubric) -> Baseline:
    """Return the baseline of the ladder for a match of part B."""
    return next(step for step in rubric.part_b.baselines if step.agent.name == match.two.name)


def full_points(rubric: Rubric) -> float:
    """Return the maximum points of parts A and B."""
    return rubric.part_a.points + sum(step.points for step in rubric.part_b.baselines)


def earned(match: Match, total: Tally, rubric: Rubric) -> Earned:
    """Return the points for the games of a match that have been played."""
    if match.part == PART_A:
        worth, full = partial(points_a, part=rubric.part_a), rubric.part_a.points
        measured, interval = total.percent, total.percent_interval(rubric.statistics)
    else:
        step = baseline_of(match, rubric)
        worth, full = partial(points_b, step=step), step.points
        measured, interval = total.mean_margin, total.interval(rubric.statistics)
    bounds = (worth(interval.low), worth(interval.high)) if interval.known else None
    return Earned(worth(measured), full, bounds)
