"""The files that other programs read: gradebook CSV, Gradescope JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from grader.handin import without_folders
from grader.handin.lists import csv_text
from grader.handin.roster import Change, Student
from grader.marks import Mark, MatchMark
from grader.marks.tally import full_points
from grader.output.explain import Reason, explained
from grader.output.tables import finding_text, match_table, remark
from grader.rubric.model import Rubric

GRADEBOOK_HEADERS: Final = (
    *("Name", "ID", "Email", "Submission", "Part A", "Part B", "Placement", "Total"),
    *("Timeouts", "Invalid", "Errors", "SHA-256", "Remark", "Withheld"),
)

ROSTER_HEADERS: Final = (
    *("Section", "Group", "Submitted", "Late Days", "Late Deduction", "Adjust", "Reason"),
    *("Percent", "Mark", "Corrected on"),
)

Lost: TypeAlias = Mapping[str, Sequence[Reason]]
"""The reasons for lost turns, by submission."""

MAX_SHOWN: Final = 5
"""The maximum number of reasons for lost turns that are shown for one match."""


def gradebook(marks: Sequence[Mark], more: bool = False) -> str:
    """Return `grades.csv`: one line for each student, also if several handed in together.

    `more` adds the columns of a roster, of late days and of corrections.
    """
    rows: list[list[object]] = []
    for mark, student in ((one, student) for one in marks for student in one.students):
        submission, faults = mark.submission, mark.faults
        points = [
            *(None if mark.withheld(part) else mark.points(part) for part in "AB"),
            mark.placement,
            mark.known(student),
        ]
        row = [
            *(student.name, student.identity, student.email, submission.name),
            *map(_points, points),
            *(faults.timeouts, faults.invalid, faults.errors, submission.sha256 or ""),
            *(remark(mark, student), mark.open or mark.why_withheld),
        ]
        if more:
            row += [student.section, student.group, mark.late.submitted]
            row += ["" if mark.late.days is None else mark.late.days]
            row += [_points(None if mark.incomplete else mark.deducted)]
            row += _corrections(student)
        rows.append(row)
    return csv_text([*GRADEBOOK_HEADERS, *(ROSTER_HEADERS if more else ())], rows)


def _corrections(student: Student) -> list[object]:
    """Return the points added, the reasons, percentage, mark and days of the corrections."""
    changes = student.corrections
    added = sum(change.amount for change in changes if change.kind is Change.ADJUST)
    kinds = (Change.PERCENT, Change.MARK)
    rest = ["; ".join(f"{one.amount:g}" for one in changes if one.kind is kind) for kind in kinds]
    reasons, days = (
        "; ".join(filter(None, texts))
        for texts in ((change.reason for change in changes), (change.day for change in changes))
    )
    return [_points(added), reasons, *rest, days]


def _points(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def gradescope(marks: Sequence[Mark], rubric: Rubric, lost: Lost) -> dict[str, Any]:
    """Return `results.json` as Gradescope's autograder reads it.

    Each submission has a test for each match and one for its form. The fields are those of
    https://gradescope-autograders.readthedocs.io/en/latest/specs/. For several students the file
    has no score, because a sum over them means nothing.
    """
    several = len(marks) > 1
    listed: list[dict[str, Any]] = []
    for number, mark in enumerate(marks, 1):
        prefix = f"{mark.submission.name}: " if several else ""
        base = f"{number}." if several else ""
        tests = _tests(mark, rubric, lost.get(mark.submission.name, ()))
        for place, test in enumerate(tests, 1):
            listed.append({**test, "name": prefix + test["name"], "number": f"{base}{place}"})
    document: dict[str, Any] = {
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": listed,
        "leaderboard": [],
    }
    for mark in () if several else marks:
        document["score"] = round(mark.final(), 2)
        for match in mark.matches:
            value = round(match.tally.mean_margin, 2)
            entry = {"name": f"margin against {match.match.two.name}", "value": value}
            document["leaderboard"].append(entry)
    return document


def _tests(mark: Mark, rubric: Rubric, lost: Sequence[Reason]) -> Iterator[dict[str, Any]]:
    """Yield the tests of a submission: its matches, then the findings of `check`."""
    if mark.submission.problem:
        texts = (mark.submission.problem, mark.detail)
        output = "\n\n".join(map(without_folders, filter(None, texts)))
        yield _test("submission", 0.0, full_points(rubric), False, output)
    for match in mark.matches:
        total = match.tally
        lines = [*explained(match, rubric), "", match_table([match], rubric, details=True)]
        lines += [f"\n{turn.text}" for turn in of_match(lost, match)]
        whole = match.points >= match.max_points
        passed = total.complete and (whole or (match.points > 0 and not total.shown_faults.total))
        points = round(match.points, 2)
        test = _test(match.name, points, match.max_points, passed, "\n".join(lines))
        if match.withheld:
            test["extra_data"] = {"withheld": without_folders(match.withheld)}
        yield test
    if mark.findings:
        output = "\n".join(map(finding_text, mark.findings))
        passed = not any(found.required for found in mark.findings)
        yield _test("form", 0.0, 0.0, passed, output)


def _test(name: str, score: float, of: float, passed: bool, output: str) -> dict[str, Any]:
    return {
        "name": name,
        "score": score,
        "max_score": of,
        "status": "passed" if passed else "failed",
        "output": output,
        "visibility": "visible",
    }


def of_match(lost: Sequence[Reason], match: MatchMark) -> list[Reason]:
    """Return the first reasons for lost turns in a match."""
    return [turn for turn in lost if turn.game.match == match.match][:MAX_SHOWN]


def to_json(document: dict[str, Any]) -> str:
    """Return a document as the text of a JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
