"""The command `grade`: plays submissions against random and the baselines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.base import Seconds
from connect4.isolation.limits import Limits
from connect4.players.base import Setup
from grader.commands.common import read_rubric, required_level
from grader.commands.run import ClassRun
from grader.handin import find as submissions
from grader.output.results import GRADE
from grader.play.one_game import OWN_FILE
from grader.play.quick import quick
from grader.play.working_time import METHODS, Asking, Pace, plays_from, start_of
from grader.rubric.model import Rubric


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade submissions; games that have a result are not played again."""
    rubric = read_rubric(arguments)
    found = submissions.find(arguments.paths, rubric.submission, arguments.name)
    if arguments.quick:
        if len(found) > 1:
            raise InputError(f"--quick is for one submission, and there are {len(found)}")
        if arguments.results is None:
            arguments.results = Path("quick.db")
        folder = None if arguments.rubric is None else arguments.rubric.parent
        short, note = quick(rubric, folder)
        needed = _needed(found[0].source, short, rubric.match.time_limit, arguments.isolation)
        if needed > short.match.time_limit:
            short, note = quick(rubric, folder, needed)
        print(note, file=sys.stderr)
        rubric = short
    return ClassRun(arguments, GRADE, rubric, found).go()


def _needed(source: str | None, short: Rubric, most: Seconds, isolation: str) -> Seconds:
    """Return the time per move from which on a file plays; 0 if there is none up to `most`."""
    if source is None:
        return 0.0
    pace = Pace(short.match.time_limit, METHODS, (*short.part_a.boards, *short.part_b.boards))
    state = start_of(pace.board)
    game, text = GAMES[short.match.game], source.encode()
    setup = Setup(OWN_FILE, state.mover, game, most, 0, None, text, short.submission.allowed)
    limits = Limits(start_seconds=short.limits.startup)
    asking = Asking(setup, required_level(isolation, short)[0], limits, _say)
    times = [seconds for seconds in pace.times if seconds < most] + [most]
    return plays_from(asking, METHODS, state, times)[0] or 0.0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
