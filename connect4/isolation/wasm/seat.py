"""The referee's side of level `wasm`: each request has a budget of fuel instead of seconds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from connect4.errors import IsolationError
from connect4.games.base import Seconds, State
from connect4.isolation.limits import Limits
from connect4.isolation.protocol import (
    FAILED,
    NO_ANSWER,
    READY,
    cleaned,
    line_of,
    read_answer,
    read_message,
)
from connect4.isolation.reloaded import ReloadedSeat
from connect4.isolation.wasm import images
from connect4.isolation.wasm.budget import fuel_of, seconds_of, shown
from connect4.isolation.wasm.interpreter import End, Ended, Interpreter
from connect4.isolation.wasm.system import System
from connect4.players.base import Outcome, PlayerLeftError, Reply, Setup

PATIENCE: Final = 60.0
"""The wall-clock seconds that every turn may take, besides those for its budget."""

SLOWEST: Final = 50_000_000
"""A machine that runs less fuel in a wall-clock second is too slow; no agent loses by this."""


class WasmSeat(ReloadedSeat):
    """Runs an agent in a separate Python that counts fuel, in this process.

    Seconds are virtual: the budget of a turn is their fuel, and a turn that uses more is late. An
    agent's moves depend only on its file, its seed and the positions. On a machine that is too
    slow, `ask` raises `IsolationError`.
    """

    def __init__(self, setup: Setup, limits: Limits, lifetime: str = "game") -> None:
        super().__init__(setup, limits, lifetime)
        self._seed = setup.derived_seed()
        self._allowed = None if self._source is None else setup.allowed
        self._more = images.REFERENCE_FILES if setup.agent.kind == "reference" else ()
        self._running: tuple[Interpreter, System] | None = None
        self._load_first()

    def _ask(self, state: State, seconds: Seconds | None) -> Reply:
        charged = 0
        if self._running is None and not self._never_loaded:
            charged = fuel_of(self._load_again())
        if self._running is None:
            return Reply(Outcome.ERROR, detail=self.load_failure)
        budget = None if seconds is None else fuel_of(seconds)
        left = None if budget is None else budget - charged
        if left is not None and left <= 0:
            ended, line = Ended(End.EXHAUSTED, 0), b""
        else:
            request = {
                "state": state.to_json(),
                "seconds": None if left is None else seconds_of(left),
            }
            ended, line = self._run(line_of(request), left)
        if ended.end is End.RETURNED:
            reply, alive = read_answer(line, self._game, notes=self._allowed is None)
        else:
            reply, alive = self._failed(ended, budget, charged), False
        if not alive or self._lifetime == "move":
            self._end()
        used = ended.fuel + charged
        return replace(reply, seconds=ended.seconds, cpu_seconds=ended.busy, fuel=used)

    def _failed(self, ended: Ended, budget: int | None, charged: int) -> Reply:
        """Return the reply of a turn after which the agent's Python cannot be used again."""
        if ended.end is End.EXHAUSTED:
            outcome = Outcome.TIMEOUT
            lines = [f"no answer within {shown(budget or 0)} fuel"]
            if charged:
                lines.append(f"{shown(charged)} of it was used for loading.")
        else:
            outcome = Outcome.ERROR
            lines = [f"{self._name}: {_why(ended)}"]
        return Reply(outcome, detail="\n".join([*lines, *self._memory_gone()]))

    def _run(self, request: bytes, fuel: int | None) -> tuple[Ended, bytes]:
        """Send a request; return how the call ended and the first line of its answer."""
        assert self._running is not None
        interpreter, system = self._running
        system.requests = request
        system.answers.clear()
        patience = math.inf if fuel is None else PATIENCE + fuel / SLOWEST
        ended = interpreter.run(images.TURN, fuel, patience)
        if ended.end is End.STOPPED and not self._closed:
            raise IsolationError(
                f"{self._name} used {shown(ended.fuel)} of {shown(fuel or 0)} fuel in "
                f"{patience:.0f} s: this machine is too slow for a game by fuel now"
            )
        if ended.end is End.STOPPED:
            raise PlayerLeftError("the seat was closed")
        return ended, bytes(system.answers).partition(b"\n")[0]

    def _start(self, limit: Seconds) -> Seconds:
        memory, printed = self._limits.memory_bytes, self._log.add
        self._running = images.copy(self._allowed, memory, printed, self._more, self._seed)
        ended, line = self._run(line_of({"setup": self._setup}), fuel_of(limit))
        key, value = read_message(line)
        if ended.end is End.RETURNED and key == READY:
            return seconds_of(ended.fuel)
        if ended.end is End.EXHAUSTED:
            self.load_failure = f"{self._name} was not loaded within {shown(fuel_of(limit))} fuel"
        elif ended.end is End.RETURNED:
            self.load_failure = cleaned(value) if key == FAILED else NO_ANSWER
        else:
            self.load_failure = f"{self._name} could not be loaded: {_why(ended)}"
        self._end()
        return seconds_of(ended.fuel)

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running[0].close()

    def close(self) -> None:
        self._closed = True
        running = self._running
        if running is not None:
            running[0].stop()
        with self._asking:
            self._end()


def _why(ended: Ended) -> str:
    """Return why a Python cannot be used again, in words."""
    if ended.end is End.EXITED:
        return f"its Python ended with {ended.detail}"
    return f"its Python broke down: {ended.detail}"
