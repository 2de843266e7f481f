"""Check the parts of an agent's name: options, addresses, boards.

This module loads no search, because the process of every agent of the kit loads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from connect4.games import GAMES
from connect4.games.base import State
from connect4.games.dynamic import COLOURS
from connect4.search.base import ORDERS

ADDRESS: Final = re.compile(r"(?P<host>\S+):(?P<port>[0-9]{1,5}):(?P<game>[^\s:]+):(?P<colour>\w+)")

ADDRESS_USAGE: Final = "remote:HOST:PORT:GAMEID:COLOUR"

MAX_MEMORY: Final = 512
"""Maximum size of the solver's table in megabytes."""


def wrong_board_to_solve(state: State) -> str | None:
    """Check the board for the solver."""
    rows, columns = state.grid.rows, state.grid.columns
    if (rows, columns) == (6, 7):
        return None
    return f"plays on 6 rows by 7 columns, not on {rows} by {columns}"


Check: TypeAlias = Callable[[str, str], str | None]
"""Checks an option's value for a game: returns None, or what would be valid."""


def whole_number(value: str, game: str) -> str | None:
    """Check a count."""
    if re.fullmatch(r"0*[1-9][0-9]{0,11}", value):
        return None
    return "a whole number above 0"


def megabytes(value: str, game: str) -> str | None:
    """Check the size of a table; an agent's process has 1 GiB in total."""
    if whole_number(value, game) is None and int(value) <= MAX_MEMORY:
        return None
    return f"a whole number from 1 to {MAX_MEMORY}"


def number(value: str, game: str) -> str | None:
    """Check a positive number, such as seconds."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) and float(value) > 0:
        return None
    return "a number above 0"


def words_for(option: str, game: str) -> tuple[str, ...]:
    """Return the valid words of an option in a game; empty for a number."""
    if option == "heuristic":
        return tuple(entry.name for entry in GAMES[game].heuristics)
    return {"order": tuple(ORDERS), "pruning": ("on", "off"), "tt": ("on", "off")}.get(option, ())


def one_of(*words: str) -> Check:
    """Return a check that accepts only these words."""
    return lambda value, game: None if value in words else " or ".join(words)


def heuristic(value: str, game: str) -> str | None:
    """Check a heuristic's name; each game has its own heuristics."""
    known = words_for("heuristic", game)
    if value in known:
        return None
    return f"one of {', '.join(known)} in {game}"


BUDGET: Final[dict[str, Check]] = {"seconds": number, "nodes": whole_number}
DEPTH: Final[dict[str, Check]] = {"depth": whole_number, **BUDGET}
ESTIMATE: Final[dict[str, Check]] = {"heuristic": heuristic, "order": one_of(*ORDERS)}
SWITCHES: Final[dict[str, Check]] = {"pruning": one_of("on", "off"), "tt": one_of("on", "off")}


def contradiction(options: Mapping[str, str]) -> str | None:
    """Return why the options contradict each other, or None."""
    limits = [name for name in ("depth", "iterations", "seconds", "nodes") if name in options]
    if len(limits) > 1:
        return f"{' and '.join(limits)} do not go together; one of them limits the search"
    if options.get("pruning") == "off" and options.get("tt") == "on":
        return "tt=on needs pruning=on"
    return None


def wrong_address(rest: str) -> str | None:
    """Check the part of the name after `remote:`; return what is wrong with it."""
    match = ADDRESS.fullmatch(rest)
    if match is None:
        return f"expected {ADDRESS_USAGE}"
    if match["colour"] not in COLOURS:
        return f"{match['colour']!r} is not a colour; expected white or black"
    if not 0 < int(match["port"]) < 65536:
        return f"{match['port']} is not a port; expected 1 to 65535"
    return None


POLICY_USAGE: Final = "env:MODULE:FUNCTION"

KAGGLE_USAGE: Final = "kaggle:FILE"


def wrong_policy(rest: str) -> str | None:
    """Return what is wrong with the name of a policy, or None."""
    if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", rest) is None:
        return f"expected {POLICY_USAGE}, the name of an installed module and of a function in it"
    return None


def wrong_kaggle_file(rest: str) -> str | None:
    """Return what is wrong with the name of a file for Kaggle, or None."""
    return None if rest.endswith(".py") else f"expected {KAGGLE_USAGE}, a file that ends in .py"
