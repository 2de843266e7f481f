"""The Connect-4 course kit as a library.

    >>> import connect4
    >>> state = connect4.load("case1")
    >>> record = connect4.play("greedy", "random", state, seconds=1, seed=7)
    >>> record.winner
    1

load(name, game)          returns a position from a state file
start(game, rows=, ...)   returns the position that a game begins with
play(one, two, start)     plays a game; returns its Record
analyse(record)           measures what each move cost; returns an Analysis
search_tree(agent, start) runs one search; returns its nodes as a SearchTree
picture(state, before=)   returns a position as a picture that shows where its points come from
Record.load(path)         returns a saved game; record.save(path) saves one
GAMES                     the games by name: extended, classic, ...

Errors are Connect4Error or a subclass. docs/api.md and help(connect4.play) have the details.
"""

from __future__ import annotations

import os
import sys

if sys.argv[:1] == ["-m"] and sys.path[0] == os.getcwd() != os.path.dirname(__path__[0]):
    sys.path.append(sys.path.pop(0))  # no file in that folder hides a module of Python's

# isort: split
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from connect4.api import Analysis as Analysis
    from connect4.api import Cost as Cost
    from connect4.api import Picture as Picture
    from connect4.api import SearchTree as SearchTree
    from connect4.api import analyse as analyse
    from connect4.api import load as load
    from connect4.api import picture as picture
    from connect4.api import play as play
    from connect4.api import search_tree as search_tree
    from connect4.api import start as start
    from connect4.errors import AgentError as AgentError
    from connect4.errors import Connect4Error as Connect4Error
    from connect4.errors import IllegalAction as IllegalAction
    from connect4.errors import InputError as InputError
    from connect4.errors import IsolationError as IsolationError
    from connect4.games import GAMES as GAMES
    from connect4.games.base import Game as Game
    from connect4.games.base import State as State
    from connect4.record import Record as Record
    from connect4.referee import Turn as Turn

__all__ = [
    "GAMES",
    "AgentError",
    "Analysis",
    "Connect4Error",
    "Cost",
    "Game",
    "IllegalAction",
    "InputError",
    "IsolationError",
    "Picture",
    "Record",
    "SearchTree",
    "State",
    "Turn",
    "analyse",
    "load",
    "picture",
    "play",
    "search_tree",
    "start",
]

_HOME = {
    "AgentError": "connect4.errors",
    "Connect4Error": "connect4.errors",
    "GAMES": "connect4.games",
    "Game": "connect4.games.base",
    "IllegalAction": "connect4.errors",
    "InputError": "connect4.errors",
    "IsolationError": "connect4.errors",
    "Record": "connect4.record",
    "State": "connect4.games.base",
    "Turn": "connect4.referee",
}  # the module of each public name that is not in connect4.api


def __getattr__(name: str) -> Any:
    # lazy, because agents' processes import this package but do not need the API
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME.get(name, "connect4.api")), name)


def __dir__() -> list[str]:
    # help() asks through inspect, and is to show the overview above, not every docstring
    asking = sys._getframe(1).f_globals.get("__name__")
    return sorted({*globals(), *(() if asking == "inspect" else __all__)})


if "IPython" in sys.modules:
    importlib.import_module("connect4.notebook").register()
