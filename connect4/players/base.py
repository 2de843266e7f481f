"""The interfaces of players: an `Agent` chooses actions, a `Seat` returns them to the referee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from connect4.config import ALLOWED_MODULES
from connect4.games.base import Action, Game, Player, Seconds, State
from connect4.players.names import AgentName

Method: TypeAlias = Literal["expectimax", "intelligent"]
"""The method of a student's `AIPlayer` that returns the moves."""


class Outcome(StrEnum):
    """The judgement of a turn; its values are those of the game record."""

    PLAYED = "played"
    INVALID = "invalid"
    TIMEOUT = "timeout"
    ERROR = "error"
    PASS = "pass"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: a seat's answer, which the referee then judges and numbers.

    From a seat, `PLAYED` means that an action arrived in time; in a game, that it was legal, and
    `action` is None for any other. `text` is the action as a person would type it; None if it
    cannot be written. `starved` means that the machine, not the agent, was slow. `detail` says why
    a turn failed; for a turn that was played, it is the agent's note.
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
    changed: str | None = None
    """Which cell the agent changed of the board that it was given, in words; never a fault."""
    thought: Mapping[str, Any] | None = None
    """What the agent said it thought, as the record has it."""
    _: KW_ONLY
    number: int = 0
    """Counted from 1; 0 before the referee has judged the turn."""
    player: Player = 1
    hint: bool = False
    """Whether the person asked for a hint."""

    @property
    def is_lost(self) -> bool:
        """Return whether the turn was late, illegal or failed."""
        return self.outcome not in (Outcome.PLAYED, Outcome.PASS)


Reply: TypeAlias = Turn
"""A seat's answer to a request for a move, before the referee has judged it."""


class PlayerLeftError(Exception):
    """A person has left the table."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The data that an agent receives before its first turn."""

    agent: AgentName
    player: Player
    game: Game
    seconds: Seconds
    """The time limit of a move."""
    seed: int
    """The game's seed; an agent's own randomness is derived from it and from `player`."""
    method: Method | None = None
    """For a student's file and `reference` only."""
    source: bytes | None = None
    """The student's file, if the agent's process must not read it from disk."""
    allowed: tuple[str, ...] = ALLOWED_MODULES
    """Modules that a student's file may import besides the standard library and numpy."""
    own_seed: int | None = None
    """The derived seed, if the agent's process must not know the game's seed."""
    folder: str | None = None
    """The folder from which an `env` or `kaggle` agent imports; None: `names.policy_folder`."""

    def derived_seed(self) -> int:
        """Return this player's own seed, which does not reveal the opponent's."""
        if self.own_seed is not None:
            return self.own_seed
        import hashlib  # slow to load (OpenSSL); not needed if the seed is given

        digest = hashlib.sha256(f"{self.seed}:{self.player}".encode()).digest()
        size = 6 if self.seed < 2**64 else 16  # marked games have long seeds, which stay long
        return int.from_bytes(digest[:size], "big")


class Agent(Protocol):
    """A program that plays; it may run in a separate process."""

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        """Return an action of `state`'s mover within `seconds` (None: no limit).

        Raises `IllegalAction` if the agent's answer is not an action of the game.
        """
        ...


class Seat(Protocol):
    """One player's place in a game. It is ready before the first clock starts.

    A seat with a method `begin_turn(number)` marks the turns in its agent's output.
    """

    @property
    def log(self) -> str:
        """The captured output of the agent so far."""
        ...

    @property
    def load_failure(self) -> str | None:
        """Why the agent could not be loaded, in full; None if it was loaded."""
        ...

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the reply to `state`; raises `PlayerLeftError` if a person leaves."""
        ...

    def close(self) -> None:
        """Free all resources; may be called more than once."""
        ...


@runtime_checkable
class Connected(Protocol):
    """An agent, or its seat, that represents a remote program."""

    def see_end(self, state: State) -> None:
        """Send the last position, in which no move is requested."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def note_of(agent: Agent) -> str | None:
    """Return an agent's note on its last move, for example that the move is not proven.

    Only agents with notes have the attribute `note`. (A runtime-checkable protocol would cost more
    than the rest of a turn.)
    """
    note: str | None = getattr(agent, "note", None)
    return note
