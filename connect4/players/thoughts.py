"""What an agent says that it thought of a position: as it is sent, and as the referee checks it.

A student's file sets `self.thought`; the kit's agents have the attribute `thought`. The thought is
sent after the answer, in plain values, and is checked as an answer is. It is never a fault.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import numpy as np

from connect4.errors import IllegalAction, harmless
from connect4.games.base import Game, Seconds
from connect4.players.base import Agent, Outcome, Reply, thought_of

PATIENCE: Final[Seconds] = 0.01
"""A thought that comes later than this after the answer is dropped."""

MOST: Final = 40
"""The greatest number of actions, and of plies of a line."""

MOST_TEXT: Final = 200
"""The greatest number of characters of a note."""

MOST_NUMBER: Final = 1e15

NESTED: Final = 4
"""How deep a thought is nested: an action is a tuple, in a mapping, in a mapping."""

PLAIN: Final = frozenset({type(None), bool, float})

NUMBERS: Final = frozenset(np.dtype(code).type for code in "?bBhHiIlLqQefd")

NO_FORM: Final[Any] = {}
"""Stands for what has no plain form, and fits nowhere."""


# -- the agent's end


def forget(player: Any) -> None:
    """Set the `thought` of a student's player to None, unless it is one of its methods."""
    try:
        if not callable(getattr(player, "thought", None)):
            player.thought = None
    except (Exception, SystemExit):  # it has slots, or a property of that name
        return


def raw_thought(player: Any) -> Any:
    """Return the `thought` of a student's player; None if it has none."""
    try:
        thought = getattr(player, "thought", None)
    except (Exception, SystemExit):  # a property of the student's
        return None
    if thought is None or callable(thought):
        return None
    return thought if type(thought) is dict else (NO_FORM,)  # nothing runs code of its class


def said_by(agent: Agent) -> Any:
    """Return what an agent thought as values of JSON; a mapping is a list of its pairs.

    It takes time only for as much as may be said.
    """
    try:
        thought: Any = thought_of(agent)
        if type(thought) is not dict and hasattr(thought, "values"):  # one of the kit's agents
            thought = {key: getattr(thought, key) for key in CHECKS}
        return plain(thought)
    except Exception:  # the values are the student's own objects
        return NO_FORM


def plain(value: Any, nested: int = NESTED) -> Any:
    """Return a value without classes of its own, and one item more than may be said of many."""
    kind, found = type(value), NO_FORM
    if kind in PLAIN or (kind is int and value.bit_length() < 64):
        found = value
    elif kind is str:
        found = value[: MOST_TEXT + 1]
    elif kind in NUMBERS:
        found = value.item()
    elif kind is dict and nested:
        found = [
            [plain(key, nested - 1), each if type(each) in PLAIN else plain(each, nested - 1)]
            for key, each in islice(value.items(), MOST + 1)
        ]
    elif issubclass(kind, tuple) and nested:  # an action may be a named one
        found = [plain(each, nested - 1) for each in islice(tuple.__iter__(value), MOST + 1)]
    elif kind is list and nested:
        found = [plain(each, nested - 1) for each in value[: MOST + 1]]
    return found


# -- the referee's end


def with_thought(reply: Reply, said: Any, game: Game) -> Reply:
    """Return a reply with the thought that its agent `said`, or with a note on what is wrong."""
    thought, wrong = checked(said, game)
    detail = reply.detail
    if wrong and reply.outcome is Outcome.PLAYED and detail is None:
        detail = wrong
    return replace(reply, thought=thought or None, detail=detail)


def checked(said: Any, game: Game) -> tuple[dict[str, Any], str | None]:
    """Return a thought as a record has it, and what is wrong with what was `said`, or None.

    Only the wrong parts are left out.
    """
    found: dict[str, Any] = {}
    if not _are_pairs(said) or any(type(key) is not str for key, _ in said):
        return found, f"{WRONG} it is a dict with the keys {', '.join(CHECKS)}"
    wrong = []
    for key, value in said:
        check, expected = CHECKS.get(key, (None, ""))
        if check is None:
            wrong.append(f"{harmless(key[:20])!r} is not one of {', '.join(CHECKS)}")
        elif value not in (None, []):
            try:
                found[key] = check(value, game)
            except (ValueError, IllegalAction):
                wrong.append(f"{key!r} {expected}")
    return found, f"{WRONG} {'; '.join(wrong[:3])}" if wrong else None


WRONG: Final = "thought:"


def _are_pairs(value: Any) -> bool:
    return type(value) is list and all(type(each) is list and len(each) == 2 for each in value)


def _number(value: Any, game: Game) -> float:
    """Return a finite number, a fraction with six digits."""
    if type(value) not in (int, float) or not abs(value) <= MOST_NUMBER:
        raise ValueError(value)
    return value if type(value) is int else float(f"{value:.6g}")


def _whole(value: Any, game: Game) -> int:
    if type(value) is not int or not 0 <= value <= MOST_NUMBER:
        raise ValueError(value)
    return value


def _values(value: Any, game: Game) -> dict[str, float]:
    if not _are_pairs(value) or len(value) > MOST:
        raise ValueError(value)
    return {action_text(action, game): _number(worth, game) for action, worth in value}


def _line(value: Any, game: Game) -> list[str]:
    if type(value) is not list or len(value) > MOST:
        raise ValueError(value)
    return [PASS if move in (None, PASS) else action_text(move, game) for move in value]


PASS: Final = "pass"


def action_text(value: Any, game: Game) -> str:
    """Return an action as records have it, from `[column, is_popout]`, a number or a text."""
    if type(value) is list and game.file_action is not None and len(value) == 2:
        column, is_popout = value
        if type(column) is int and 0 <= column < 10_000 and type(is_popout) in (bool, int):
            return game.format_action(game.file_action((column, bool(is_popout))))
    if type(value) not in (int, str):
        raise ValueError(value)
    return game.format_action(game.parse_action(str(value)))


def _note(value: Any, game: Game) -> str:
    if type(value) is not str or len(value) > MOST_TEXT:
        raise ValueError(value)
    return harmless(value)[:MOST_TEXT]


CHECKS: Final[Mapping[str, tuple[Callable[[Any, Game], Any], str]]] = {
    "value": (_number, "is a finite number"),
    "depth": (_whole, "is a whole number"),
    "nodes": (_whole, "is a whole number"),
    "values": (_values, f"maps actions to finite numbers (at most {MOST})"),
    "line": (_line, f"is a list of actions (at most {MOST})"),
    "note": (_note, f"is a text (at most {MOST_TEXT} characters)"),
}
"""The keys of a thought: what checks each, and what is expected there."""
