"""The command `check`: judges the form of submissions, and calls their methods for a few moves.

Does the file run at all, and from which time per move on?
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from connect4.errors import one_line
from connect4.games.base import Seconds, State
from connect4.isolation.seat import Level, choose_level
from connect4.players.base import Method
from grader.commands import DONE, FAILED, read_rubric, say
from grader.handin import Submission
from grader.handin import find as submissions
from grader.handin.form import Finding
from grader.handin.form import check as check_form
from grader.output import show_error
from grader.play import number_of
from grader.play.working_time import (
    METHODS,
    MOST,
    TIMES,
    Asking,
    Failure,
    asking_for,
    probe,
    start_of,
)
from grader.rubric.model import Rubric, all_boards


def check(paths: Sequence[Path], rubric: Path | None = None, form_only: bool = False) -> int:
    """Check files, required rules before advice; return 1 if a required rule is broken."""
    rules = read_rubric(rubric)
    level = None if form_only else choose_level("auto")[0]
    counts: Counter[str] = Counter()
    known: dict[bytes, tuple[list[Finding], str]] = {}
    for item in submissions.find(paths, rules.submission):
        place = one_line(item.path or item.place)
        found, plays = _examine(item, rules, level, known)
        findings = sorted(found, key=lambda finding: not finding.required)
        whose = "" if item.name in place else f" ({item.name})"
        for finding in findings:
            in_report = finding.in_report and item.report is not None
            where = str(Path(place).with_name("report.txt")) if in_report else place
            rule = finding.rule if finding.required else f"{finding.rule} (advice)"
            print(f"{where}:{finding.line}: {rule}: {one_line(finding.text)}{whose}")
            if finding.required:
                show_error(where, finding.line, f"{finding.rule}: {finding.text}")
        said = ", ".join(filter(None, ["" if findings else "well formed", plays]))
        if said:
            print(f"{place}: {said}{whose}", flush=True)
        counts.update("required" if finding.required else "advice" for finding in findings)
        counts["failed" if any(finding.required for finding in findings) else "good"] += 1
    print(summary(counts) + (NO_MOVES if level is None else ""))
    return FAILED if counts["failed"] else DONE


def _examine(
    item: Submission,
    rubric: Rubric,
    level: Level | None,
    known: dict[bytes, tuple[list[Finding], str]],
) -> tuple[list[Finding], str]:
    """Return the findings of a submission, and from which time per move on it plays.

    Its methods are called only if its form is correct; `known` keeps what they answered.
    """
    found = [Finding(1, "file", item.problem)] if item.problem else []
    plays = ""
    if item.source is not None and not item.problem:
        found = check_form(item.source, item.report, rubric.submission)
        in_source = any(finding.required and not finding.in_report for finding in found)
        if level is not None and not in_source:
            if item.source not in known:
                known[item.source] = smoke(item.source, rubric, level, item.place)
            more, plays = known[item.source]
            found += more
    return found, plays


def summary(counts: Mapping[str, int]) -> str:
    """Return the last line of the command."""
    good, failed, advice = counts["good"], counts["failed"], counts["advice"]
    verdict = f"{good} of {good + failed} submissions meet every required rule"
    if good + failed == 1:
        verb = "breaks a required rule" if failed else "meets every required rule"
        verdict = f"The submission {verb}"
    faults = number_of(counts["required"], "fault")
    return f"{verdict}: {faults} to fix, {number_of(advice, 'piece')} of advice."


NO_MOVES: Final = " No moves were asked for (--form-only)."

LATER: Final = 2
"""Moves that one player is asked for after its first."""

LATER_AFTER: Final = 0.5
"""Seconds that a late answer to these is waited for."""

KEEPS_STATE: Final = (
    "a new player gives a valid move there. Reset what is kept on self (such as a flag that stops "
    "the search) at the start of the method; --lifetime move plays the file as it is"
)

LINE: Final = re.compile(r'ai\.py", line (\d+)')


def smoke(source: bytes, rubric: Rubric, level: Level, place: str) -> tuple[list[Finding], str]:
    """Ask a submission for moves in separate processes; report what takes long, with its place.

    Return the findings, and from which time per move on it plays; empty if that is not known.
    """
    limit = rubric.match.time_limit
    times = [seconds for seconds in TIMES if seconds < limit] + [limit]
    asking = asking_for(source, rubric, level, lambda line: say(f"{place}: {line}"), limit)
    shown = [board for board in all_boards(rubric) if not board.hidden]
    by_size = sorted(map(start_of, shown), key=lambda state: state.board().size)
    smallest, largest = by_size[0], by_size[-1]
    with asking.player(METHODS[0], limit, largest) as seat:
        if seat.load_failure is not None:
            failure = asking.fails(seat, largest, METHODS[0], limit)
            return [_finding(failure, rubric, source)] if failure else [], ""
    found: list[Finding] = []
    plays: list[Seconds | None] = []
    trial = partial(_trial, asking, largest, smallest)
    for _, seconds, failure in probe(asking, METHODS, times, trial):
        plays.append(seconds)
        if failure is not None:
            found.append(_finding(failure, rubric, source))
    if asking.is_over:
        say(f"{place}: check asks for {MOST:g} s at most; not every move was asked for")
    most = plays[-1]
    if most is None or None in plays:
        return found, ""
    lower = [f" (not at {seconds:g} s)" for seconds in times if seconds < most]
    return found, f"plays from {most:g} s a move{''.join(lower[-1:])}"


def _trial(
    asking: Asking,
    largest: State,
    smallest: State,
    method: Method,
    seconds: Seconds,
    after: Seconds,
) -> Failure | None:
    """Ask one player for moves on the largest board, a new one on the smallest; return a failure.

    Moves for which there is no time left are not asked for.
    """
    with asking.player(method, seconds, largest) as seat:
        failure = asking.fails(seat, largest, method, seconds, after)
        if failure is not None:
            return _where(failure, method, largest)
        for number, state in enumerate(_later_positions(largest), 2):
            if not asking.fits(seconds + LATER_AFTER):
                return None
            failure = asking.fails(seat, state, method, seconds, LATER_AFTER)
            if failure is not None:
                if not failure.starved and not asking.new_player_fails(state, method, seconds, 0.0):
                    text = f"{failure.text}; {KEEPS_STATE}"
                    failure = replace(failure, text=text, is_late=False)
                return _where(failure, method, state, f", move {number} of one player")
    if not asking.fits(seconds):
        return None
    failure = asking.new_player_fails(smallest, method, seconds, after)
    return failure and _where(failure, method, smallest)


def _where(failure: Failure, method: Method, state: State, move: str = "") -> Failure:
    rows, columns = state.board().shape
    where = f"get_{method}_move on {rows} rows and {columns} columns{move}"
    return replace(failure, text=f"{where}: {failure.text}")


def _later_positions(state: State) -> Iterator[State]:
    """Yield positions of one game in which the same player is to move, two plies apart."""
    draw = random.Random(1)
    mover = state.mover
    for _ in range(LATER):
        for _ in range(2):
            if state.is_over() or not state.legal_actions():
                return
            state = state.apply(draw.choice(state.legal_actions()))
        if state.is_over() or state.mover != mover:
            return
        yield state


def _finding(failure: Failure, rubric: Rubric, source: bytes) -> Finding:
    text, required = failure.text, True
    if failure.is_late and failure.starved:
        text, required = f"{text} (the machine was too busy to tell: try again)", False
    elif failure.is_late and failure.seconds < rubric.match.time_limit:
        text, required = f"{text} (with more time it was not asked)", False
    elif text.endswith(KEEPS_STATE):
        required = rubric.limits.lifetime != "move"
    lines = LINE.findall(failure.detail)
    line = int(lines[-1]) if lines else _line_of(failure.text.split()[0], source.decode())
    return Finding(line, "smoke", text, required)


def _line_of(method: str, source: str) -> int:
    """Return the line that defines a method; 1 if there is none."""
    match = re.search(rf"^[ \t]+(def )?{re.escape(method)}\b", source, re.MULTILINE)
    return source.count("\n", 0, match.start()) + 1 if match else 1
