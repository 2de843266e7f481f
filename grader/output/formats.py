"""The files that other programs read: gradebook CSV, Gradescope JSON, JUnit XML, GitHub output."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from connect4.errors import harmless
from grader.handin.form import Finding
from grader.handin.submission import without_folders
from grader.marks.points import Mark, MatchMark
from grader.marks.tally import full_points, margin_of
from grader.output.explain import LostTurn, explained
from grader.output.results import Results
from grader.output.tables import (
    faults_text,
    finding_text,
    match_table,
    remark,
)
from grader.play.schedule import PlannedGame
from grader.results.store import PlayedGame
from grader.rubric.model import Rubric

GRADEBOOK_HEADERS: Final = (
    *("Name", "ID", "Email", "Submission", "Part A", "Part B", "Placement", "Total"),
    *("Timeouts", "Invalid", "Errors", "SHA-256", "Remark", "Withheld"),
)

ROSTER_HEADERS: Final = (
    *("Section", "Group", "Submitted", "Late Days", "Late Deduction", "Adjust", "Reason"),
)

FORMULA: Final = re.compile(
    r"(^|[;,|:\t\r\n])([\s\"']*)(?=[=+@\-\uff1d\uff0b\uff0d\uff20])|(^)()(?=[\t\r])"
)
"""Where a spreadsheet may recognize a formula, also in full-width letters."""

CONTROL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that an XML document cannot contain."""


Lost: TypeAlias = Mapping[str, Sequence[LostTurn]]
"""The reasons for lost turns, by submission."""

MAX_SHOWN: Final = 5
"""The maximum number of reasons for lost turns that are shown for one match."""


def gradebook(marks: Sequence[Mark], placement: Mapping[str, float], more: bool = False) -> str:
    """Return `grades.csv`: one line for each student, also if several handed in together.

    `more` adds the columns of a roster and of late days.
    """
    rows: list[list[object]] = []
    for mark, student in ((one, student) for one in marks for student in one.students):
        submission, faults = mark.submission, mark.faults
        extra = placement.get(submission.name, 0.0)
        points = [
            *(None if mark.withheld(part) else mark.points(part) for part in "AB"),
            extra,
            None if mark.incomplete else mark.final(extra, student),
        ]
        row = [
            *map(cell, (student.name, student.identity, student.email, submission.name)),
            *map(_points, points),
            *(faults.timeouts, faults.invalid, faults.errors, submission.sha256 or ""),
            *(cell(remark(mark, student, extra)), cell(mark.why_withheld)),
        ]
        if more:
            row += [*map(cell, (student.section, student.group, mark.late.submitted))]
            row += ["" if mark.late.days is None else mark.late.days]
            row += [_points(None if mark.incomplete else mark.deducted(extra))]
            row += [_points(student.adjust), cell(student.reason)]
        rows.append(row)
    return csv_text([*GRADEBOOK_HEADERS, *(ROSTER_HEADERS if more else ())], rows)


def _points(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def csv_text(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file; a byte order mark tells Excel that it is UTF-8."""
    out = io.StringIO()
    csv.writer(out).writerows([headers, *rows])
    return "\ufeff" + out.getvalue()


def cell(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula.

    This also covers other separators: in countries with a decimal comma, spreadsheets split lines
    at semicolons.
    """
    return FORMULA.sub(r"\1\2'", text)


def gradescope(
    marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric, lost: Lost
) -> dict[str, Any]:
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
        document["score"] = round(mark.final(placement.get(mark.submission.name, 0)), 2)
        for match in mark.matches:
            value = round(match.tally.mean_margin, 2)
            entry = {"name": f"margin against {match.match.two.name}", "value": value}
            document["leaderboard"].append(entry)
    return document


def _tests(mark: Mark, rubric: Rubric, lost: Sequence[LostTurn]) -> Iterator[dict[str, Any]]:
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
        passed = total.complete and (whole or (match.points > 0 and not total.faults.total))
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


def of_match(lost: Sequence[LostTurn], match: MatchMark) -> list[LostTurn]:
    """Return the first reasons for lost turns in a match."""
    return [turn for turn in lost if turn.game.match == match.match][:MAX_SHOWN]


def junit(results: Results, lost: Lost) -> str:
    """Return `junit.xml`: a suite for each submission, a case for each game, with its margin.

    Lost turns are a failure, an error of the grader is an error, a missing game is skipped. The
    output of a suite explains the points and lists the findings of `check`.
    """
    whole = Element("testsuites")
    for mark in results.marks:
        _add_suite(whole, mark, results, lost.get(mark.submission.name, ()))
    indent(whole)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(whole, "unicode")}\n'


def _add_suite(whole: Element, mark: Mark, results: Results, lost: Sequence[LostTurn]) -> None:
    """Add the suite of a submission."""
    submission = mark.submission
    games = results.games_of(submission.name)
    seconds = sum(_seconds(game, results.played.get(game.key)) for game in games)
    suite = _child(whole, "testsuite", name=submission.name)
    if submission.problem:
        case = _child(suite, "testcase", classname=submission.name, name="submission", time="0")
        problem = _child(case, "failure", message=without_folders(submission.problem))
        problem.text = _text(without_folders(mark.detail))
    else:
        for game in games:
            _add_case(suite, game, results, lost)
    kinds = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for name, kind in kinds.items():
        suite.set(name, str(len(suite.findall(f".//{kind}"))))
    suite.set("time", f"{seconds:.3f}")
    matches = [
        f"{match.name}: {' '.join(explained(match, results.rubric))}" for match in mark.matches
    ]
    if printed := "\n".join([*matches, *map(finding_text, mark.findings)]):
        _child(suite, "system-out").text = _text(printed)


def _add_case(
    suite: Element, game: PlannedGame, results: Results, lost: Sequence[LostTurn]
) -> None:
    """Add the case of a game."""
    result, fault = results.played.get(game.key), results.faults.get(game.key)
    time = f"{_seconds(game, result):.3f}"
    case = _child(suite, "testcase", classname=game.match.one.name, name=game.title, time=time)
    if fault is not None:
        _child(case, "error", message=fault.text)
    elif result is None:
        _child(case, "skipped", message="not played yet")
    else:
        properties = {"margin": str(margin_of(game, result)), "game": game.key}
        if not game.board.hidden:
            properties |= {"scores": "{}:{}".format(*result.scores), "ending": result.ending}
        listed = _child(case, "properties")
        for name, value in properties.items():
            _child(listed, "property", name=name, value=value)
        own = result.faults[game.side - 1]
        if own.total:
            reasons = "\n\n".join(turn.text for turn in lost if turn.game == game)
            _child(case, "failure", message=faults_text(own)).text = _text(reasons)


def _child(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, tag, {name: _text(text) for name, text in attributes.items()})


def _seconds(game: PlannedGame, result: PlayedGame | None) -> float:
    """Return the duration of a game, 0 on a hidden board because it shows the board's size."""
    return 0.0 if result is None or game.board.hidden else result.seconds


def _text(text: str) -> str:
    return CONTROL.sub("?", text)


def annotation(path: str, finding: Finding) -> str:
    """Return a finding as a GitHub Actions annotation beside the line."""
    level = "error" if finding.required else "warning"
    where = f"file={_property(path)},line={finding.line},title={_property(finding.rule)}"
    return f"::{level} {where}::{_data(finding.text)}"


def github_lines(mark: Mark, lost: Sequence[LostTurn]) -> Iterator[str]:
    """Yield a submission's annotations: lost turns with reasons, and findings of form."""
    submission = mark.submission
    where = f"file={_property(str(submission.path or submission.place))},line=1"
    if submission.problem:
        yield f"::error {where}::{_data(without_folders(submission.problem))}"
    for match in mark.matches:
        if match.tally.faults.total:
            reasons = [turn.text for turn in of_match(lost, match)]
            text = "\n\n".join([f"{match.name}: {faults_text(match.tally.faults)}", *reasons])
            yield f"::error {where}::{_data(text)}"
    path = submission.path or Path(submission.place)
    for found in mark.findings:
        own = found.in_report and submission.report is not None
        yield annotation(str(path.with_name("report.txt") if own else path), found)


def _data(text: str) -> str:
    return harmless(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(results: Results) -> str:
    """Return the job summary for GitHub: the printed tables, then how the points come about.

    Links, mentions, images and tags of students are inactive in it.
    """
    tables = html.escape(_text(results.text()))
    lines = ["## Results", "", f"<pre>\n{tables}</pre>"]
    for mark in results.marks:
        if mark.matches:
            lines += ["", f"### {_code(mark.submission.name)}", ""]
        for match in mark.matches:
            text = " ".join(explained(match, results.rubric))
            text = text if match.tally.complete else _code(text)  # it may name an error
            lines.append(f"- {_code(match.name)}: {text}")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """Return a text as a code span, in which nothing is active."""
    shown = " ".join(_text(text).replace("`", "'").split())
    return f"`{shown}`"


def to_json(document: dict[str, Any]) -> str:
    """Return a document as the text of a JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
