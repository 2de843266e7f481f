"""The kinds of players: `PLAYERS` by name, and the check of an agent's name.

A name is `KIND`, `KIND:key=value,...` or `ai:FILE`; `players/names.py` parses it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

from connect4.errors import InputError
from connect4.games import GAMES, nearest
from connect4.games.base import State, resolve
from connect4.games.dynamic import COLOURS
from connect4.players.base import Agent, Method, Setup
from connect4.players.names import AgentName, source_text, split_name, student_file
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
SWITCH: Final = one_of("on", "off")
ESTIMATE: Final[dict[str, Check]] = {"heuristic": heuristic, "order": one_of(*ORDERS)}


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


@dataclass(frozen=True, slots=True)
class PlayerKind:
    """One kind of player: how its name is written and which games it plays.

    `options` maps an option's name to a check of its value in a game. A kind with the option
    `heuristic` needs a game with a heuristic.
    """

    usage: str
    factory: str | None = None
    """`module:name` of the function that creates the agent of a `Setup`; None for a person."""
    games: frozenset[str] | None = None
    options: dict[str, Check] = field(default_factory=dict)
    reaches_out: bool = False
    """Whether it connects to another program or loads a module: a record alone never starts it."""
    takes_rest: bool = False
    wrong_rest: Callable[[str], str | None] = lambda rest: None
    """Checks the part after the colon that is not an option."""
    wrong_board: Callable[[State], str | None] = lambda state: None
    """Checks the board that a game is to be played on."""


FILE_GAMES: Final = frozenset(name for name, game in GAMES.items() if game.file_action is not None)
"""The games that a student's file plays."""

PLAYERS: Final[dict[str, PlayerKind]] = {
    "ai": PlayerKind(
        "ai, ai:FILE or ai:FILE,nodes=N",
        "connect4.players.student:StudentAgent",
        games=FILE_GAMES,
        options={"nodes": whole_number},
        takes_rest=True,
    ),
    "human": PlayerKind("human"),
    "remote": PlayerKind(
        ADDRESS_USAGE,
        "connect4.players.remote:RemoteAgent",
        games=frozenset({"dynamic"}),
        reaches_out=True,
        takes_rest=True,
        wrong_rest=wrong_address,
    ),
    "env": PlayerKind(
        POLICY_USAGE,
        "connect4.players.local:PolicyAgent",
        reaches_out=True,
        takes_rest=True,
        wrong_rest=wrong_policy,
    ),
    "kaggle": PlayerKind(
        KAGGLE_USAGE,
        "connect4.players.local:KaggleAgent",
        games=frozenset({"classic"}),
        reaches_out=True,
        takes_rest=True,
        wrong_rest=wrong_kaggle_file,
    ),
    "random": PlayerKind("random", "connect4.players.random:random_player"),
    "greedy": PlayerKind("greedy", "connect4.players.agents:Greedy"),
    "minimax": PlayerKind(
        "minimax:depth=K",
        "connect4.players.agents:minimax",
        options={**DEPTH, **ESTIMATE},
    ),
    "alphabeta": PlayerKind(
        "alphabeta:depth=K,heuristic=H,pruning=on|off,order=center|ascending,tt=on|off",
        "connect4.players.agents:alphabeta",
        options={**DEPTH, **ESTIMATE, "pruning": SWITCH, "tt": SWITCH},
    ),
    "expectimax": PlayerKind(
        "expectimax:depth=K",
        "connect4.players.agents:expectimax",
        options={**DEPTH, **ESTIMATE, "samples": whole_number},
    ),
    "montecarlo": PlayerKind(
        "montecarlo:depth=K,samples=N",
        "connect4.players.agents:montecarlo",
        options={**DEPTH, "samples": whole_number},
    ),
    "solver": PlayerKind(
        "solver",
        "connect4.players.agents:SolverAgent",
        games=frozenset({"classic"}),
        wrong_board=wrong_board_to_solve,
        options={
            "memory": megabytes,
            "engine": one_of("bitbully", "own"),
            **BUDGET,
        },
    ),
    "mcts": PlayerKind(
        "mcts:iterations=N,c=C",
        "connect4.players.agents:MctsAgent",
        options={"iterations": whole_number, "c": number, **BUDGET},
    ),
    "reference": PlayerKind(
        "reference or reference:nodes=N",
        "connect4.players.reference:ReferenceAgent",
        games=FILE_GAMES,
        options={"nodes": whole_number},
    ),
}

if find_spec("connect4.players.reference") is None:  # in the students' edition
    del PLAYERS["reference"]


def parse_agent(text: str, game: str = "extended") -> AgentName:
    """Return the parsed and checked name; raises `InputError` that says what is valid."""
    name = split_name(text)
    if name.kind not in PLAYERS:
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
    if "heuristic" in kind.options and not GAMES[game].heuristics:
        raise InputError(f"agent {text!r} needs a heuristic, and {game} has none")
    if name.rest and not kind.takes_rest:
        raise InputError(f"agent {text!r}: {name.rest!r} is not understood; write {kind.usage}")
    wrong = kind.wrong_rest(name.rest)
    if wrong is not None:
        raise InputError(f"agent {text!r}: {wrong}")
    for key, value in name.options.items():
        if key not in kind.options:
            known = ", ".join(kind.options) or "none"
            hint = nearest(key, kind.options)
            raise InputError(f"agent {text!r}: no option {key!r}{hint}; the options are {known}")
        wrong = kind.options[key](value, game)
        if wrong is not None:
            raise InputError(f"agent {text!r}: {key} is {wrong}, not {value!r}")
    clash = contradiction(name.options)
    if clash is not None:
        raise InputError(f"agent {text!r}: {clash}")
    if name.kind in ("ai", "kaggle"):
        _check_file(text, student_file(name))
    return name


def recorded_agent(text: str, game: str, named: str | None) -> AgentName:
    """Return the agent of a record; `named` is the agent on the command line, or None.

    Raises `InputError` if `named` is another agent. Without `named`, an agent that connects to a
    program or loads a module is refused, because somebody else may have written the record.
    """
    if named is not None and named != text:
        raise InputError(f"agent {named!r} did not play this turn; the record names {text!r}")
    name = parse_agent(text, game)
    if PLAYERS[name.kind].reaches_out and named is None:
        raise InputError(
            f"the record names the agent {text!r}, which connects to another program or loads a "
            "module; it is started only if you name it on the command line too"
        )
    return name


def check_board(name: AgentName, state: State) -> None:
    """Raise `InputError` if the agent does not play on that board."""
    wrong = PLAYERS[name.kind].wrong_board(state)
    if wrong is not None:
        raise InputError(f"agent {name.text!r} {wrong}")


def _check_file(text: str, path: Path) -> None:
    if os.path.isfile(path):  # unlike Path.is_file, no error if the name is too long
        if not os.access(path, os.R_OK):
            raise InputError(f"agent {text!r}: the file {str(path)!r} cannot be read")
        try:
            source_text(path.read_bytes())
        except InputError as error:
            raise InputError(f"agent {text!r}: the file {str(path)!r} is {error}") from None
        return
    if os.path.isdir(path):
        raise InputError(f"agent {text!r}: {str(path)!r} is a folder; name the file in it")
    folder = path.parent
    names = [entry.name for entry in folder.glob("*.py")] if os.path.isdir(folder) else []
    import difflib  # late: only an error needs it

    near = difflib.get_close_matches(path.name, names, n=1)
    hint = f" (did you mean {str(path.with_name(near[0]))!r}?)" if near else ""
    raise InputError(f"agent {text!r}: no file {str(path)!r}{hint}")


def file_hash(name: AgentName, source: bytes | None = None) -> str | None:
    """Return the SHA-256 of a student's file in hexadecimal; None for any other agent.

    `source` replaces the content of the file.
    """
    if name.kind != "ai":
        return None
    import hashlib  # slow to load (OpenSSL), so not for agents

    data = student_file(name).read_bytes() if source is None else source
    return hashlib.sha256(data).hexdigest()


def method_of(name: AgentName, opponent: AgentName, method: Method | None = None) -> Method | None:
    """Return the method of an `AIPlayer` to call; the opponent determines it."""
    if name.kind not in ("ai", "local", "reference"):
        return None
    return method or ("expectimax" if opponent.kind == "random" else "intelligent")


def factory_of(kind: str) -> str:
    """Return `module:name` of the function that creates an agent of a kind but a person's."""
    factory = PLAYERS[kind].factory
    assert factory is not None, "a person has no process"
    return factory


def modules_of(kind: str) -> list[str]:
    """Return the modules that a kind of agent requires, to load before its process is forked.

    A student's file requires only the module that runs it.
    """
    module = factory_of(kind).partition(":")[0]
    return [module] if kind == "ai" else [module, __name__]


def build(setup: Setup) -> Agent:
    """Return the agent that `setup` names, of any kind but a person.

    It loads only the modules of that kind, for a fast start of the agent's process. Raises
    `AgentError` if a student's file cannot be loaded or a server cannot be reached.
    """
    agent: Agent = resolve(factory_of(setup.agent.kind))(setup)
    return agent
