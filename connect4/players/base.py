"""The interfaces of players: an `Agent` chooses actions, a `Seat` returns them to the referee.

Also the one way to name an agent: `KIND`, `KIND:key=value,...`, `ai:FILE`, `ai:FILE,key=value`.
"""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias

from connect4.config import ALLOWED_MODULES
from connect4.errors import InputError
from connect4.games.base import Action, Game, Player, Seconds, State

# -- names of agents, and students' files

NEWLINE: Final = re.compile("\r\n|\r|\n")

MAX_SOURCE: Final = 50_000_000
"""More bytes than any agent's file has."""

GRADED_KB: Final = 256
"""The largest source in kB that the usual rubric grades."""

POLICIES: Final = frozenset({"env", "kaggle"})
"""Kinds of agents that load a module of somebody's: a record alone never starts one."""

NO_FILES: Final = ("/proc/", "/sys/")
"""What the system shows as files there may block a reader."""


@dataclass(frozen=True, slots=True)
class AgentName:
    """The parts of an agent's name.

    `rest` is the part after the colon without the options `key=value` (a file, an address), or
    empty.
    """

    text: str
    kind: str
    rest: str = ""
    options: dict[str, str] = field(default_factory=dict)


def split_name(text: str) -> AgentName:
    """Split a name into its parts, without checking that such an agent exists.

    Raises `InputError` if an option is given twice or has the wrong form.
    """
    kind, colon, rest = text.strip().partition(":")
    if colon and not rest:
        raise InputError(f"agent {text!r}: nothing follows the colon")
    positional: list[str] = []
    options: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not (equals and key.isidentifier()):
            if options:
                raise InputError(f"agent {text!r}: {part!r} is not an option; expected key=value")
            positional.append(part)
        elif key in options:
            raise InputError(f"agent {text!r}: option {key!r} is given twice")
        else:
            options[key] = value.strip()
    return AgentName(text.strip(), kind, ",".join(positional), options)


def source_text(data: bytes) -> str:
    """Return the text of a student's file; raises `InputError` if it is not UTF-8.

    The text is what runs, so an encoding that it declares has no effect. UTF-16 can be valid UTF-8
    too, but has null bytes.
    """
    try:
        text = data.decode("utf-8")
        if "\0" in text:
            raise UnicodeDecodeError("utf-8", data, data.index(0), len(data), "a null byte")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"not UTF-8 (line {line}, byte {error.start}); save the file as UTF-8"
        ) from None
    if text.lstrip().startswith("{") and '"nbformat"' in text:
        raise InputError("a Jupyter notebook; save its code as ai.py (File > Save and Export As)")
    return text


def read_source(path: Path) -> bytes:
    """Return the content of an agent's file.

    A record may name any path, so only a regular file is opened, and no reader waits. Raises
    `InputError`, whose text goes on after the name of the file.
    """
    at_once = getattr(os, "O_NONBLOCK", 0)
    try:
        held = os.stat(path)
        if not stat.S_ISREG(held.st_mode) or os.path.realpath(path).startswith(NO_FILES):
            raise InputError("is no regular file")
        if held.st_size > MAX_SOURCE:
            raise InputError(f"is larger than {MAX_SOURCE // 1_000_000} MB")
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once)) as file:
            return file.read(held.st_size)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from None


def source_lines(data: bytes) -> list[str]:
    """Return the lines of a student's file, numbered as in Python; invalid bytes are replaced."""
    return NEWLINE.split(data.decode("utf-8-sig", "replace"))


def importable_sentence(allowed: Sequence[str]) -> str:
    """Return one sentence that lists what a submission may import; `allowed` are module names."""
    listed = " and ".join(f"`{name}`" for name in allowed) or "nothing"
    return f"A submission may import the standard library, numpy, and of the kit only {listed}."


STUDENT_FILE = Path(__file__).parent / "ai.py"
"""The file of the agent `ai`."""


def student_file(name: AgentName) -> Path:
    """Return the file of an `ai`, `ai:FILE` or `kaggle:FILE` agent.

    Expands `~`, which the shell does not.
    """
    try:
        return Path(os.path.expanduser(name.rest)) if name.rest else STUDENT_FILE
    except ValueError:  # a null byte, or half of a character
        return Path(name.rest)


def policy_folder(name: AgentName) -> str | None:
    """Return the folder from which an `env` or `kaggle` agent imports; None for other kinds."""
    if name.kind == "kaggle":
        return str(student_file(name).resolve().parent)
    return os.getcwd() if name.kind == "env" else None


# -- turns, agents and seats

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

    def judged(self, outcome: Outcome, detail: str | None, number: int, player: Player) -> "Turn":
        """Return this turn with the referee's judgement."""
        action = self.action if outcome is Outcome.PLAYED else None
        return replace(
            self, outcome=outcome, action=action, detail=detail, number=number, player=player
        )


Reply: TypeAlias = Turn
"""A seat's answer to a request for a move, before the referee has judged it."""


class PlayerLeftError(Exception):
    """A person has left the table."""


class ResignedError(PlayerLeftError):
    """A person gives the game up; the other side wins."""


class TakenBackError(Exception):
    """A person goes back to the position after so many turns, its only argument."""


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
    """The folder from which an `env` or `kaggle` agent imports; None: `policy_folder`."""

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


class Seat(Protocol):
    """One player's place in a game. It is ready before the first clock starts.

    A seat with a method `begin_turn(number)` marks the turns in its agent's output.
    """

    @property
    def log(self) -> str:
        """The captured output of the agent so far."""

    @property
    def load_failure(self) -> str | None:
        """Why the agent could not be loaded, in full; None if it was loaded."""

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the reply to `state`; raises `PlayerLeftError` if a person leaves."""

    def close(self) -> None:
        """Free all resources; may be called more than once."""


def thought_of(agent: Agent) -> Any:
    """Return what an agent thought of the position of its last move; None if it does not say.

    It is a `search.Thought`, or what a student's file has set.
    """
    return getattr(agent, "thought", None)


def note_of(agent: Agent) -> str | None:
    """Return an agent's note on its last move, for example that the move is not proven.

    Only agents with notes have the attribute `note`. (A runtime-checkable protocol would cost more
    than the rest of a turn.)
    """
    note: str | None = getattr(agent, "note", None)
    return note
