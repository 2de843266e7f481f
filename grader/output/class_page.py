"""The pages of a whole class: for the teacher its marks, and for everybody a tournament."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Final

from grader.handin.submission import file_name
from grader.marks.points import Mark, MatchMark
from grader.marks.tally import FEW_PAIRS, by_match, full_points, margin_digits, tally
from grader.marks.tournament import Group, StageState
from grader.output.markup import (
    RELOAD,
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
from grader.output.results import Protection, Results
from grader.output.tables import (
    STANDING_HEADERS,
    faults_text,
    interval_text,
    placing_table,
    remark,
    shown_points,
    standing_row,
)
from grader.results.store import Faults

ROSTER: Final = ("section", "group")
MARK_HEADERS: Final = ("submission", *ROSTER, "total", "interval", "A", "B", "lost turns", "remark")

FEW: Final = f"The intervals are rough: they come from fewer than {FEW_PAIRS} pairs of games."

OPPONENT_HEADERS: Final = (
    *("opponent", "games", "the class's median margin", "full points", "zero points"),
    *("its lost turns", "verdict"),
)

FAILURE_HEADERS: Final = ("game", "failure", "begun")

STEPS: Final = 10
"""Bars of a histogram."""

BARS: Final = 150
"""Pixels of the highest bar of a histogram."""

PROJECTOR: Final = (
    '<button type="button" id="projector" '
    'title="The bracket alone, for a projector; Escape ends it">Projector</button>'
)

PLACES: Final = (
    "Places go by the last stage that a submission reached, then by its place in its group "
    "there, then by its numbers in that stage. A second place so stands above every third place, "
    "whatever their margins: the groups had different opponents."
)


def class_page(results: Results, placement: Mapping[str, float]) -> str:
    """Return the page of the marks; it contains all names, so students must not see it."""
    marks = results.marks
    idle = [mark for mark in marks if _lost_every_turn(mark, results)]
    totals = [
        mark.final(placement.get(mark.submission.name, 0.0))
        for mark in marks
        if not mark.incomplete
    ]
    chart = _histogram(totals, full_points(results.rubric))
    opponents = "An opponent that loses turns hands out free points."
    if idle:
        names = ", ".join(mark.submission.name for mark in idle)
        opponents += f" This table leaves out who lost every turn: {names}."
    able = [mark for mark in marks if mark not in idle]
    failed = [
        (f"{game.match.one.name}, {game.title}", fault.text, fault.attempts)
        for game in results.games
        if (fault := results.faults.get(game.key)) is not None
    ]
    few = paragraphs([FEW] if any(mark.few_games for mark in marks) else [])
    parts = [
        heading("The class"),
        paragraphs(["For the teacher: this page names everybody.", _summary(results, totals)]),
        section("Marks", f"{chart}\n{few}\n{table(MARK_HEADERS, _marks(marks, placement))}"),
        section(
            "Opponents",
            f"{paragraphs([opponents])}\n{table(OPPONENT_HEADERS, _opponents(able))}",
        ),
        section("Games that failed (INFRA)", table(FAILURE_HEADERS, failed)),
        section("Identical files", _identical(marks)),
        section("Protection", _protection(results.protection)),
    ]
    return whole("The class", "\n".join(filter(None, parts)))


def _lost_every_turn(mark: Mark, results: Results) -> bool:
    """Return whether a submission lost each turn that it had; it says nothing of its opponents."""
    own = 0
    for game in results.games_of(mark.submission.name):
        played = results.played.get(game.key)
        own += 0 if played is None else (played.turns + (game.side == 1)) // 2
    return 0 < own <= mark.faults.total


def _summary(results: Results, totals: Sequence[float]) -> str:
    """Return how many have a mark, and the range of the marks."""
    graded = f"{len(totals)} of {len(results.marks)} submissions have a mark"
    if not totals:
        return f"{graded}."
    return (
        f"{graded}: from {min(totals):.2f} to {max(totals):.2f} of "
        f"{full_points(results.rubric):g}, median {median(totals):.2f}, mean {fmean(totals):.2f}."
    )


def _histogram(totals: Sequence[float], full: float) -> str:
    """Return a histogram of totals as an SVG drawing, in ten equal steps up to `full`.

    Places across it are percentages of its width, so that a phone shows the same text size.
    """
    if not totals or full <= 0:
        return ""
    counts = [0] * STEPS
    for total in totals:
        counts[max(0, min(STEPS - 1, int(STEPS * total / full)))] += 1
    bottom, width = BARS + 20, 94 / STEPS
    shapes = []
    for step, count in enumerate(counts):
        left, tall = 3 + step * width, BARS * count / max(counts)
        low, high = full * step / STEPS, full * (step + 1) / STEPS
        shapes.append(
            f'<rect x="{left + 0.3:.2f}%" y="{bottom - tall:.1f}" width="{width - 0.6:.2f}%" '
            f'height="{tall:.1f}" class="bar">'
            f"<title>{count} from {low:g} to {high:g} points</title></rect>"
        )
        labels = [(left + width / 2, bottom - tall - 5, f"{count or ''}")]
        labels += [] if step % 2 else [(left, bottom + 17, f"{low:g}")]
        shapes += [
            f'<text x="{x:.2f}%" y="{y:.1f}" text-anchor="middle">{text}</text>'
            for x, y, text in labels
        ]
    shapes.append(f'<text x="100%" y="{bottom + 17}" text-anchor="end">{full:g}</text>')
    shapes.append(f'<line x1="3%" y1="{bottom}" x2="97%" y2="{bottom}" class="axis"/>')
    return (
        f'<svg class="drawing" width="100%" height="{bottom + 26}" role="img" font-size="13" '
        f'aria-label="number of submissions by points">{"".join(shapes)}</svg>'
    )


def _marks(marks: Sequence[Mark], placement: Mapping[str, float]) -> list[list[Cell]]:
    """Return the table of marks, the highest first; who could not play comes last."""
    rows: list[tuple[tuple[bool, float, str], list[Cell]]] = []
    for mark in marks:
        name = mark.submission.name
        extra = placement.get(name, 0.0)
        total, shown = shown_points(mark, extra)
        interval = interval_text(mark, extra).partition(",")[0]
        page = Link(name, f"feedback/{file_name(name)}.html", whole_row=True)
        places = ({getattr(one, kind) for one in mark.students} - {""} for kind in ROSTER)
        row: list[Cell] = [page, *map(", ".join, map(sorted, places)), total, interval, *shown]
        row += [faults_text(mark.faults), remark(mark)]
        rows.append(((bool(mark.submission.problem), -mark.final(extra), name), row))
    return [row for _, row in sorted(rows, key=lambda item: item[0])]


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
        verdict = _verdict(lost.total, len(done), full, none)
        margin = f"{median(margins):+.{matches[0].tally.digits}f}" if margins else "-"
        rows.append([name, games, margin, full, none, faults_text(lost), verdict])
    return rows


def _verdict(lost: int, done: int, full: int, none: int) -> str:
    """Return the verdict on an opponent, in words."""
    if lost:
        return "loses turns: check it"
    if done > 1 and full == done:
        return "everybody has all points"
    if done > 1 and none == done:
        return "nobody has points"
    if not full and 2 * none > done > 1:
        return "too strong: most have zero points"
    return "sound"


def _identical(marks: Sequence[Mark]) -> str:
    """Return the submissions that have the same file."""
    by_hash: dict[str, list[str]] = {}
    for mark in marks:
        if mark.submission.sha256 is not None:
            by_hash.setdefault(mark.submission.sha256, []).append(mark.submission.name)
    rows = [(", ".join(names), key) for key, names in by_hash.items() if len(names) > 1]
    return table(("submissions", "SHA-256"), rows) or paragraphs(["None."])


def _protection(protection: Protection) -> str:
    """Return the machines that games were played on, and the table of `doctor`."""
    if not protection.runs:
        return ""
    rows = [
        (run["level"], run["host"], "; ".join(run["missing"]) or "none") for run in protection.runs
    ]
    body = table(("level", "machine", "missing protections"), rows)
    if protection.proof is None:
        return body + (
            "\n<p>No self-test is stored. <code>python3 -m grader doctor --results FILE</code> "
            "adds one.</p>"
        )
    levels = protection.proof["levels"]
    proven = [
        (item["text"], *("guaranteed" if item[level] else "not guaranteed" for level in levels))
        for item in protection.proof["guarantees"]
    ]
    title = f"Self-test of {protection.proof['machine']['host']}, {protection.proof['at']}"
    headers = ("an agent", *(f"level {level}" for level in levels))
    return f"{body}\n<h3>{html.escape(title)}</h3>\n{table(headers, proven)}"


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
        places = _standings(*placing_table(results.placings, results.rubric))
        parts.append(section("Places", paragraphs([PLACES]) + places))
    columns = [_stage(state, results, finished and state is begun[-1]) for state in begun]
    for stage in stages[len(begun) :]:
        waiting = card(f"<h3>{html.escape(stage.name)}</h3>\n<p>Has not begun.</p>", "group")
        columns.append(f'<div class="stage-groups">\n{waiting}\n</div>')
    parts.append('<h2 id="bracket">Stages</h2>\n<div class="stages" tabindex="0">')
    parts += [*columns, "</div>"]
    for group in (group for state in begun for group in state.groups):
        rows = [
            standing_row(place, item, results.rubric)
            for place, item in enumerate(group.standings, 1)
        ]
        body = f"{_standings(STANDING_HEADERS, rows)}\n{_pairings(group, results, out)}"
        parts.append(section(group.name, body))
    absent = (html.escape(f"{name}: {why}") for name, why in results.left_out.items())
    parts.append(section("Not in the tournament", listed(absent)))
    reload = "" if finished else RELOAD
    return whole("Tournament", "\n".join(parts), "standings", ("standings",), reload)


def _stage(state: StageState, results: Results, decided: bool) -> str:
    """Return a column of the bracket: the groups, and the promoted contestants of each.

    In a stage that has decided the tournament, the first of a group is the winner.
    """
    count, kind = (1, "winner") if decided else (state.stage.promote, "promoted")
    digits = margin_digits(results.rubric.match.counts_points)
    groups = "\n".join(_group(group, count, kind, digits) for group in state.groups)
    begun = "" if state.complete else " playing"
    return f'<div class="stage-groups{begun}">\n{groups}\n</div>'


def _group(group: Group, count: int, kind_of_first: str, digits: int) -> str:
    """Return a group; the first `count` of its standings are of a kind of their own."""
    lines = []
    for place, standing in enumerate(group.standings, 1):
        kind = f' class="{kind_of_first}"' if place <= count else ""
        name = html.escape(standing.contestant.name)
        lines.append(
            f'<li{kind}><span class="place">{place}</span><span class="name">{name}</span>'
            f'<span class="margin">{minus(f"{standing.mean_margin:+.{digits}f}")}</span></li>'
        )
    played = len(group.games) - group.missing
    games = f"{played} of {len(group.games)} games"
    head = f'<div class="head"><h3>{html.escape(group.name)}</h3><span>{games}</span></div>'
    bar = progress(f"{group.name}: {games}", played, len(group.games)) if group.missing else ""
    return card(f"{head}\n{bar}\n<ol>{''.join(lines)}</ol>", "group")


def replay_place(group: Group, number: int) -> str:
    """Return the place below `--out` of the replays of a group's pairing, counted from 1."""
    return f"games/{file_name(group.name)}-{number}.html"


PAIRING_HEADERS: Final = ("submission", "opponent", "mean margin", "W-D-L", "games")


def _pairings(group: Group, results: Results, out: Path) -> str:
    """Return the pairings of a group that have games, each with a link to them."""
    rows: list[list[Cell]] = []
    for number, (match, games) in enumerate(by_match(group.games).items(), 1):
        total = tally(games, results.played)
        if not total.games:
            continue
        place, count = replay_place(group, number), f"{total.games}"
        shown = Link(f"{count} games", place) if (out / place).is_file() else count
        won = f"{total.wins}\u2013{total.draws}\u2013{total.losses}"
        margin = f"{total.mean_margin:+.{total.digits}f}"
        rows.append([match.one.name, match.two.name, margin, won, shown])
    if not rows:
        return ""
    return f"<details><summary>Pairings</summary>\n{table(PAIRING_HEADERS, rows)}</details>"


def _standings(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of standings; the games won, drawn and lost stand together."""
    at = headers.index("W")
    return table(
        [*headers[:at], "W-D-L", "lost turns", *headers[at + 4 :]],
        [[*row[:at], "\u2013".join(row[at : at + 3]), *row[at + 3 :]] for row in rows],
    )
