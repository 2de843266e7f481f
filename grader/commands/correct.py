"""The command `correct`: changes one student's mark, with a reason and the day.

The entries are the log of appeals: the class page, the student's page and `grades.csv` show them.
"""

from __future__ import annotations

import argparse
import math
from datetime import date
from pathlib import Path

from connect4.errors import InputError, printable
from grader.commands.common import DONE, say
from grader.handin.people import Person, find, match
from grader.handin.roster import Change, Correction
from grader.output.results import GRADE, read_results
from grader.results.store import Store


def run_correct(arguments: argparse.Namespace) -> int:
    """Call `correct` with the options of a command line."""
    given = {kind: getattr(arguments, kind) for kind in Change}
    found = [(kind, amount) for kind, amount in given.items() if amount is not None]
    if len(found) != 1:
        raise InputError("give one of --adjust, --percent and --mark")
    return correct(arguments.results, arguments.name, *found[0], arguments.reason)


def correct(path: Path, text: str, kind: Change, amount: float, reason: str) -> int:
    """Enter a correction of the mark of one student, found by name, number, login or address.

    `amount` is in points or percent, as `kind` states. Raises `InputError` if no student fits, or
    more than one.
    """
    if not math.isfinite(amount) or (kind is Change.MARK and amount < 0):
        raise InputError(f"{kind} {amount}: expected a number{' from 0' * (kind is Change.MARK)}")
    if not path.is_file():
        raise InputError(f"{path}: no results file there")
    with Store(path, writing=True) as store:
        results = read_results(store)
        if results.kind != GRADE:
            raise InputError(f"{path}: holds a {results.kind}; corrections are for a grading")
        marked = [(mark, student) for mark in results.marks for student in mark.students]
        people = [
            [student, *([Person(mark.submission.name)] if len(mark.students) == 1 else [])]
            for mark, student in marked
        ]
        place = find(text, people, path)
        student = marked[place][1]
        wanted = [Person(student.name, student.keys)]
        if match(wanted, [one for _, one in marked]).pairs.get(0) != place:
            what = "cannot be told from another student; a roster with numbers tells who is who"
            raise InputError(f"{path}: {student} {what}")
        entry = Correction(kind, amount, printable(reason), date.today().isoformat())
        store.correct(Person(student.name, student.keys), entry)
        before = marked[place][0].known(student)
        now = [(mark, one) for mark in read_results(store).marks for one in mark.students][place]
        after = now[0].known(now[1])
    shown = ["no mark yet" if mark is None else f"{mark:.2f}" for mark in (before, after)]
    say(f"{student.name}: {shown[0]} -> {shown[1]} ({entry}); `report` writes the files again")
    return DONE
