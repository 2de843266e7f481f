"""The page of a class, for the teacher alone: marks, faults, opponents, boards, identical files."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Final

from grader.handin.submission import file_name
from grader.marks.points import Mark, MatchMark, board_worth
from grader.marks.tally import full_points
from grader.output.drawing import histogram
from grader.output.pages import Cell, Link, card, heading, table, whole
from grader.output.results import Results
from grader.output.tables import faults_text, interval_text, remark, shown_points
from grader.results.store import Faults

KINDS: Final = ("timeouts", "invalid", "errors", "starved")


def class_page(results: Results, placement: Mapping[str, float]) -> str:
    """Return the page; it contains all names, so students must not see it."""
    marks = results.marks
    idle = [mark for mark in marks if _lost_every_turn(mark, results)]
    able = [mark for mark in marks if mark not in idle]
    totals = [
        mark.total + placement.get(mark.submission.name, 0.0)
        for mark in marks
        if not mark.incomplete
    ]
    parts = [
        heading("The class"),
        "<p>For the teacher: this page names everybody.</p>",
        _summary(results, totals),
        "<h2>Marks</h2>",
        card(f"{histogram(totals, full_points(results.rubric))}\n{_marks(marks, placement)}"),
        *_section("Could not play: 0 points", ("submission", "why"), _unable(marks)),
        *_section(
            "Unreliable submissions",
            ("submission", *KINDS, "games with lost turns", "games"),
            _unreliable(results),
            "Nobody has lost a turn.",
        ),
        "<h2>Opponents</h2>",
        "<p>An opponent that times out or crashes hands out free points. Where that "
        f"happened, the table has a column of its lost turns. {_left_out(idle)}</p>",
        card(table(OPPONENT_HEADERS, _opponents(able))),
        *_section("Games that failed (INFRA)", ("game", "failure", "begun"), _failures(results)),
        *_boards(able),
        *_section("Identical files", ("submissions", "SHA-256"), _duplicates(marks), "None."),
        results.protection.for_teachers(),
    ]
    return whole("The class", "\n".join(filter(None, parts)))


def _lost_every_turn(mark: Mark, results: Results) -> bool:
    """Return whether a submission lost each turn that it had; it says nothing of its opponents."""
    own = 0
    for game in results.games_of(mark.submission.name):
        played = results.played.get(game.key)
        own += 0 if played is None else (played.turns + (game.side == 1)) // 2
    return 0 < own <= mark.faults.total


def _left_out(idle: Sequence[Mark]) -> str:
    """Return who is left out of the tables of opponents and boards."""
    if not idle:
        return ""
    names = ", ".join(html.escape(mark.submission.name) for mark in idle)
    return f"This table and the boards leave out who lost every turn: {names}."


def _section(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[Cell]], otherwise: str = ""
) -> list[str]:
    """Return a table below its title; without rows, the text `otherwise` if there is one."""
    if not rows and not otherwise:
        return []
    return [f"<h2>{title}</h2>", card(table(headers, rows) if rows else f"<p>{otherwise}</p>")]


def _summary(results: Results, totals: Sequence[float]) -> str:
    graded = f"{len(totals)} of {len(results.marks)} submissions have a mark"
    if not totals:
        return f"<p>{graded}.</p>"
    return (
        f"<p>{graded}: from {min(totals):.2f} to {max(totals):.2f} of "
        f"{full_points(results.rubric):g}, median {median(totals):.2f}, mean "
        f"{fmean(totals):.2f}.</p>"
    )


def page_of(mark: Mark, text: str | None = None, anchor: str = "") -> Link:
    """Return a link to a submission's page."""
    name = mark.submission.name
    return Link(text or name, f"feedback/{file_name(name)}.html", anchor, whole_row=text is None)


def _marks(marks: Sequence[Mark], placement: Mapping[str, float]) -> str:
    rows: list[list[Cell]] = []
    for mark in sorted(
        marks,
        key=lambda mark: (
            bool(mark.submission.problem),
            -mark.total - placement.get(mark.submission.name, 0.0),
            mark.submission.name,
        ),
    ):
        extra = placement.get(mark.submission.name, 0.0)
        total, shown = shown_points(mark, extra)
        rows.append(
            [
                page_of(mark),
                total,
                interval_text(mark, extra),
                *shown,
                faults_text(mark.faults),
                remark(mark),
                page_of(mark, "games", "games") if mark.matches else "",
            ]
        )
    headers = ("submission", "total", "interval", "A", "B", "lost turns", "remark", "games")
    return table(headers, rows)


def _unable(marks: Sequence[Mark]) -> list[list[Cell]]:
    return [[page_of(mark), mark.submission.problem] for mark in marks if mark.submission.problem]


def _unreliable(results: Results) -> list[list[Cell]]:
    """Return the submissions that lost turns, by kind of fault, the most affected games first."""
    found: list[tuple[int, list[Cell]]] = []
    for mark in results.marks:
        faults = mark.faults
        if faults.total:
            games = results.games_of(mark.submission.name)
            hit = sum(results.lost_turns(game) > 0 for game in games)
            counts = [getattr(faults, kind) for kind in KINDS]
            found.append((hit, [page_of(mark), *counts, hit, len(games)]))
    return [row for _, row in sorted(found, key=lambda item: -item[0])]


OPPONENT_HEADERS: Final = (
    *(
        "opponent",
        "games",
        "the class's median margin",
        "full points",
        "zero points",
        "its lost turns",
    ),
    "verdict",
)


def _opponents(marks: Sequence[Mark]) -> list[list[Cell]]:
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


def _failures(results: Results) -> list[list[Cell]]:
    return [
        [f"{game.match.one.name}, {game.title}", fault.text, fault.attempts]
        for game in results.games
        if (fault := results.faults.get(game.key)) is not None
    ]


def _boards(marks: Sequence[Mark]) -> list[str]:
    """Return how well each board separates strong submissions from weak ones."""
    rows: list[list[Cell]] = []
    digits = next((match.tally.digits for mark in marks for match in mark.matches), 1)
    for worth in board_worth(marks):
        agreement = "-" if math.isnan(worth.agreement) else f"{worth.agreement:+.2f}"
        spread = (f"{worth.mean:+.{digits}f}", f"{worth.spread:.{digits}f}", agreement)
        rows.append([worth.match, worth.board, *spread, worth.verdict])
    if not rows:
        return []
    text = (
        "The spread is the standard deviation of the submissions' mean margins. The agreement is "
        "the correlation with the same submissions' margins on all other boards."
    )
    headers = ("match", "board", "mean margin", "spread", "agreement", "verdict")
    return ["<h2>Boards</h2>", f"<p>{html.escape(text)}</p>", card(table(headers, rows))]


def _duplicates(marks: Sequence[Mark]) -> list[list[Cell]]:
    by_hash: dict[str, list[str]] = {}
    for mark in marks:
        if mark.submission.sha256 is not None:
            by_hash.setdefault(mark.submission.sha256, []).append(mark.submission.name)
    return [[", ".join(names), key] for key, names in by_hash.items() if len(names) > 1]
