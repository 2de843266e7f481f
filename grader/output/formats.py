"""The files that other programs read: gradebook CSV, Gradescope's JSON, JUnit's XML, GitHub."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from grader.handin.form import Finding
from grader.handin.submission import Member
from grader.marks.points import Mark, MatchMark, full_points
from grader.marks.tally import by_match, margin_of
from grader.output.tables import (
    MATCH_HEADERS,
    faults_text,
    match_row,
    mean_text,
    points_text,
    remark,
    text_table,
    total_text,
)
from grader.play.schedule import PlannedGame
from grader.results.store import Faults, InfraFailure, PlayedGame
from grader.rubric.model import Rubric, StatisticsRules

GRADEBOOK_HEADERS: Final = (
    *("Name", "ID", "Email", "Submission", "Part A", "Part B", "Placement", "Total"),
    *("Timeouts", "Invalid", "Errors", "SHA-256", "Remark"),
)

FORMULA: Final = re.compile(
    r"(^|[;,|:\t\r\n])([\s\"']*)(?=[=+@\-\uff1d\uff0b\uff0d\uff20])|(^)()(?=[\t\r])"
)
"""Where a spreadsheet may see the beginning of a formula, also in full-width letters."""

CONTROL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document can hold."""


def gradebook(marks: Sequence[Mark], placement: Mapping[str, float]) -> str:
    """Return `grades.csv`: one line a student, also where several handed in together.

    It begins with a byte order mark, without which Excel takes UTF-8 for something else.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(GRADEBOOK_HEADERS)
    for mark in marks:
        submission, faults = mark.submission, mark.faults
        extra = placement.get(submission.name, 0.0)
        points = [
            *(None if mark.withheld(part) else mark.points(part) for part in "AB"),
            extra,
            None if mark.incomplete else mark.total + extra,
        ]
        for member in submission.members or (Member(submission.name),):
            names = [member.name, member.identity, member.email, submission.name]
            writer.writerow(
                [_cell(name) for name in names]
                + ["" if value is None else f"{value:.2f}" for value in points]
                + [faults.timeouts, faults.invalid, faults.errors, submission.sha256 or ""]
                + [_cell(remark(mark))]
            )
    return "\ufeff" + out.getvalue()


def _cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    Nor after a separator that is not ours: where the comma is the decimal mark, spreadsheets
    divide lines at semicolons.
    """
    return FORMULA.sub(r"\1\2'", text)


def gradescope(
    marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric
) -> dict[str, Any]:
    """Return `results.json` as Gradescope's autograder reads it, one test for each match.

    The fields are those of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
    """
    several = len(marks) > 1
    tests: list[dict[str, Any]] = []
    for number, mark in enumerate(marks, 1):
        prefix = f"{mark.submission.name}: " if several else ""
        base = f"{number}." if several else ""
        if mark.submission.problem:
            tests.append(_problem_test(mark, prefix, f"{base}1", rubric))
        for place, match in enumerate(mark.matches, 1):
            test = _match_test(match, rubric.statistics)
            tests.append({**test, "name": prefix + match.name, "number": f"{base}{place}"})
    document: dict[str, Any] = {
        "score": round(
            sum(mark.total + placement.get(mark.submission.name, 0) for mark in marks), 2
        ),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    if several:
        document["leaderboard"] = []
    else:
        document["leaderboard"] = [
            {"name": f"margin against {match.match.two.name}", "value": round(margin, 2)}
            for mark in marks
            for match in mark.matches
            for margin in [match.tally.mean_margin]
        ]
    return document


def _problem_test(mark: Mark, prefix: str, number: str, rubric: Rubric) -> dict[str, Any]:
    return {
        "score": 0.0,
        "max_score": full_points(rubric),
        "status": "failed",
        "name": f"{prefix}submission",
        "number": number,
        "output": "\n\n".join(filter(None, (mark.submission.problem, mark.detail))),
        "visibility": "visible",
    }


def _match_test(match: MatchMark, rules: StatisticsRules) -> dict[str, Any]:
    total = match.tally
    rows = [match_row(match, "all", total, rules)]
    rows += [match_row(match, board, part, rules) for board, part in match.boards.items()]
    lines = [text_table([row[1:] for row in rows], MATCH_HEADERS[1:])]
    if not total.complete:
        played = f"{total.games} of {total.planned} games are played"
        lines.append(f"not finished: {played}; points are withheld")
    if total.faults.total:
        lines.append(f"lost turns: {faults_text(total.faults)}")
    passed = total.complete and match.points > 0 and not total.faults.total
    return {
        "score": round(match.points, 2),
        "max_score": match.max_points,
        "status": "passed" if passed else "failed",
        "output": "\n".join(lines),
        "visibility": "visible",
    }


def junit(
    marks: Sequence[Mark],
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    faults: Mapping[str, InfraFailure],
) -> str:
    """Return `junit.xml`: a suite a submission, a case a game, its margin as a property.

    Lost turns are a failure, the grader's own fault is an error, a missing game is skipped.
    """
    by_name: dict[str, list[PlannedGame]] = {mark.submission.name: [] for mark in marks}
    for match, listed in by_match(games).items():
        by_name[match.one.name] += listed
    suites = [_suite(mark, by_name[mark.submission.name], played, faults) for mark in marks]
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{"".join(suites)}</testsuites>\n'


def _suite(
    mark: Mark,
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    faults: Mapping[str, InfraFailure],
) -> str:
    submission = mark.submission
    if submission.problem:
        detail = escape(CONTROL.sub("?", mark.detail))
        inner = (
            f'  <testcase classname={_attribute(submission.name)} name="submission" time="0">\n'
            f"    <failure message={_attribute(submission.problem)}>{detail}</failure>\n"
            "  </testcase>\n"
        )
        counts = (1, 1, 0, 0)
    else:
        inner = "".join(_case(game, played.get(game.key), faults.get(game.key)) for game in games)
        failed = sum(
            played[game.key].faults[game.side - 1].total > 0 for game in games if game.key in played
        )
        errors = sum(game.key in faults for game in games)
        missing = sum(game.key not in played and game.key not in faults for game in games)
        counts = (len(games), failed, errors, missing)
    tests, failures, errors, skipped = counts
    seconds = sum(played[game.key].seconds for game in games if game.key in played)
    return (
        f'<testsuite name={_attribute(submission.name)} tests="{tests}" failures="{failures}" '
        f'errors="{errors}" skipped="{skipped}" time="{seconds:.3f}">\n{inner}</testsuite>\n'
    )


def _case(game: PlannedGame, result: PlayedGame | None, fault: InfraFailure | None) -> str:
    head = (
        f"  <testcase classname={_attribute(game.match.one.name)} "
        f'name={_attribute(game.title)} time="{result.seconds if result else 0:.3f}"'
    )
    if fault is not None:
        return f"{head}>\n    <error message={_attribute(fault.text)}/>\n  </testcase>\n"
    if result is None:
        return f'{head}>\n    <skipped message="not played yet"/>\n  </testcase>\n'
    own: Faults = result.faults[game.side - 1]
    properties = {
        "margin": margin_of(game, result),
        "scores": "{}:{}".format(*result.scores),
        "ending": result.ending,
        "game": game.key,
    }
    lines = "".join(
        f"      <property name={_attribute(name)} value={_attribute(str(value))}/>\n"
        for name, value in properties.items()
    )
    text = f"{head}>\n    <properties>\n{lines}    </properties>\n"
    if own.total:
        text += f"    <failure message={_attribute(faults_text(own))}/>\n"
    return text + "  </testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(CONTROL.sub("?", text))


def annotation(path: str, finding: Finding) -> str:
    """Return a finding as GitHub Actions shows it beside the line."""
    level = "error" if finding.required else "warning"
    where = f"file={_property(path)},line={finding.line},title={_property(finding.rule)}"
    return f"::{level} {where}::{_data(finding.text)}"


def match_annotations(mark: Mark) -> Iterator[str]:
    """Yield an annotation for each match in which a submission lost turns."""
    submission = mark.submission
    where = f"file={_property(str(submission.path or submission.place))},line=1"
    if submission.problem:
        yield f"::error {where}::{_data(submission.problem)}"
    for match in mark.matches:
        if match.tally.faults.total:
            yield f"::error {where}::{_data(f'{match.name}: {faults_text(match.tally.faults)}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(marks: Sequence[Mark], placement: Mapping[str, float], rubric: Rubric) -> str:
    """Return the job summary for GitHub: the marks as a table in Markdown."""
    lines = ["## Marks", "", "| submission | match | mean margin | margin % | points |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for mark in marks:
        name = _markdown(mark.submission.name)
        for match in mark.matches:
            mean = mean_text(match.tally.interval(rubric.statistics))
            points = f"{points_text(match)} of {match.max_points:g}"
            cells = (name, _markdown(match.name), mean, f"{match.tally.percent:+.1f}", points)
            lines.append(f"| {' | '.join(cells)} |")
        total = total_text(mark, placement.get(mark.submission.name, 0.0), rubric)
        lines.append(f"| **{name}** | **total** {_markdown(remark(mark))} | | | **{total}** |")
    return "\n".join(lines) + "\n"


def _markdown(text: str) -> str:
    """Return a text as code in a table: in it no link, mention, picture or tag comes alive."""
    if not text:
        return ""
    shown = CONTROL.sub("?", text).replace("|", "\\|").replace("`", "'")
    return f"`{' '.join(shown.split())}`"


def to_json(document: dict[str, Any]) -> str:
    """Return a document as the text of its file."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
