"""The form of a submission, judged without running it: one `Finding` for each broken rule.

A separate process reads the text (`bounded`). If it uses too much time or memory, only the check of
that submission fails.
"""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from connect4.errors import InputError
from grader.handin.bounded import READER
from grader.handin.findings import Finding, report_findings, source_findings

if TYPE_CHECKING:  # the process does without the games
    from grader.rubric.model import SubmissionRules

__all__ = ["Finding", "check", "check_report", "check_source"]

READ_SECONDS: Final = 5.0
"""Processor time: reading any source of the allowed size takes less than half of it."""

MAX_FINDINGS: Final = 100


def check(source: str, report: str | None, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of a source and its report, in the order of their lines."""
    return check_source(source, rules) + check_report(report, rules)


def check_source(
    source: str, rules: SubmissionRules, seconds: float = READ_SECONDS
) -> list[Finding]:
    """Return the findings of a source text; reading it takes at most `seconds`."""
    try:
        found = READER.ask(_found, "source", source, asdict(rules), seconds=seconds)
    except InputError as error:
        return [Finding(1, "syntax", f"{error}; make the file smaller and simpler")]
    return [Finding(**finding) for finding in found]


def check_report(report: str | None, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of the text of `report.txt`; None means that the file is missing."""
    try:
        found = READER.ask(_found, "report", report, asdict(rules), seconds=READ_SECONDS)
    except InputError as error:
        return [Finding(1, "report", f"{error}; make it shorter", in_report=True)]
    return [Finding(**finding) for finding in found]


def _found(kind: str, text: str | None, rules: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the findings of a text, in the reading process."""
    given = cast("SubmissionRules", SimpleNamespace(**rules))
    if kind == "source":
        assert text is not None
        return [asdict(finding) for finding in _first(source_findings(text, given))]
    return [asdict(finding) for finding in _first(report_findings(text, given))]


def _first(found: list[Finding]) -> list[Finding]:
    """Return the first findings; if there are more, add their number."""
    rest = found[MAX_FINDINGS:]
    if not rest:
        return found
    required = any(finding.required for finding in rest)
    more = Finding(rest[0].line, "more", f"{len(rest)} more findings; fix these first", required)
    return [*found[:MAX_FINDINGS], more]
