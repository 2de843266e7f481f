"""The command `check`: judges the form of submissions, and calls their methods for a few moves."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from connect4.errors import one_line
from connect4.isolation.seat import Level, choose_level
from grader.commands.common import DONE, FAILED, read_rubric
from grader.handin import find as submissions
from grader.handin.form import Finding, check
from grader.handin.submission import Submission
from grader.output import formats, github
from grader.play.smoke import Smoke, smoke
from grader.play.working_time import MOST
from grader.rubric.model import Rubric


def run_check(arguments: argparse.Namespace) -> int:
    """Check files, required rules before advice; return 1 if a required rule is broken."""
    rubric = read_rubric(arguments)
    level = None if arguments.form_only else choose_level("auto")[0]
    counts = {"submissions": 0, "failed": 0, "required": 0, "advice": 0}
    known: dict[str, Smoke] = {}
    for item in submissions.find(arguments.paths, rubric.submission):
        place = one_line(item.path or item.place)
        found, plays = _examine(item, rubric, level, known)
        findings = sorted(found, key=lambda finding: not finding.required)
        whose = "" if item.name in place else f" ({item.name})"
        for finding in findings:
            in_report = finding.in_report and item.report is not None
            where = str(Path(place).with_name("report.txt")) if in_report else place
            rule = finding.rule if finding.required else f"{finding.rule} (advice)"
            print(f"{where}:{finding.line}: {rule}: {one_line(finding.text)}{whose}")
            github.annotate([formats.annotation(where, finding)])
        said = ", ".join(filter(None, ["" if findings else "well formed", plays]))
        if said:
            print(f"{place}: {said}{whose}", flush=True)
        required = sum(finding.required for finding in findings)
        counts["submissions"] += 1
        counts["failed"] += required > 0
        counts["required"] += required
        counts["advice"] += len(findings) - required
    print(summary(counts, level))
    return FAILED if counts["failed"] else DONE


def _examine(
    item: Submission, rubric: Rubric, level: Level | None, known: dict[str, Smoke]
) -> tuple[list[Finding], str]:
    """Return the findings of a submission, and from which time per move on it plays.

    Its methods are called only if its form is correct; `known` keeps what they answered.
    """
    found = [Finding(1, "file", item.problem)] if item.problem else []
    plays = ""
    if item.source is not None and not item.problem:
        found = check(item.source, item.report, rubric.submission)
        in_source = any(finding.required and not finding.in_report for finding in found)
        if level is not None and not in_source:
            if item.source not in known:
                known[item.source] = _ask(item.source, rubric, level, item.place)
            found += known[item.source].findings
            plays = known[item.source].plays
    if item.note:
        found.append(Finding(1, "file", item.note, required=False))
    return found, plays


def _ask(source: str, rubric: Rubric, level: Level, place: str) -> Smoke:
    """Ask a submission for moves; report on standard error what takes long."""

    def say(text: str) -> None:
        print(f"{place}: {text}", file=sys.stderr, flush=True)

    asked = smoke(source, rubric, level, say)
    if asked.skipped:
        moves = "1 move was" if asked.skipped == 1 else f"{asked.skipped} moves were"
        say(f"check asks for {MOST:g} s at most; {moves} not asked for")
    return asked


def summary(counts: dict[str, int], level: Level | None) -> str:
    """Return the last line of the command."""
    number, failed = counts["submissions"], counts["failed"]
    moves = "" if level is not None else " No moves were asked for (--form-only)."
    whose = "The submission" if number == 1 else f"{number - failed} of {number} submissions"
    if number == 1:
        verdict = f"{whose} {'breaks a required rule' if failed else 'meets every required rule'}"
    else:
        verdict = f"{whose} meet every required rule"
    return (
        f"{verdict}: {counts['required']} to fix, {counts['advice']} "
        f"{'piece' if counts['advice'] == 1 else 'pieces'} of advice.{moves}"
    )
