"""The printed tables: marks, matches, standings, which fit in 80 columns; and `grades.csv`."""

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Final, TypeAlias

from grader.handin import OWN, Kind, without_folders
from grader.handin.form import Finding
from grader.handin.lists import csv_text
from grader.handin.roster import Change, Student
from grader.marks import Mark, MatchMark
from grader.marks.tally import FEW_PAIRS, Tally, few_games, full_points, margin_digits, t_quantile
from grader.marks.tournament import Placing, StageState, Standing
from grader.play import number_of
from grader.results import STARVED, Faults
from grader.rubric.model import Rubric, StatisticsRules

WIDTH: Final = 80
"""The columns of a terminal; no table is wider."""

NAMES: Final = ("submission", "student", "match", "stage", "an agent")
"""The headers of columns with names: aligned on the left, and shortened if necessary."""

FEW: Final = 3
"""Up to N submissions, the terminal shows every match."""

LONGEST: Final = 200
"""Characters of a remark that quotes a student's error; the student's page has the whole error."""


class Number(str):
    """The header of a column of numbers; on a page, they are aligned on the right."""


def text_table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    """Return a table without its empty columns.

    If it is wider than a terminal, the longest names end with an ellipsis.
    """
    used = [not rows or any(column) for column in zip(*(rows or [headers]), strict=True)]
    lines = [list(compress(line, used)) for line in (headers, *rows)]
    widths = [max(map(columns_of, column)) for column in zip(*lines, strict=True)]
    names = [place for place, header in enumerate(lines[0]) if header in NAMES]
    while names and sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        longest = max(names, key=lambda place: widths[place])
        if widths[longest] <= 12:  # no name gets shorter
            break
        widths[longest] -= 1
    lines.insert(1, ["-" * most for most in widths])
    return "\n".join(
        "  ".join(
            _padded(text, most, place in names)
            for place, (text, most) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def _padded(text: str, width: int, on_left: bool) -> str:
    """Return a text of exactly `width` columns; a longer one ends with an ellipsis."""
    if columns_of(text) > width:
        while columns_of(text) > width - 3:
            text = text[:-1]
        text += "..."
    space = " " * (width - columns_of(text))
    return text + space if on_left else space + text


def wrapped(text: str) -> str:
    """Return a text in lines of at most 80 columns; no word is broken."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def faults_text(faults: Faults) -> str:
    """Return the lost turns in words, empty if there are none."""
    counts = {"timeouts": faults.timeouts, "invalid": faults.invalid, "errors": faults.errors}
    return ", ".join(
        f"{count} {word if count > 1 else word.removesuffix('s')}"
        for word, count in counts.items()
        if count
    )


def changes(mark: Mark, student: Student | None = None) -> list[str]:
    """Return what late days and corrections change in a mark, in words.

    For a single student, else for all of them: what concerns one is not shown to the others.
    """
    late, notes = mark.late, []
    if late.days and not mark.submission.problem:
        taken = late.points if mark.incomplete else mark.deducted
        cost = f", {taken:.2f} points less" if late.points else ""
        notes.append(f"{number_of(late.days, 'day')} late{cost}")
    return [*notes, *map(str, mark.corrections(student))]


def remark(mark: Mark, student: Student | None = None) -> str:
    """Return the remark on a mark, without the folders of the grading machine.

    Lost turns come first, unless games are missing: they explain most marks of 0 points. Students
    may read a remark, so those on hidden boards are not counted.
    """
    notes = changes(mark, student)
    if mark.submission.problem:
        return "; ".join([clipped(without_folders(mark.submission.problem)), *notes])
    if mark.open:
        notes.insert(0, mark.open)
    if mark.shown_faults.total:
        lost = lost_text(mark, mark.shown_faults)
        notes[:0] = [lost, *([clipped(mark.slow)] if mark.slow else [])]
    if mark.missing:
        names = ", ".join(match.name for match in mark.matches if not match.tally.complete)
        games = number_of(mark.missing, "game")
        why = f" ({STARVED})" if STARVED in mark.why_withheld else ""
        notes.insert(0, f"incomplete: {games} missing, points of {names} are withheld{why}")
    if mark.submission.report is None and any(found.in_report for found in mark.findings):
        notes.append("no report.txt")
    if mark.public:
        notes.append(f"games whose seed was public: {mark.public}")
    if mark.starved:
        notes.append(f"games that a busy machine ended: {mark.starved}")
    if mark.broken_rule:
        notes.append(mark.broken_rule)
    return without_folders("; ".join(notes))


def lost_text(mark: Mark, faults: Faults) -> str:
    """Return how many turns were lost, and what a timeout is."""
    return re.sub("timeouts?", rf"\g<0> (no answer within {mark.limit})", faults_text(faults))


def clipped(text: str) -> str:
    """Return the beginning of a text that may be a student's, so that no table gets too wide."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def finding_text(finding: Finding) -> str:
    """Return a finding as one line."""
    where = "report.txt" if finding.in_report else "line"
    kind = "required" if finding.required else "advice"
    return f"{where} {finding.line}: {finding.rule}: {finding.text} ({kind})"


def level_text(rules: StatisticsRules) -> str:
    """Return the level of confidence of all intervals, such as `95 %`."""
    return f"{100 * rules.confidence:g} %"


def interval_text(mark: Mark) -> str:
    """Return the interval of a total, empty if there is none."""
    if mark.bounds is None:
        return ""
    low, high = (max(0.0, mark.corrected(bound)) for bound in mark.bounds)
    few = any(few_games(len(match.tally.pairs)) for match in mark.matches)
    return f"{low:.2f} to {high:.2f}{', few games' if few else ''}"


def shown_points(mark: Mark) -> tuple[str, list[str]]:
    """Return the total, and the points of each part."""
    parts = ["-" if mark.withheld(part) else f"{mark.points(part):.2f}" for part in "AB"]
    total = mark.known()
    return "incomplete" if total is None else f"{total:.2f}", parts


def marks_table(marks: Sequence[Mark], rubric: Rubric) -> str:
    """Return one line per submission with its points and lost turns; below it, the remarks."""
    placed = any(mark.placement for mark in marks)
    interval = f"{level_text(rubric.statistics)} interval"
    headers = ("submission", "A", "B", "placement", "total", "of", interval, "lost turns")
    rows: list[list[str]] = []
    notes: dict[str, str] = {}
    for mark in marks:
        name, lost = mark.submission.name, mark.shown_faults
        total, parts = shown_points(mark)
        bounds = interval_text(mark).partition(",")[0]
        extra = f"{mark.placement:.2f}" if placed else ""
        row = [name, *parts, extra, total, f"{full_points(rubric):g}"]
        rows.append([*row, bounds, str(lost.total or "")])
        notes[name] = remark(mark)
    return "\n".join([text_table(rows, headers), *_remarks(notes)])


def _remarks(notes: Mapping[str, str]) -> list[str]:
    """Return the remarks below a table, each after the name that it belongs to."""
    return [wrapped(f"{name}: {note}") for name, note in notes.items() if note]


MARGIN_HEADERS: Final = (Number("games"), Number("mean margin"), Number("margin %"))


def margins(total: Tally) -> list[str]:
    """Return the games of a match or of a board, their mean margin and their percentage margin.

    A margin is `-` without games, a percentage also on hidden boards alone.
    """
    games = f"{total.games}" if total.complete else f"{total.games} of {total.planned}"
    if not total.games:
        return [games, "-", "-"]
    percent = "-" if math.isnan(total.percent) else f"{total.percent:+z.1f}"
    return [games, f"{total.mean_margin:+z.{total.digits}f}", percent]


def match_table(matches: Iterable[MatchMark], rubric: Rubric, details: bool) -> str:
    """Return one line for each match, with `details` also for its boards."""
    interval = f"{level_text(rubric.statistics)} interval"
    rows = []
    for match in matches:
        points = f"{match.points:.2f}" if match.tally.complete else "withheld"
        bounds = "" if match.bounds is None else "{:.2f} to {:.2f}".format(*match.bounds)
        rows.append([match.name, *margins(match.tally), points, f"{match.max_points:g}", bounds])
        for board, part in match.boards.items() if details else ():
            rows.append([f"  {board}", *margins(part), "", "", ""])
    return text_table(rows, ["match", *MARGIN_HEADERS, "points", "of", interval])


def grade_text(marks: Sequence[Mark], rubric: Rubric, details: bool) -> str:
    """Return the text that `grade` and `report` print; `details` adds every board of a match."""
    parts = []
    for mark in marks if details or len(marks) <= FEW else ():
        if mark.matches:
            lost = [
                wrapped(f"lost turns in {match.name}: {faults_text(match.tally.shown_faults)}")
                for match in mark.matches
                if match.tally.shown_faults.total
            ]
            total = f"{mark.final():.2f} of {full_points(rubric):g}"  # without those for placement
            if mark.known() is None:
                total = f"incomplete, {total} so far"
            else:
                level = level_text(rubric.statistics)
                total += f" ({level} interval {interval_text(mark)})" if mark.bounds else ""
                total += f", with {mark.placement:g} for placement" if mark.placement else ""
            table = match_table(mark.matches, rubric, details)
            parts.append("\n".join([mark.submission.name, table, *lost, f"total {total}"]))
    parts.append(marks_table(marks, rubric))
    known = [match for mark in marks for match in mark.matches if match.bounds is not None]
    few = dict.fromkeys(match.name for match in known if few_games(len(match.tally.pairs)))
    if few:
        rough = f"few games: with fewer than {FEW_PAIRS} pairs of games an interval is rough"
        parts.append(wrapped(f"{rough}: {', '.join(few)}"))
    return "\n\n".join(parts) + "\n"


STANDING_HEADERS: Final = (
    *(Number("#"), "submission", Number("rating"), Number("mean margin"), Number("games")),
    *(Number("W-D-L"), "lost turns"),
)


def standing_row(place: int, standing: Standing, rubric: Rubric) -> list[str]:
    """Return one line of a group's table; a rating is shown with the half width of its interval."""
    digits = margin_digits(rubric.match.counts_points)
    rating = f"{standing.rating.value:+z.{digits}f}"
    if not math.isnan(standing.rating.error):
        width = t_quantile((1 + rubric.statistics.confidence) / 2, standing.rating.freedom)
        rating += f" ± {width * standing.rating.error:.{digits}f}"
    total = standing.total
    return [
        str(place),
        standing.contestant.name,
        rating,
        f"{total.mean_margin:+z.{digits}f}",
        str(total.games),
        total.record(),
        faults_text(total.faults),
    ]


def stage_text(state: StageState, rubric: Rubric) -> str:
    """Return the tables of all groups of a stage."""
    parts = []
    for group in state.groups:
        rows = [
            [*standing_row(item.place, item, rubric)[:-1], str(item.total.faults.total or "")]
            for item in group.standings
        ]
        left = f", {group.missing} games to go" if group.missing else ""
        lost = {item.contestant.name: faults_text(item.total.faults) for item in group.standings}
        lines = [f"{group.name}{left}", text_table(rows, STANDING_HEADERS)]
        parts.append("\n".join([*lines, *_remarks(lost)]))
    return "\n\n".join(parts)


PLACE_HEADERS: Final = (*STANDING_HEADERS[:-1], "stage", Number("points"))


def place_rows(placings: Sequence[Placing], rubric: Rubric) -> list[list[str]]:
    """Return the lines of the places; a place that earns no points has none in its line."""
    return [
        [
            *standing_row(placing.place, placing.standing, rubric)[:-1],
            placing.stage,
            f"{placing.points:g}" if placing.points else "",
        ]
        for placing in placings
    ]


def tournament_text(
    begun: Sequence[StageState], placings: Sequence[Placing], rubric: Rubric
) -> str:
    """Return every table of a tournament; the places follow when the last stage has been played."""
    parts = [stage_text(state, rubric) for state in begun]
    if len(begun) == len(rubric.tournament.stages) and begun[-1].complete:
        parts.append(f"places\n{text_table(place_rows(placings, rubric), PLACE_HEADERS)}")
    return "\n\n".join(parts) + "\n"


Column: TypeAlias = tuple[str, Callable[[Mark, Student], object]]
"""The title of a column of `grades.csv`, and its value in the line of a student."""

COLUMNS: Final[tuple[Column, ...]] = (
    ("Name", lambda mark, student: student.name),
    ("ID", lambda mark, student: student.identity),
    ("Email", lambda mark, student: student.email),
    ("Submission", lambda mark, student: mark.submission.name),
    ("Part A", lambda mark, student: _points(None if mark.withheld("A") else mark.points("A"))),
    ("Part B", lambda mark, student: _points(None if mark.withheld("B") else mark.points("B"))),
    ("Placement", lambda mark, student: _points(mark.placement)),
    ("Total", lambda mark, student: _points(mark.known(student))),
    ("Timeouts", lambda mark, student: mark.faults.timeouts),
    ("Invalid", lambda mark, student: mark.faults.invalid),
    ("Errors", lambda mark, student: mark.faults.errors),
    ("SHA-256", lambda mark, student: mark.submission.sha256 or ""),
    ("Remark", remark),
    ("Withheld", lambda mark, student: mark.open or mark.why_withheld),
)

ROSTER_COLUMNS: Final[tuple[Column, ...]] = (
    ("Section", lambda mark, student: student.section),
    ("Group", lambda mark, student: student.group),
    ("Submitted", lambda mark, student: mark.late.submitted),
    ("Late Days", lambda mark, student: "" if mark.late.days is None else mark.late.days),
    ("Late Deduction", lambda mark, student: _points(None if mark.incomplete else mark.deducted)),
    ("Adjust", lambda mark, student: _points(sum(_amounts(student, Change.ADJUST)))),
    ("Reason", lambda mark, student: _joined(one.reason for one in student.corrections)),
    (
        "Percent",
        lambda mark, student: _joined(map("{:g}".format, _amounts(student, Change.PERCENT))),
    ),
    (
        "Mark",
        lambda mark, student: _joined(
            f"{one:g}" if one >= 0 else "none" for one in _amounts(student, Change.MARK)
        ),
    ),
    ("Corrected on", lambda mark, student: _joined(one.day for one in student.corrections)),
)
"""The columns of a roster, of late days and of corrections."""


def grades_csv(marks: Sequence[Mark], more: bool = False) -> str:
    """Return `grades.csv`: one line for each student, also if several handed in together.

    `more` adds the columns of a roster.
    """
    columns = (*COLUMNS, *(ROSTER_COLUMNS if more else ()))
    students = [(mark, student) for mark in marks for student in mark.students]
    if any(student.key(Kind.NUMBER, Kind.LOGIN) for _, student in students):
        students = [  # the number that a platform gives one may be another one's of the university
            (mark, replace(one, keys=tuple(key for key in one.keys if key[0] not in OWN[1:])))
            for mark, one in students
        ]
    rows = [[value(mark, student) for _, value in columns] for mark, student in students]
    return csv_text([title for title, _ in columns], rows)


def _amounts(student: Student, kind: Change) -> list[float]:
    return [change.amount for change in student.corrections if change.kind is kind]


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(filter(None, texts))


def _points(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
