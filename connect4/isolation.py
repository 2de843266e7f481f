"""One agent behind a seat: here in the referee's own process, lateness judged afterwards."""

from __future__ import annotations

import time
from typing import Final, Literal, TypeAlias

from connect4.errors import AgentFailure, IllegalAction
from connect4.games.base import Seconds, State
from connect4.players import PLAYERS
from connect4.players.base import Agent, Outcome, Reply, Seat, Setup

Level: TypeAlias = Literal["none", "process", "strong"]
"""How far an agent is kept from everything else; `auto` on a command line picks one of them."""

LEVELS: Final = ("none",)


def open_seat(setup: Setup, level: Level) -> Seat:
    """Return a seat whose agent is ready to be asked. A person's seat is a `HumanSeat` instead."""
    assert level == "none"
    return InProcessSeat(setup)


class InProcessSeat:
    """Runs an agent in the referee's own process (`isolation: none`).

    Nothing protects the game from such an agent, and a move that never comes hangs it. An agent
    that could not be loaded fails on every turn; the seat says why each time.
    """

    def __init__(self, setup: Setup) -> None:
        self._game = setup.game
        build = PLAYERS[setup.agent.kind].build
        assert build is not None, "a person needs a HumanSeat"
        self._agent: Agent | None = None
        self._load_failure: str | None = None
        try:
            self._agent = build(setup)
        except AgentFailure as failure:
            self._load_failure = failure.detail

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply, judged late by the wall clock once it is there."""
        if self._agent is None:
            return Reply(Outcome.ERROR, detail=self._load_failure)
        action = text = detail = None
        cpu_began = time.process_time()
        began = time.monotonic()
        try:
            action = self._agent.choose(state, seconds)
            outcome = Outcome.PLAYED
        except IllegalAction as error:
            outcome, detail = Outcome.INVALID, str(error)
        except AgentFailure as failure:
            outcome, detail = Outcome.ERROR, failure.detail
        took = time.monotonic() - began
        cpu = time.process_time() - cpu_began
        overrun = 0.0
        if seconds is not None and took > seconds:
            outcome, action, overrun = Outcome.TIMEOUT, None, took - seconds
            detail = f"no answer within {seconds:g} s"
        if action is not None:
            text = self._game.format_action(action)
        return Reply(outcome, action, text, took, cpu, overrun, False, detail)

    def close(self) -> None:
        """Nothing to leave behind."""
