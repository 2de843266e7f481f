"""One agent behind a seat: in a process of its own that is paused, limited, timed and killed.

This is the referee's side; `connect4.host` is the other end, `connect4.sandbox` what holds the
agent there. `docs/isolation.md` has the levels, the means and the limits.
"""

from __future__ import annotations

import gc
import json
import math
import signal
import threading
import time
from dataclasses import asdict, replace
from typing import Any, Final, Literal, TypeAlias

from connect4 import protections
from connect4.errors import AgentFailure, BadInput, IllegalAction, IsolationFailure
from connect4.games.base import Game, Seconds, State
from connect4.players.base import Agent, Connected, Outcome, PlayerLeft, Reply, Setup
from connect4.players.building import build, module_of
from connect4.players.names import student_file
from connect4.players.student import (
    MAX_DETAIL,
    StudentAgent,
    reported_stack,
    uses_numpy_random,
)
from connect4.printed import Log
from connect4.processes import (
    FORKS,
    PATIENCE,
    Child,
    Ended,
    Gone,
    Home,
    Silent,
    Spawner,
    Warden,
)
from connect4.sandbox import Limits

Level: TypeAlias = Literal["none", "process", "strong"]
"""How far an agent is kept from everything else; `auto` on a command line picks one of them."""

Lifetime: TypeAlias = Literal["game", "move"]
"""Whether an agent's process lives for a whole game or is made anew for each move."""

LEVELS: Final = ("none", "process", "strong")

IN_REFEREES_PROCESS: Final = frozenset({"remote"})
"""Kinds that talk to the network themselves and run no code that is not the kit's."""

USUAL_LIMITS: Final = Limits()

MAX_ACTION_TEXT: Final = 16

NO_ANSWER: Final = "what came from the agent's process is no answer"

MADE_ANEW: Final = "A new AIPlayer is made for the next turn: what this one kept is gone."

STARVED_SECONDS: Final = 0.05
STARVED_PART: Final = 0.02
"""A turn is starved if it waited for a processor longer than both, the latter part of it."""


def choose_level(requested: str) -> tuple[Level, tuple[str, ...]]:
    """Return the level that `none`, `process`, `strong` or `auto` comes to on this machine.

    Also one line for each protection that is missing here, to be said once. Raises `BadInput`
    where `strong` was asked for and cannot be had.
    """
    if requested == "none":
        return "none", ()
    if requested not in (*LEVELS, "auto"):
        raise BadInput(f"isolation {requested!r}: expected {', '.join(LEVELS)} or auto")
    missing = protections.missing()
    if requested == "process":
        return "process", missing
    why_not = protections.bubblewrap_works()
    if why_not is None:
        return "strong", missing
    if requested == "strong":
        raise BadInput(f"isolation strong: {why_not}; use process or auto")
    return "process", (*missing, f"isolation is process, not strong: {why_not}")


def open_seat(
    setup: Setup,
    level: Level,
    limits: Limits = USUAL_LIMITS,
    lifetime: Lifetime = "game",
    core: int | None = None,
) -> InProcessSeat | IsolatedSeat:
    """Return a seat whose agent is ready to be asked; a person's seat is a `HumanSeat` instead.

    `core` is the processor that the agent has to stay on. Raises `IsolationFailure` where the
    machine cannot run an agent at that level; what is the agent's own fault shows in its turns.
    """
    if level == "none" or setup.agent.kind in IN_REFEREES_PROCESS:
        return InProcessSeat(setup)
    return IsolatedSeat(setup, level, limits, lifetime, core)


class InProcessSeat:
    """Runs an agent in the referee's own process (`isolation: none`).

    Nothing protects the game from such an agent, and a move that never comes hangs it. An agent
    that could not be loaded has a `load_failure`, and fails on every turn if it is asked anyway.
    """

    log = ""

    def __init__(self, setup: Setup) -> None:
        self._game = setup.game
        self._agent: Agent | None = None
        self.load_failure: str | None = None
        try:
            self._agent = build(setup)
        except AgentFailure as failure:
            self.load_failure = failure.detail

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply, judged late by the wall clock once it is there."""
        if self._agent is None:
            return Reply(Outcome.ERROR, detail=self.load_failure)
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
            detail = _late_text(took, seconds, answered=True)
        if action is not None:
            text = self._game.format_action(action)
        return Reply(outcome, action, text, took, cpu, overrun, False, detail)

    def see_end(self, state: State) -> None:
        """Show the agent the last position, where it has somebody to tell."""
        if isinstance(self._agent, Connected):
            self._agent.see_end(state)

    def close(self) -> None:
        """Let the agent hang up, where it is connected to somebody, and free a student's module.

        A module is a cycle, and may be among what a search had the collector leave out.
        """
        if isinstance(self._agent, Connected):
            self._agent.close()
        if isinstance(self._agent, StudentAgent):
            self._agent = None
            gc.unfreeze()
            gc.collect()


class IsolatedSeat:
    """Runs an agent in a process of its own, stopped whenever it is not asked.

    The process is made anew after a late turn or a crash, outside the clock. An agent that could
    not be loaded has a `load_failure` and fails on every turn. `ask` and `close` may be called from
    different threads: a seat that is closed while it is asked raises `PlayerLeft` there.
    """

    def __init__(
        self, setup: Setup, level: Level, limits: Limits, lifetime: Lifetime, core: int | None
    ) -> None:
        """Start the agent; raises `IsolationFailure`."""
        self._game = setup.game
        self._name = (
            student_file(setup.agent).name if setup.agent.kind == "ai" else setup.agent.kind
        )
        self._limits = limits
        self._lifetime = lifetime
        self._log = Log(limits.log_bytes)
        self._asking = threading.RLock()
        self._closed = False
        self._child: Child | None = None
        self.load_failure: str | None = None
        described = setup_to_json(setup)
        source = described["source"]
        self._source = None if source is None else source.encode("latin-1")
        draws = uses_numpy_random(self._source or b"")
        modules = [module_of(setup.agent.kind), *(["numpy.random"] if draws else [])]
        allowed = None if source is None else setup.allowed
        self._home: Home = (
            Warden(level == "strong", modules, allowed) if FORKS else Spawner(allowed)
        )
        self._settings = {
            "setup": described,
            "limits": asdict(replace(limits, tasks=limits.tasks + protections.tasks_of_user())),
            "slot": self._home.number,
            "core": core,
        }
        try:
            self._start()
        except Gone:
            why = self._home.close() or "no reason given"
            self.close()
            raise IsolationFailure(f"the process that starts agents has ended: {why}") from None
        except BaseException:  # a Ctrl-C too: no process is left behind
            self.close()
            raise

    @property
    def log(self) -> str:
        """What the agent has printed so far; see `printed.Log`."""
        return self._log.text()

    def begin_turn(self, number: int) -> None:
        """See `players.base.Numbered`."""
        if self._child is not None:
            self._child.hear_prints()
        self._log.begin_turn(number)

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply, timed from the request to the answer.

        An agent that has not answered `Limits.margin_seconds` after its time is killed. Raises
        `PlayerLeft` where the seat is closed, `IsolationFailure` where the machine fails.
        """
        with self._asking:
            if self._closed:
                raise PlayerLeft("the seat was closed")
            try:
                return self._ask(state, seconds)
            except (Gone, IsolationFailure, OSError, ValueError) as error:
                if self._closed:
                    raise PlayerLeft("the seat was closed") from None
                self.close()
                if isinstance(error, Gone):
                    raise IsolationFailure("the process that starts agents has ended") from None
                raise
            except BaseException:  # a Ctrl-C: what is asked now must not be answered later
                self._end()
                raise

    def _ask(self, state: State, seconds: Seconds | None) -> Reply:
        child = self._ready_child()
        if child is None:
            return Reply(Outcome.ERROR, detail=self.load_failure)
        before, own_busy = child.spent(), time.thread_time()
        line, ended = None, False
        allowed = math.inf if seconds is None else seconds + self._limits.margin_seconds
        began = time.monotonic()
        try:
            child.send({"state": state.to_json(), "seconds": seconds})
            began = time.monotonic()
            child.go()
            line = child.receive(began + allowed)
        except (Silent, Ended) as end:
            ended = isinstance(end, Ended)
        took = time.monotonic() - began
        if line is not None:  # else it is killed; a stopped one would not say where it is
            child.stop()
        after, own_busy = child.spent(), time.thread_time() - own_busy
        waited = child.woken_late() + max(0.0, after.waited_since(before) - own_busy)
        if ended:
            reply, alive = Reply(Outcome.ERROR), False
        elif line is None or took > allowed:
            reply, alive = self._late(child, took, seconds or 0.0, line is not None), False
        else:
            reply, alive = _read_answer(line, self._game)
        if not alive or self._lifetime == "move":
            status = self._end()
            if ended:
                lines = [f"{self._name}: {_ending_text(status)}", *self._memory_gone()]
                reply = replace(reply, detail="\n".join(lines))
        return replace(
            reply,
            seconds=took,
            cpu_seconds=max(0.0, after.busy - before.busy),
            overrun=max(0.0, took - (math.inf if seconds is None else seconds)),
            starved=waited > max(STARVED_SECONDS, STARVED_PART * took),
        )

    def _late(self, child: Child, took: Seconds, limit: Seconds, answered: bool) -> Reply:
        """Return the reply of a turn that was judged late.

        Where the code is costs no part of the turn: a process that has not answered is asked now.
        """
        lines = [_late_text(took, limit, answered)]
        if not answered:
            lines.append(self._where(child))
        lines += self._memory_gone()
        return Reply(Outcome.TIMEOUT, detail="\n".join(filter(None, lines)))

    def _memory_gone(self) -> list[str]:
        """Return what an author should know of an agent whose process is made anew."""
        return [MADE_ANEW] if self._source is not None and self._lifetime == "game" else []

    def _where(self, child: Child) -> str:
        """Return where the code of a student's file is, as far as its process says."""
        if self._source is None:
            return ""
        return _clean(reported_stack(child.stack(), self._name, self._source))

    def _ready_child(self) -> Child | None:
        """Return a loaded and stopped child; None where the agent cannot be loaded."""
        if self._child is not None:
            try:
                self._child.drain()
            except Ended:  # it died after its answer; nobody was waiting for it
                self._end()
        if self._child is None and self.load_failure is None:
            self._start()
        return self._child

    def _start(self) -> None:
        """Make a child and load its agent, or note why that cannot be."""
        self._child = child = Child(self._home, self._log)
        try:
            child.send(self._settings)
            key, value = _read_message(child.receive(time.monotonic() + PATIENCE))
        except Silent:
            raise IsolationFailure("an agent's process did not start") from None
        except Ended:
            self._end()
            raise IsolationFailure(f"an agent's process ended at once: {self.log}") from None
        if key != "up":
            raise IsolationFailure(f"an agent's process cannot be isolated: {value}")
        child.known_as(value)
        limit = self._limits.start_seconds
        try:
            key, value = _read_message(child.receive(time.monotonic() + limit))
        except Silent:
            late = f"{self._name} was not loaded within {limit:g} s"
            self.load_failure = "\n".join(filter(None, (late, self._where(child))))
        except Ended:
            key = ""
        else:
            if key != "ready":
                self.load_failure = _clean(value) if key == "failed" else NO_ANSWER
        if key == "ready":
            child.stop()
            return
        status = self._end()
        if self.load_failure is None:
            self.load_failure = f"{self._name} could not be loaded: {_ending_text(status)}"

    def _end(self) -> int:
        """End the child and all that it started; return its status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        child.kill()
        try:
            return self._home.end()
        finally:
            child.close()

    def close(self) -> None:
        """Leave nothing behind, also in the middle of a turn that another thread waits for."""
        self._closed = True
        self._home.hang_up()
        with self._asking:
            if self._child is not None:
                self._child.kill()
            self._home.close()
            if self._child is not None:
                self._child.close()
                self._child = None


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """Return what the agent's process is told: its own seed but not the game's, and its source.

    Raises `BadInput` where the student's file cannot be read.
    """
    agent, source = asdict(setup.agent), None
    if setup.agent.kind == "ai":
        path = student_file(setup.agent).absolute()
        agent["rest"] = str(path)
        try:
            source = (setup.source or path.read_bytes()).decode("latin-1")
        except OSError as error:
            raise BadInput(f"agent {setup.agent.text!r}: {error.strerror}") from None
    return {
        "agent": agent,
        "player": setup.player,
        "game": setup.game.name,
        "seconds": setup.seconds,
        "asked": setup.asked,
        "own_seed": setup.derived_seed(),
        "source": source,
    }


def _late_text(took: Seconds, limit: Seconds, answered: bool) -> str:
    """Return the first line about a late turn."""
    what = "it came" if answered else "stopped"
    return f"no answer within {limit:g} s ({what} {took - limit:.2f} s over the limit)"


def _read_message(line: bytes) -> tuple[str, Any]:
    """Return the one key and the value of a line; an empty key where it is no message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(message, dict) or len(message) != 1:
        return "", None
    return next(iter(message.items()))


def _read_answer(line: bytes, game: Game) -> tuple[Reply, bool]:
    """Return the reply that a line makes, and whether the process may be asked again."""
    key, value = _read_message(line)
    if key == "played" and isinstance(value, str) and len(value) <= MAX_ACTION_TEXT:
        try:
            action = game.parse_action(value)
        except IllegalAction as error:
            return Reply(Outcome.INVALID, detail=_clean(str(error))), True
        return Reply(Outcome.PLAYED, action, game.format_action(action)), True
    if key == "invalid":
        return Reply(Outcome.INVALID, detail=_clean(value)), True
    if key in ("error", "last"):
        return Reply(Outcome.ERROR, detail=_clean(value)), key == "error"
    return Reply(Outcome.INVALID, detail=NO_ANSWER), False


def _clean(text: object) -> str:
    """Return a detail that can be shown on any terminal, of bounded length."""
    if not isinstance(text, str):
        return NO_ANSWER
    shown = (char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
    return "".join(shown)[: MAX_DETAIL + 10]


def _ending_text(status: int) -> str:
    """Return how a process ended, in words."""
    if status >= 0:
        return f"its process ended with exit status {status}"
    if status == -9:
        return "its process was killed, or closed its line to the referee"
    names = {number.value: number.name for number in signal.Signals}  # most real-time ones lack one
    return f"its process was ended by {names.get(-status, f'signal {-status}')}"
