"""Run one agent behind a seat: in a separate process, which is paused, limited, timed and killed.

This is the referee's side; `worker` is the other end, and `sandbox` restricts the agent there.
`docs/isolation.md` describes the levels, their restrictions and their limits.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from connect4.errors import InputError, IsolationError, headline
from connect4.games.base import Seconds, State
from connect4.isolation import machine
from connect4.isolation.agent_process import (
    STOP_PATIENCE,
    AgentProcess,
    NoAnswerError,
    ProcessEndedError,
    is_large,
)
from connect4.isolation.in_process import InProcessSeat
from connect4.isolation.limits import Limits, allow_tasks, join_group
from connect4.isolation.measuring import Timed, one_core
from connect4.isolation.protocol import (
    FAILED,
    NO_ANSWER,
    READY,
    UP,
    cleaned,
    ending_text,
    read_answer,
    read_message,
)
from connect4.isolation.reloaded import FREE_LOADING, MADE_ANEW, ReloadedSeat
from connect4.isolation.spawn import (
    FORKS,
    PATIENCE,
    DirectLauncher,
    Launcher,
    ProcessStuckError,
    Warden,
    WardenGoneError,
)
from connect4.players.base import Outcome, Reply, Setup
from connect4.players.names import policy_folder
from connect4.players.registry import modules_of
from connect4.players.student import reported_stack, uses_numpy_random

if TYPE_CHECKING:
    from connect4.isolation.wasm.seat import WasmSeat

Level: TypeAlias = Literal["none", "process", "strong", "wasm"]
"""The levels of isolation; `auto` on a command line selects one of them."""

Lifetime: TypeAlias = Literal["game", "move"]
"""Whether an agent's process lives for a whole game or is restarted for each move."""

LEVELS: Final = ("none", "process", "strong", "wasm")

OUTSIDE: Final = frozenset({"remote", "env", "kaggle"})
"""Kinds that cannot run in a WebAssembly Python."""

USUAL_LIMITS: Final = Limits()

RUNS_ON: Final = f"a thread of it ran on for {STOP_PATIENCE:g} s after the answer"


def choose_level(requested: str) -> tuple[Level, tuple[str, ...]]:
    """Return the level for a name of `LEVELS` or `auto` on this machine.

    Also returns one line for each missing protection. Raises `InputError` if `strong` or `wasm` was
    requested and is not available, and if nothing would keep root's files from an agent of root.
    """
    if requested == "none" or (requested == "auto" and sys.platform == "emscripten"):
        return "none", ()  # a browser's Python starts no process
    if requested == "wasm":
        from connect4.isolation.wasm import package

        package.check()
        return "wasm", ()
    if requested not in (*LEVELS, "auto"):
        raise InputError(f"isolation {requested!r}: expected {', '.join(LEVELS)} or auto")
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


def prepare(level: Level, report: Callable[[str], None]) -> None:
    """Prepare a level once on a machine: `wasm` compiles Python, which takes minutes."""
    if level == "wasm":
        from connect4.isolation.wasm import package

        package.compiled(report)


def open_seat(
    setup: Setup,
    level: Level,
    limits: Limits = USUAL_LIMITS,
    lifetime: Lifetime = "game",
) -> InProcessSeat | IsolatedSeat | WasmSeat:
    """Return a seat whose agent is ready; a person's seat is a `HumanSeat` instead.

    Raises `IsolationError` if the machine cannot run an agent at that level; errors of the agent
    appear in its turns.
    """
    if level == "wasm":
        if setup.agent.kind in OUTSIDE:
            raise InputError(f"agent {setup.agent.text!r} runs elsewhere and cannot play by fuel")
        from connect4.isolation.wasm.seat import WasmSeat

        return WasmSeat(setup, limits, lifetime)
    if level == "none" or setup.agent.kind == "remote":  # only the kit's code, and a network
        return InProcessSeat(setup)
    return IsolatedSeat(setup, level, limits, lifetime)


def _launcher(setup: Setup, source: bytes | None, level: Level, limits: Limits) -> Launcher:
    """Return the launcher of the agent's process; `source` is a student's file, else None."""
    allowed = None if source is None else setup.allowed
    if not FORKS:
        return DirectLauncher(setup.game.name, allowed)
    draws = source is not None and uses_numpy_random(source)
    modules = [*modules_of(setup.agent.kind), *(["numpy.random"] if draws else [])]
    strong, game = level == "strong", setup.game.name
    named = policy_folder(setup.agent)
    folder = None if named is None else Path(named)
    return Warden(strong, game, modules, allowed, limits.memory_bytes, folder)


class IsolatedSeat(ReloadedSeat):
    """Runs an agent in a separate process, which is stopped except during its turns.

    An agent without an answer `Limits.margin_seconds` after its limit is killed. An earlier answer
    is late if it exceeds the limit by more than the measured transport.
    """

    def __init__(
        self,
        setup: Setup,
        level: Level,
        limits: Limits = USUAL_LIMITS,
        lifetime: Lifetime = "game",
    ) -> None:
        """Start the agent; raises `IsolationError`."""
        super().__init__(setup, limits, lifetime)
        self._strong = level == "strong"
        self._shares_user = machine.shares_user(self._strong)
        self._child: AgentProcess | None = None
        self._launcher = _launcher(setup, self._source, level, limits)
        self._core = one_core()
        try:
            self._load_first()
        except WardenGoneError as error:
            why = self._launcher.close() or "no reason given"
            raise IsolationError(f"{error}: {why}") from None

    def _ask(self, state: State, seconds: Seconds | None) -> Reply:
        loading = 0.0
        if self._child is not None:
            try:
                self._child.channel.drain()
            except ProcessEndedError:  # it died after its last answer
                self._end()
        if self._child is None and not self._never_loaded and self.left_behind is None:
            loading = self._load_again()
        child = self._child
        if child is None:
            outcome = Outcome.ERROR if self.left_behind is None else Outcome.TIMEOUT
            return Reply(outcome, detail=self.load_failure)
        if self._shares_user:  # not the other agent's threads
            allow_tasks(child.pid, self._limits.tasks + machine.tasks_of_user(but=child.pid))
        timed = Timed(0.0, loading=loading)
        if seconds is None or loading < seconds:
            timed = child.ask(state, seconds, loading, self._limits.margin_seconds)
        return self._judge(child, timed, math.inf if seconds is None else seconds)

    def _judge(self, child: AgentProcess, timed: Timed, limit: Seconds) -> Reply:
        """Return the reply of a turn; end the process if it may not be asked again."""
        if timed.ended:
            reply, alive = Reply(Outcome.ERROR), False
        elif timed.line is None or timed.is_late(limit, self._limits.margin_seconds):
            reply, alive = self._late(child, timed, limit), False
        else:
            reply, alive = read_answer(timed.line, self._game, notes=self._source is None)
        if alive and not timed.rests:
            reply, alive = replace(reply, detail=f"{RUNS_ON}. {MADE_ANEW}"), False
        if not alive or self._lifetime == "move":
            status = self._end()
            if self.left_behind is not None:
                reply = Reply(Outcome.TIMEOUT, detail=self.load_failure)
            elif timed.ended:
                lines = [f"{self._name}: {ending_text(status)}", *self._memory_gone()]
                reply = replace(reply, detail="\n".join(lines))
        return replace(
            reply,
            seconds=timed.seconds,
            cpu_seconds=timed.busy,
            overrun=max(0.0, timed.seconds - limit),
            starved=timed.starved,
        )

    def _late(self, child: AgentProcess, timed: Timed, limit: Seconds) -> Reply:
        """Return the reply of a turn that was judged late.

        A process without an answer reports its stack now, outside the turn's time. A starved turn
        does not report it, and the reload after it is free.
        """
        self._reload_is_free = timed.starved
        answered = timed.line is not None
        lines = [timed.late_text(limit, answered, self._limits.margin_seconds)]
        if timed.loading:
            begin = f"{timed.loading:.2f} s of it was loading time"
            lines.append(f"{begin}: only {FREE_LOADING:g} s for each move is free.")
        if not answered and timed.wall and not timed.starved:
            lines.append(self._where(child))
        lines += self._memory_gone()
        return Reply(Outcome.TIMEOUT, detail="\n".join(filter(None, lines)))

    def _where(self, child: AgentProcess) -> str:
        """Return the stack of a student's file, if its process reports one."""
        if self._source is None:
            return ""
        return cleaned(reported_stack(child.stack(), self._name, self._source))

    def call(self, method: str, state: State, seconds: Seconds) -> tuple[str, Any]:
        """Return the answer of `StudentAgent.call` in the agent's process; it is not checked."""
        if self._child is None:
            return FAILED, f"could not be loaded: {headline(self.load_failure or '')}"
        seconds += PATIENCE  # for long answers
        try:
            line = self._child.call(method, state, seconds)
            return ("", None) if is_large(line) else read_message(line)
        except NoAnswerError:
            return FAILED, f"did not answer {method} within {seconds:g} s"
        except ProcessEndedError:
            return FAILED, f"ended in {method} without an answer"

    def _start(self, limit: Seconds) -> Seconds:
        """Create a child and load its agent, or note why that failed; return the time it took.

        Only the agent's own part counts: running its file and creating its player, without the time
        that it waited for a busy machine.
        """
        child = self._start_process()
        before, began, late, message = child.spent(), time.monotonic(), False, None
        try:
            message = read_message(child.channel.receive(began + limit))
        except (NoAnswerError, ProcessEndedError) as end:
            late = isinstance(end, NoAnswerError)
        took, after = time.monotonic() - began, child.spent()
        timed = Timed(took, after.busy - before.busy, waited=after.waited_since(before))
        seconds = timed.own if timed.starved else timed.wall
        if late:
            begin = f"{self._name} was not loaded within {limit:.3g} s"
            busy = timed.starved_text if timed.starved else ""
            self.load_failure = "\n".join(filter(None, (begin, busy, self._where(child))))
        elif message is not None:
            key, value = message
            if key != READY:
                self.load_failure = cleaned(value) if key == FAILED else NO_ANSWER
            elif child.stop():
                return seconds
            else:
                self.load_failure = f"{self._name}: {RUNS_ON}"
        status = self._end()
        if self.load_failure is None:
            self.load_failure = f"{self._name} could not be loaded: {ending_text(status)}"
        return seconds

    def _start_process(self) -> AgentProcess:
        """Create a child that is about to load its agent; raises `IsolationError`."""
        tasks = self._limits.tasks + (machine.tasks_of_user() if self._shares_user else 0)
        settings = {
            "setup": self._setup,
            "limits": asdict(replace(self._limits, tasks=tasks)),
            "slot": self._launcher.number,
            "core": self._core,
            "strong": self._strong,
        }
        self._child = child = AgentProcess(self._launcher, self._log)
        try:
            child.channel.send(settings)
            key, value = read_message(child.channel.receive(time.monotonic() + PATIENCE))
        except NoAnswerError:
            raise IsolationError("an agent's process did not start") from None
        except ProcessEndedError:
            self._end()
            raise IsolationError(f"an agent's process ended at once: {self.log}") from None
        child.pid = child.channel.sender or (value if key == UP else 0)
        join_group(self._launcher.group, child.pid)
        if key != UP:
            raise IsolationError(f"an agent's process cannot be isolated: {value}")
        return child

    def _end(self) -> int:
        """End the child and all that it started; return its status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        child.kill()
        try:
            return self._launcher.end()
        except ProcessStuckError:
            if not child.is_alive():
                raise WardenGoneError from None
            self.left_behind = child.pid
            self.load_failure = (
                f"{self._name}: its process {child.pid} was killed and does not end; "
                "this turn and the rest of its turns are lost"
            )
            return -9
        finally:
            child.close()

    def close(self) -> None:
        self._closed = True
        self._launcher.hang_up()
        with self._asking:
            child, self._child = self._child, None
            if child is not None:
                child.kill()
            self._launcher.close()
            if child is not None:
                if child.outlives(1.0):
                    self.left_behind = child.pid
                child.close()
