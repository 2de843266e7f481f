"""The referee's side of level `wasm`: each request has a budget of fuel instead of seconds."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Final

from connect4.errors import IsolationError
from connect4.games.base import Seconds, State
from connect4.isolation.limits import Limits
from connect4.isolation.measuring import FREE_LOADING, Log, Reloads
from connect4.isolation.protocol import (
    FAILED,
    NO_ANSWER,
    READY,
    cleaned,
    line_of,
    read_answer,
    read_message,
    setup_to_json,
)
from connect4.isolation.wasm import images
from connect4.isolation.wasm.budget import fuel_of, seconds_of, shown
from connect4.isolation.wasm.interpreter import End, Ended, Interpreter
from connect4.isolation.wasm.system import System
from connect4.players.base import Outcome, PlayerLeftError, Reply, Setup
from connect4.players.names import student_file

PATIENCE: Final = 60.0
"""The wall-clock seconds that every turn may take, besides those for its budget."""

SLOWEST: Final = 50_000_000
"""A machine that runs less fuel in a wall-clock second is too slow; no agent loses by this."""


class WasmSeat:
    """Runs an agent in a separate Python that counts fuel, in this process.

    A turn that uses more than its budget is late, and the agent is restarted. An agent's moves
    depend only on its file, its seed and the positions. On a machine that is too slow, `ask` raises
    `IsolationError`. If another thread closes the seat, the current turn raises
    `PlayerLeftError`.
    """

    left_behind: int | None = None

    def __init__(self, setup: Setup, limits: Limits, lifetime: str = "game") -> None:
        self._game = setup.game
        described = setup_to_json(setup)
        submitted = described["source"] is not None
        self._name = student_file(setup.agent).name if submitted else setup.agent.kind
        self._request = line_of({"setup": described})
        self._seed = setup.derived_seed()
        self._allowed = setup.allowed if submitted else None
        self._more = images.REFERENCE_FILES if setup.agent.kind == "reference" else ()
        self._limits = limits
        self._lifetime = lifetime
        self._reloads = Reloads(limits)
        self._log = Log(limits.log_bytes)
        self._asking = threading.RLock()
        self._closed = False
        self._running: tuple[Interpreter, System] | None = None
        self.load_failure: str | None = None
        try:
            self._start(limits.start_seconds)
        except BaseException:  # also on Ctrl-C, so that no interpreter stays behind
            self.close()
            raise
        self._never_loaded = self.load_failure is not None

    @property
    def log(self) -> str:
        """The output of the agent so far; see `Log`."""
        return self._log.text()

    def begin_turn(self, number: int) -> None:
        self._log.begin_turn(number)

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply; `seconds` are virtual, and the budget is their fuel."""
        with self._asking:
            if self._closed:
                raise PlayerLeftError("the seat was closed")
            try:
                return self._ask(state, seconds)
            except IsolationError:
                if self._closed:
                    raise PlayerLeftError("the seat was closed") from None
                self._end()
                raise
            except BaseException:  # on Ctrl-C, its Python was stopped during the turn
                self._end()
                raise

    def _ask(self, state: State, seconds: Seconds | None) -> Reply:
        charged = self._ready()
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
        if self._lifetime != "move" and self._allowed is not None:
            lines.append(self._reloads.after_loss)
        return Reply(outcome, detail="\n".join(lines))

    def _run(self, request: bytes, fuel: int | None) -> tuple[Ended, bytes]:
        """Send a request; return how the call ended and the first line of its answer."""
        assert self._running is not None
        interpreter, system = self._running
        system.requests = request
        system.answers.clear()
        patience = math.inf if fuel is None else PATIENCE + fuel / SLOWEST
        ended = interpreter.run(images.TURN, fuel, None if fuel is None else patience)
        if ended.end is End.STOPPED and not self._closed:
            raise IsolationError(
                f"{self._name} used {shown(ended.fuel)} of {shown(fuel or 0)} fuel in "
                f"{patience:.0f} s: this machine is too slow for a game by fuel now"
            )
        if ended.end is End.STOPPED:
            raise IsolationError("the seat was closed")
        return ended, bytes(system.answers).partition(b"\n")[0]

    def _ready(self) -> int:
        """Load the agent if necessary; return the part of its fuel that counts for the turn."""
        if self._running is not None or self._never_loaded:
            return 0
        self.load_failure = None
        if self._lifetime == "move":
            return max(0, self._start(self._limits.start_seconds) - fuel_of(FREE_LOADING))
        self.load_failure = self._reloads.without_player
        if self.load_failure is None:
            self._reloads.add(seconds_of(self._start(self._reloads.allowed())))
            if self.load_failure is not None and self._reloads.without_player is not None:
                self.load_failure = f"{self._reloads.without_player}\n{self.load_failure}"
        return 0

    def _start(self, limit: Seconds) -> int:
        """Load the agent, or note why that failed; return the fuel that it took."""
        memory = self._limits.memory_bytes
        interpreter, system = images.copy(self._allowed, memory, self._log.add, self._more)
        system.seed(self._seed)
        self._running = (interpreter, system)
        ended, line = self._run(self._request, fuel_of(limit))
        key, value = read_message(line)
        if ended.end is End.RETURNED and key == READY:
            return ended.fuel
        if ended.end is End.EXHAUSTED:
            self.load_failure = f"{self._name} was not loaded within {shown(fuel_of(limit))} fuel"
        elif ended.end is End.RETURNED:
            self.load_failure = cleaned(value) if key == FAILED else NO_ANSWER
        else:
            self.load_failure = f"{self._name} could not be loaded: {_why(ended)}"
        self._end()
        return ended.fuel

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running[0].close()

    def close(self) -> None:
        """Free everything, even during a turn that another thread waits for."""
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
