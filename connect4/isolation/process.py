"""One agent's process from the referee's side: started, asked, stopped between turns, killed."""

import contextlib
import math
import os
import signal
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from connect4.errors import IsolationError
from connect4.games.base import Seconds, State
from connect4.isolation import levels, machine, protocol, spawn
from connect4.isolation.levels import End, Log, Spent, Timed
from connect4.isolation.sandbox import Limits, allow_tasks
from connect4.players import thoughts
from connect4.players.base import Outcome, Reply, Setup
from connect4.players.registry import modules_of
from connect4.players.student import reported_stack, uses_numpy_random

STACK_PATIENCE: Final = 0.05
"""Seconds that a process has to report its stack before it is killed."""

STACK_ENDS: Final = (b'File "<string>", line 1 in <module>\n', b"\n  ...\n")
"""The end of a report by `faulthandler`: the frame of `BOOT`, or a mark for too many frames."""

STOP_PATIENCE: Final = 1.0
"""Seconds in which every thread of a process must stop; otherwise the process is ended."""

BUSY_PATIENCE: Final = 10.0
"""The same for a process that hardly runs: a busy machine gives it no processor to stop on."""

QUICK_LOOKS: Final = 20
"""The number of checks without a pause."""

LOOK_AGAIN: Final = 0.01
"""The minimum interval in seconds at which the processor time of a late agent is checked."""

PATIENT: Final = 5
"""A late agent may run for up to this many limits to get the processor time of one."""

MAX_ANSWER: Final = 1 << 27
"""The maximum length of an answer to `AgentProcess.call` in bytes."""

REQUEST_PATIENCE: Final = 1.0
"""Seconds to send a request. It fits into the buffer unless the agent left earlier ones unread."""


RUNS_ON: Final = f"a thread of it ran on for {STOP_PATIENCE:g} s after the answer"

FREE_LOADING: Final = 0.5
"""Free seconds of loading for each move, if each move has its own process."""


class AgentProcess:
    """An agent's process, which is stopped except during its turns; `load` starts another one.

    An agent without an answer `Limits.margin_seconds` after its limit is killed. An earlier answer
    is late if it exceeds the limit by more than the measured transport.
    """

    def __init__(self, setup: Setup, limits: Limits, log: Log, name: str, strong: bool) -> None:
        """Start what forks it; `setup` is what it receives, `name` its file or kind.

        Raises `IsolationError`.
        """
        self.setup = setup
        self._limits = limits
        self._log = log
        self._name = name
        self._strong = strong
        self._shares_user = machine.shares_user(strong)
        self._core = levels.one_core()
        self.pid = 0
        """The number of the process, 0 if none is running or it has not sent anything."""
        self._channel: spawn.Channel | None = None
        """The connection to the process; None if none is running."""
        self._stuck = 0
        """The number of a process that was killed and does not end."""
        self._launcher: spawn.Warden | spawn.DirectLauncher
        source, game = setup.source, setup.game.name
        allowed = None if source is None else setup.allowed
        if not spawn.FORKS:
            self._launcher = spawn.DirectLauncher(game, allowed)
            return
        draws = source is not None and uses_numpy_random(source)
        modules = [*modules_of(setup.agent.kind), *(["numpy.random"] if draws else [])]
        folder = None if setup.folder is None else Path(setup.folder)
        self._launcher = spawn.Warden(strong, game, modules, allowed, folder)

    # -- start and end it

    def load(self, limit: Seconds) -> tuple[Seconds, str | None]:
        """Start a process and load its agent; return the time it took, and why that failed.

        Only the agent's own part counts: running its file and creating its player, without the time
        that it waited for a busy machine. Raises `IsolationError`.
        """
        if self._stuck:
            end = f"its process {self._stuck} was killed and does not end"
            return 0.0, f"{self._name}: {end}; the rest of its turns are lost"
        try:
            channel = self._start()
        except spawn.WardenGoneError as error:
            why = self._launcher.close() or "no reason given"
            raise IsolationError(f"{error}: {why}") from None
        before, began, late, line = self.spent(), time.monotonic(), False, None
        try:
            line = channel.receive(began + limit)
        except (spawn.NoAnswerError, spawn.ProcessEndedError) as end:
            late = isinstance(end, spawn.NoAnswerError)
        took, after = time.monotonic() - began, self.spent()
        timed = Timed(took, after.busy - before.busy, waited=after.waited_since(before))
        seconds, failure = timed.own if timed.starved else timed.wall, None
        if late:
            begin = f"{self._name} was not loaded within {limit:.3g} s"
            busy = timed.starved_text if timed.starved else ""
            failure = "\n".join(filter(None, (begin, busy, self._where())))
        elif line is not None:
            failure = protocol.why_not_loaded(line)
            if failure is None and self.stop():
                return seconds, None
            failure = failure or f"{self._name}: {RUNS_ON}"
        ending = protocol.ending_text(self.end())
        return seconds, failure or f"{self._name} could not be loaded: {ending}"

    def _start(self) -> spawn.Channel:
        """Start a process that is about to load its agent; raises `IsolationError`."""
        tasks = self._limits.tasks + (machine.tasks_of_user() if self._shares_user else 0)
        settings = {
            "setup": protocol.setup_to_json(self.setup),
            "limits": asdict(replace(self._limits, tasks=tasks)),
            "slot": self._launcher.number,
            "core": self._core,
            "strong": self._strong,
        }
        self._channel = channel = spawn.Channel(self._log, self._launcher.control)
        try:
            self._launcher.start(*channel.far_ends)
        except BaseException:  # also on Ctrl-C, so that no process stays behind
            self._let_go()
            raise
        finally:
            for end in channel.far_ends:
                end.close()
        try:
            channel.send(protocol.line_of(settings))
            key, value = protocol.read_message(channel.receive(time.monotonic() + spawn.PATIENCE))
        except spawn.NoAnswerError:
            raise IsolationError("an agent's process did not start") from None
        except spawn.ProcessEndedError:
            self.end()
            raise IsolationError(f"an agent's process ended at once: {self._log.text()}") from None
        self.pid = channel.sender or (value if key == protocol.UP else 0)
        if key != protocol.UP:
            raise IsolationError(f"an agent's process cannot be isolated: {value}")
        return channel

    def end(self) -> int:
        """End the process and all that it started; return its status.

        If the kernel cannot end it, no other one is started.
        """
        if self._channel is None:
            return 0
        self._signal("SIGKILL")
        try:
            return self._launcher.end()
        except TimeoutError:
            if levels.thread_states(self.pid)[:1] in ("", "Z", "X"):
                raise spawn.WardenGoneError from None
            self._stuck = self.pid
            return -9
        finally:
            self._let_go()

    def close(self) -> None:
        self._signal("SIGKILL")
        self._launcher.close()
        self._let_go()

    def _let_go(self) -> None:
        """Close this end; the launcher ends the process."""
        channel, self._channel = self._channel, None
        self.pid = 0
        if channel is not None:
            channel.close()

    # -- ask it

    def is_loaded(self) -> bool:
        """Return whether the agent can be asked: it may have ended after its last answer."""
        if self._channel is not None:
            try:
                self._channel.drain()
            except spawn.ProcessEndedError:
                self.end()
        return self._channel is not None

    def ask(self, state: State, seconds: Seconds | None, loading: Seconds) -> tuple[Reply, End]:
        """Return the reply of a turn, of which `loading` has passed, and what became of the agent.

        A process without an answer reports its stack now, outside the turn's time.
        """
        limit, margin = math.inf if seconds is None else seconds, self._limits.margin_seconds
        if self._shares_user:  # not the other agent's threads
            allow_tasks(self.pid, self._limits.tasks + machine.tasks_of_user(but=self.pid))
        timed = Timed(0.0, loading=loading)
        if loading < limit:
            timed = self._measure(state, None if seconds is None else seconds - loading, loading)
        end = timed.end
        if end is End.GONE:
            detail = f"{self._name}: {protocol.ending_text(self.end())}"
            reply = Reply(Outcome.ERROR, detail=detail)
        elif end is End.LATE or timed.is_late(limit, margin):
            end = End.STARVED if timed.starved else End.LATE
            reply = Reply(Outcome.TIMEOUT, detail=self._late_text(timed, limit))
        else:
            notes = self.setup.source is None
            reply, may_go_on = protocol.read_answer(timed.line, self.setup.game, notes)
            reply = protocol.read_thought(reply, timed.thought, self.setup.game)
            end = end if may_go_on else End.LAST
        return replace(
            reply,
            seconds=timed.seconds,
            cpu_seconds=timed.busy,
            overrun=max(0.0, timed.seconds - limit),
            starved=timed.starved,
        ), end

    def _late_text(self, timed: Timed, limit: Seconds) -> str:
        """Return the lines about a late turn; a starved one does not report its stack."""
        answered = bool(timed.line)
        lines = [timed.late_text(limit, answered, self._limits.margin_seconds)]
        if timed.loading:
            begin = f"{timed.loading:.2f} s of it was loading time"
            lines.append(f"{begin}: only {FREE_LOADING:g} s for each move is free.")
        if not answered and timed.wall and not timed.starved:
            lines.append(self._where())
        return "\n".join(filter(None, lines))

    def _measure(self, state: State, left: Seconds | None, loading: Seconds) -> Timed:
        """Request a move; return the answer and the times of the turn, which has `left` seconds.

        A process without an answer `Limits.margin_seconds` after the limit keeps running until it
        is killed, so that it can report its stack.
        """
        channel = self._channel
        assert channel is not None
        before, own_busy, sent = self.spent(), time.thread_time(), 0.0
        line, end = b"", End.LATE
        deadline = math.inf if left is None else left + self._limits.margin_seconds
        began = time.monotonic()
        try:
            request = {"state": state.to_json(), "seconds": left}
            channel.send(protocol.line_of(request), REQUEST_PATIENCE)
            began = time.monotonic()
            self._signal("SIGCONT")
            sent = time.monotonic() - began
            line = channel.receive(began + deadline)
            while line.startswith(protocol.THOUGHT_LINE):  # of an earlier turn
                if time.monotonic() > began + deadline:  # an agent may send many, without end
                    raise spawn.NoAnswerError
                line = channel.receive(began + deadline)
            end = End.RESTS
        except (spawn.NoAnswerError, spawn.ProcessEndedError) as error:
            line, end = b"", End.GONE if isinstance(error, spawn.ProcessEndedError) else End.LATE
        took = time.monotonic() - began
        own_busy, woken = time.thread_time() - own_busy, levels.own_wait() - channel.waited_before
        thought, after = b"", None
        if protocol.FOLLOWS in line:  # the time of the thought does not count
            after, thought = self.spent(), self._thought(channel)
        if end is End.RESTS and not self.stop():
            end = End.RUNS_ON
        later = self._until_it_runs() if end is End.LATE else 0.0
        after = after or self.spent()  # including the kernel's remaining work for it
        waited = max(0.0, after.waited_since(before, woken - own_busy) - later)
        timed = Timed(
            took,
            busy=max(0.0, after.busy - before.busy),
            transport=sent + woken,
            waited=waited,
            loading=loading,
            end=end,
            line=line,
            thought=thought,
        )
        if left is None or end is not End.LATE or not timed.starved:
            return timed
        had_its_time = self._uses_up(channel, before.busy, timed, left)
        return timed._replace(waited=0.0) if had_its_time else timed

    def _thought(self, channel: spawn.Channel) -> bytes:
        """Return the line with the thought that follows an answer, empty if it is late."""
        with contextlib.suppress(spawn.NoAnswerError, spawn.ProcessEndedError):
            return channel.receive(time.monotonic() + thoughts.PATIENCE)
        return b""

    def call(self, method: str, state: State, seconds: Seconds) -> tuple[str, Any]:
        """Return the answer of `StudentAgent.call` in the process; it is not checked."""
        channel = self._channel
        assert channel is not None
        seconds += spawn.PATIENCE  # for long answers
        try:
            channel.send(protocol.line_of({"state": state.to_json(), "method": method}))
            self._signal("SIGCONT")
            line = channel.receive(time.monotonic() + seconds, MAX_ANSWER)
            return ("", None) if spawn.is_large(line) else protocol.read_message(line)
        except spawn.NoAnswerError:
            return protocol.FAILED, f"did not answer {method} within {seconds:g} s"
        except spawn.ProcessEndedError:
            return protocol.FAILED, f"ended in {method} without an answer"

    def _uses_up(self, channel: spawn.Channel, busy: Seconds, timed: Timed, limit: Seconds) -> bool:
        """Return whether a late agent used its whole limit itself, running or idle.

        It runs on until it has an answer or ends, has been on a processor for the limit (since its
        process was `busy` that long), or has had `PATIENT` times the limit.
        """
        before, began, woken, answered = self.spent(), time.monotonic(), 0.0, False
        deadline = began + PATIENT * limit
        while not answered and (now := time.monotonic()) < deadline:
            missing = busy + limit - self.spent().busy
            if missing <= 0:
                return True
            try:
                channel.receive(min(deadline, now + max(missing, LOOK_AGAIN)))
                answered = True
            except spawn.NoAnswerError:
                pass
            except spawn.ProcessEndedError:
                return True
            woken += levels.own_wait() - channel.waited_before
        if not answered:
            self._until_it_runs()
        more = Timed(time.monotonic() - began, waited=self.spent().waited_since(before, woken))
        return timed.own + more.own > limit

    def _until_it_runs(self) -> Seconds:
        """Let a late agent that waits for a processor run once; return how long that took.

        Only then does the kernel's count of its waiting contain that wait.
        """
        began, busy = time.monotonic(), self.spent().main_busy
        while levels.thread_states(self.pid).startswith("R") and self.spent().main_busy == busy:
            if time.monotonic() - began > BUSY_PATIENCE:
                break
            time.sleep(0.0002)
        return time.monotonic() - began

    # -- stop, measure and examine it

    def stop(self) -> bool:
        """Stop the agent, read its output; return False if a thread runs for `STOP_PATIENCE` more.

        The kernel first completes the current call of a thread, which may take long. Threads are
        checked on Linux only.
        """
        self._signal("SIGSTOP")
        began, busy, looks = time.monotonic(), 0.0, 0
        while levels.thread_states(self.pid).strip("TtZX"):
            if looks == QUICK_LOOKS:  # seldom
                busy = self.spent().busy
            waited = time.monotonic() - began
            runs = waited > STOP_PATIENCE and self.spent().busy - busy > STOP_PATIENCE / 2
            if runs or waited > BUSY_PATIENCE:
                return False
            looks += 1
            if looks < QUICK_LOOKS:
                os.sched_yield()
            else:
                time.sleep(0.0002)
        assert self._channel is not None
        self._channel.hear_prints()
        return True

    def _where(self) -> str:
        """Return the stack of a student's file, as its process reports it before it is killed.

        The report is not trustworthy, and may be empty, because an agent can ignore the signal. The
        wait is at most `STACK_PATIENCE`.
        """
        source, channel = self.setup.source, self._channel
        if protocol.STACK_SIGNAL is None or source is None or channel is None or not self.pid:
            return ""
        channel.hear_prints()
        with contextlib.suppress(OSError):
            os.kill(self.pid, protocol.STACK_SIGNAL)
        self._signal("SIGCONT")  # it may have stopped itself
        said = channel.read_stack(STACK_ENDS, STACK_PATIENCE)
        return protocol.cleaned(reported_stack(said, self._name, source))

    def _signal(self, name: str) -> None:
        number = getattr(signal, name, None)
        if self.pid and number is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def spent(self) -> Spent:
        """Return the processor times of its process; zeros if the system does not report them."""
        if sys.platform == "linux" and self.pid:
            with contextlib.suppress(OSError):
                main_busy, main_waited, _ = levels.words(f"/proc/{self.pid}/schedstat")
                busy = time.clock_gettime(~self.pid << 3 | 2)
                return Spent(busy, int(main_busy) / 1e9, int(main_waited) / 1e9)
        return Spent()
