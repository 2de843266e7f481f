"""The printed tables: marks, matches board by board, standings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tabulate import tabulate

from grader.handin.findings import Finding
from grader.marks.earned import full_points
from grader.marks.intervals import FEW_PAIRS, Interval, few_games, t_quantile
from grader.marks.points import Mark, MatchMark
from grader.marks.tally import Tally, margin_digits
from grader.marks.tournament import Placing, StageState, Standing
from grader.play.replays import without_folders
from grader.results.store import Faults
from grader.rubric.model import Rubric, StatisticsRules

FEW: Final = 3
"""Up to N submissions, the terminal shows every board."""

LONGEST: Final = 200
"""Characters of a remark that quotes a student's error; the student's page has the whole error."""


def text_table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    """Return a table; a name that looks like a number stays text."""
    align = _alignment(rows, headers)
    plain = all(text.isascii() and text.isprintable() for row in (headers, *rows) for text in row)
    if align is not None and plain:
        return _plain_table(rows, headers, align)
    return str(tabulate(rows, headers, disable_numparse=True, colalign=align))


def _plain_table(
    rows: Sequence[Sequence[str]], headers: Sequence[str], align: Sequence[str]
) -> str:
    """Return what `tabulate` returns for texts in ASCII, of one line each, in a tenth of its time.

    A class has thousands of tables.
    """
    columns = []
    for header, side, column in zip(headers, align, zip(*rows, strict=True), strict=True):
        texts = [text.strip() for text in column]
        width = max(len(header) + 2, *map(len, texts))
        put = str.ljust if side == "left" else str.rjust
        columns.append([put(header, width), "-" * width, *(put(text, width) for text in texts)])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _alignment(rows: Sequence[Sequence[object]], headers: Sequence[str]) -> list[str] | None:
    if not rows:
        return None
    texts = ("submission", "match", "board", "faults", "remark", "stage")
    return ["left" if header in texts else "right" for header in headers]


def mean_text(interval: Interval, digits: int = 1) -> str:
    """Return `+3.5 (+2.1 to +5.2)`; the second part requires an interval."""
    if math.isnan(interval.mean):
        return "-"
    mean = f"{interval.mean:+.{digits}f}"
    if not interval.known:
        return mean
    few = ", few games" if few_games(interval.pairs) else ""
    return f"{mean} ({interval.low:+.{digits}f} to {interval.high:+.{digits}f}{few})"


def faults_text(faults: Faults) -> str:
    """Return the lost turns in words, empty if there are none."""
    counts = {"timeouts": faults.timeouts, "invalid": faults.invalid, "errors": faults.errors}
    text = ", ".join(
        f"{count} {word if count > 1 else word.removesuffix('s')}"
        for word, count in counts.items()
        if count
    )
    return f"{text} ({faults.starved} starved)" if faults.starved else text


def remark(mark: Mark) -> str:
    """Return the teacher's remark on a mark."""
    late = "late turns on a busy machine (grade --retry-starved plays them again)"
    return "; ".join(_notes(mark, late))


def remark_for_student(mark: Mark) -> str:
    """Return the student's remark on a mark, without the folders of the grading machine."""
    starved = mark.faults.starved
    turns = f"{starved} late turn{'s' if starved > 1 else ''}"
    notes = _notes(mark, f"{turns} on a busy machine: the machine may be to blame")
    return without_folders("; ".join(notes))


def clipped(text: str) -> str:
    """Return the beginning of a text that may be a student's, so that no table gets too wide."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _notes(mark: Mark, starved: str) -> list[str]:
    if mark.submission.problem:
        return [clipped(without_folders(mark.submission.problem))]
    notes = []
    if mark.missing:
        names = ", ".join(match.name for match in mark.matches if not match.tally.complete)
        games = "1 game" if mark.missing == 1 else f"{mark.missing} games"
        notes.append(f"incomplete: {games} missing, points of {names} are withheld")
    if mark.submission.report is None:
        notes.append("no report.txt")
    if mark.faults.starved:
        notes.append(starved)
    if mark.broken_rule:
        notes.append(mark.broken_rule)
    return notes


def finding_text(finding: Finding) -> str:
    """Return a finding as one line."""
    where = "report.txt" if finding.in_report else "line"
    kind = "required" if finding.required else "advice"
    return f"{where} {finding.line}: {finding.rule}: {finding.text} ({kind})"


def points_text(mark: MatchMark) -> str:
    """Return the points of a match with their interval, or that they are withheld."""
    if not mark.tally.complete:
        return "withheld"
    return f"{mark.points:.2f}{bounds_text(mark.bounds)}"


def bounds_text(bounds: tuple[float, float] | None) -> str:
    """Return the interval of points as a suffix, empty if there is none."""
    return "" if bounds is None else f" ({bounds[0]:.2f} to {bounds[1]:.2f})"


def total_text(mark: Mark, extra: float, rubric: Rubric) -> str:
    """Return `48.20 of 75`; the maximum does not include `extra`, the points for placement."""
    if mark.incomplete:
        return f"incomplete, {mark.total + extra:.2f} of {full_points(rubric):g} so far"
    text = f"{mark.total + extra:.2f} of {full_points(rubric):g}"
    if mark.bounds is not None:
        level = level_text(rubric.statistics)
        text += f" ({level} interval {interval_text(mark, extra)})"
    return f"{text}, with {extra:g} for placement" if extra else text


def level_text(rules: StatisticsRules) -> str:
    """Return the level of confidence of all intervals, such as `95 %`."""
    return f"{100 * rules.confidence:g} %"


def interval_text(mark: Mark, extra: float) -> str:
    """Return the interval of a total, empty if there is none.

    The points for placement, `extra`, have no uncertainty.
    """
    if mark.bounds is None:
        return ""
    low, high = mark.bounds
    few = ", few games" if mark.few_games else ""
    return f"{low + extra:.2f} to {high + extra:.2f}{few}"


def shown_points(mark: Mark, extra: float) -> tuple[str, list[str]]:
    """Return the total with `extra` for placement, and the points of each part.

    All are empty for a submission that was not graded: its remark has the reason.
    """
    if mark.submission.problem:
        return "", ["", ""]
    parts = ["-" if mark.withheld(part) else f"{mark.points(part):.2f}" for part in "AB"]
    return "incomplete" if mark.incomplete else f"{mark.total + extra:.2f}", parts


def marks_table(marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric) -> str:
    """Return one line per submission: points of each part, total and maximum, faults, remark."""
    placed = any(placement.values())
    headers = ["submission", "A", "B", *(["placement"] if placed else []), "total", "of"]
    with_bounds = any(mark.bounds for mark in marks)
    headers += [f"{level_text(rubric.statistics)} interval"] if with_bounds else []
    rows = []
    for mark in marks:
        extra = placement.get(mark.submission.name, 0.0)
        total, shown = shown_points(mark, extra)
        shown += [f"{extra:.2f}"] if placed else []
        shown += [total]
        shown += [f"{full_points(rubric):g}"]
        if with_bounds:
            shown += [interval_text(mark, extra)]
        rows.append([mark.submission.name, *shown, faults_text(mark.faults), remark(mark)])
    return text_table(rows, [*headers, "faults", "remark"])


MATCH_HEADERS = (
    *("match", "board", "games", "mean margin", "margin %", "points", "of"),
    *("timeouts", "invalid", "errors"),
)


def percent_text(total: Tally) -> str:
    """Return a percentage margin, `-` if there is none, as on hidden boards alone."""
    if not total.games or math.isnan(total.percent):
        return "-"
    return f"{total.percent:+.1f}"


def match_row(mark: MatchMark, board: str, total: Tally, rules: StatisticsRules) -> list[str]:
    """Return the line of a whole match (`board` is `all`) or of one of its boards."""
    whole = board == "all"
    games = f"{total.games}" if total.complete else f"{total.games} of {total.planned}"
    margin = f"{total.mean_margin:+.{total.digits}f}"
    if total.pairs:
        margin = mean_text(total.interval(rules), total.digits)
    faults = (total.faults.timeouts, total.faults.invalid, total.faults.errors)
    return [
        mark.name if whole else "",
        board,
        games,
        margin if total.games else "-",
        percent_text(total),
        points_text(mark) if whole else "",
        f"{mark.max_points:g}" if whole else "",
        *(str(count) for count in faults),
    ]


def match_rows(mark: Mark, rules: StatisticsRules) -> Iterator[list[str]]:
    """Yield the lines of all matches of a submission, each followed by its boards."""
    for match in mark.matches:
        yield match_row(match, "all", match.tally, rules)
        for board, total in match.boards.items():
            yield match_row(match, board, total, rules)


def match_table(mark: Mark, rules: StatisticsRules) -> str:
    """Return the table of all matches of one submission."""
    return text_table(list(match_rows(mark, rules)), MATCH_HEADERS)


def grade_text(
    marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric, details: bool
) -> str:
    """Return the text that `grade` and `report` print; `details` adds every board of a match."""
    parts = []
    if details or len(marks) <= FEW:
        parts = [
            f"{mark.submission.name}\n{match_table(mark, rubric.statistics)}\n"
            f"total {total_text(mark, placement.get(mark.submission.name, 0.0), rubric)}"
            for mark in marks
            if mark.matches
        ]
    parts.append(marks_table(marks, placement, rubric))
    if any(match.tally.pairs[1:] for mark in marks for match in mark.matches):
        parts.append(intervals_text(rubric.statistics))
    return "\n\n".join(parts) + "\n"


def intervals_text(rules: StatisticsRules) -> str:
    """Return a note on how to read the intervals of tables."""
    return (
        f"Intervals have {level_text(rules)} confidence, over pairs of games with sides swapped. "
        f'"few games": with fewer than {FEW_PAIRS} pairs they are rough.'
    )


STANDING_HEADERS = (
    *("#", "submission", "rating", "mean margin", "games", "W", "D", "L", "faults"),
)


def standing_row(place: int, standing: Standing, rubric: Rubric) -> list[str]:
    """Return one line of a group's table; a rating is shown with the half width of its interval."""
    digits = margin_digits(rubric.match.counts_points)
    rating = f"{standing.rating.value:+.{digits}f}"
    if not math.isnan(standing.rating.error):
        width = t_quantile((1 + rubric.statistics.confidence) / 2, standing.rating.freedom)
        rating += f" ± {width * standing.rating.error:.{digits}f}"
    counts = (standing.games, standing.wins, standing.draws, standing.losses)
    return [
        str(place),
        standing.contestant.name,
        rating,
        f"{standing.mean_margin:+.{digits}f}",
        *(str(count) for count in counts),
        faults_text(standing.faults),
    ]


def stage_text(state: StageState, rubric: Rubric) -> str:
    """Return the tables of all groups of a stage."""
    parts = []
    for group in state.groups:
        rows = [standing_row(place, item, rubric) for place, item in enumerate(group.standings, 1)]
        left = f", {group.missing} games to go" if group.missing else ""
        parts.append(f"{group.name}{left}\n{text_table(rows, STANDING_HEADERS)}")
    return "\n\n".join(parts)


def placing_table(placings: Sequence[Placing], rubric: Rubric) -> tuple[list[str], list[list[str]]]:
    """Return the header and the lines of the places; with points only if placement earns any."""
    with_points = any(placing.points for placing in placings)
    rows = [
        [
            *standing_row(placing.place, placing.standing, rubric),
            placing.stage,
            *([f"{placing.points:g}"] if with_points else []),
        ]
        for placing in placings
    ]
    return [*STANDING_HEADERS, "stage", *(["points"] if with_points else [])], rows


def tournament_text(
    begun: Sequence[StageState], placings: Sequence[Placing], rubric: Rubric
) -> str:
    """Return every table of a tournament; the places follow when the last stage has been played."""
    parts = [stage_text(state, rubric) for state in begun]
    if len(begun) == len(rubric.tournament.stages) and begun[-1].complete:
        headers, rows = placing_table(placings, rubric)
        parts.append(f"places\n{text_table(rows, headers)}")
    return "\n\n".join(parts) + "\n"
