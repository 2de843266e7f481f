"""The command `grade`: plays submissions against random and the baselines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from connect4.errors import InputError
from grader.commands.budget import planned
from grader.commands.common import read_rubric
from grader.commands.run import ClassRun
from grader.handin import find as submissions
from grader.output.report import GRADE
from grader.play.quick import quick


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade submissions; games that have a result are not played again."""
    rubric = read_rubric(arguments)
    found = submissions.find(arguments.paths, rubric.submission, arguments.name)
    if arguments.quick:
        if arguments.budget is not None:
            raise InputError("--quick and --budget exclude each other")
        if len(found) > 1:
            raise InputError(f"--quick is for one submission, and there are {len(found)}")
        if arguments.results is None:
            arguments.results = Path("quick.db")
        folder = None if arguments.rubric is None else arguments.rubric.parent
        rubric, note = quick(rubric, folder)
        print(note, file=sys.stderr)
        return ClassRun(arguments, GRADE, rubric, found).go()
    rubric, plan = planned(arguments, GRADE, rubric, found)
    return ClassRun(arguments, GRADE, rubric, found, plan).go()
