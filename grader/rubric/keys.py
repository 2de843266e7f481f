"""Every key of a rubric: one table for each table of the file, with the kind of each value.

Reading, checks, and suggestions for mistyped keys follow from `TABLES`. The fields of the classes
in `model.py` have the names of the keys.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Final, TypeAlias

from connect4.errors import InputError
from connect4.games import GAMES, STARTS, load_start, nearest
from connect4.games.base import Game
from connect4.games.extended import EXTENDED
from connect4.players.names import split_name
from connect4.players.registry import file_hash, parse_agent
from grader.rubric.model import TIE_BREAKS, Board, KitAgent, Values, make_board


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

    def at(self, key: str) -> Place:
        """Return the place of a key in the table here."""
        return replace(self, where=f"{self.where}.{key}" if self.where else key)

    def wrong(self, what: str) -> InputError:
        """Return the error for the value here."""
        return InputError(f"{self.source}: {self.where}: {what}")

    def unknown(self, key: str, known: Collection[str]) -> InputError:
        """Return the error for a key that the table here does not have."""
        return self.at(key).wrong(f"unknown key{nearest(key, known)}")


Check: TypeAlias = Callable[[Any, Place], Any]
"""Returns a checked value; raises `InputError` with its place."""


@dataclass(frozen=True, slots=True)
class Optional:
    """The check of a key that may be missing."""

    check: Check

    def __call__(self, value: Any, place: Place) -> Any:
        """Check the value."""
        return self.check(value, place)


Keys: TypeAlias = Mapping[str, Check]


def read_table(value: object, keys: Keys, place: Place) -> Values:
    """Return the checked values of a table; optional keys may be missing."""
    if not isinstance(value, dict):
        raise place.wrong(f"expected a table, got {_shown(value)}")
    for key in value:
        if key not in keys:
            raise place.unknown(key, keys)
    for key, check in keys.items():
        if key not in value and not isinstance(check, Optional):
            raise place.at(key).wrong("is missing")
    return {key: keys[key](value[key], place.at(key)) for key in keys if key in value}


def anything(value: Any, place: Place) -> Any:
    """Accept any value: another module checks it."""
    return value


def text(value: Any, place: Place) -> str:
    """Check a nonempty text."""
    if not isinstance(value, str) or not value.strip():
        raise place.wrong(f"expected a text, got {_shown(value)}")
    return value


def module_name(value: Any, place: Place) -> str:
    """Check the name of a module."""
    if not all(part.isidentifier() for part in text(value, place).split(".")):
        raise place.wrong(f"expected the name of a module, got {value!r}")
    return str(value)


def choice(*words: str) -> Check:
    """Return the check for one of the words."""

    def check(value: Any, place: Place) -> str:
        if value not in words:
            raise place.wrong(f"{_shown(value)}; expected one of {', '.join(words)}")
        return words[words.index(value)]

    return check


def whole(minimum: int) -> Check:
    """Return the check for a whole number."""

    def check(value: Any, place: Place) -> int:
        if type(value) is not int or value < minimum:
            raise place.wrong(f"expected a whole number from {minimum}, got {_shown(value)}")
        return value

    return check


def number(minimum: float = -math.inf, above: float = -math.inf, below: float = math.inf) -> Check:
    """Return the check for a finite number: at least `minimum`, the other bounds are exclusive."""

    def check(value: Any, place: Place) -> float:
        if type(value) not in (int, float) or not math.isfinite(value):
            raise place.wrong(f"expected a number, got {_shown(value)}")
        for right, bound in (
            (value >= minimum, f"from {minimum:g}"),
            (value > above, f"above {above:g}"),
            (value < below, f"below {below:g}"),
        ):
            if not right:
                raise place.wrong(f"expected a number {bound}, got {value:g}")
        return float(value)

    return check


def list_of(item: Check) -> Check:
    """Return the check for a list."""

    def check(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise place.wrong(f"expected a list, got {_shown(value)}")
        return tuple(item(one, place) for one in value)

    return check


def tables(keys: Keys) -> Check:
    """Return the check for a list of tables, whose values it returns."""

    def check(value: Any, place: Place) -> list[Values]:
        if not isinstance(value, list):
            raise place.wrong(f"expected a list of tables, got {_shown(value)}")
        return [
            read_table(item, keys, replace(place, where=f"{place.where}[{number}]"))
            for number, item in enumerate(value, 1)
        ]

    return check


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
        return make_board(name, place.stored_boards[name], game.name)
    beside = None if place.folder is None else place.folder / name
    try:
        if beside is not None and beside.is_file():
            state = load_start(game, str(beside))
        elif name == game.name and game is not EXTENDED:
            state = game.start(None, None)
        else:
            _suggest_beside(name, place)
            state = load_start(game, name)
    except InputError as error:
        raise place.wrong(str(error)) from None
    return make_board(name, state.to_json(), game.name)


def _suggest_beside(name: str, place: Place) -> None:
    """Raise `InputError` for a wrong name that resembles a file beside the rubric most."""
    kit = [path.name for path in (STARTS / place.game.folder).glob("*.txt")]
    if place.folder is None or Path(name).is_file() or {name, f"{name}.txt"} & set(kit):
        return
    beside = [path.name for path in place.folder.glob("*.txt")]
    hint = nearest(name, [*kit, *beside])
    if any(repr(other) in hint for other in beside):
        raise InputError(f"{name}: no such file beside the rubric{hint}")


def agent(value: Any, place: Place) -> KitAgent:
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
    if parsed.kind in ("human", "remote"):
        raise place.wrong(f"{written!r} cannot be a baseline")
    return KitAgent(written, full, file_hash(parsed), name)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:40] + "..."


PLAYABLE: Final = tuple(name for name, game in GAMES.items() if game.file_action is not None)
"""The games that students' files play."""

BASELINE: Final[Keys] = {
    "agent": agent,
    "name": Optional(text),
    "points": number(minimum=0),
    "low": number(),
    "high": number(),
}

STAGE: Final[Keys] = {
    "name": text,
    "group_size": whole(0),
    "promote": whole(0),
    "repeats": whole(1),
    "time_limit": number(above=0),
    "boards": boards,
}

TABLES: Final[Mapping[str, Keys]] = {
    "match": {
        "time_limit": number(above=0),
        "fuel": Optional(anything),  # `fuel.py` puts seconds in its place
        "repeats": whole(1),
        "seed": Optional(whole(0)),
        "seed_for": Optional(choice("class", "source")),
        "hidden": Optional(list_of(text)),
        "opponent_faults": Optional(choice("withhold", "count")),
        "game": Optional(choice(*PLAYABLE)),
    },
    "limits": {
        "startup": number(above=0),
        "memory_mb": whole(64),
        "time_margin": number(minimum=0),
        "lifetime": choice("game", "move"),
        "startup_total": number(minimum=0),
        "require": Optional(choice("process", "strong", "wasm")),
        "module": Optional(text),
    },
    "submission": {
        "max_source_kb": whole(1),
        "max_archive_mb": whole(1),
        "max_archive_files": whole(1),
        "report_pages": whole(1),
        "report_lines": whole(1),
        "report_columns": whole(1),
        "allowed": list_of(module_name),
    },
    "part_a": {
        "points": number(minimum=0),
        "cap_percent": number(above=0),
        "opponent": agent,
        "name": Optional(text),
        "boards": boards,
    },
    "part_b": {
        "boards": boards,
        "baselines": tables(BASELINE),
    },
    "tournament": {
        "points": list_of(number(minimum=0)),
        "tie_breaks": list_of(choice(*TIE_BREAKS)),
        "ridge": number(above=0),
        "stages": tables(STAGE),
    },
    "compare": {
        "boards": boards,
        "opening_plies": whole(0),
        "max_games": whole(2),
        "min_pairs": whole(2),
        "error": number(above=0, below=1),
        "effect": number(above=0),
        "equal_within": number(minimum=0),
    },
    "statistics": {
        "confidence": number(above=0, below=1),
    },
    "ladder": {
        "policy": choice("best", "latest"),
        "names": choice("pseudonym", "real", "own"),
        "rungs": list_of(agent),
        "boards": boards,
        "opening_plies": whole(0),
        "time_limit": number(above=0),
        "width": number(above=0),
        "address": Optional(text),
    },
}
"""The tables of a rubric with the check of each key; the tables are read in this order."""
