"""Which marks differ from those written last, and why: `changes.csv`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from grader.handin import Person
from grader.handin import match as who_is_who
from grader.handin.lists import csv_text
from grader.handin.roster import Student
from grader.output import write
from grader.output.results import Results
from grader.results import Written
from grader.results.store import Store
from grader.rubric import reading as rubrics

HEADERS: Final = ("Name", "Before", "After", "Why")

RUBRIC: Final = "written"
"""The name in a results file of the rubric with which marks were written last."""


OUT: Final = "out"
"""The name in a results file of the folder to which the marks were written last."""


def written_marks(results: Results) -> list[tuple[Person, Written]]:
    """Return the mark of each student, and what it is made of."""
    return [
        (
            Person(one.name, one.keys),
            Written(
                *(mark.known(one), mark.total - mark.placement),
                *(mark.final(one) - mark.total, mark.placement),
            ),
        )
        for mark in results.marks
        for one in mark.students
    ]


def _same(before: Sequence[Person], after: Sequence[Person]) -> Mapping[int, int]:
    """Return the places of the same persons; a roster writes names in other ways."""
    known = {str(person): place for place, person in enumerate(after)}
    pairs = [(n, known[str(person)]) for n, person in enumerate(before) if str(person) in known]
    return who_is_who(before, after, pairs).pairs


def note_written(results: Results, store: Store, out: Path) -> None:
    """Keep the marks that were written, and where, for the next comparison."""
    store.set_meta({OUT: str(out.absolute())})
    before, after = store.written(), written_marks(results)
    if before and results.missing:  # the end of this run is compared with what was before it
        return
    if len(results.submissions) == 1:  # one is no class
        same = _same([one for one, _ in before], [one for one, _ in after])
        after += [one for place, one in enumerate(before) if place not in same]
    store.set_written(after)
    store.set_meta({RUBRIC: _rubric(results)})


def _rubric(results: Results) -> str:
    return json.dumps(rubrics.stored_values(results.rubric), sort_keys=True)


def changed_marks(results: Results, store: Store) -> tuple[list[list[str]], float]:
    """Return the lines of `changes.csv`, and by how much a mark differs at most."""
    before, after = store.written(), written_marks(results)
    same = _same([one for one, _ in before], [one for one, _ in after])
    twice = _decided(before, after, same)
    earlier = {there: before[here][1] for here, there in same.items()} | twice
    students = [one for mark in results.marks for one in mark.students]
    found: list[tuple[Student, Written | None, Written | None]] = [
        (one, earlier.get(n), after[n][1]) for n, one in enumerate(students)
    ]
    if len(results.submissions) > 1:
        clear = [one for n, (one, _) in enumerate(after) if n in twice]
        found += [
            (Student(one.name, one.keys), mark, None)
            for n, (one, mark) in enumerate(before)
            if n not in same and not any(set(one.keys) & set(own.keys) for own in clear)
        ]
    names = Counter(one.name for one, _, _ in found)
    rubric = _rubric_changes(results, store)
    rows, most = [], 0.0
    for one, old, new in found if before else ():
        if _shown(old) == _shown(new):
            continue
        name = str(one) if names[one.name] > 1 else one.name
        rows.append([name, _shown(old), _shown(new), _why(old, new, one, rubric)])
        if old and new and old.total is not None and new.total is not None:
            most = max(most, abs(new.total - old.total))
    return rows, most


def _decided(
    before: Sequence[tuple[Person, Written]],
    after: Sequence[tuple[Person, Written]],
    same: Mapping[int, int],
) -> dict[int, Written]:
    """Return the earlier marks of those who are one person by now, by their places in `after`.

    As long as it was not clear whose a hand-in is, it and the line of the roster stood there both.
    """
    found: dict[int, list[Written]] = {}
    for n, (person, mark) in enumerate(before):
        keys = set(person.keys)
        places = [same[n]] if n in same else []
        places = places or [n for n, (one, _) in enumerate(after) if keys & set(one.keys)]
        if len(places) == 1:
            found.setdefault(places[0], []).append(mark)
    return {
        place: replace(
            max(marks, key=lambda one: one.games),
            total=None if any(one.total is None for one in marks) else marks[0].total,
        )
        for place, marks in found.items()
        if len(marks) > 1
    }


def _rubric_changes(results: Results, store: Store) -> str:
    """Return in words what differs from the rubric of the marks written last; empty if nothing."""
    before = store.meta_json(RUBRIC)
    if before is None:
        return ""
    changes = rubrics.changes(before, json.loads(_rubric(results)))
    changes = [one for one in changes if not one.startswith(("compare.", "ladder.", "tournament."))]
    return f"rubric: {'; '.join(changes)}" if changes else ""


def tell_changes(results: Results, store: Store, out: Path) -> str:
    """Write `changes.csv` if marks differ from those written last; return a line about them."""
    rows, most = changed_marks(results, store)
    if not rows:
        return ""
    write(out / "changes.csv", csv_text(HEADERS, rows))
    marks = "1 mark differs" if len(rows) == 1 else f"{len(rows)} marks differ"
    by = f", by {most:.2f} at most" if most else ""
    return f"{marks} from those written last{by}: see {out / 'changes.csv'}"


def _shown(mark: Written | None) -> str:
    """Return a mark; empty if it is not there or incomplete."""
    return "" if mark is None or mark.total is None else f"{mark.total:.2f}"


def _why(old: Written | None, new: Written | None, student: Student, rubric: str) -> str:
    if old is None or new is None:
        return "not in the class any more" if new is None else "new in the class"
    found = []
    if old.games != new.games:
        found.append(rubric or "new games or another hand-in")
    elif (old.total is None) != (new.total is None):
        found.append("it was open" if old.total is None else rubric or "it is open")
    if old.roster != new.roster:
        found += map(str, student.corrections) if student.corrections else [rubric or "roster"]
    if old.placement != new.placement:
        found.append("placement")
    return "; ".join(dict.fromkeys(found))
