"""The command `report`: writes every table and file again from stored results, without playing.

`grade` and `tournament` end with the same step.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands.common import DONE, STOPPED, named_few, say
from grader.handin import roster as rosters
from grader.handin.roster import ABSENT, Assigned, Student
from grader.handin.submission import LATE, Submission, new_names
from grader.marks.points import lateness
from grader.marks.tally import full_points
from grader.output import evidence, exports, writing
from grader.output.files import write
from grader.output.results import (
    GRADE,
    PLACEMENT,
    ROSTER,
    TOURNAMENT,
    Results,
    read_results,
    stored_roster,
)
from grader.output.tables import wrapped
from grader.results.store import DAMAGED, Store
from grader.rubric.model import Rubric

MOST_NAMED: Final = 10
"""More names than these are listed in a file."""

MOST_REASONS: Final = 3
"""Reasons for lost turns that are printed for one submission."""


def run_report(arguments: argparse.Namespace) -> int:
    """Write every table and file again; games without a result make the exit status 3."""
    with Store(arguments.results, writing=False) as store:
        results, found = read_results(store), store.submissions()
        known = stored_roster(store)
        roster, names = use_roster(known, results.kind, results.rubric, found, arguments)
        meta = to_meta(roster) | placement_meta(arguments.placement, results)
        changed = names or any(store.meta(key) != value for key, value in meta.items())
    if changed:
        with Store(arguments.results, writing=True) as store:
            store.withdraw(names)
            store.rename(names)
            store.set_submissions(under(names, found))
            store.set_meta(meta)
    with Store(arguments.results, writing=False) as store:
        results = read_results(store) if changed else results
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
    _tell_placement(results)
    for game in results.games:
        if game.key in results.faults and results.faults[game.key].text == DAMAGED:
            title = f"{game.match.one.name}, {game.title}"
            say(f"{title}: {DAMAGED}; `grade` plays the game again")
    print(results.text(arguments.details), end="")
    if len(results.marks) == 1:
        for lost in next(iter(writing.reasons(results, store).values()), [])[:MOST_REASONS]:
            first = f"the first in {lost.title}"
            print(wrapped(f"{lost.number_of_turns} lost: {lost.cause} ({first})"))
    if arguments.out is not None:
        writing.write_all(results, store, arguments.out)
        if arguments.records:
            evidence.write_records(results.games, store, arguments.out)
        written = [write_gradebook(results, export, arguments) for export in arguments.gradebook]
        for name in ("canvas.csv", "moodle.csv", "worksheet.csv"):
            place = arguments.out / name
            if name not in written and place.is_file():
                say(f"{place} is from an earlier run; give --gradebook again")
        say(f"Everything is in {arguments.out}")
        if getattr(arguments, "feedback_zip", None) is not None:
            _write_feedback(results, arguments)
    writing.tell_github(results, store)


def _write_feedback(results: Results, arguments: argparse.Namespace) -> None:
    place = arguments.feedback_zip
    if results.kind != GRADE:
        raise InputError("--feedback-zip: a tournament has no pages for single students")
    without = writing.write_feedback(results, arguments.out, place)
    use = "is for Moodle"
    if len(without) == len(results.marks):
        use = "is not for Moodle, because nobody has a number of Moodle's download"
    elif without:
        say(
            f"{place} is without {named_few(without)}: they have no number of Moodle's download, "
            "so Moodle cannot tell whose their pages are"
        )
    say(f"{place} {use}; {place.with_suffix('.csv')} is for a mail merge")


def placement_meta(path: Path | None, results: Results) -> dict[str, str]:
    """Return the points of the tournament of `--placement` as a results file has them.

    Without the option there is nothing to change; `none` takes stored points out. Raises
    `InputError` if there is no tournament, it is not finished, or it has no points.
    """
    if path is None:
        return {}
    if str(path) == "none":
        return {PLACEMENT: "null"}
    with Store(path, writing=False) as other:
        held = read_results(other)
    rules, wrong = held.rubric.tournament, ""
    if held.kind != TOURNAMENT:
        wrong = f"holds a {held.kind}, not a tournament"
    elif results.kind != GRADE:
        wrong = "its points are for marks, and the results here are a tournament's"
    elif len(held.stages) < len(rules.stages) or held.missing:
        wrong = "the tournament is not finished; give its command again, it goes on"
    elif not rules.points:
        wrong = "its rubric has no tournament.points; set them and give the tournament's command "
        wrong += "again, nothing is played"
    if wrong:
        raise InputError(f"--placement {path}: {wrong}")
    by_file = new_names(held.submissions, results.submissions)
    earned = {item.contestant.name: item.points for item in held.placings if item.points}
    points = {by_file.get(name, name): number for name, number in earned.items()}
    return {PLACEMENT: json.dumps({"file": path.name, "points": points})}


def _tell_placement(results: Results) -> None:
    """Say whose points for placement are in the marks, and who has points but no mark."""
    if not results.placement:
        return
    say(f"placement points of {results.tournament} are included")
    absent = sorted(results.placement.keys() - {mark.submission.name for mark in results.marks})
    if absent:
        say(
            f"{results.tournament}: {named_few(absent)} earned points there and are not among "
            "these submissions, by these names: nobody is given those points"
        )


def write_gradebook(results: Results, path: Path, arguments: argparse.Namespace) -> str:
    """Write the marks into a copy of a Canvas or Moodle export, and report who is not in it.

    Return the name of the copy.
    """
    export = exports.read_export(path)
    column, most = arguments.gradebook_column, arguments.gradebook_maximum
    filled = exports.filled(export, column, results.marks, results.placement, results.rubric, most)
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
        _name_all(f"{path}: {what}", names, arguments, f"{export.kind}-{kind}.txt")
    return filled.name


def _name_all(what: str, names: Sequence[str], arguments: argparse.Namespace, file: str) -> None:
    """List names; more than ten are listed in a file below `--out`."""
    shown = "; ".join(names)
    writes = arguments.out is not None and not getattr(arguments, "dry_run", False)
    if len(names) > MOST_NAMED and writes:
        place = arguments.out / file
        write(place, "".join(f"{name}\n" for name in names))
        shown = f"{len(names)} names, listed in {place}"
    elif len(names) > MOST_NAMED:
        shown = named_few(names)
    if names:
        say(f"{what}: {shown}")


def use_roster(
    held: Sequence[Student],
    kind: str,
    rubric: Rubric,
    hand_ins: Sequence[Submission],
    arguments: argparse.Namespace,
) -> tuple[Sequence[Student], dict[str, str]]:
    """Return the roster of `--roster`, else the one `held`, and the new names of hand-ins by it.

    Whoever cannot be found is listed. Raises `InputError` if nobody who handed in is in the roster.
    """
    path = getattr(arguments, "roster", None)
    if kind != GRADE:
        if path is not None:
            raise InputError(f"{arguments.results}: holds a {kind}; --roster is for a grading")
        return held, {}
    roster, unused = (held, []) if path is None else rosters.read(path)
    deadline = rubric.late.deadline
    if unused:
        say(f"{path}: columns that are not used: {', '.join(unused)}")
    if deadline:
        say(f"[late]: the deadline is {deadline} in the zone {rubric.late.zone}")
        if not (rubric.late.points_a_day or rubric.late.percent_a_day):
            say("[late]: points_a_day and percent_a_day are missing or 0, so nothing is deducted")
    names = rosters.full_names(hand_ins, roster)
    assigned = rosters.assign(under(names, hand_ins), roster)
    if path is not None and len(assigned.unknown) == sum(len(i.members) or 1 for i in hand_ins):
        raise rosters.nobody(path, assigned.unknown, [student.name for student in roster])
    if path is not None:
        _tell_gone(held, roster, path)
    _tell_roster(assigned, str(path or f"the roster in {arguments.results}"), rubric, arguments)
    return roster, names


def _tell_gone(held: Sequence[Student], roster: Sequence[Student], path: Path) -> None:
    """Say how many students a new roster drops, and what goes with them."""
    lines = {
        number: rosters.keys_of([one.identity, one.email], [one.name])
        for number, one in enumerate(roster)
    }
    places = rosters.match([rosters.keys_of_members([one]) for one in held], lines)
    gone = [student for student, place in zip(held, places, strict=True) if place is None]
    if gone:
        told = "1 student is" if len(gone) == 1 else f"{len(gone)} students are"
        told += " no longer in it"
        if adjusted := sum(student.adjust != 0 for student in gone):
            told += f", {adjusted} with a correction"
        if extended := sum(student.extension != 0 for student in gone):
            told += f", {extended} with an extension"
        say(f"{path} replaces the stored roster: {told}")


def _tell_roster(
    assigned: Assigned, place: str, rubric: Rubric, arguments: argparse.Namespace
) -> None:
    """List who is on one side only, and whose time is not known."""
    unknown: dict[str, list[str]] = {"": [], LATE: [], ABSENT: []}
    for item in assigned.submissions:
        time = lateness(assigned.students[item.name], rubric).submitted
        absent = (item.problem or "").startswith(ABSENT)
        unknown.get(ABSENT if absent else time, []).append(item.name)
    if not rubric.late.deadline or len(assigned.submissions) == 1:
        unknown[""].clear()
    none = "no time known in the roster, so nothing is deducted"
    _name_all(f"{place}: not in it", assigned.unknown, arguments, "roster-unknown.txt")
    _name_all(f"{place}: {ABSENT}, 0 points", unknown[ABSENT], arguments, "roster-absent.txt")
    _name_all(f"late by the file's name, {none}", unknown[LATE], arguments, "late-unknown.txt")
    _name_all(f"[late]: {none}", unknown[""], arguments, "late-no-time.txt")


def under(names: Mapping[str, str], found: Sequence[Submission]) -> list[Submission]:
    """Return submissions under their new names, sorted by them."""
    named = [replace(item, name=names.get(item.name, item.name)) for item in found]
    return sorted(named, key=lambda item: (item.name.casefold(), item.name))


def to_meta(roster: Sequence[Student]) -> dict[str, str]:
    """Return a roster as a results file has it; nothing if there is none."""
    students = [asdict(student) for student in roster]
    return {ROSTER: json.dumps({"students": students})} if students else {}
