"""The command `tournament`: submissions play each other in stages."""

from __future__ import annotations

import argparse

from connect4.errors import InputError
from grader.commands.common import read_rubric
from grader.commands.run import ClassRun
from grader.handin import find as submissions
from grader.output.results import TOURNAMENT


def run_tournament(arguments: argparse.Namespace) -> int:
    """Play a staged tournament, or continue a stopped one."""
    rubric = read_rubric(arguments)
    found = submissions.find([arguments.folder], rubric.submission)
    if sum(item.problem is None for item in found) < 2:
        raise InputError(f"{arguments.folder}: a tournament needs two submissions that can play")
    return ClassRun(arguments, TOURNAMENT, rubric, found).go()
