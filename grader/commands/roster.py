"""The roster of a class: reads it, completes it, and says who of the hand-ins is not in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands.common import UNMATCHED, list_unmatched, name_all, say
from grader.handin import LATE, REMEDY, Missing, Submission, lists, match
from grader.handin.lists import nobody
from grader.handin.roster import Correction, Owners, Student, assign
from grader.marks import lateness
from grader.results.store import Store
from grader.rubric.model import Rubric

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
        students, unused = lists.read_roster(path)
        found = _completed(found, students, path) if found else students
        if unused:
            say(f"{path}: columns that are not used: {', '.join(unused)}")
    pairs = match(found, held).pairs
    gone = [one for place, one in enumerate(held) if place not in pairs.values()]
    _say_gone(gone, ", ".join(map(str, paths)))
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


def _say_gone(gone: Sequence[Student], place: str) -> None:
    """Say how many students a new roster drops, and what goes with them."""
    if gone:
        told = "1 student is" if len(gone) == 1 else f"{len(gone)} students are"
        told += " no longer in it"
        if adjusted := sum(bool(student.corrections) for student in gone):
            told += f", {adjusted} with a correction"
        if extended := sum(student.extension != 0 for student in gone):
            told += f", {extended} with an extension"
        say(f"{place} replaces the stored roster: {told}")


def say_owners(
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
    rows = [[place, one.person, "; ".join(map(str, one.may_be)), one.why] for one in owners.unknown]
    if out is not None and (rows or (out / UNMATCHED).is_file()):
        list_unmatched(out, rows, anew=True)
    name_all(f"{place}: not in it", list(map(str, owners.unknown)), out, is_listed=True)
    name_all(f"{place}: {absent}, 0 points", unknown[absent], out)
    name_all(f"{place}: not decided, no mark yet", unknown[undecided], out)
    if unknown[undecided] or owners.matching.undecided:
        say(f"{place}: to decide who is who, {REMEDY}")
    name_all(f"late by the file's name, {none}", unknown[LATE], out)
    name_all(f"[late]: {none}", unknown[""], out)
    return owners
