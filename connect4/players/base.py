"""The interfaces of players: an `Agent` chooses actions, a `Seat` returns them to the referee."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from connect4.config import ALLOWED_MODULES
from connect4.games.base import Action, Game, Player, Seconds, State
from connect4.players.names import AgentName

Method: TypeAlias = Literal["expectimax", "intelligent"]
"""Which method of a student's `AIPlayer` is asked for moves."""


class Outcome(StrEnum):
    """What a turn came to; its values are the words of the game record."""

    PLAYED = "played"
    INVALID = "invalid"
    TIMEOUT = "timeout"
    ERROR = "error"
    PASS = "pass"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from a seat that was asked for a move.

    `PLAYED` means that an action arrived in time, not that it is legal: the referee judges that.
    `text` is the action as a person would type it, or None where there is none that can be
    written. `starved` means that the machine, not the agent, was slow. `detail` is why a turn
    failed; of a turn that was played it is the agent's note on it.
    """

    outcome: Outcome
    action: Action | None = None
    text: str | None = None
    seconds: Seconds = 0.0
    cpu_seconds: Seconds = 0.0
    overrun: Seconds = 0.0
    starved: bool = False
    detail: str | None = None
    fuel: int | None = None
    """The instructions that the turn used, at isolation level `wasm`."""


class PlayerLeftError(Exception):
    """A person has left the table."""


@dataclass(frozen=True, slots=True)
class Setup:
    """All that an agent needs to know before its first turn."""

    agent: AgentName
    player: Player
    game: Game
    seconds: Seconds
    """The time limit of a move."""
    seed: int
    """The game's seed; an agent's own randomness is derived from it and from `player`."""
    method: Method | None = None
    """For a student's file only."""
    source: bytes | None = None
    """The student's file where the agent's process is not to read it from disk."""
    allowed: tuple[str, ...] = ALLOWED_MODULES
    """Modules that a student's file may import besides the standard library and numpy."""
    own_seed: int | None = None
    """The derived seed where the agent's process is not to know the game's."""
    folder: str | None = None
    """Where the module of an `env` agent may lie, if not installed; None: the current folder."""

    def derived_seed(self) -> int:
        """Return a seed of this player's own, from which the opponent's cannot be worked out."""
        if self.own_seed is not None:
            return self.own_seed
        import hashlib  # with OpenSSL's part, slow to load for a process that is given its seed

        digest = hashlib.sha256(f"{self.seed}:{self.player}".encode()).digest()
        size = 6 if self.seed < 2**64 else 16  # a long seed, of marked games, stays long
        return int.from_bytes(digest[:size], "big")


class Agent(Protocol):
    """A program that plays. It may live in a process of its own."""

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return an action of `state`'s mover within `seconds` (None: no limit).

        Raises `IllegalAction` where an answer came that is no action of the game at all.
        """
        ...


class Seat(Protocol):
    """One side of the table, ready before the game's first clock starts."""

    @property
    def log(self) -> str:
        """What its agent has printed so far, as far as it was captured."""
        ...

    @property
    def load_failure(self) -> str | None:
        """Why its agent cannot play at all, in full; None where it can."""
        ...

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the reply to `state`; raises `PlayerLeftError` where a person leaves."""
        ...

    def close(self) -> None:
        """Leave nothing behind; may be called more than once."""
        ...


@runtime_checkable
class Connected(Protocol):
    """An agent, or its seat, with somebody far away behind it."""

    def see_end(self, state: State) -> None:
        """Pass the last position on: nobody is asked for a move in it."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


def note_of(agent: Agent) -> str | None:
    """Return what an agent of the kit reports about its last move, such as that it is not proven.

    An agent that reports something has a `note`. (A runtime-checkable protocol would cost more
    than the rest of a turn.)
    """
    note: str | None = getattr(agent, "note", None)
    return note


@runtime_checkable
class Numbered(Protocol):
    """A seat that notes in which turn its agent prints what."""

    def begin_turn(self, number: int) -> None:
        """Take note that the turn of that number begins."""
        ...
