"""Run an agent in this process: a seat without isolation."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from connect4.errors import AgentError, IllegalAction
from connect4.games.base import Seconds, State
from connect4.isolation.measuring import Timed
from connect4.players.base import Agent, Connected, Outcome, Reply, Setup, note_of
from connect4.players.registry import build
from connect4.players.student import StudentAgent


class InProcessSeat:
    """Runs an agent in the referee's own process (`isolation: none`).

    The game is not protected from such an agent, and an endless loop in it hangs the game. An agent
    that could not be loaded has a `load_failure`, and fails on every turn if it is asked anyway.
    """

    log = ""

    def __init__(self, setup: Setup, make: Callable[[Setup], Agent] = build) -> None:
        self._game = setup.game
        self._agent: Agent | None = None
        self.load_failure: str | None = None
        try:
            self._agent = make(setup)
        except AgentError as failure:
            self.load_failure = failure.detail

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply; the wall clock decides afterwards whether it was late."""
        if self._agent is None:
            return Reply(Outcome.ERROR, detail=self.load_failure)
        action = text = detail = None
        cpu_began = time.process_time()
        began = time.monotonic()
        try:
            action = self._agent.choose(state, seconds)
            outcome = Outcome.PLAYED
            detail = note_of(self._agent)
        except IllegalAction as error:
            outcome, detail = Outcome.INVALID, str(error)
        except AgentError as failure:
            outcome, detail = Outcome.ERROR, failure.detail
        took = time.monotonic() - began
        cpu = time.process_time() - cpu_began
        overrun = 0.0
        if seconds is not None and took > seconds:
            outcome, action, overrun = Outcome.TIMEOUT, None, took - seconds
            detail = Timed(took).late_text(seconds, answered=True)
        if action is not None:
            text = self._game.format_action(action)
        return Reply(outcome, action, text, took, cpu, overrun, False, detail)

    def see_end(self, state: State) -> None:
        """Show a connected agent the last position."""
        if isinstance(self._agent, Connected):
            self._agent.see_end(state)

    def close(self) -> None:
        """Disconnect a connected agent, and free a student's module.

        A module is a reference cycle, and a search may have frozen it (`gc.freeze`).
        """
        if isinstance(self._agent, Connected):
            self._agent.close()
        if isinstance(self._agent, StudentAgent):
            self._agent = None
            gc.unfreeze()
            gc.collect()
