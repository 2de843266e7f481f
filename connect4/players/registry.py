"""The kinds of players: `PLAYERS` by name, and the check of an agent's name.

A name is `KIND`, `KIND:key=value,...` or `ai:FILE`; `players/names.py` parses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from connect4.games import GAMES, nearest
from connect4.games.base import State
from connect4.players import checks
from connect4.players.base import Method
from connect4.players.names import AgentName, source_text, split_name, student_file


@dataclass(frozen=True, slots=True)
class PlayerKind:
    """One kind of player: how its name is written and which games it plays.

    `options` maps an option's name to a check of its value in a game, which returns None or
    what would be valid; `contradiction` returns which options exclude each other.
    """

    usage: str
    factory: str | None = None
    """`module:name` of the function that creates the agent of a `Setup`; None for a person."""
    games: frozenset[str] | None = None
    options: dict[str, checks.Check] = field(default_factory=dict)
    contradiction: Callable[[Mapping[str, str]], str | None] = lambda options: None
    needs_heuristic: bool = False
    """Whether it requires a game with a heuristic."""
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
        options={"nodes": checks.whole_number},
        takes_rest=True,
    ),
    "human": PlayerKind("human"),
    "remote": PlayerKind(
        checks.ADDRESS_USAGE,
        "connect4.players.remote:RemoteAgent",
        games=frozenset({"dynamic"}),
        reaches_out=True,
        takes_rest=True,
        wrong_rest=checks.wrong_address,
    ),
    "env": PlayerKind(
        checks.POLICY_USAGE,
        "connect4.players.local:PolicyAgent",
        reaches_out=True,
        takes_rest=True,
        wrong_rest=checks.wrong_policy,
    ),
    "kaggle": PlayerKind(
        checks.KAGGLE_USAGE,
        "connect4.players.local:KaggleAgent",
        games=frozenset({"classic"}),
        reaches_out=True,
        takes_rest=True,
        wrong_rest=checks.wrong_kaggle_file,
    ),
    "random": PlayerKind("random", "connect4.players.random:random_player"),
    "greedy": PlayerKind("greedy", "connect4.players.agents:greedy"),
    "minimax": PlayerKind(
        "minimax:depth=K",
        "connect4.players.agents:minimax",
        options={**checks.DEPTH, **checks.ESTIMATE},
        contradiction=checks.contradiction,
        needs_heuristic=True,
    ),
    "alphabeta": PlayerKind(
        "alphabeta:depth=K,heuristic=H,pruning=on|off,order=center|ascending,tt=on|off",
        "connect4.players.agents:alphabeta",
        options={**checks.DEPTH, **checks.ESTIMATE, **checks.SWITCHES},
        contradiction=checks.contradiction,
        needs_heuristic=True,
    ),
    "expectimax": PlayerKind(
        "expectimax:depth=K",
        "connect4.players.agents:expectimax",
        options={**checks.DEPTH, **checks.ESTIMATE, "samples": checks.whole_number},
        contradiction=checks.contradiction,
        needs_heuristic=True,
    ),
    "montecarlo": PlayerKind(
        "montecarlo:depth=K,samples=N",
        "connect4.players.agents:montecarlo",
        options={**checks.DEPTH, "samples": checks.whole_number},
        contradiction=checks.contradiction,
    ),
    "solver": PlayerKind(
        "solver",
        "connect4.players.agents:SolverAgent",
        games=frozenset({"classic"}),
        wrong_board=checks.wrong_board_to_solve,
        options={
            "memory": checks.megabytes,
            "engine": checks.one_of("bitbully", "own"),
            **checks.BUDGET,
        },
        contradiction=checks.contradiction,
    ),
    "mcts": PlayerKind(
        "mcts:iterations=N,c=C",
        "connect4.players.agents:MctsAgent",
        options={"iterations": checks.whole_number, "c": checks.number, **checks.BUDGET},
        contradiction=checks.contradiction,
    ),
    "reference": PlayerKind(
        "reference or reference:nodes=N",
        "connect4.players.reference:ReferenceAgent",
        games=FILE_GAMES,
        options={"nodes": checks.whole_number},
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
    if kind.needs_heuristic and not GAMES[game].heuristics:
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
    clash = kind.contradiction(name.options)
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
