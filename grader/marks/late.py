"""Late days: how many, and what they cost by the rubric's `[late]`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from grader.handin.roster import Student
from grader.handin.submission import IN_TIME, LATE
from grader.marks.tally import full_points
from grader.rubric.model import Rubric

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Lateness:
    """When a submission was handed in, and what that costs."""

    submitted: str = ""
    """In the rubric's zone; `LATE` or `IN_TIME` if a download says no more; empty if unknown."""
    days: int | None = None
    """None without a deadline or a time."""
    points: float = 0.0
    """To be taken from the mark, if it has so many."""


def lateness(students: Sequence[Student], rubric: Rubric) -> Lateness:
    """Return the lateness of a submission, by its students' last time and longest extension.

    A day ends at the deadline's time of day in the rubric's zone, also when clocks change.
    """
    rules, zone = rubric.late, ZoneInfo(rubric.late.zone)
    times = {student.member.submitted for student in students} - {""}
    known = [_on_clock(text, zone) for text in times - {LATE, IN_TIME}]
    if not known:
        return Lateness(max(times, default=""))
    submitted = max(known)
    text = submitted.isoformat(" ", "minutes")
    if not rules.deadline:
        return Lateness(text)
    extension = max(student.extension for student in students)
    deadline = _on_clock(rules.deadline, zone) + timedelta(days=extension)
    days = max(0, math.ceil((submitted - deadline) / DAY))
    full = full_points(rubric)
    each = rules.points_a_day + full * rules.percent_a_day / 100
    points = max(0, days - rules.grace_days) * each
    return Lateness(text, days, min(points, full * rules.cap_percent / 100))


def _on_clock(text: str, zone: ZoneInfo) -> datetime:
    """Return what a clock in the zone shows at a time, without the seconds."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is not None:
        time = time.astimezone(zone).replace(tzinfo=None)
    return time.replace(second=0, microsecond=0)
