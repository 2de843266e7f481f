"""Marks: what played games and the rubric make of a submission, less late days."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from grader.handin import IN_TIME, LATE, Submission
from grader.handin.form import Finding, check
from grader.handin.roster import Change, Correction, Student
from grader.marks.tally import Tally, earned, full_points, tally
from grader.play.schedule import Contestant, Match, PlannedGame, names_of, submitted
from grader.results import Faults, PlayedGame
from grader.rubric.model import Rubric, SubmissionRules


@dataclass(frozen=True, slots=True)
class MatchMark:
    """The points of one match; `boards` has the tallies of its boards."""

    match: Match
    tally: Tally
    boards: dict[str, Tally]
    points: float
    """0 while games are missing: a mean of only some games is not a mark."""
    max_points: float
    bounds: tuple[float, float] | None = None
    """The confidence interval of the points; None if games are missing or for a single pair."""
    withheld: str = ""
    """Why the points are withheld, empty if they are not."""

    @property
    def name(self) -> str:
        """Return the part and the opponent."""
        return f"{self.match.part}: {self.match.two.name}"


@dataclass(frozen=True, slots=True)
class Lateness:
    """When a submission was handed in, and what that costs."""

    submitted: str = ""
    """In the zone of the deadline; `LATE` or `IN_TIME` if no more is known; empty if nothing is."""
    days: int | None = None
    """None without a deadline or a time."""
    points: float = 0.0
    """To be taken from the mark, if it has so many."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The whole mark of a submission; `Results.marks` makes it from a results file."""

    submission: Submission
    matches: tuple[MatchMark, ...] = ()
    findings: tuple[Finding, ...] = ()
    """The findings of `check` on the source and the report."""
    detail: str = ""
    """More lines on the submission's problem."""
    public: int = 0
    """The number of games whose seed was public when they were played."""
    starved: int = 0
    students: tuple[Student, ...] = ()
    """Who gets the mark."""
    late: Lateness = field(default_factory=Lateness)
    placement: float = 0.0
    """The points for a place in a tournament."""
    limit: str = ""
    """The limit of a move, in words."""
    slow: str = ""
    """From which time on the file plays, in words; empty if the time of a move will do."""
    open: str = ""
    """Why nobody can tell yet whose mark this is, or which hand-in counts; else empty."""

    @property
    def broken_rule(self) -> str | None:
        """Return the first required rule of form that the source breaks, in words."""
        for found in self.findings:
            if found.required and not found.in_report:
                return f"line {found.line}: {found.rule}: {found.text}"
        return None

    @property
    def why_withheld(self) -> str:
        """Return, for each match whose points are withheld, the reason; empty if there is none."""
        return "; ".join(f"{mark.name}: {mark.withheld}" for mark in self.matches if mark.withheld)

    def withheld(self, part: str) -> bool:
        """Return whether points of a part are withheld because games are missing."""
        matches = (mark for mark in self.matches if mark.match.part == part)
        return not all(mark.tally.complete for mark in matches)

    @property
    def incomplete(self) -> bool:
        """Return whether points are withheld, or it is not decided whose they are."""
        return self.missing > 0 or bool(self.open)

    def points(self, part: str) -> float:
        """Return the points of one part, without withheld points."""
        return sum(mark.points for mark in self.matches if mark.match.part == part)

    @property
    def total(self) -> float:
        """Return the points of all parts, with those for placement."""
        return sum(mark.points for mark in self.matches) + self.placement

    def corrections(self, student: Student | None = None) -> tuple[Correction, ...]:
        """Return the corrections of a student's mark; for None, those that all have."""
        if student is not None:
            return student.corrections
        found = {one.corrections for one in self.students}
        return found.pop() if len(found) == 1 else ()

    @property
    def deducted(self) -> float:
        return min(self.late.points, self.total)

    def corrected(self, points: float, student: Student | None = None) -> float:
        """Return points less those for late days, after the corrections of `corrections`.

        First comes the sum of the percentages, then the points; a mark that was set replaces all.
        """
        changes = self.corrections(student)
        sums = {kind: sum(one.amount for one in changes if one.kind is kind) for kind in Change}
        value = (points - self.deducted) * (1 + sums[Change.PERCENT] / 100) + sums[Change.ADJUST]
        value = max(0.0, value) if changes or self.deducted else value
        return value if (own := self.set_to(student)) is None else own

    def set_to(self, student: Student | None = None) -> float | None:
        """Return what the teacher has set the mark to, None if it is not set."""
        found = [one.amount for one in self.corrections(student) if one.kind is Change.MARK]
        return found[-1] if found and found[-1] >= 0 else None

    def final(self, student: Student | None = None) -> float:
        """Return the mark of a student, or for None what all of them share, so far."""
        return self.corrected(self.total, student)

    def known(self, student: Student | None = None) -> float | None:
        """Return the mark, None while it is incomplete and the teacher has not set it."""
        return self.set_to(student) if self.incomplete else self.final(student)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the confidence interval of the total, None if a match has none.

        The matches are independent, so the squares of their half widths add up. The points for
        placement have no uncertainty.
        """
        known = [mark.bounds for mark in self.matches if mark.bounds is not None]
        if not known or len(known) < len(self.matches):
            return None
        points = [mark.points for mark in self.matches]
        below = math.hypot(*(one - low for one, (low, _) in zip(points, known, strict=True)))
        above = math.hypot(*(high - one for one, (_, high) in zip(points, known, strict=True)))
        return self.total - below, self.total + above

    @property
    def faults(self) -> Faults:
        """Return the number of lost turns in all games, by kind."""
        return sum((mark.tally.faults for mark in self.matches), Faults())

    @property
    def shown_faults(self) -> Faults:
        """Return the number of lost turns that the student may know of."""
        return sum((mark.tally.shown_faults for mark in self.matches), Faults())

    @property
    def missing(self) -> int:
        """Return how many games have no result yet."""
        return sum(mark.tally.planned - mark.tally.games for mark in self.matches)


def mark_match(
    match: Match,
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    rubric: Rubric,
    failures: Mapping[str, str],
) -> MatchMark:
    """Return the mark of one match of part A or B; `failures` says why games failed, by key.

    Of points that are withheld, the most frequent failure is named first.
    """
    total = tally(games, played)
    boards: dict[str, list[PlannedGame]] = {}
    for game in games:
        boards.setdefault(game.board.label, []).append(game)
    tallies = {name: tally(listed, played) for name, listed in boards.items()}
    points, full, bounds = earned(match, total, rubric)
    if total.complete and total.games:
        return MatchMark(match, total, tallies, points, full, bounds)
    missing = [game.key for game in games if game.key not in played]
    causes = Counter(failures[key] for key in missing if key in failures)
    why = [f"{count} failed: {text}" for text, count in causes.most_common()]
    if waiting := len(missing) - causes.total():
        why.append(f"{waiting} not played yet")
    withheld = f"{len(missing)} of {len(games)} games have no result: {'; '.join(why)}"
    return MatchMark(match, total, tallies, 0.0, full, withheld=withheld)


def gradable(submissions: Iterable[Submission]) -> list[Contestant]:
    """Return the files that can be graded, each once, with the names of all who handed it in."""
    authors: dict[str, list[str]] = {}
    for item in submissions:
        if item.problem is None and item.sha256 is not None:
            authors.setdefault(item.sha256, []).append(item.name)
    return [submitted(names_of(names), one) for one, names in authors.items()]


@lru_cache(maxsize=1024)
def found_in(source: bytes, report: str | None, rules: SubmissionRules) -> tuple[Finding, ...]:
    """Return the findings of `check` on a source and its report."""
    return tuple(check(source, report, rules))


def lateness(students: Sequence[Student], rubric: Rubric) -> Lateness:
    """Return the lateness of a submission, by its students' last time and longest extension.

    A day ends at the deadline's time of day in the rubric's zone, also when clocks change.
    """
    rules, zone = rubric.late, ZoneInfo(rubric.late.zone)
    times = {student.submitted for student in students} - {""}
    known = times - {LATE, IN_TIME}
    if not known or not rules.deadline:
        return Lateness(max(known or times, default=""))
    submitted = max(_on_clock(text, zone) for text in known)
    extension = max(student.extension for student in students)
    deadline = _on_clock(rules.deadline, zone) + timedelta(days=extension)
    days = max(0, math.ceil((submitted - deadline) / timedelta(days=1)))
    full = full_points(rubric)
    each = rules.points_a_day + full * rules.percent_a_day / 100
    points = max(0, days - rules.grace_days) * each
    text = submitted.isoformat(" ", "minutes")
    return Lateness(text, days, min(points, full * rules.cap_percent / 100))


def _on_clock(text: str, zone: ZoneInfo) -> datetime:
    """Return what a clock in the zone shows at a time, without the seconds."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is not None:
        time = time.astimezone(zone).replace(tzinfo=None)
    return time.replace(second=0, microsecond=0)
