"""The checks of the values in a rubric, each with the place of the value in its messages.

`model.py` annotates each key with its check.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from connect4.errors import InputError
from connect4.games import GAMES, load_start, nearest
from connect4.games.base import Game, State
from connect4.games.extended import EXTENDED
from connect4.players.base import split_name
from connect4.players.registry import file_hash, parse_agent

Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Board:
    """A start: its name in the rubric and its position in the form of a record."""

    name: str
    start: Values
    hidden: int = 0
    """The number of a hidden board, 0 for other boards."""
    game: str = EXTENDED.name
    """The game of the position."""

    @property
    def label(self) -> str:
        """Return the board's name in all output."""
        return f"hidden board {self.hidden}" if self.hidden else self.name

    @cached_property
    def digest(self) -> str:
        """Return the hash of `start`."""
        return hashlib.sha256(json.dumps(self.start, sort_keys=True).encode()).hexdigest()

    @property
    def state(self) -> State:
        return GAMES[self.game].from_json(self.start)


@dataclass(frozen=True, slots=True)
class KitAgent:
    """An agent in the rubric: an opponent of submissions."""

    written: str
    """The name in the rubric."""
    agent: str
    """The name as `parse_agent` reads it, with the full path of a file."""
    sha256: str | None
    """The hash of its file; None for an agent of the kit."""
    name: str
    """The name in tables and pages, never a path."""


GONE: Final = {"name": "; an agent is called as its file is, so rename the file"}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a rubric, such as `match.repeats`, and what its names refer to.

    Files lie below `folder`; `stored_boards` and `stored_agents` require no files.
    """

    source: str
    where: str = ""
    game: Game = EXTENDED
    folder: Path | None = None
    hidden: tuple[str, ...] = ()
    stored_boards: dict[str, Values] = field(default_factory=dict)
    stored_agents: dict[str, Values] = field(default_factory=dict)

    def at(self, key: str) -> "Place":
        """Return the place of a key in the table here."""
        return replace(self, where=f"{self.where}.{key}" if self.where else key)

    def wrong(self, what: str) -> InputError:
        """Return the error for the value here."""
        return InputError(f"{self.source}: {self.where}: {what}")

    def unknown(self, key: str, known: Collection[str]) -> InputError:
        """Return the error for a key that the table here does not have."""
        return self.at(key).wrong(f"unknown key{GONE.get(key) or nearest(key, known)}")


Check: TypeAlias = Callable[[Any, Place], Any]
"""Returns a checked value; raises `InputError` with its place."""

Table = TypeVar("Table")


def checks_of(kind: type) -> dict[str, Check]:
    """Return the check of each key of a table, as its class annotates the fields.

    A field of literals needs no annotation. Any other field without one is no key.
    """
    found: dict[str, Check] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        words = [part for part in (hint, *get_args(hint)) if get_origin(part) is Literal]
        checks = [choice(*get_args(part)) for part in words]
        for check in (*checks, *getattr(hint, "__metadata__", ())):
            found[name] = check
    return found


def read_table(value: object, kind: type[Table], place: Place) -> Table:
    """Return a checked table as its class; keys with a default may be missing."""
    if not isinstance(value, dict):
        raise place.wrong(f"expected a table, got {shown(value)}")
    checks = checks_of(kind)
    for key in value:
        if key not in checks:
            raise place.unknown(key, checks)
    for item in fields(kind):  # type: ignore[arg-type]
        if item.name not in value and item.default is MISSING:
            raise place.at(item.name).wrong("is missing")
    return kind(**{key: checks[key](value[key], place.at(key)) for key in checks if key in value})


def text(value: Any, place: Place) -> str:
    """Check a nonempty text."""
    if not isinstance(value, str) or not value.strip():
        raise place.wrong(f"expected a text, got {shown(value)}")
    return value


def choice(*words: str) -> Check:
    """Return the check for one of the words."""

    def check(value: Any, place: Place) -> str:
        if value not in words:
            raise place.wrong(f"{shown(value)}; expected one of {', '.join(words)}")
        return words[words.index(value)]

    return check


def whole(minimum: int) -> Check:
    """Return the check for a whole number."""

    def check(value: Any, place: Place) -> int:
        if type(value) is not int or value < minimum:
            raise place.wrong(f"expected a whole number from {minimum}, got {shown(value)}")
        return value

    return check


def number(minimum: float = -math.inf, above: float = -math.inf, below: float = math.inf) -> Check:
    """Return the check for a finite number: at least `minimum`, the other bounds are exclusive."""

    def check(value: Any, place: Place) -> float:
        if type(value) not in (int, float) or not math.isfinite(value):
            raise place.wrong(f"expected a number, got {shown(value)}")
        for right, bound in (
            (value >= minimum, f"from {minimum:g}"),
            (value > above, f"above {above:g}"),
            (value < below, f"below {below:g}"),
        ):
            if not right:
                raise place.wrong(f"expected a number {bound}, got {value:g}")
        return float(value)

    return check


def list_of(item: Check, numbered: bool = False) -> Check:
    """Return the check for a list, whose items perhaps have numbers in messages."""

    def check(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise place.wrong(f"expected a list, got {shown(value)}")
        places = [
            f"{place.where}[{n}]" if numbered else place.where for n, _ in enumerate(value, 1)
        ]
        pairs = zip(value, places, strict=True)
        return tuple(item(one, replace(place, where=where)) for one, where in pairs)

    return check


def tables(kind: type) -> Check:
    """Return the check for a list of tables of a class."""
    return list_of(lambda value, place: read_table(value, kind, place), numbered=True)


def boards(value: Any, place: Place) -> tuple[Board, ...]:
    """Check a list of names of boards and find them."""
    found = list_of(text)(value, place)
    if not found:
        raise place.wrong("no board; name at least one")
    hidden = {name: number for number, name in enumerate(place.hidden, 1)}
    return tuple(replace(_board(name, place), hidden=hidden.get(name, 0)) for name in found)


def _board(name: str, place: Place) -> Board:
    """Return a board: a state file, or the game's usual start by the game's name."""
    game = place.game
    if name in place.stored_boards:
        return Board(name, place.stored_boards[name], game=game.name)
    is_beside = place.folder is not None and Path(place.folder, name).is_file()
    try:
        if name == game.name and game is not EXTENDED and not is_beside:
            state = game.start(None, None)
        else:
            state = load_start(game, str(Path(place.folder or "", name)) if is_beside else name)
    except InputError as error:
        raise place.wrong(str(error)) from None
    if not state.legal_actions():
        raise place.wrong(f"board {name!r}: the game is over before the first move")
    return Board(name, state.to_json(), game=game.name)


def kit_agent(value: Any, place: Place) -> KitAgent:
    """Check the name of an agent and find it."""
    written = text(value, place)
    kind, colon, rest = written.partition(":")
    name = f"{kind}{colon}{PurePath(rest).name}" if kind == "ai" else written
    if written in place.stored_agents:
        stored = place.stored_agents[written]
        return KitAgent(written, stored["agent"], stored["sha256"], name)
    full = written
    try:
        split = split_name(written)
        if split.kind == "ai" and split.rest and place.folder is not None:
            file = Path(place.folder, os.path.expanduser(split.rest)).resolve()
            full = f"ai:{file}" + "".join(f",{k}={v}" for k, v in split.options.items())
        parsed = parse_agent(full, place.game.name)
    except InputError as error:
        raise place.wrong(str(error)) from None
    if parsed.kind in ("human", "kaggle"):
        raise place.wrong(f"{written!r} cannot be a baseline")
    return KitAgent(written, full, file_hash(parsed), name)


def shown(value: object) -> str:
    """Return a value for a message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


PLAYABLE: Final = tuple(name for name, game in GAMES.items() if game.file_action is not None)
"""The games that students' files play."""
