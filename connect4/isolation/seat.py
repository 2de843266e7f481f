"""The seats of agents, and the levels of isolation at which they run.

A seat asks its agent, loads it again after a failure, and keeps what it prints. An `IsolatedSeat`
leaves the rest to a `levels.Runner`.
`docs/isolation.md` describes the levels, their restrictions and their limits.
"""

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias, cast

from connect4.errors import AgentError, IllegalAction, InputError, headline
from connect4.games.base import Seconds, State
from connect4.isolation import machine
from connect4.isolation.levels import End, Isolation, Log, MakeRunner, Runner, Timed
from connect4.isolation.process import FREE_LOADING, RUNS_ON, AgentProcess
from connect4.isolation.protocol import FAILED, handed_over
from connect4.isolation.sandbox import Limits
from connect4.isolation.wasm.level import ByFuel
from connect4.players import base
from connect4.players.registry import build
from connect4.players.student import StudentAgent
from connect4.players.thoughts import said_by, with_thought

Level: TypeAlias = Literal["none", "process", "strong", "wasm"]
"""The levels of isolation; `auto` on a command line selects one of them."""

Lifetime: TypeAlias = Literal["game", "move"]
"""Whether an agent's process lives for a whole game or is restarted for each move."""

LEVELS: Final[dict[Level, Isolation]] = {
    "none": Isolation(None),
    "process": Isolation(partial(AgentProcess, strong=False), machine.why_files_are_open),
    "strong": Isolation(partial(AgentProcess, strong=True), machine.bubblewrap_works),
    "wasm": ByFuel(),
}

GRADED: Final = tuple(name for name in LEVELS if name != "none")
"""The levels at which a class is graded."""

USUAL_LIMITS: Final = Limits()

MADE_ANEW: Final = "A new AIPlayer is made for the next turn: what this one kept is gone."

NO_PLAYER: Final = "without a player: "
"""The beginning of the detail of a turn after the loading time was used up."""

TOO_LITTLE: Final = 0.001
"""Less loading time than this, in seconds, counts as none."""


def choose_level(requested: str) -> tuple[Level, tuple[str, ...]]:
    """Return the level for a name of `LEVELS` or `auto` on this machine.

    Also returns one line for each missing protection. Raises `InputError` if a level was
    requested that is not available, and if nothing would keep root's files from an agent of root.
    """
    if requested == "none" or (requested == "auto" and sys.platform == "emscripten"):
        return "none", ()  # a browser's Python starts no process
    if requested not in (*LEVELS, "auto"):
        raise InputError(f"isolation {requested!r}: expected {', '.join(LEVELS)} or auto")
    if level_named(requested).exact:
        level_named(requested).check()
        return cast("Level", requested), ()
    missing, why_not = machine.missing(), None
    if requested != "process":
        why_not = machine.bubblewrap_works()
        if why_not is None:
            return "strong", missing
        if requested == "strong":
            raise InputError(f"isolation strong: {why_not}; use process or auto")
        missing = (*missing, f"isolation is process, not strong: {why_not}")
    open_files = machine.why_files_are_open()
    if open_files is not None:
        raise InputError(f"isolation process: {open_files}; {why_not or 'use strong'}")
    return "process", missing


def level_named(name: str | None) -> Isolation:
    """Return the level of a record or a rubric, which may name none, or one that is unknown."""
    return next((level for known, level in LEVELS.items() if known == name), LEVELS["process"])


def level_of(turn: base.Turn) -> Isolation:
    """Return the level that a turn was limited by."""
    return LEVELS["process" if turn.fuel is None else "wasm"]


def open_seat(
    setup: base.Setup,
    level: Level,
    limits: Limits = USUAL_LIMITS,
    lifetime: Lifetime = "game",
) -> "InProcessSeat | IsolatedSeat":
    """Return a seat whose agent is ready; a person's seat is a `HumanSeat` instead.

    Raises `IsolationError` if the machine cannot run an agent at that level; errors of the agent
    appear in its turns.
    """
    isolation = LEVELS[level]
    if setup.agent.kind in isolation.outside:
        raise InputError(f"agent {setup.agent.text!r} {isolation.why_outside}")
    if isolation.make_runner is None:
        return InProcessSeat(setup)
    return IsolatedSeat(setup, limits, lifetime, isolation.make_runner)


class IsolatedSeat:
    """A seat whose agent runs apart from the referee, and is loaded again after a failure.

    It is reloaded outside the clock, for `Limits.reload_seconds` in a game. With `lifetime` move it
    is loaded for each turn, and long loading counts on the clock. An agent that could not be loaded
    at first has a `load_failure` and fails on every turn; a later failure costs one turn.
    """

    def __init__(
        self,
        setup: base.Setup,
        limits: Limits,
        lifetime: Lifetime,
        make_runner: MakeRunner,
    ) -> None:
        own = handed_over(setup)
        self._has_file = own.source is not None
        named = setup.agent.kind in ("ai", "kaggle")
        self._name = base.student_file(setup.agent).name if named else setup.agent.kind
        self._limits = limits
        self._lifetime = lifetime
        self._reload_left = limits.reload_seconds
        self._reload_is_free = False
        """Whether the machine caused the next reload, which does not count then."""
        self._log = Log(limits.log_bytes)
        self.agent: Runner = make_runner(own, limits, self._log, self._name)
        self.restart(own)

    def restart(self, setup: base.Setup) -> None:
        """Load the agent as another player, for another method or time; its file stays the same.

        This takes a fraction of the time that another seat takes.
        """
        self.agent.end()
        self.agent.setup = handed_over(setup)
        try:
            _, self.load_failure = self.agent.load(self._limits.start_seconds)
            """Why the agent is not loaded; None if it is, or will be for its next turn."""
        except BaseException:  # also on Ctrl-C, so that nothing of the agent is left
            self.close()
            raise
        self._never_loaded = self.load_failure is not None

    @property
    def log(self) -> str:
        """The output of the agent so far; see `Log`."""
        return self._log.text()

    def begin_turn(self, number: int) -> None:
        self._log.begin_turn(number)

    def ask(self, state: State, seconds: Seconds | None) -> base.Reply:
        """Return the agent's reply to a request with a time limit, or with none.

        Raises `IsolationError` if the machine fails.
        """
        try:
            return self._ask(state, seconds)
        except Exception:  # the machine failed: nothing of the agent stays behind
            self.close()
            raise
        except BaseException:  # on Ctrl-C: this request must not be answered later
            self.agent.end()
            raise

    def _ask(self, state: State, seconds: Seconds | None) -> base.Reply:
        loading = 0.0
        if not self.agent.is_loaded():
            if not self._never_loaded:
                loading = self._load_again()
            if self.load_failure is not None:
                return base.Reply(base.Outcome.ERROR, detail=self.load_failure)
        reply, end = self.agent.ask(state, seconds, loading)
        if end in (End.LATE, End.STARVED, End.GONE):
            self._reload_is_free |= end is End.STARVED
            if self._has_file and self._lifetime == "game":
                used_up = self._used_up()
                anew = f"No new AIPlayer is made: {used_up}." if used_up else MADE_ANEW
                reply = replace(reply, detail=f"{reply.detail}\n{anew}")
        elif end is End.RUNS_ON:
            reply = replace(reply, detail=f"{RUNS_ON}. {MADE_ANEW}")
        if end is not End.RESTS or self._lifetime == "move":
            self.agent.end()
        return reply

    def _used_up(self) -> str:
        """Return why the agent is not reloaded; empty if it may be."""
        if self._reload_is_free or self._reload_left > TOO_LITTLE:
            return ""
        return f"its loading time of {self._limits.reload_seconds:g} s was used up"

    def _load_again(self) -> Seconds:
        """Load the agent, or note why it is not loaded; return the time that the turn pays."""
        limit, free = self._limits.start_seconds, self._reload_is_free
        if self._lifetime == "move":
            took, self.load_failure = self.agent.load(limit)
            return max(0.0, took - FREE_LOADING)
        self.load_failure = None
        if not self._used_up():
            most = limit if free else min(limit, self._reload_left)
            took, self.load_failure = self.agent.load(most)
            self._reload_left -= 0.0 if free else took
            self._reload_is_free = False
            if self.load_failure is None:
                return 0.0
        if used_up := self._used_up():
            lines = (f"{NO_PLAYER}{used_up}", self.load_failure)
            self.load_failure = "\n".join(filter(None, lines))
        return 0.0

    def call(self, method: str, state: State, seconds: Seconds) -> tuple[str, Any]:
        """Return the answer of `StudentAgent.call` in the agent's process; it is not checked."""
        if not self.agent.is_loaded():
            return FAILED, f"could not be loaded: {headline(self.load_failure or '')}"
        assert isinstance(self.agent, AgentProcess)
        return self.agent.call(method, state, seconds)

    def close(self) -> None:
        self.agent.close()


class InProcessSeat:
    """Runs an agent in the referee's own process (`isolation: none`).

    The game is not protected from such an agent, and an endless loop in it hangs the game. An agent
    that could not be loaded has a `load_failure`, and fails on every turn if it is asked anyway.
    """

    log = ""

    def __init__(self, setup: base.Setup, make: Callable[[base.Setup], base.Agent] = build) -> None:
        self._game = setup.game
        self._agent: base.Agent | None = None
        self.load_failure: str | None = None
        try:
            self._agent = make(setup)
        except AgentError as failure:
            self.load_failure = failure.detail

    def ask(self, state: State, seconds: Seconds | None) -> base.Reply:
        """Return the agent's reply; the wall clock decides afterwards whether it was late."""
        if self._agent is None:
            return base.Reply(base.Outcome.ERROR, detail=self.load_failure)
        action = text = detail = None
        cpu_began = time.process_time()
        began = time.monotonic()
        try:
            action = self._agent.choose(state, seconds)
            outcome = base.Outcome.PLAYED
            detail = base.note_of(self._agent)
        except IllegalAction as error:
            outcome, detail = base.Outcome.INVALID, str(error)
        except AgentError as failure:
            outcome, detail = base.Outcome.ERROR, failure.detail
        took = time.monotonic() - began
        cpu = time.process_time() - cpu_began
        overrun = 0.0
        if seconds is not None and took > seconds:
            outcome, action, overrun = base.Outcome.TIMEOUT, None, took - seconds
            detail = Timed(took).late_text(seconds, answered=True)
        if action is not None:
            text = self._game.format_action(action)
        reply = base.Reply(
            outcome,
            action,
            text,
            seconds=took,
            cpu_seconds=cpu,
            overrun=overrun,
            detail=detail,
            changed=getattr(self._agent, "changed", None),
        )
        if outcome is base.Outcome.PLAYED and base.thought_of(self._agent) is not None:
            return with_thought(reply, said_by(self._agent), self._game)
        return reply

    def close(self) -> None:
        """Free a student's module: it is a reference cycle, and may be frozen (`gc.freeze`)."""
        if isinstance(self._agent, StudentAgent):
            self._agent = None
            gc.unfreeze()
            gc.collect()
