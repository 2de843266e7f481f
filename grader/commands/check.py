"""The command `check`: judges the form of submissions, and calls their methods for a few moves.

Does the file run at all, and from which time per move on?
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from connect4.errors import one_line
from connect4.games import GAMES
from connect4.games.base import Seconds, State
from connect4.isolation.seat import Level, choose_level
from connect4.players.base import Method
from connect4.views.words import ON_A_COPY
from grader.commands import DONE, FAILED, read_rubric, say
from grader.handin import Submission, form, positions
from grader.handin import find as submissions
from grader.handin.form import Finding
from grader.output import show_error
from grader.play import number_of, working_time
from grader.rubric.model import Rubric, all_boards


def check(paths: Sequence[Path], rubric: Path | None = None, form_only: bool = False) -> int:
    """Check files, required rules before advice; return 1 if a required rule is broken.

    Several submissions without a report share one line, and count as one fault.
    """
    rules = read_rubric(rubric)
    level = None if form_only else choose_level("auto")[0]
    counts: Counter[str] = Counter()
    known: dict[bytes, tuple[list[Finding], str]] = {}
    items = submissions.find(paths, rules.submission)
    several = sum(item.report is None and not item.problem for item in items) > 1
    without: list[str] = []
    for item in items:
        place = item.place
        found, plays = _examine(item, rules, level, known)
        findings = sorted(found, key=lambda finding: not finding.required)
        no_report = [one for one in findings if one.in_report and item.report is None]
        if no_report and several:
            findings.remove(no_report[0])
            without.append(item.name)
        whose = "" if item.name in place else f" ({item.name})"
        for finding in findings:
            in_report = finding.in_report and item.report is not None
            where = str(Path(place).with_name("report.txt")) if in_report else place
            rule = finding.rule if finding.required else f"{finding.rule} (advice)"
            print(f"{where}:{finding.line}: {rule}: {one_line(finding.text)}{whose}")
            if finding.required:
                show_error(where, finding.line, f"{finding.rule}: {finding.text}")
        said = ", ".join(filter(None, ["" if findings or no_report else "well formed", plays]))
        if said:
            print(f"{place}: {said}{whose}", flush=True)
        counts.update("required" if finding.required else "advice" for finding in findings)
        failed = bool(no_report) or any(finding.required for finding in findings)
        counts["failed" if failed else "unknown" if plays == UNKNOWN else "good"] += 1
    if without:
        many = number_of(len(without), "submission")
        print(f"report: no report.txt in {many}: {one_line(', '.join(without))}")
        counts["required"] += 1
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
        found = form.check(item.source, item.report, rubric.submission)
        in_source = any(finding.required and not finding.in_report for finding in found)
        if level is not None and not in_source:
            if item.source not in known:
                known[item.source] = smoke(item.source, rubric, level, item.place)
            more, plays = known[item.source]
            found += more
    return found, plays


def summary(counts: Mapping[str, int]) -> str:
    """Return the last line of the command."""
    good, failed, unknown = counts["good"], counts["failed"], counts["unknown"]
    many, advice = good + failed + unknown, counts["advice"]
    verdict = f"{good} of {many} submissions meet every required rule"
    if unknown:
        verdict = f"{verdict}; of {unknown} it is {UNKNOWN}"
    if many == 1:
        verb = "breaks a required rule" if failed else "meets every required rule"
        verdict = (
            f"The submission is well formed, {UNKNOWN}" if unknown else f"The submission {verb}"
        )
    faults = number_of(counts["required"], "fault")
    return f"{verdict}: {faults} to fix, {number_of(advice, 'piece')} of advice."


NO_MOVES: Final = " No moves were asked for (--form-only)."

UNKNOWN: Final = "not known whether it plays"

LATER_AFTER: Final = 0.5
"""Seconds that a late answer of a player is waited for after its first."""


def smoke(source: bytes, rubric: Rubric, level: Level, place: str) -> tuple[list[Finding], str]:
    """Ask a submission for moves in separate processes; report what takes long, with its place.

    Return the findings, and from which time per move on it plays, or `UNKNOWN`; empty if it does
    not.
    """
    limit = rubric.match.time_limit
    times = [seconds for seconds in positions.TIMES if seconds < limit] + [limit]
    shown = [board.state for board in all_boards(rubric) if not board.hidden]
    games = positions.asked_positions(shown or [GAMES[rubric.match.game].start(None, None)])
    state = games[0][1][0]
    with closing(
        working_time.asking_for(source, rubric, level, lambda line: say(f"{place}: {line}"), limit)
    ) as asking:
        seat = asking.player(positions.METHODS[0], limit, state.mover)
        if seat.load_failure is not None:
            failure = asking.fails(seat, state, positions.METHODS[0], limit)
            return [_finding(failure, rubric, source)] if failure else [], ""
        tried = list(
            working_time.probe(asking, positions.METHODS, times, partial(_trial, asking, games))
        )
        found = [_finding(failure, rubric, source) for *_, failure in tried if failure is not None]
        found += _changes(asking, source)
        plays = {method: seconds for method, seconds, _ in tried if seconds is not None}
        at_once = {
            seconds
            for method, needed in plays.items()
            if (seconds := asking.at_once_up_to(method, state, [t for t in times if t >= needed]))
        }
    if asking.is_over:
        say(
            f"{place}: check asks for {working_time.MOST:g} s at most; not every move was asked for"
        )
    if len(plays) < len(positions.METHODS):
        broken = any(finding.required for finding in found)
        asked = all(failure and not failure.is_late for *_, left, failure in tried if left is None)
        return found, "" if broken or asked else UNKNOWN
    most = max(plays.values())
    lower = [f" (not at {seconds:g} s)" for seconds in times if seconds < most]
    reserve = [f", {working_time.ANSWERS_AT_ONCE}{max(at_once):g} s"] if at_once else []
    return found, "".join([f"plays from {most:g} s a move", *lower[-1:], *reserve])


def _trial(
    asking: working_time.Asking,
    games: Sequence[tuple[str, Sequence[State]]],
    method: Method,
    seconds: Seconds,
    after: Seconds,
) -> working_time.Failure | None:
    """Ask a new player for the moves of each entry of `asked_positions`; return a failure.

    Moves for which there is no time left are not asked for.
    """
    for kind, states in games:
        seat = None
        for number, state in enumerate(states, 1):
            if not asking.fits(seconds + (LATER_AFTER if seat else 0.0)):
                return None
            patience = LATER_AFTER if seat else after
            seat = seat or asking.player(method, seconds, state.mover)
            failure = asking.fails(seat, state, method, seconds, patience)
            if failure is None:
                continue
            where = positions.question(method, state, kind)
            text = f"{where}: {failure.text}"
            if number > 1:
                text = f"{where}, move {number} of one player: {failure.text}"
                if not failure.starved and not asking.new_player_fails(state, method, seconds, 0.0):
                    text = f"{text}; {positions.KEEPS_STATE}"
                    failure = replace(failure, is_late=False)
            return replace(failure, text=text)
    return None


def _changes(asking: working_time.Asking, source: bytes) -> Iterator[Finding]:
    """Yield one piece of advice if a method changed what it was given."""
    if asking.changed:
        (method, what), times = asking.changed[0], len(asking.changed)
        text = f"get_{method}_move changed {what} (in {number_of(times, 'answer')}). {ON_A_COPY}"
        yield Finding(
            positions.line_of(f"get_{method}_move", source.decode()), "smoke", text, False
        )
    if asking.wrong_thought:
        yield Finding(1, "smoke", asking.wrong_thought, required=False)


def _finding(failure: working_time.Failure, rubric: Rubric, source: bytes) -> Finding:
    text, required = failure.text, True
    if failure.is_late and failure.starved:
        text, required = f"{text} (the machine was too busy to tell: try again)", False
    elif failure.is_late and failure.seconds < rubric.match.time_limit:
        text, required = f"{text} (with more time it was not asked)", False
    elif text.endswith(positions.KEEPS_STATE):
        required = rubric.limits.lifetime != "move"
    line = positions.line_of(failure.text.split()[0], source.decode(), failure.detail)
    return Finding(line, "smoke", text, required)
