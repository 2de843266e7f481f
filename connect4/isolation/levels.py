"""What a level of isolation is: what it needs, how it runs an agent, what limits a move there.

`seat.LEVELS` is the table of all levels; `docs/isolation.md` describes their restrictions. Times
that an agent's process reports itself are not used.
"""

import contextlib
import math
import os
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from connect4.games.base import Seconds, State
from connect4.isolation import machine
from connect4.isolation.sandbox import Limits
from connect4.players.base import Reply, Setup, Turn

Values: TypeAlias = dict[str, Any]
"""The tables of a rubric, as its file has them."""

Report: TypeAlias = Callable[[str], None]
"""Takes a line about what is done."""


# -- how long a turn took, and how it ended


def words(path: str) -> list[str]:
    """Return the words of a file in `/proc`; for a `stat` file, only those after the name.

    Raises `OSError`.
    """
    handle = os.open(path, os.O_RDONLY)  # half of what `open` takes
    try:
        return os.read(handle, 4096).decode("latin-1").rpartition(")")[2].split()
    finally:
        os.close(handle)


def own_wait() -> Seconds:
    """Return how long this thread has waited for a processor; 0 if the system does not say so."""
    with contextlib.suppress(OSError):
        return int(words("/proc/thread-self/schedstat")[1]) / 1e9
    return 0.0


def thread_states(pid: int) -> str:
    """Return the state letters of the threads of a process; none if it has ended."""
    states = ""
    with contextlib.suppress(OSError):
        main = words(f"/proc/{pid}/stat")
        states = main[0]
        if main[17] != "1":  # the number of threads
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):  # unless it has ended
                    states += words(f"/proc/{pid}/task/{thread}/stat")[0]
    return states


PARALLEL: Final = 1.05
"""Processor seconds per second of wall time; a turn with more processor time counts as longer."""

STARVED_SECONDS: Final = 0.05
STARVED_PART: Final = 0.02
"""A turn is starved if it waited longer than both: these seconds, and this fraction of its time."""


def one_core() -> int | None:
    """Return this thread's current processor; None if it may use only one anyway.

    The scheduler puts a thread on an idle processor, if there is one.
    """
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) == 1:
        return None
    return int(words("/proc/thread-self/stat")[36])


class Spent(NamedTuple):
    """The processor time of an agent's process so far, in seconds."""

    busy: Seconds = 0.0
    """Time on a processor of all its threads, including those that have ended."""
    main_busy: Seconds = 0.0
    main_waited: Seconds = 0.0
    """Of its main thread, which runs the agent: time on a processor, and time waiting for one."""

    def waited_since(self, before: "Spent", referee: Seconds = 0.0) -> Seconds:
        """Return how long the turn waited for a processor, apart from the agent's own threads.

        `referee` is how long the referee waited for one, which those threads may also have caused.
        """
        others = (self.busy - before.busy) - (self.main_busy - before.main_busy)
        return max(0.0, self.main_waited - before.main_waited + referee - others)


class End(Enum):
    """What became of an agent in a turn."""

    RESTS = "it answered, and may be asked again"
    LAST = "it answered, and may not be asked again"
    RUNS_ON = "it answered, and a thread of it ran on"
    LATE = "it did not answer in time"
    STARVED = "the machine was too busy for it to answer in time"
    GONE = "it ended in place of an answer"


class Timed(NamedTuple):
    """The measures of one turn."""

    wall: Seconds
    """From the start of the agent to the end of reading its answer."""
    busy: Seconds = 0.0
    """Processor time of all its threads in that time."""
    transport: Seconds = 0.0
    """The part of `wall` in which the referee was sending, or waited for a processor to read."""
    waited: Seconds = 0.0
    """The part of `wall` in which the agent or the referee waited for a busy processor."""
    loading: Seconds = 0.0
    """Loading time that counts as part of the turn."""
    end: End = End.LATE
    line: bytes = b""
    """The line with the answer, if there is one."""
    thought: bytes = b""
    """The line with the thought that followed in time, if there is one."""

    @property
    def seconds(self) -> Seconds:
        """The turn's time; several threads do not get more processor time than one."""
        return max(self.wall, self.busy / PARALLEL) + self.loading

    @property
    def own(self) -> Seconds:
        """The time that the agent itself took: it ran or was idle, and did not wait."""
        return max(0.0, self.wall - self.waited)

    @property
    def starved(self) -> bool:
        """Whether the machine was too busy, rather than the agent too slow."""
        return self.waited > max(STARVED_SECONDS, STARVED_PART * self.wall)

    def is_late(self, limit: Seconds, margin: Seconds) -> bool:
        """Return whether the turn exceeded the limit, minus its transport of at most `margin`."""
        return self.seconds - min(self.transport, margin) > limit

    @property
    def starved_text(self) -> str:
        had = f"it got {self.busy:.2f} s of processor in {self.wall:.2f} s"
        return f"the machine was too busy: {had}"

    def late_text(self, limit: Seconds, answered: bool, margin: Seconds = 0.0) -> str:
        """Return the first line about a late turn; `margin` is that of `is_late`."""
        if self.starved:
            return self.starved_text
        begin = f"no answer within {limit:g} s"
        if self.busy / PARALLEL > self.wall:
            return (
                f"{begin} of one processor (its threads used {self.busy:.2f} s in "
                f"{self.wall:.2f} s; only the time of one processor is allowed)"
            )
        what = "it came" if answered else "stopped"
        over = math.ceil((self.seconds - limit) * 1000) / 1000
        allowed = f"; at most {margin:g} s is allowed for sending" if margin else ""
        return f"{begin} ({what} {over:.3f} s over the limit{allowed})"


# -- what it prints


class Log:
    """The first and the last half of a limited output; the bytes in between are counted.

    A line `[turn 7]` precedes the output of turn 7, if `begin_turn` was called.
    """

    def __init__(self, limit: int) -> None:
        self._room = limit // 2
        self._first = self._last = self._mark = b""
        self._size = 0

    def begin_turn(self, number: int) -> None:
        """Mark what follows as the output of that turn."""
        self._mark = b"[turn %d]\n" % number

    def add(self, data: bytes) -> None:
        if data and self._mark:
            before = self._last or self._first
            line_end = b"\n" if before and not before.endswith(b"\n") else b""
            data, self._mark = line_end + self._mark + data, b""
        room = self._room - len(self._first)
        self._size += len(data)
        self._first += data[:room]
        self._last = (self._last + data[room:])[-self._room :]

    def text(self) -> str:
        """Return the stored output, and how much was dropped."""
        left_out = self._size - len(self._first) - len(self._last)
        middle = b"\n... (%d bytes left out)\n" % left_out if left_out else b""
        return (self._first + middle + self._last).decode("utf-8", "replace")


# -- what runs an agent, and the level at which it does


class Runner(Protocol):
    """Runs an agent apart from the referee; `load` starts it, again after each end."""

    setup: Setup
    """Of the agent that the next `load` starts; only player, method and time may differ."""

    def load(self, limit: Seconds) -> tuple[Seconds, str | None]:
        """Load the agent; return the time that it took, and why it failed."""

    def is_loaded(self) -> bool:
        """Return whether the agent can be asked."""

    def ask(self, state: State, seconds: Seconds | None, loading: Seconds) -> tuple[Reply, End]:
        """Return the reply of a turn, of which `loading` has passed, and what became of the agent.

        The detail of a reply of `End.RUNS_ON` is left to the seat.
        """

    def end(self) -> object:
        """End the agent, if it is loaded."""

    def close(self) -> None:
        """End everything; may be called more than once."""


MakeRunner: TypeAlias = Callable[[Setup, Limits, Log, str], Runner]
"""Makes the runner of an agent: what it receives, its limits, its output, its file or kind."""


class Isolation:
    """A level at which seconds limit a move; another one overrides what differs."""

    exact = False
    """Whether a move is limited by what its agent executes: then each turn repeats exactly, and
    seconds are virtual."""
    outside: frozenset[str] = frozenset()
    """Kinds of agents that cannot play at this level."""
    why_outside = ""
    """Why they cannot, in words that follow a name."""

    def __init__(
        self, make_runner: MakeRunner | None, why_not: Callable[[], str | None] = lambda: None
    ) -> None:
        """Take what runs an agent (None: the referee's process), and what `why_not` returns."""
        self.make_runner = make_runner
        self._why_not = why_not

    # -- what it needs here, how it is prepared

    def why_not(self) -> str | None:
        """Return why this machine cannot run agents at this level; None if it can."""
        return self._why_not()

    def check(self) -> None:
        """Raise `InputError` if this machine lacks what the level cannot do without."""

    def prepare(self, report: Report) -> None:
        """Prepare the level once on a machine, which may take minutes."""

    def missing(self) -> tuple[str, ...]:
        """Return a line for each protection that agents at this level lack here."""
        return machine.missing()

    # -- what it adds to a record and to the key of a game

    def record_fields(self, seconds: Seconds) -> tuple[dict[str, str], dict[str, Any]]:
        """Return the versions that a game depends on, if not the usual ones, and more fields."""
        return {}, {}

    def check_same(self, planned: str | None) -> None:
        """Raise `InputError` if games planned for another machine would have other results here."""

    # -- a limit of a move

    def limit_text(self, seconds: Seconds) -> str:
        return f"{seconds:g} s"

    def option(self, seconds: Seconds) -> tuple[str, str]:
        """Return the option of a command line for a limit, and its value."""
        return "--time", f"{seconds:g}"

    def spent_text(self, turn: Turn, digits: int) -> str:
        return f"{turn.seconds:.{digits}f} s"

    def seconds_of(self, turn: Turn) -> Seconds:
        """Return what a turn used of its limit."""
        return turn.seconds

    def wall_seconds(self, seconds: Seconds) -> Seconds:
        """Return how long a whole limit takes on this machine."""
        return seconds

    def other_limits(self) -> dict[str, Seconds]:
        """Return other limits that a teacher may choose, by their names."""
        return {f"{seconds:g} s": seconds for seconds in OTHER_SECONDS}

    # -- in a rubric

    def read_rubric(self, values: Values, given: Values, source: str) -> Values:
        """Return values with seconds in place of the level's own keys.

        `given` is what the rubric's file has itself. Raises `InputError` with source and key.
        """
        return values

    def pinned(self, values: Values, source: str) -> Values:
        """Return values that name what games depend on here; raises `InputError` if they cannot."""
        return values


OTHER_SECONDS: Final = (5.0, 2.0, 1.0)
