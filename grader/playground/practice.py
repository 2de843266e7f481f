"""`practice` in the playground: the page asks a student's worker one position after another."""

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

from connect4.errors import InputError, headline
from connect4.games.base import Seconds
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.players.base import AgentName, Method, Reply, Setup, Turn
from connect4.referee import step
from grader.handin.positions import METHOD_OF, METHODS, TIMES
from grader.playground.agent import ONLY_HERE
from grader.solved import LEAST, Answer, Practice, known_positions, largest, report

SECONDS: Final = 60.0
"""Seconds for all questions: more than the command has, because a browser is slower."""

SLOW: Final = "A browser is about three times slower: a late answer may be in time on your machine."
AGAIN: Final = "Did a change help? Copy these tables, practise again, and compare."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a new player is asked, and how long its answer is waited for."""

    setup: Setup
    state: ExtendedState
    wait: Seconds


class Practising:
    """Asks one file; each answer comes from outside, and the result is known at every time."""

    def __init__(self, source: bytes, address: str = "") -> None:
        self._positions = known_positions(None)
        self._source, self._address = source, address
        self._seconds = LEAST
        self._answers: list[Answer] = []
        self._asking = self._ask()
        self.asked: Asked | None = next(self._asking)

    def _ask(self) -> Generator[Asked, Turn, None]:
        """Yield what to ask; receive the turns that come of it."""
        began = time.monotonic()
        self._seconds = yield from self._trials()
        for number, solved in enumerate(self._positions):
            if time.monotonic() - began >= SECONDS:
                return
            method, seconds = METHOD_OF[solved.part], self._seconds
            turn = yield self._question(method, solved.state, seconds, seconds, number)
            self._answers.append(Answer(solved, turn))

    def _trials(self) -> Generator[Asked, Turn, Seconds]:
        """Return the least time at which both methods play, or `LEAST`."""
        state, most = largest(self._positions), TIMES[-1]
        for seconds in (seconds for seconds in TIMES if seconds >= LEAST):
            for method in METHODS:
                turn = yield self._question(method, state, seconds, most)
                if turn.seconds > most:
                    return LEAST  # it answers nothing, with more time neither
                if turn.action is None:
                    break
            else:
                return seconds
        return LEAST

    def _question(
        self, method: Method, state: ExtendedState, seconds: Seconds, wait: Seconds, seed: int = 0
    ) -> Asked:
        terms = EXTENDED, seconds, seed, method, self._source
        return Asked(Setup(AgentName("ai", "ai"), state.mover, *terms), state, wait)

    @property
    def progress(self) -> str:
        return f"{len(self._answers):,} of {len(self._positions):,} positions"

    def hear(self, reply: Reply, is_loaded: bool) -> None:
        """Take the answer; raises `InputError` for a file that cannot be loaded."""
        assert self.asked is not None
        if not (is_loaded or self._answers):
            detail = reply.detail or ""
            lacked = f"; {ONLY_HERE}" if detail.endswith(ONLY_HERE) else ""
            raise InputError(f"ai.py: cannot be loaded: {headline(detail)}{lacked}")
        try:
            self.asked = self._asking.send(step(1, self.asked.state, reply)[0])
        except StopIteration:
            self.asked = None

    def result(self) -> dict[str, Any]:
        """Return what the answers so far show, as text and as a page; nothing without answers."""
        if not self._answers:
            return {}
        details = [answer.turn.detail or "" for answer in self._answers if answer.action is None]
        lacked = [f"\n{ONLY_HERE}."] if any(text.endswith(ONLY_HERE) for text in details) else []
        found = Practice(
            *("ai.py", self._seconds, tuple(self._positions), tuple(self._answers)),
            remark="".join([SLOW, *lacked]),
        )
        text = "\n".join(report.lines(found)).replace(report.PROGRESS, AGAIN)
        page = report.page(found, self._address)
        return {"text": text, "page": page, "fault": "".join(details[:1])}
