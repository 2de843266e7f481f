"""The kinds of players: `PLAYERS` by name, and the check of an agent's name.

A name is `KIND`, `KIND:key=value,...` or `ai:FILE`; `players/base.py` parses it.
"""

import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from connect4.errors import InputError
from connect4.games import GAMES, nearest, nearest_file
from connect4.games.base import Action, Seconds, State
from connect4.players import base
from connect4.search import ORDERS
from connect4.search.heuristics import HEURISTICS

WORDS: Final = {
    "order": tuple(ORDERS),
    "pruning": ("on", "off"),
    "tt": ("on", "off"),
    "engine": ("own",),
}
"""The valid words of the options that are neither numbers nor the name of a heuristic."""


def words_for(option: str, game: str) -> tuple[str, ...]:
    """Return the valid words of an option in a game; empty for a number."""
    if option == "heuristic":
        return tuple(entry.name for entry in HEURISTICS.get(game, ()))
    return WORDS.get(option, ())


def wrong_value(option: str, value: str, game: str) -> str | None:
    """Return what would be valid for an option in a game, or None if `value` is."""
    words = words_for(option, game)
    if words:
        return None if value in words else " or ".join(words)
    if option in ("c", "seconds"):
        is_number = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) and float(value) > 0
        return None if is_number else "a number above 0"
    is_count = re.fullmatch(r"0*[1-9][0-9]{0,11}", value)
    return None if is_count else "a whole number above 0"


def contradiction(options: Mapping[str, str]) -> str | None:
    """Return why the options contradict each other, or None."""
    limits = [name for name in ("depth", "iterations", "seconds", "nodes") if name in options]
    if len(limits) > 1:
        return f"{' and '.join(limits)} do not go together; one of them limits the search"
    if options.get("pruning") == "off" and options.get("tt") == "on":
        return "tt=on needs pruning=on"
    return None


@dataclass(frozen=True, slots=True)
class PlayerKind:
    """One kind of player: how its name is written and which games it plays.

    A kind with the option `heuristic` needs a game with a heuristic.
    """

    usage: str
    factory: str = ""
    """`module:name` of the function that creates the agent of a `Setup`; empty for a person."""
    games: frozenset[str] | None = None
    board: tuple[int, int] | None = None
    """The rows and columns of the only board that it plays on."""
    options: tuple[str, ...] = ()
    rest: str = ""
    """A pattern for the part of the name after the colon that is not an option."""
    about: str = ""
    """What it does, in a few words; `{depth}` stands for that option's usual value.

    The start page lists the kinds that have it."""
    usual: Mapping[str, str] = field(default_factory=dict)
    """The values of options that are not given."""


FILE_GAMES: Final = frozenset(name for name, game in GAMES.items() if game.file_action is not None)
"""The games that a student's file plays."""

BUDGET: Final = ("seconds", "nodes")
DEPTH: Final = ("depth", *BUDGET)
ESTIMATE: Final = ("heuristic", "order")
ORDERED: Final = {"order": "center"}

PLAYERS: Final[dict[str, PlayerKind]] = {
    "ai": PlayerKind(
        "ai, ai:FILE or ai:FILE,nodes=N",
        "connect4.players.student:StudentAgent",
        games=FILE_GAMES,
        options=("nodes",),
        rest="(?s:.*)",
        about="your file, connect4/players/ai.py",
    ),
    "human": PlayerKind("human"),
    "env": PlayerKind(
        "env:MODULE:FUNCTION",
        "connect4.players.local:PolicyAgent",
        rest=r"[A-Za-z_][\w.]*:[A-Za-z_]\w*",
    ),
    "kaggle": PlayerKind(
        "kaggle:FILE.py",
        "connect4.players.local:KaggleAgent",
        games=frozenset({"classic"}),
        rest=r"(?s:.*)\.(py|ipynb)",
    ),
    "random": PlayerKind(
        "random", "connect4.players.registry:RandomPlayer", about="any legal move"
    ),
    "greedy": PlayerKind(
        "greedy", "connect4.players.agents:Greedy", about="the best margin after its own move"
    ),
    "minimax": PlayerKind(
        "minimax:depth=K",
        "connect4.players.agents:textbook",
        options=(*DEPTH, *ESTIMATE),
        about="textbook search, every move, depth {depth}",
        usual={"depth": "2", **ORDERED},
    ),
    "alphabeta": PlayerKind(
        "alphabeta:depth=K,heuristic=H,pruning=on|off,order=center|ascending,tt=on|off",
        "connect4.players.agents:textbook",
        options=(*DEPTH, *ESTIMATE, "pruning", "tt"),
        about="textbook search, depth {depth}",
        usual={"depth": "4", **ORDERED, "pruning": "on", "tt": "on"},
    ),
    "expectimax": PlayerKind(
        "expectimax:depth=K",
        "connect4.players.agents:textbook",
        options=(*DEPTH, *ESTIMATE),
        about="search against a random opponent, depth {depth}",
        usual={"depth": "3", **ORDERED},
    ),
    "montecarlo": PlayerKind(
        "montecarlo:depth=K,samples=N",
        "connect4.players.agents:montecarlo",
        options=(*DEPTH, "samples"),
        about="{samples} random games for each position at depth {depth}",
        usual={"depth": "2", "samples": "100"},
    ),
    "solver": PlayerKind(
        "solver",
        "connect4.players.agents:SolverAgent",
        games=frozenset({"classic"}),
        board=(6, 7),
        options=("engine", *BUDGET),
        about="perfect play",
    ),
    "mcts": PlayerKind(
        "mcts:iterations=N,c=C",
        "connect4.players.agents:MctsAgent",
        options=("iterations", "c", *BUDGET),
        about="Monte-Carlo tree search, {iterations} iterations",
        usual={"iterations": "20000"},
    ),
    "reference": PlayerKind(
        "reference or reference:nodes=N",
        "connect4.players.agents:ReferenceAgent",
        games=FILE_GAMES,
        options=("nodes",),
        about="the strongest agent",
    ),
}

if not Path(__file__).parents[1].joinpath("reference").is_dir():  # in the students' edition
    del PLAYERS["reference"]


class RandomPlayer:
    """Plays uniformly at random; the same seed gives the same moves."""

    def __init__(self, setup: base.Setup) -> None:
        self._random = Random(setup.derived_seed())

    def choose(self, state: State, seconds: Seconds | None) -> Action:
        return self._random.choice(state.legal_actions())


def parse_agent(text: str, game: str = "extended") -> base.AgentName:
    """Return the parsed and checked name; raises `InputError` that says what is valid."""
    name = base.split_name(text)
    if name.kind not in PLAYERS:
        if name.kind == "remote":
            raise InputError(f"agent {text!r} is gone: python3 -m connect4.client plays there")
        if name.kind == "reference":
            raise InputError(f"agent {text!r}: only the teachers' edition has it")
        if text.endswith(".py"):
            raise InputError(f"no agent {text!r}; for a student's file write {'ai:' + text!r}")
        near = nearest(name.kind, PLAYERS)
        usages = ", ".join(PLAYERS if near else (kind.usage for kind in PLAYERS.values()))
        raise InputError(f"no agent {text!r}{near}; the agents are {usages}")
    kind = PLAYERS[name.kind]
    if kind.games is not None and game not in kind.games:
        raise InputError(f"agent {text!r} plays {', '.join(sorted(kind.games))}, not {game}")
    if "heuristic" in kind.options and game not in HEURISTICS:
        raise InputError(f"agent {text!r} needs a heuristic, and {game} has none")
    if re.fullmatch(kind.rest, name.rest) is None:
        raise InputError(f"agent {text!r}: {name.rest!r} is not understood; write {kind.usage}")
    for key, value in name.options.items():
        if key not in kind.options:
            known = ", ".join(kind.options) or "none"
            hint = nearest(key, kind.options)
            raise InputError(f"agent {text!r}: no option {key!r}{hint}; the options are {known}")
        wrong = wrong_value(key, value, game)
        if wrong is not None:
            raise InputError(f"agent {text!r}: {key} is {wrong}, not {value!r}")
    clash = contradiction(name.options)
    if clash is not None:
        raise InputError(f"agent {text!r}: {clash}")
    if name.kind in ("ai", "kaggle"):
        _check_file(text, base.student_file(name))
    return name


def recorded_agent(text: str, game: str, named: str | None) -> base.AgentName:
    """Return the agent of a record; `named` is the agent on the command line, or None.

    Raises `InputError` if `named` is another agent. Without `named`, an agent that loads a module
    is refused, because somebody else may have written the record.
    """
    if named is not None and named != text:
        raise InputError(f"agent {named!r} did not play this turn; the record names {text!r}")
    name = parse_agent(text, game)
    if name.kind in base.POLICIES and named is None:
        raise InputError(
            f"the record names the agent {text!r}, which loads a module; it is started only if "
            "you name it on the command line too"
        )
    return name


def check_board(name: base.AgentName, state: State) -> None:
    """Raise `InputError` if the agent does not play on that board."""
    board, grid = PLAYERS[name.kind].board, state.grid
    found = f"{grid.rows} by {grid.columns}" + (" with lines of 3" if grid.line == 3 else "")
    if board and found != "{} by {}".format(*board):
        raise InputError(
            f"agent {name.text!r} plays on {board[0]} rows by {board[1]} columns, not on {found}"
        )


def _check_file(text: str, path: Path) -> None:
    if os.path.isdir(path):  # unlike Path.is_dir, no error if the name is too long
        raise InputError(f"agent {text!r}: {str(path)!r} is a folder; name the file in it")
    if os.path.exists(path):
        where = f"agent {text!r}: the file {str(path)!r}"
        try:
            data = base.read_source(path)
        except InputError as error:
            raise InputError(f"{where} {error}") from None
        try:
            base.source_text(data)
        except InputError as error:
            raise InputError(f"{where} is {error}") from None
        return
    raise InputError(f"agent {text!r}: no file {str(path)!r}{nearest_file(path, '*.py')}")


def file_hash(name: base.AgentName, source: bytes | None = None) -> str | None:
    """Return the SHA-256 of the file of an `ai` or `kaggle` agent in hexadecimal; None for others.

    `source` replaces the content of the file. Raises `InputError` if it cannot be read.
    """
    if name.kind not in ("ai", "kaggle"):
        return None
    import hashlib  # slow to load (OpenSSL), so not for agents

    data = base.read_source(base.student_file(name)) if source is None else source
    return hashlib.sha256(data).hexdigest()


def method_of(
    name: base.AgentName, opponent: base.AgentName, method: base.Method | None = None
) -> base.Method | None:
    """Return the method of an `AIPlayer` to call; the opponent determines it."""
    if name.kind not in ("ai", "local", "reference"):
        return None
    return method or ("expectimax" if opponent.kind == "random" else "intelligent")


def modules_of(kind: str) -> list[str]:
    """Return the modules that a kind of agent requires, to load before its process is forked.

    A student's file requires only the module that runs it.
    """
    module = PLAYERS[kind].factory.partition(":")[0]
    if kind == "ai":
        return [module]
    return [module, __name__, *(["connect4.reference"] if kind == "reference" else [])]


def build(setup: base.Setup) -> base.Agent:
    """Return the agent that `setup` names, of any kind but a person.

    It loads only the modules of that kind, for a fast start of the agent's process. Raises
    `AgentError` if a student's file cannot be loaded.
    """
    module, _, name = PLAYERS[setup.agent.kind].factory.partition(":")
    agent: base.Agent = getattr(importlib.import_module(module), name)(setup)
    return agent
