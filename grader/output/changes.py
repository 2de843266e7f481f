"""What has changed since marks were written last: whose mark, by how much, and why."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

from grader.handin.lists import csv_text
from grader.handin.people import Person, match
from grader.handin.roster import Student
from grader.marks.points import Mark
from grader.output.files import write
from grader.output.results import Results
from grader.results.store import Store
from grader.results.values import Written
from grader.rubric.reading import stored_values

HEADERS: Final = ("Name", "Before", "After", "Why")

RUBRIC: Final = "written"
"""The name in a results file of the rubric with which marks were written last."""


def written_marks(results: Results) -> dict[str, Written]:
    """Return the mark of each student and what it is made of, by name; namesakes by their keys."""
    people = [(mark, student) for mark in results.marks for student in mark.students]
    names = Counter(student.name for _, student in people)
    return {
        str(student) if names[student.name] > 1 else student.name: _made_of(mark, student)
        for mark, student in people
    }


def _made_of(mark: Mark, student: Student) -> Written:
    games = mark.total - mark.placement
    total = mark.known(student)
    return Written(total, games, mark.final(student) - mark.total, mark.placement)


def note_written(results: Results, store: Store) -> None:
    """Keep the marks that were written, for the next comparison."""
    others = store.written() if len(results.submissions) == 1 else {}  # one is no class
    store.set_written(others | written_marks(results))
    store.set_meta({RUBRIC: _rubric(results)})


def _rubric(results: Results) -> str:
    return json.dumps(stored_values(results.rubric), sort_keys=True)


def tell_changes(results: Results, store: Store, out: Path) -> str:
    """Write `changes.csv` if marks differ from those written last; return a line about them."""
    before, after = store.written(), written_marks(results)
    here, there = ([Person(name) for name in one.keys() - two.keys()] for one, two in
        ((before, after), (after, before)))  # fmt: skip
    for one, two in match(here, there).pairs.items():  # a roster writes names in other ways
        before[there[two].name] = before.pop(here[one].name)
    is_new_rubric = store.meta(RUBRIC) != _rubric(results)
    rows, most = [], 0.0
    gone = before.keys() - after.keys() if len(results.submissions) > 1 else ()
    for name in [*after, *gone]:
        old, new = before.get(name), after.get(name)
        if not before or _shown(old) == _shown(new):
            continue
        why = _why(old, new, is_new_rubric)
        rows.append([name, _shown(old), _shown(new), why])
        if old and new and old.total is not None and new.total is not None:
            most = max(most, abs(new.total - old.total))
    if not rows:
        return ""
    write(out / "changes.csv", csv_text(HEADERS, rows))
    marks = "1 mark differs" if len(rows) == 1 else f"{len(rows)} marks differ"
    return f"{marks} from those written last, by {most:.2f} at most: see {out / 'changes.csv'}"


def _shown(mark: Written | None) -> str:
    """Return a mark; empty if it is not there or incomplete."""
    return "" if mark is None or mark.total is None else f"{mark.total:.2f}"


def _why(old: Written | None, new: Written | None, is_new_rubric: bool) -> str:
    if old is None or new is None:
        return "not in the class any more" if new is None else "new in the class"
    found = []
    if old.games != new.games or (old.total is None) != (new.total is None):
        found.append("rubric" if is_new_rubric else "new games")
    if old.roster != new.roster:
        found.append("rubric" if is_new_rubric else "roster")
    if old.placement != new.placement:
        found.append("placement")
    return ", ".join(dict.fromkeys(found))
