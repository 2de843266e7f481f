"""The command `report`: writes every table and file again from stored results, without playing.

`grade` and `tournament` end with the same step.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands.common import DONE, STOPPED, named_few, say
from grader.marks.tally import full_points
from grader.output import evidence, exports, writing
from grader.output.files import write
from grader.output.results import GRADE, Results, placement_points, read_results
from grader.output.tables import wrapped
from grader.results.store import DAMAGED, Store

MOST_NAMED: Final = 10
"""More names than these are listed in a file."""

MOST_REASONS: Final = 3
"""Reasons for lost turns that are printed for one submission."""


def run_report(arguments: argparse.Namespace) -> int:
    """Write every table and file again; games without a result make the exit status 3."""
    with Store(arguments.results, writing=False) as store:
        results = read_results(store)
        tell(results, store, arguments)
    if results.missing:
        games = "1 game has" if results.missing == 1 else f"{results.missing} games have"
        why = first_fault(results)
        say(f"{games} no result yet{why and f' ({why})'}")
        return STOPPED
    return DONE


def first_fault(results: Results) -> str:
    """Return the first failure of a game, in words; empty if none failed."""
    found = (results.faults[game.key] for game in results.games if game.key in results.faults)
    return next((fault.text for fault in found), "")


def tell(results: Results, store: Store, arguments: argparse.Namespace) -> None:
    """Print the tables and write all requested files."""
    placement = placement_of(getattr(arguments, "placement", None), results)
    for game in results.games:
        if game.key in results.faults and results.faults[game.key].text == DAMAGED:
            title = f"{game.match.one.name}, {game.title}"
            say(f"{title}: {DAMAGED}; `grade` plays the game again")
    print(results.text(placement, arguments.details), end="")
    if len(results.marks) == 1:
        for lost in next(iter(writing.reasons(results, store).values()), [])[:MOST_REASONS]:
            turns = "1 turn" if lost.count == 1 else f"{lost.count} turns"
            print(wrapped(f"{turns} lost: {lost.cause} (the first in {lost.title})"))
    if arguments.out is not None:
        writing.write_all(results, store, arguments.out, placement)
        if arguments.records:
            evidence.write_records(results.games, store, arguments.out)
        for export in arguments.gradebook:
            write_gradebook(results, export, placement, arguments)
        say(f"Everything is in {arguments.out}")
        if getattr(arguments, "feedback_zip", None) is not None:
            _write_feedback(results, placement, arguments)
    writing.tell_github(results, store, placement)


def _write_feedback(
    results: Results, placement: Mapping[str, float], arguments: argparse.Namespace
) -> None:
    place = arguments.feedback_zip
    if results.kind != GRADE:
        raise InputError("--feedback-zip: a tournament has no pages for single students")
    without = writing.write_feedback(results, arguments.out, place, placement)
    if without:
        say(
            f"{place}: {named_few(without)} were not handed in as Moodle's download, so Moodle "
            "cannot tell whose their pages are"
        )
    say(f"{place} is for Moodle, {place.with_suffix('.csv')} for a mail merge")


def placement_of(path: Path | None, results: Results) -> dict[str, float]:
    """Return the points for placement in the tournament of `--placement`, none without one."""
    if path is None:
        return {}
    with Store(path, writing=False) as other:
        held = read_results(other)
    try:
        placement = placement_points(held)
    except InputError as error:
        raise InputError(f"--placement {path}: {error}") from None
    names = {mark.submission.name for mark in results.marks}
    absent = sorted(name for name in placement.keys() - names if placement[name])
    if absent:
        say(
            f"--placement {path}: {named_few(absent)} earned points there and are not among "
            "these submissions, by these names: nobody is given those points"
        )
    return placement


def write_gradebook(
    results: Results, path: Path, placement: Mapping[str, float], arguments: argparse.Namespace
) -> None:
    """Write the marks into a copy of a Canvas or Moodle export, and report who is not in it."""
    export = exports.read_export(path)
    column, most = arguments.gradebook_column, arguments.gradebook_maximum
    filled = exports.filled(export, column, results.marks, placement, results.rubric, most)
    write(arguments.out / filled.name, filled.text)
    if filled.new_column:
        say(
            f"{path}: has no column {filled.new_column!r}: the marks are in a new one; "
            "--gradebook-column names another"
        )
    if filled.unscaled:
        full = f"{full_points(results.rubric):g}"
        say(f"{path}: states no maximum: marks are out of {full}; --gradebook-maximum scales them")
    for kind, names, what in (
        ("unknown", filled.unmatched, "no line of their own there"),
        ("unmarked", filled.without, "students there without a mark here"),
        ("incomplete", filled.withheld, "the mark is incomplete, and its cell stays as it was"),
    ):
        shown = "; ".join(names)
        if len(names) > MOST_NAMED:
            place = arguments.out / f"{export.kind}-{kind}.txt"
            write(place, "".join(f"{name}\n" for name in names))
            shown = f"{len(names)} names, listed in {place}"
        if names:
            say(f"{path}: {what}: {shown}")
