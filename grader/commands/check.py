"""The command `check`: judges the form of submissions, without playing."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from grader.commands.common import DONE, FAILED, read_rubric
from grader.handin import find as submissions
from grader.handin.form import Finding, check
from grader.output import formats


def run_check(arguments: argparse.Namespace) -> int:
    """Check the form of files; return 1 where a required rule is broken."""
    rules = read_rubric(arguments).submission
    failed = False
    for item in submissions.find(arguments.paths, rules):
        place = str(item.path or item.place)
        findings = [Finding(1, "file", item.problem)] if item.problem else []
        if item.source is not None and not item.problem:
            findings = check(item.source, item.report, rules)
        if item.note:
            findings.append(Finding(1, "file", item.note, required=False))
        whose = "" if item.name in place else f" ({item.name})"
        for finding in findings:
            in_report = finding.in_report and item.report is not None
            where = str(Path(place).with_name("report.txt")) if in_report else place
            print(f"{where}:{finding.line}: {finding.rule}: {finding.text}{whose}")
            if os.environ.get("GITHUB_ACTIONS") == "true":
                print(formats.annotation(where, finding))
        if not findings:
            print(f"{place}: well formed{whose}")
        failed = failed or any(finding.required for finding in findings)
    return FAILED if failed else DONE
