"""The pages of a whole class: for the teacher its marks, and for everybody a tournament."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Final

from grader.handin import file_name
from grader.marks import Mark, MatchMark
from grader.marks.tally import by_match, full_points, margin_digits, tally
from grader.marks.tournament import Group, StageState
from grader.output import tables
from grader.output.pages import (
    Cell,
    Link,
    card,
    heading,
    listed,
    minus,
    paragraphs,
    progress,
    section,
    table,
    whole,
)
from grader.output.results import Results
from grader.output.tables import Number
from grader.results import Faults

ROSTER: Final = ("section", "group")
MARK_HEADERS: Final = (
    *("submission", *ROSTER, Number("total"), Number("interval"), Number("A"), Number("B")),
    *("lost turns", "remark"),
)

OPPONENT_HEADERS: Final = (
    *("opponent", Number("games"), Number("the class's median margin"), Number("full points")),
    *(Number("zero points"), "its lost turns"),
)

OPPONENTS: Final = (
    "An opponent that times out or crashes hands out free points. Where that happened, the table "
    "has a column of its lost turns."
)

FAILURE_HEADERS: Final = ("game", "failure", "begun")

CORRECTION_HEADERS: Final = ("student", "correction")

PROJECTOR: Final = (
    '<button type="button" id="projector" '
    'title="The bracket alone, for a projector; Escape ends it">Projector</button>'
)

PLACES: Final = (
    "Places go by the last stage that a submission reached, then by its place in its group "
    "there, then by its numbers in that stage. A second place so stands above every third place, "
    "whatever their margins: the groups had different opponents. Those who are equal in all of "
    "this share a place."
)


def class_page(results: Results) -> str:
    """Return the page of the marks; it contains all names, so students must not see it."""
    marks = results.marks
    totals = [total for mark in marks if (total := mark.known()) is not None]
    failed = [
        (f"{game.match.one.name}, {game.title}", fault.text, fault.attempts)
        for game in results.games
        if (fault := results.faults.get(game.key)) is not None
    ]
    parts = [
        heading("The class"),
        paragraphs(["For the teacher: this page names everybody.", _summary(results, totals)]),
        section("Marks", table(MARK_HEADERS, _marks(marks))),
        section("Opponents", paragraphs([OPPONENTS]) + table(OPPONENT_HEADERS, _opponents(marks))),
        section("Games that failed (INFRA)", table(FAILURE_HEADERS, failed)),
        section("Corrections", table(CORRECTION_HEADERS, _corrections(marks))),
        section("Protection", paragraphs(results.protection)),
    ]
    return whole("The class", "\n".join(filter(None, parts)))


def _summary(results: Results, totals: Sequence[float]) -> str:
    """Return how many have a mark, and the range of the marks."""
    graded = f"{len(totals)} of {len(results.marks)} submissions have a mark"
    if not totals:
        return f"{graded}."
    return (
        f"{graded}: from {min(totals):.2f} to {max(totals):.2f} of "
        f"{full_points(results.rubric):g}, median {median(totals):.2f}, mean {fmean(totals):.2f}."
    )


def _marks(marks: Sequence[Mark]) -> list[list[Cell]]:
    """Return the table of marks, the highest first; who could not play comes last."""
    rows: list[tuple[tuple[bool, float, str], list[Cell]]] = []
    for mark in marks:
        name = mark.submission.name
        total, shown = tables.shown_points(mark)
        interval = tables.interval_text(mark)
        page = Link(name, f"feedback/{file_name(name)}.html", whole_row=True)
        places = ({getattr(one, kind) for one in mark.students} - {""} for kind in ROSTER)
        row: list[Cell] = [page, *map(", ".join, map(sorted, places)), total, interval, *shown]
        row += [tables.faults_text(mark.faults), tables.remark(mark)]
        rows.append(((bool(mark.submission.problem), -mark.final(), name), row))
    return [row for _, row in sorted(rows, key=lambda item: item[0])]


def _corrections(marks: Sequence[Mark]) -> list[list[Cell]]:
    """Return the corrections of each student, the log of appeals."""
    return [
        [str(student), str(change)]
        for mark in marks
        for student in mark.students
        for change in student.corrections
    ]


def _opponents(marks: Sequence[Mark]) -> list[list[Cell]]:
    """Return what the class achieved against each opponent."""
    by_name: dict[str, list[MatchMark]] = {}
    for mark in marks:
        for match in mark.matches:
            by_name.setdefault(match.name, []).append(match)
    rows: list[list[Cell]] = []
    for name, matches in by_name.items():
        games = sum(match.tally.games for match in matches)
        margins = [match.tally.mean_margin for match in matches if match.tally.games]
        lost = sum((match.tally.other_faults for match in matches), Faults())
        done = [match for match in matches if match.tally.complete]
        full = sum(match.points >= match.max_points for match in done)
        none = sum(match.points == 0 for match in done)
        margin = f"{median(margins):+.{matches[0].tally.digits}f}" if margins else "-"
        rows.append([name, games, margin, full, none, tables.faults_text(lost)])
    return rows


def standings_page(results: Results, out: Path) -> str:
    """Return the page of a tournament: the bracket of its stages, then every table.

    Each pairing links to its replays, if they are below `out`. A button, or `#projector` in the
    address, shows the bracket alone, as large as the window allows. The page reloads itself during
    play.
    """
    begun, stages = results.stages, results.rubric.tournament.stages
    finished = len(begun) == len(stages) and begun[-1].complete
    parts = [heading("Tournament", PROJECTOR)]
    if finished:
        places = table(tables.PLACE_HEADERS, tables.place_rows(results.placings, results.rubric))
        parts.append(section("Places", paragraphs([PLACES]) + places))
    columns = [_stage(state, results, finished and state is begun[-1]) for state in begun]
    for stage in stages[len(begun) :]:
        waiting = card(f"<h3>{html.escape(stage.name)}</h3>\n<p>Has not begun.</p>", "group")
        columns.append(f'<div class="stage-groups">\n{waiting}\n</div>')
    parts.append('<h2 id="bracket">Stages</h2>\n<div class="stages" tabindex="0">')
    parts += [*columns, "</div>"]
    for group in (group for state in begun for group in state.groups):
        rows = [tables.standing_row(item.place, item, results.rubric) for item in group.standings]
        body = f"{table(tables.STANDING_HEADERS, rows)}\n{_pairings(group, results, out)}"
        parts.append(section(group.name, body))
    absent = (html.escape(f"{name}: {why}") for name, why in results.left_out.items())
    parts.append(section("Not in the tournament", listed(absent)))
    more = ("standings",) if finished else ("standings", "reload")
    return whole("Tournament", "\n".join(parts), "standings", more)


def _stage(state: StageState, results: Results, decided: bool) -> str:
    """Return a column of the bracket: the groups, and the promoted contestants of each.

    In a stage that has decided the tournament, whoever is first is a winner.
    """
    count, kind = (1, "winner") if decided else (state.stage.promote, "promoted")
    digits = margin_digits(results.rubric.match.counts_points)
    groups = "\n".join(_group(group, count, kind, digits) for group in state.groups)
    begun = "" if state.complete else " playing"
    return f'<div class="stage-groups{begun}">\n{groups}\n</div>'


def _group(group: Group, count: int, kind_of_first: str, digits: int) -> str:
    """Return a group; the first `count` of its standings are of a kind of their own.

    Tied winners are all winners; who is promoted of those who are tied, the draw decides.
    """
    lines = []
    for number, standing in enumerate(group.standings, 1):
        place = standing.place
        first = place if kind_of_first == "winner" else number
        kind = f' class="{kind_of_first}"' if first <= count else ""
        name = html.escape(standing.contestant.name)
        lines.append(
            f'<li{kind}><span class="place">{place}</span><span class="name">{name}</span>'
            f'<span class="margin">{minus(f"{standing.total.mean_margin:+.{digits}f}")}</span></li>'
        )
    played = len(group.games) - group.missing
    games = f"{played} of {len(group.games)} games"
    head = f'<div class="head"><h3>{html.escape(group.name)}</h3><span>{games}</span></div>'
    bar = progress(f"{group.name}: {games}", played, len(group.games)) if group.missing else ""
    return card(f"{head}\n{bar}\n<ol>{''.join(lines)}</ol>", "group")


def replay_place(group: Group, number: int) -> str:
    """Return the place below `--out` of the replays of a group's pairing, counted from 1."""
    return f"games/{file_name(group.name)}-{number}.html"


PAIRING_HEADERS: Final = (
    *("submission", "opponent", Number("mean margin"), Number("W-D-L"), "games"),
)


def _pairings(group: Group, results: Results, out: Path) -> str:
    """Return the pairings of a group that have games, each with a link to them."""
    rows: list[list[Cell]] = []
    for number, (match, games) in enumerate(by_match(group.games).items(), 1):
        total = tally(games, results.played)
        if not total.games:
            continue
        place, count = replay_place(group, number), f"{total.games}"
        shown = Link(f"{count} games", place) if (out / place).is_file() else count
        margin = f"{total.mean_margin:+.{total.digits}f}"
        rows.append([match.one.name, match.two.name, margin, total.record(), shown])
    if not rows:
        return ""
    return f"<details><summary>Pairings</summary>\n{table(PAIRING_HEADERS, rows)}</details>"
