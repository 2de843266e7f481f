"""A seat whose agent is loaded again after a failure, and the log of what the agent prints."""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from typing import Final

from connect4.games.base import Seconds, State
from connect4.isolation.limits import Limits
from connect4.isolation.protocol import setup_to_json
from connect4.players.base import PlayerLeftError, Reply, Setup
from connect4.players.names import student_file

MADE_ANEW: Final = "A new AIPlayer is made for the next turn: what this one kept is gone."

NO_PLAYER: Final = "without a player: "
"""The beginning of the detail of a turn after the loading time was used up."""

TOO_LITTLE: Final = 0.001
"""Less loading time than this, in seconds, counts as none."""

FREE_LOADING: Final = 0.5
"""Free seconds of loading for each move, if each move has its own process."""


class ReloadedSeat(ABC):
    """A seat whose agent runs apart from the referee, and is reloaded after a failure.

    It is reloaded outside the clock, for `Limits.reload_seconds` in a game. With `lifetime` move it
    is loaded for each turn, and long loading counts on the clock. An agent that could not be loaded
    at first has a `load_failure` and fails on every turn; a later failure costs one turn. If
    another thread closes the seat, the current turn raises `PlayerLeftError`.
    """

    left_behind: int | None = None
    """The number of a process that was killed but has not ended."""

    def __init__(self, setup: Setup, limits: Limits, lifetime: str) -> None:
        self._game = setup.game
        self._setup = setup_to_json(setup)
        source = self._setup["source"]
        self._source = None if source is None else source.encode("latin-1")
        self._name = setup.agent.kind if source is None else student_file(setup.agent).name
        self._limits = limits
        self._lifetime = lifetime
        self._reload_left = limits.reload_seconds
        self._reload_is_free = False
        """Whether the machine caused the next reload, which does not count then."""
        self._log = Log(limits.log_bytes)
        self._asking = threading.RLock()
        self._closed = self._never_loaded = False
        self.load_failure: str | None = None

    def _load_first(self) -> None:
        try:
            self._start(self._limits.start_seconds)
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

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the agent's reply to a request with a time limit, or with none.

        Raises `PlayerLeftError` if the seat is closed, `IsolationError` if the machine fails.
        """
        with self._asking:
            try:
                if not self._closed:
                    return self._ask(state, seconds)
            except Exception:  # a seat that is closed meanwhile breaks its request off
                if not self._closed:
                    self.close()
                    raise
            except BaseException:  # on Ctrl-C: this request must not be answered later
                self._end()
                raise
        raise PlayerLeftError("the seat was closed")

    def _used_up(self) -> str:
        """Return why the agent is not reloaded; empty if it may be."""
        if self._reload_is_free or self._reload_left > TOO_LITTLE:
            return ""
        return f"its loading time of {self._limits.reload_seconds:g} s was used up"

    def _load_again(self) -> Seconds:
        """Load the agent, or note why it is not loaded; return the time that the turn pays."""
        self.load_failure = None
        limit = self._limits.start_seconds
        if self._lifetime == "move":
            return max(0.0, self._start(limit) - FREE_LOADING)
        if not self._used_up():
            if self._reload_is_free:
                self._start(limit)
            else:
                self._reload_left -= self._start(min(limit, self._reload_left))
            self._reload_is_free = False
            if self.load_failure is None:
                return 0.0
        if used_up := self._used_up():
            lines = (f"{NO_PLAYER}{used_up}", self.load_failure)
            self.load_failure = "\n".join(filter(None, lines))
        return 0.0

    def _memory_gone(self) -> list[str]:
        """Return the note for the author of an agent that is about to be reloaded."""
        if self._source is None or self._lifetime == "move":
            return []
        used_up = self._used_up()
        return [f"No new AIPlayer is made: {used_up}." if used_up else MADE_ANEW]

    @abstractmethod
    def _ask(self, state: State, seconds: Seconds | None) -> Reply: ...

    @abstractmethod
    def _start(self, limit: Seconds) -> Seconds:
        """Load the agent, or note why that failed; return the time it took."""

    @abstractmethod
    def _end(self) -> object:
        """End the agent, if it is loaded."""

    @abstractmethod
    def close(self) -> None:
        """End everything, even during a turn that another thread waits for."""


MARK: Final = re.compile(rb"^\[turn [0-9]+\]\n", re.MULTILINE)


class Log:
    """The first and the last half of a limited output; the bytes in between are counted.

    A line `[turn 7]` precedes the output of turn 7, if `begin_turn` was called. It also precedes
    the last half, if that begins within the output of turn 7.
    """

    def __init__(self, limit: int) -> None:
        self._room = limit // 2
        self._first = bytearray()
        self._last = bytearray()
        self._left_out = 0
        self._mark = self._last_mark = b""

    def begin_turn(self, number: int) -> None:
        """Mark what follows as the output of that turn."""
        self._mark = b"[turn %d]\n" % number

    def add(self, data: bytes) -> None:
        """Append output; keep its beginning and its end."""
        if data and self._mark:
            before = self._last or self._first
            line_end = b"\n" if before and not before.endswith(b"\n") else b""
            data, self._mark = line_end + self._mark + data, b""
        room = self._room - len(self._first)
        self._first += data[:room]
        self._last += data[room:]
        if len(self._last) > 2 * self._room:  # not each time, because it moves the bytes
            self._drop()

    def _drop(self) -> None:
        """Drop all but the end of the last half."""
        surplus = max(0, len(self._last) - self._room)
        marks = MARK.findall(self._last[:surplus])
        self._last_mark = marks[-1] if marks else self._last_mark
        self._left_out += surplus
        del self._last[:surplus]

    def text(self) -> str:
        """Return the stored output, and how much was dropped."""
        self._drop()
        first, last = self._first, self._last
        if not self._left_out:
            return (first + last).decode("utf-8", "replace")
        middle = b"\n... (%d bytes left out)\n%s" % (self._left_out, self._last_mark)
        return (first + middle + last).decode("utf-8", "replace")
