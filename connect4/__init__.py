"""The Connect-4 course kit as a library.

    >>> import connect4
    >>> state = connect4.load("case1")
    >>> record = connect4.play("greedy", "random", state, seconds=1, seed=7)
    >>> record.winner
    1

load(name, game)          returns a position from a state file
start(game, rows=, ...)   returns the position that a game begins with
play(one, two, start)     plays a game; returns its Record
think(agent, state)       returns the action that an agent chooses, and why, as a Thought
analyse(record)           measures what each move cost; returns an Analysis
search_tree(agent, start) runs one search; returns its nodes as a SearchTree
Record.load(path)         returns a saved game; record.save(path) saves one
GAMES                     the games by name: extended, classic, ...

Errors are Connect4Error or a subclass. docs/api.md and help(connect4.play) have the details.
"""

import os
import sys

if sys.argv[:1] == ["-m"] and sys.path[0] == os.getcwd():
    sys.path.append(sys.path.pop(0))  # no file in that folder hides a module of Python's

if sys.argv and os.path.basename(sys.argv[0]) in ("-m", "connect4", "connect4-grader"):
    from importlib.util import find_spec

    for _package in ("numpy", "tabulate"):  # all commands need them
        if find_spec(_package) is None:
            print(
                f"error: {sys.executable} has no {_package}: activate the kit's environment first "
                "(source .venv/bin/activate), or install the kit as in README.md",
                file=sys.stderr,
            )
            raise SystemExit(2)

# isort: split
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from connect4.analysis.costs import Analysis, Cost
    from connect4.api import SearchTree, analyse, load, play, search_tree, start, think
    from connect4.config import VERSION as __version__  # noqa: F401
    from connect4.errors import AgentError, Connect4Error, IllegalAction, InputError, IsolationError
    from connect4.games import GAMES
    from connect4.games.base import Game, State
    from connect4.players.base import Turn
    from connect4.record import Record
    from connect4.search import Thought

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
    "Record",
    "SearchTree",
    "State",
    "Thought",
    "Turn",
    "analyse",
    "load",
    "play",
    "search_tree",
    "start",
    "think",
]

_HOMES = ("connect4.api", "connect4.errors", "connect4.games", "connect4.analysis.costs")


def __getattr__(name: str) -> Any:
    # lazy, because agents' processes import this package but do not need the API
    if name == "__version__":
        return importlib.import_module("connect4.config").VERSION
    for home in map(importlib.import_module, _HOMES if name in __all__ else ()):
        if hasattr(home, name):
            return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _picture_of(state: "State") -> str:
    from connect4.views.board import svg

    return svg(state)


def _page_of(record: "Record") -> str | None:
    from connect4.views.document import frame
    from connect4.views.page import page

    return frame(page([record])) if record.result else None


def _show_in_notebooks() -> None:
    """Let Jupyter display a position as a picture, and a finished record as its replay page."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        show = shell.display_formatter.formatters
        show["image/svg+xml"].for_type_by_name("connect4.games.base", "State", _picture_of)
        show["text/html"].for_type_by_name("connect4.record", "Record", _page_of)


_show_in_notebooks()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
