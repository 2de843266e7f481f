"""The results of games, and what a results file holds of each: attempts, failures, lost turns."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

STARVED: Final = "the machine was too busy: an agent got too little processor time"
"""The failure of a game in which a player lost a turn because of the machine."""

RESULT: Final = (
    *("score1", "score2", "ending", "turns"),
    *("timeouts1", "invalid1", "errors1", "starved1"),
    *("timeouts2", "invalid2", "errors2", "starved2"),
)
"""The columns of `game` that hold a result."""

LOAD: Final = "load"
PACE: Final = "pace"
"""The kinds of notes: what came of loading a source under some limits; whether it plays in some
time."""

ATTEMPTS: Final = 3
"""How often a run plays a game that fails; after the last attempt it stays INFRA."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The lost turns of one player in one game; `starved` are among the timeouts."""

    timeouts: int = 0
    invalid: int = 0
    errors: int = 0
    starved: int = 0

    @property
    def total(self) -> int:
        """Return how many turns were lost."""
        return self.timeouts + self.invalid + self.errors

    def __add__(self, other: "Faults") -> "Faults":
        return Faults(
            self.timeouts + other.timeouts,
            self.invalid + other.invalid,
            self.errors + other.errors,
            self.starved + other.starved,
        )


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The stored result of a game: scores and faults of player 1 and player 2."""

    scores: tuple[int, int]
    ending: str
    turns: int
    faults: tuple[Faults, Faults]
    played_at: str = ""
    """In UTC, as `2030-01-31T12:00:00Z`; empty in an attempt."""


@dataclass(frozen=True, slots=True)
class LostTurn:
    """A lost turn of a game: its number from 1, and the position in which it was lost."""

    player: int
    number: int
    outcome: str
    detail: str
    """Why it was lost: one line, or the agent's traceback; without the machine's folders."""
    board: str
    """A line for each row: 0 for an empty cell, else the player's number."""
    pop_outs: str = ""
    """The pop-outs that the players had left; empty in games without them."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to play a game: its result, or `fault` for a failure that is no player's.

    A game whose result does not count has both.
    """

    key: str
    ids: tuple[str, str]
    """The ids of player 1 and player 2."""
    played: PlayedGame | None = None
    record: Mapping[str, Any] | None = None
    page: str | None = None
    """What `one_game.replay_data` returns for the record."""
    lost: tuple[LostTurn, ...] = ()
    fault: str | None = None
    """In one line."""
    traceback: str | None = None
    worker: str = ""
    seconds: float = 0.0
    died: bool = False
    """Whether the worker died in the game, each time it was tried, and nobody killed it."""


@dataclass(slots=True)
class EndedGames:
    """The games of a results file that have ended; a run adds those that it plays."""

    played: dict[str, PlayedGame]
    """The results, by key."""
    failed: dict[str, str]
    """Why the others have none."""

    def add(self, attempt: Attempt) -> None:
        """Add a game that has just ended, so that the file need not be read again."""
        if attempt.fault is not None:
            self.failed[attempt.key] = attempt.fault
        elif attempt.played is not None:
            self.failed.pop(attempt.key, None)
            self.played[attempt.key] = replace(attempt.played, played_at=utc_now())


@dataclass(frozen=True, slots=True)
class Written:
    """A mark as it was written last, and what it was made of, in points."""

    total: float | None
    """None if it was incomplete."""
    games: float
    roster: float
    """What late days and corrections changed."""
    placement: float


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game with its record; `counts` is false if it was starved."""

    key: str
    attempt: int
    counts: bool
    ids: tuple[str, str]
    scores: tuple[int, int] | None
    ending: str | None
    played_at: str
    text: str | None
    """The record, None if it is damaged."""


def utc_now() -> str:
    """Return the time in the form of `played_at`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
