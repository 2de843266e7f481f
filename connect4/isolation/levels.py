"""What a level of isolation is: what it needs, how it runs an agent, what limits a move there.

`seat.LEVELS` is the table of all levels; `docs/isolation.md` describes their restrictions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from connect4.games.base import Seconds, State
from connect4.isolation import machine
from connect4.isolation.channel import End, Log
from connect4.isolation.sandbox import Limits
from connect4.players.base import Reply, Setup, Turn

Values: TypeAlias = dict[str, Any]
"""The tables of a rubric, as its file has them."""

Report: TypeAlias = Callable[[str], None]
"""Takes a line about what is done."""


class Runner(Protocol):
    """Runs an agent apart from the referee; `load` starts it, again after each end."""

    left_behind: int | None
    """The number of a process that was killed but has not ended."""

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

    def hang_up(self) -> None:
        """End every wait now; another thread may call this."""

    def close(self) -> None:
        """End everything, after `hang_up`."""


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
    per = "per"
    """The word between a limit and `move`."""
    rubric_keys: Mapping[str, tuple[str, ...]] = {}
    """The keys that a rubric has for this level, by table; see `read_rubric`."""

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

    def option(self, seconds: Seconds, brief: bool = False) -> tuple[str, str]:
        """Return the option of a command line for a limit, and its value, which may be `brief`."""
        return "--time", f"{seconds:g}"

    def spent_text(self, turn: Turn, digits: int) -> str:
        """Return what a turn used."""
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
