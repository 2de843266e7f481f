"""The printed tables: marks, matches, standings. They fit in 80 columns."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from grader.handin.form import Finding
from grader.handin.roster import Student
from grader.handin.submission import without_folders
from grader.marks.points import Mark, MatchMark
from grader.marks.tally import (
    FEW_PAIRS,
    Interval,
    Tally,
    few_games,
    full_points,
    margin_digits,
    t_quantile,
)
from grader.marks.tournament import Placing, StageState, Standing
from grader.results.store import STARVED, Faults
from grader.rubric.model import Rubric, StatisticsRules

WIDTH: Final = 80
"""The columns of a terminal; no table is wider."""

SHORTEST: Final = 12
"""No name is shortened to less than N columns."""

NAMES: Final = ("submission", "student", "match", "board", "faults", "stage", "an agent")
"""The headers of columns with names: aligned on the left, and shortened if necessary."""

FEW: Final = 3
"""Up to N submissions, the terminal shows every match."""

LONGEST: Final = 200
"""Characters of a remark that quotes a student's error; the student's page has the whole error."""


def text_table(rows: Sequence[Sequence[str]], headers: Sequence[str], width: float = WIDTH) -> str:
    """Return a table; if it is wider than `width`, the longest names end with an ellipsis."""
    lines = [headers, *rows]
    widths = [max(map(columns_of, column)) for column in zip(*lines, strict=True)]
    names = [place for place, header in enumerate(headers) if header in NAMES]
    while names and sum(widths) + 2 * (len(widths) - 1) > width:
        longest = max(names, key=lambda place: widths[place])
        if widths[longest] <= SHORTEST:
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
        days = "1 day" if late.days == 1 else f"{late.days} days"
        cost = f", {late.points:.2f} points less" if late.points else ""
        notes.append(f"{days} late{cost}")
    adjust, reason = (student.adjust, student.reason) if student else mark.correction
    if adjust:
        notes.append(f"corrected by {adjust:+g}{reason and f': {reason}'}")
    return notes


def remark(mark: Mark, student: Student | None = None) -> str:
    """Return the remark on a mark, without the folders of the grading machine."""
    notes = changes(mark, student)
    if mark.submission.problem:
        return "; ".join([clipped(without_folders(mark.submission.problem)), *notes])
    if mark.missing:
        names = ", ".join(match.name for match in mark.matches if not match.tally.complete)
        games = "1 game" if mark.missing == 1 else f"{mark.missing} games"
        why = f" ({STARVED})" if STARVED in mark.why_withheld else ""
        notes.append(f"incomplete: {games} missing, points of {names} are withheld{why}")
    if mark.submission.report is None:
        notes.append("no report.txt")
    if mark.public:
        notes.append(f"games whose seed was public: {mark.public}")
    if mark.broken_rule:
        notes.append(mark.broken_rule)
    return without_folders("; ".join(notes))


def clipped(text: str) -> str:
    """Return the beginning of a text that may be a student's, so that no table gets too wide."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


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
        return f"incomplete, {mark.final(extra):.2f} of {full_points(rubric):g} so far"
    text = f"{mark.final(extra):.2f} of {full_points(rubric):g}"
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
    change = extra + mark.adjust - mark.deducted(extra)
    low, high = (max(0.0, bound + change) for bound in mark.bounds)
    few = ", few games" if mark.few_games else ""
    return f"{low:.2f} to {high:.2f}{few}"


def shown_points(mark: Mark, extra: float) -> tuple[str, list[str]]:
    """Return the total with `extra` for placement, and the points of each part."""
    parts = ["-" if mark.withheld(part) else f"{mark.points(part):.2f}" for part in "AB"]
    return "incomplete" if mark.incomplete else f"{mark.final(extra):.2f}", parts


def marks_table(marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric) -> str:
    """Return one line per submission with its points and lost turns; below it, the remarks."""
    placed = any(placement.values())
    headers = ["submission", "A", "B", *(["placement"] if placed else []), "total", "of"]
    headers += [f"{level_text(rubric.statistics)} interval", "lost turns"]
    rows: list[list[str]] = []
    notes: dict[str, str] = {}
    for mark in marks:
        name, lost = mark.submission.name, mark.faults
        extra = placement.get(name, 0.0)
        total, shown = shown_points(mark, extra)
        shown += [f"{extra:.2f}"] if placed else []
        interval = interval_text(mark, extra).partition(",")[0]
        shown += [total, f"{full_points(rubric):g}", interval, str(lost.total or "")]
        rows.append([name, *shown])
        notes[name] = "; ".join(filter(None, (faults_text(lost), remark(mark))))
    return "\n".join([text_table(*without_empty(rows, headers)), *_remarks(notes)])


def _remarks(notes: Mapping[str, str]) -> list[str]:
    """Return the remarks below a table, each after the name that it belongs to."""
    return [wrapped(f"{name}: {note}") for name, note in notes.items() if note]


def without_empty(
    rows: Sequence[Sequence[str]], headers: Sequence[str]
) -> tuple[list[list[str]], list[str]]:
    """Return a table without the columns in which every cell is empty."""
    used = [any(column) for column in zip(*rows, strict=True)] or [True] * len(headers)
    kept = [[text for text, one in zip(row, used, strict=True) if one] for row in (headers, *rows)]
    return kept[1:], kept[0]


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
    margin = _mean(total)
    if total.pairs:
        margin = mean_text(total.interval(rules), total.digits)
    faults = (total.faults.timeouts, total.faults.invalid, total.faults.errors)
    return [
        mark.name if whole else "",
        board,
        _games(total),
        margin,
        percent_text(total),
        points_text(mark) if whole else "",
        f"{mark.max_points:g}" if whole else "",
        *(str(count) for count in faults),
    ]


def _games(total: Tally) -> str:
    return f"{total.games}" if total.complete else f"{total.games} of {total.planned}"


def _mean(total: Tally) -> str:
    return f"{total.mean_margin:+.{total.digits}f}" if total.games else "-"


def match_table(mark: Mark, rubric: Rubric, details: bool) -> str:
    """Return one line for each match, with `details` also for its boards; below, lost turns."""
    headers = ["match", "games", "mean margin", "margin %", "points", "of"]
    headers += [f"{level_text(rubric.statistics)} interval"]
    rows, lost = [], []
    for match in mark.matches:
        total, points = match.tally, points_text(match).partition(" (")[0]
        row = [match.name, _games(total), _mean(total), percent_text(total), points]
        rows.append([*row, f"{match.max_points:g}", bounds_text(match.bounds)[2:-1]])
        for board, part in match.boards.items() if details else ():
            rows.append([f"  {board}", _games(part), _mean(part), percent_text(part), "", "", ""])
        if total.faults.total:
            lost.append(wrapped(f"lost turns in {match.name}: {faults_text(total.faults)}"))
    return "\n".join([text_table(*without_empty(rows, headers)), *lost])


def grade_text(
    marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric, details: bool
) -> str:
    """Return the text that `grade` and `report` print; `details` adds every board of a match."""
    parts = []
    if details or len(marks) <= FEW:
        parts = [
            f"{mark.submission.name}\n{match_table(mark, rubric, details)}\n"
            f"total {total_text(mark, placement.get(mark.submission.name, 0.0), rubric)}"
            for mark in marks
            if mark.matches
        ]
    parts.append(marks_table(marks, placement, rubric))
    parts += intervals_text([match for mark in marks for match in mark.matches], rubric.statistics)
    return "\n\n".join(parts) + "\n"


def intervals_text(matches: Iterable[MatchMark], rules: StatisticsRules) -> Iterator[str]:
    """Yield a note on how to read the intervals of points, if any match has one."""
    pairs = {match.name: len(match.tally.pairs) for match in matches if match.tally.pairs[1:]}
    few = [name for name, count in pairs.items() if few_games(count)]
    which = f" ({', '.join(few)})" if len(few) < len(pairs) else ""
    rough = f" Few games: with fewer than {FEW_PAIRS} pairs they are rough{which}." if few else ""
    if pairs:
        yield wrapped(
            f"Intervals have {level_text(rules)} confidence, over pairs of games with sides "
            f"swapped.{rough}"
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
    total = standing.total
    counts = (total.games, total.wins, total.draws, total.losses)
    return [
        str(place),
        standing.contestant.name,
        rating,
        f"{total.mean_margin:+.{digits}f}",
        *(str(count) for count in counts),
        faults_text(total.faults),
    ]


def stage_text(state: StageState, rubric: Rubric) -> str:
    """Return the tables of all groups of a stage."""
    parts = []
    for group in state.groups:
        rows = [
            [*standing_row(place, item, rubric)[:-1], str(item.total.faults.total or "")]
            for place, item in enumerate(group.standings, 1)
        ]
        headers = [*STANDING_HEADERS[:-1], "lost turns"]
        left = f", {group.missing} games to go" if group.missing else ""
        lost = {item.contestant.name: faults_text(item.total.faults) for item in group.standings}
        lines = [f"{group.name}{left}", text_table(*without_empty(rows, headers))]
        parts.append("\n".join([*lines, *_remarks(lost)]))
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
        kept = [headers.index(name) for name in headers if name not in STANDING_HEADERS[4:]]
        rows = [[row[place] for place in kept] for row in rows]
        parts.append(f"places\n{text_table(rows, [headers[place] for place in kept])}")
    return "\n\n".join(parts) + "\n"
