"""The moves that `check` requests: does the file run at all, and from which time per move on?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from connect4.games import GAMES
from connect4.games.base import Seconds, State
from connect4.isolation.limits import Limits
from connect4.isolation.seat import Level
from connect4.players.base import Method, Setup
from grader.handin.form import Finding
from grader.play.one_game import OWN_FILE
from grader.play.working_time import (
    AFTER,
    METHODS,
    TIMES,
    Asking,
    Failure,
    later_positions,
    start_of,
)
from grader.rubric.model import Rubric, all_boards

LATER: Final = 2
"""Moves that one player is asked for after its first."""

LATER_AFTER: Final = 0.5
"""Seconds that a late answer to these is waited for."""

KEEPS_STATE: Final = (
    "a new player gives a valid move there. Reset what is kept on self (such as a flag that stops "
    "the search) at the start of the method; --lifetime move plays the file as it is"
)

LINE: Final = re.compile(r'ai\.py", line (\d+)')


@dataclass(frozen=True, slots=True)
class Smoke:
    """What came of the moves that a file was asked for."""

    findings: list[Finding]
    plays: str
    """From which time per move on the file plays, empty if that is not known."""
    skipped: int
    """The moves that were not asked for, because `check` took too long."""


def smoke(source: str, rubric: Rubric, level: Level, say: Callable[[str], None]) -> Smoke:
    """Ask a submission for moves in separate processes."""
    limit = rubric.match.time_limit
    times = [seconds for seconds in TIMES if seconds < limit] + [limit]
    rules, game = rubric.submission, GAMES[rubric.match.game]
    setup = Setup(OWN_FILE, 1, game, limit, 0, None, source.encode(), rules.allowed)
    asking = Asking(setup, level, Limits(start_seconds=rubric.limits.startup), say)
    shown = [board for board in all_boards(rubric) if not board.hidden]
    by_size = sorted(map(start_of, shown), key=lambda state: state.board().size)
    trials = [_Trial(asking, method, by_size[-1], by_size[0]) for method in METHODS]
    found: list[Finding] = []
    begin, unknown = 0, False
    for trial in trials:
        trial.ahead = len(trials) - 1 - trials.index(trial)
        seconds, failure = asking.first_time(times[begin:], trial.fails)
        if seconds is not None:
            begin = times.index(seconds)
            continue
        unknown = True
        if failure is None:
            trial.skipped += 1
            continue
        found.append(_finding(failure, limit, rubric.limits.lifetime == "move"))
        if failure.in_loading:
            break
        begin = len(times) - 1 if failure.is_late else 0
    plays = ""
    if not unknown:
        plays = f"plays from {times[begin]:g} s a move"
        plays += f" (not at {times[begin - 1]:g} s)" if begin else ""
    return Smoke(found, plays, sum(trial.skipped for trial in trials))


@dataclass(slots=True)
class _Trial:
    """Asks one method for moves: one player on the largest board, a new one on the smallest."""

    asking: Asking
    method: Method
    largest: State
    smallest: State
    ahead: int = 0
    """The methods that are asked after this one."""
    skipped: int = 0

    def fails(self, seconds: Seconds, after: Seconds) -> Failure | None:
        """Return why a move is missing with this time, or None."""
        self.skipped = 0
        with self.asking.player(self.method, seconds, self.largest) as seat:
            failure = self.asking.fails(seat, self.largest, self.method, seconds, after)
            if failure is not None:
                return self._where(failure, self.largest)
            for number, state in enumerate(later_positions(self.largest, LATER), 2):
                if not self._fits(seconds + LATER_AFTER):
                    continue
                failure = self.asking.fails(seat, state, self.method, seconds, LATER_AFTER)
                if failure is not None:
                    return self._later(failure, state, number)
        if not self._fits(seconds):
            return None
        failure = self.asking.new_player_fails(self.smallest, self.method, seconds, after)
        return failure and self._settled(failure, self.smallest)

    def _fits(self, seconds: Seconds) -> bool:
        """Return whether there is time for a question, and for the methods after this one."""
        fits = seconds + self.ahead * (seconds + AFTER) <= self.asking.left()
        self.skipped += not fits
        return fits

    def _later(self, failure: Failure, state: State, number: int) -> Failure:
        """Return the failure of a player that has moved; a new one shows what the cause is."""
        move = f", move {number} of one player"
        if failure.starved or (failure.is_late and not failure.silent):
            return self._settled(failure, state, move)
        if self.asking.new_player_fails(state, self.method, failure.seconds, 0.0):
            return self._settled(failure, state, move)
        text = f"{failure.text}; {KEEPS_STATE}"
        kept = replace(failure, text=text, keeps_state=True, is_late=False)
        return self._settled(kept, state, move)

    def _settled(self, failure: Failure, state: State, move: str = "") -> Failure:
        return replace(self._where(failure, state, move), settled=not failure.is_late)

    def _where(self, failure: Failure, state: State, move: str = "") -> Failure:
        if failure.in_loading:
            return failure
        rows, columns = state.board().shape
        where = f"get_{self.method}_move on {rows} rows and {columns} columns{move}"
        return replace(failure, text=f"{where}: {failure.text}")


def _finding(failure: Failure, limit: Seconds, moves_anew: bool) -> Finding:
    text, required = failure.text, True
    if failure.is_late and failure.starved:
        text, required = f"{text} (the machine was too busy to tell: try again)", False
    elif failure.is_late and failure.seconds < limit:
        text, required = f"{text} (with more time it was not asked)", False
    if failure.keeps_state:
        required = not moves_anew
    lines = LINE.findall(failure.detail)
    return Finding(int(lines[-1]) if lines else 1, "smoke", text, required)
