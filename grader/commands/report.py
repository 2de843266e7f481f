"""The command `report`: writes every table and file again from stored results, without playing.

`grade` and `tournament` end with the same step.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands.common import DONE, STOPPED, UNLIKELY, name_all, named_few, say
from grader.commands.gradebook import fill_gradebooks, writable
from grader.handin import Missing, Submission
from grader.handin import roster as rosters
from grader.handin.lists import csv_text, nobody
from grader.handin.owners import Doubt, Owners, assign
from grader.handin.people import LATE, REMEDY, match
from grader.handin.roster import Correction, Student
from grader.marks import lateness
from grader.output import evidence, write, writing
from grader.output.results import GRADE, PLACEMENT, TOURNAMENT, Results, read_results
from grader.output.tables import wrapped
from grader.output.writing import note_written, tell_changes
from grader.results import DAMAGED
from grader.results.store import Store
from grader.rubric.model import Rubric

MOST_REASONS: Final = 3
"""Reasons for lost turns that are printed for one submission."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a run prints and writes."""

    out: Path | None = None
    """The folder of all files; None writes none."""
    records: bool = False
    details: bool = False
    gradebooks: tuple[Path, ...] = ()
    """Exports of gradebooks to fill."""
    column: str | None = None
    """The assignment's column in them."""
    maximum: float | None = None
    """What marks are scaled to where an export states no maximum."""
    feedback_zip: Path | None = None
    yes: bool = False
    """Whether a gradebook is written although hand-ins belong to nobody in it."""


def outputs_of(arguments: argparse.Namespace) -> Outputs:
    """Return the outputs that a command line selects."""
    return Outputs(
        arguments.out,
        arguments.records,
        arguments.details,
        tuple(arguments.gradebook),
        arguments.gradebook_column,
        arguments.gradebook_maximum,
        arguments.feedback_zip,
        arguments.yes,
    )


def run_report(arguments: argparse.Namespace) -> int:
    """Call `report` with the options of a command line."""
    outputs = outputs_of(arguments)
    return report(arguments.results, outputs, tuple(arguments.roster), arguments.placement)


def report(
    path: Path, outputs: Outputs, roster: Sequence[Path] = (), placement: Path | None = None
) -> int:
    """Write every table and file again; return the exit status.

    Games without a result, and gradebooks that are not written, make it 3.
    """
    with Store(path, writing=False) as store:
        results = read_results(store)
        if roster and results.kind != GRADE:
            raise InputError(f"{path}: holds a {results.kind}; --roster is for a grading")
        held = store.roster()
        new = read_roster(roster, held) if roster else held
        if results.kind == GRADE:
            tell_owners(store, store.submissions(), new, results.rubric, roster, outputs.out)
        placed = None if placement is None else placement_points(placement, results)
    if new != held or placed is not None:
        with Store(path, writing=True) as store:
            store.set_roster(new)
            store.set_meta({} if placed is None else {PLACEMENT: placed})
    with Store(path, writing=False) as store:  # a grader may be at work on it
        results = read_results(store)
        written = tell(results, store, outputs)
    if results.missing:
        games = "1 game has" if results.missing == 1 else f"{results.missing} games have"
        why = first_fault(results)
        say(f"{games} no result yet{why and f' ({why})'}")
        return STOPPED
    return DONE if written else STOPPED


def first_fault(results: Results) -> str:
    """Return the first failure of a game, in words; empty if none failed."""
    found = (results.faults[game.key] for game in results.games if game.key in results.faults)
    return next((fault.text for fault in found), "")


def tell(results: Results, store: Store, outputs: Outputs) -> bool:
    """Print the tables, write all requested files; return whether every gradebook was written."""
    _tell_placement(results)
    for game in results.games:
        if game.key in results.faults and results.faults[game.key].text == DAMAGED:
            title = f"{game.match.one.name}, {game.title}"
            say(f"{title}: {DAMAGED}; `grade` plays the game again")
    print(results.text(outputs.details), end="")
    if len(results.marks) == 1:
        for lost in next(iter(writing.reasons_of(results, store).values()), [])[:MOST_REASONS]:
            first = f"the first in {lost.title}"
            print(wrapped(f"{lost.number_of_turns} lost: {lost.cause} ({first})"))
    written = True
    if outputs.out is not None:
        writing.write_all(results, store, outputs.out)
        if results.kind == TOURNAMENT and (count := writing.write_unlikely(results, outputs.out)):
            say(UNLIKELY.format(count, outputs.out / "unlikely.csv"))
        if results.kind == GRADE:
            if line := tell_changes(results, store, outputs.out):
                say(line)
            with suppress(InputError), writable(store) as own:  # else the other grader notes them
                note_written(results, own)
        if outputs.records:
            evidence.write_records(results.games, store, outputs.out)
        wanted = outputs.gradebooks, outputs.out, outputs.column, outputs.maximum, outputs.yes
        written = fill_gradebooks(results, store, *wanted)
        say(f"{'Everything' if written else 'Everything else'} is in {outputs.out}")
        if outputs.feedback_zip is not None:
            _write_feedback(results, outputs.out, outputs.feedback_zip)
    writing.show_errors(results, store)
    return written


def _write_feedback(results: Results, out: Path, place: Path) -> None:
    if results.kind != GRADE:
        raise InputError("--feedback-zip: a tournament has no pages for single students")
    without = writing.write_feedback(results, out, place)
    use = "is for Moodle"
    if len(without) == sum(len(mark.students) for mark in results.marks):
        use = "is not for Moodle, because nobody has a number of Moodle's download"
    elif without:
        say(
            f"{place} is without {named_few(without)}: they have no number of Moodle's download, "
            "so Moodle cannot tell whose their pages are"
        )
    say(f"{place} {use}; {place.with_suffix('.csv')} is for a mail merge")


def placement_points(path: Path, results: Results) -> str:
    """Return the points of the tournament of `--placement` as a results file has them.

    `none` takes stored points out. Raises `InputError` if there is no tournament, it is not
    finished, or it has no points.
    """
    if str(path) == "none":
        return "null"
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
    earned = {item.contestant.id: item.points for item in held.placings if item.points}
    points = [
        {
            "people": [person.to_json() for person in item.people],
            "sha256": item.sha256,
            "points": earned[str(item.sha256)],
        }
        for item in held.submissions
        if str(item.sha256) in earned
    ]
    return json.dumps({"file": path.name, "points": points})


def _tell_placement(results: Results) -> None:
    """Say whose points for placement are in the marks, and who has points but no mark."""
    if results.tournament:
        say(f"placement points of {results.tournament} are included")
    if results.unplaced:
        say(
            f"{results.tournament}: {named_few(sorted(results.unplaced))} earned points there and "
            "are not among these submissions: nobody is given those points"
        )


NONE: Final = "none"


def read_roster(paths: Sequence[Path], held: Sequence[Student]) -> tuple[Student, ...]:
    """Return the roster of one or several files, which complete each other; `none` is no roster.

    Say which columns are not used, and who of the roster that is `held` is no longer in it. A
    correction that is new gets the day of today.
    """
    if [str(path) for path in paths] == [NONE]:
        return ()
    found: tuple[Student, ...] = ()
    for path in paths:
        students, unused = rosters.read(path)
        found = _completed(found, students, path) if found else students
        if unused:
            say(f"{path}: columns that are not used: {', '.join(unused)}")
    pairs = match(found, held).pairs
    gone = [one for place, one in enumerate(held) if place not in pairs.values()]
    _tell_gone(gone, ", ".join(map(str, paths)))
    return tuple(
        replace(one, corrections=_dated(one.corrections, held[pairs[n]] if n in pairs else None))
        for n, one in enumerate(found)
    )


def _completed(one: Sequence[Student], two: Sequence[Student], path: Path) -> tuple[Student, ...]:
    """Return the students of a roster with what another one adds to them, then its own.

    Raises `InputError` if it is not clear who is who.
    """
    matching = match(one, two)
    if matching.undecided:
        item = matching.undecided[0]
        listed = "; ".join(str(one[place]) for place in item.here)
        raise InputError(f"{path}: it is not clear who is {listed} ({item.why}); give a number")
    found = list(one)
    for here, there in matching.pairs.items():
        more = two[there]
        for name in ("extension", "group", "hand_in", "corrections"):
            both = getattr(found[here], name), getattr(more, name)
            if all(both) and both[0] != both[1]:
                what = f"{name} of {found[here]} differs from the roster before it"
                raise InputError(f"{path}: {what}; keep one of them")
        found[here] = replace(
            found[here].with_keys(more.keys),
            **{
                name: getattr(found[here], name) or getattr(more, name)
                for name in ("submitted", "section", "group", "extension", "hand_in", "corrections")
            },
        )
    taken = set(matching.pairs.values())
    return (*found, *(student for place, student in enumerate(two) if place not in taken))


def _dated(entries: Sequence[Correction], before: Student | None) -> tuple[Correction, ...]:
    """Return corrections with the day on which each was entered first."""
    today = date.today().isoformat()
    known = {replace(entry, day=""): entry for entry in (before.corrections if before else ())}
    return tuple(known.get(entry, replace(entry, day=today)) for entry in entries)


def _tell_gone(gone: Sequence[Student], place: str) -> None:
    """Say how many students a new roster drops, and what goes with them."""
    if gone:
        told = "1 student is" if len(gone) == 1 else f"{len(gone)} students are"
        told += " no longer in it"
        if adjusted := sum(bool(student.corrections) for student in gone):
            told += f", {adjusted} with a correction"
        if extended := sum(student.extension != 0 for student in gone):
            told += f", {extended} with an extension"
        say(f"{place} replaces the stored roster: {told}")


def tell_owners(
    store: Store | None,
    found: Sequence[Submission],
    roster: Sequence[Student],
    rubric: Rubric,
    paths: Sequence[Path],
    out: Path | None,
) -> Owners:
    """Match hand-ins with a roster, and list whoever cannot be found; return the owners.

    The lists are written below `out` too. Raises `InputError` if nobody who handed in is in the
    roster of `paths`.
    """
    decisions = store.decisions() if store else ()
    owners = assign(found, roster, decisions, store.corrections() if store else ())
    stored = "the stored roster" if roster or store is None else str(store.path)
    place = ", ".join(map(str, paths)) or stored
    if rubric.late.deadline:
        say(f"[late]: the deadline is {rubric.late.deadline} in the zone {rubric.late.zone}")
        if not (rubric.late.points_a_day or rubric.late.percent_a_day):
            say("[late]: points_a_day and percent_a_day are missing or 0, so nothing is deducted")
    nobody_found = len(owners.unknown) == len(owners.people) and not owners.matching.undecided
    if roster and paths and nobody_found:
        raise nobody(place, *([one.name for one in side] for side in (owners.people, roster)))
    for line in owners.told:
        say(f"{place}: {line}")
    absent, undecided = Missing.ABSENT, Missing.UNDECIDED
    unknown: dict[str, list[str]] = {"": [], LATE: [], absent: [], undecided: []}
    for item in owners.submissions:
        time = lateness(owners.students[item.name], rubric).submitted
        unknown.get(item.missing or time, []).append(item.name)
    if not rubric.late.deadline or len(owners.submissions) == 1:
        unknown[""].clear()
    none = "no time known in the roster, so nothing is deducted"
    name_all(
        f"{place}: not in it", [str(doubt) for doubt in owners.unknown], out, "roster-unknown.txt"
    )
    name_all(f"{place}: {absent}, 0 points", unknown[absent], out, "roster-absent.txt")
    name_all(f"{place}: not decided, no mark yet", unknown[undecided], out, "roster-undecided.txt")
    if unknown[undecided] or owners.matching.undecided:
        say(f"{place}: to decide who is who, {REMEDY}")
    name_all(f"late by the file's name, {none}", unknown[LATE], out, "roster-late-unknown.txt")
    name_all(f"[late]: {none}", unknown[""], out, "roster-late-no-time.txt")
    if out is not None:
        write_unmatched(out, place, owners.unknown)
    return owners


UNMATCHED: Final = "unmatched.csv"


def write_unmatched(out: Path, place: str, doubts: Sequence[Doubt]) -> None:
    """Write `unmatched.csv`: who handed in and is not found, and whose hand-in it may be."""
    rows = [[place, doubt.person, "; ".join(map(str, doubt.may_be)), doubt.why] for doubt in doubts]
    if rows or (out / UNMATCHED).is_file():
        write(out / UNMATCHED, csv_text(("List", "Hand-in of", "May be", "Why"), rows))
