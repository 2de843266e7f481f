"""The kinds of players: `PLAYERS` by name, and the check of an agent's name.

A name is `KIND`, `KIND:key=value,...` or `ai:FILE`; `players/names.py` takes it apart.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from connect4.games import GAMES, nearest
from connect4.games.base import State
from connect4.players import agents
from connect4.players.base import Asked
from connect4.players.names import AgentName, source_text, split_name, student_file
from connect4.players.remote import USAGE, wrong_address


@dataclass(frozen=True, slots=True)
class PlayerKind:
    """One kind of player: how its name is written and which games it plays.

    `options` maps an option's name to a check of its value in a game, which returns None or says
    what would be right; `contradiction` says which options do not go together. `building` makes
    the agent.
    """

    usage: str
    games: frozenset[str] | None = None
    options: dict[str, agents.Check] = field(default_factory=dict)
    contradiction: Callable[[Mapping[str, str]], str | None] = lambda options: None
    needs_heuristic: bool = False
    """Whether it plays only games that have a heuristic."""
    takes_rest: bool = False
    wrong_rest: Callable[[str], str | None] = lambda rest: None
    """Checks what follows the colon and is no option."""
    wrong_board: Callable[[State], str | None] = lambda state: None
    """Checks the board that a game is to be played on."""


PLAYERS: Final[dict[str, PlayerKind]] = {
    "ai": PlayerKind(
        "ai, ai:FILE or ai:FILE,nodes=N",
        games=frozenset({"extended"}),
        options={"nodes": agents.whole_number},
        takes_rest=True,
    ),
    "human": PlayerKind("human"),
    "remote": PlayerKind(USAGE, frozenset({"dynamic"}), takes_rest=True, wrong_rest=wrong_address),
    "random": PlayerKind("random"),
    "greedy": PlayerKind("greedy"),
    "minimax": PlayerKind(
        "minimax:depth=K",
        options={**agents.DEPTH, **agents.ESTIMATE},
        contradiction=agents.contradiction,
        needs_heuristic=True,
    ),
    "alphabeta": PlayerKind(
        "alphabeta:depth=K,heuristic=H,pruning=on|off,order=center|ascending,tt=on|off",
        options={**agents.DEPTH, **agents.ESTIMATE, **agents.SWITCHES},
        contradiction=agents.contradiction,
        needs_heuristic=True,
    ),
    "expectimax": PlayerKind(
        "expectimax:depth=K",
        options={**agents.DEPTH, **agents.ESTIMATE, "samples": agents.whole_number},
        contradiction=agents.contradiction,
        needs_heuristic=True,
    ),
    "montecarlo": PlayerKind(
        "montecarlo:depth=K,samples=N",
        options={**agents.DEPTH, "samples": agents.whole_number},
        contradiction=agents.contradiction,
    ),
    "solver": PlayerKind(
        "solver",
        games=frozenset({"classic"}),
        wrong_board=agents.wrong_board_to_solve,
        options={
            "memory": agents.megabytes,
            "engine": agents.one_of("bitbully", "own"),
            **agents.BUDGET,
        },
        contradiction=agents.contradiction,
    ),
    "mcts": PlayerKind(
        "mcts:iterations=N,c=C",
        options={"iterations": agents.whole_number, "c": agents.number, **agents.BUDGET},
        contradiction=agents.contradiction,
    ),
}


def parse_agent(text: str, game: str = "extended") -> AgentName:
    """Return the agent's name, checked whole; raises `InputError` that lists what is right."""
    name = split_name(text)
    if name.kind not in PLAYERS:
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
    if name.kind == "ai":
        _check_file(text, student_file(name))
    return name


def check_board(name: AgentName, state: State) -> None:
    """Raise `InputError` where the agent does not play on that board."""
    wrong = PLAYERS[name.kind].wrong_board(state)
    if wrong is not None:
        raise InputError(f"agent {name.text!r} {wrong}")


def _check_file(text: str, path: Path) -> None:
    if os.path.isfile(path):  # unlike Path.is_file, no error where the name is too long
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
    near = difflib.get_close_matches(path.name, names, n=1)
    hint = f" (did you mean {str(path.with_name(near[0]))!r}?)" if near else ""
    raise InputError(f"agent {text!r}: no file {str(path)!r}{hint}")


def file_hash(name: AgentName, source: bytes | None = None) -> str | None:
    """Return the SHA-256 of a student's file in hexadecimal; None for any other agent.

    `source` is its text where there is no file.
    """
    if name.kind != "ai":
        return None
    data = student_file(name).read_bytes() if source is None else source
    return hashlib.sha256(data).hexdigest()


def asked_of(name: AgentName, opponent: AgentName, forced: Asked | None = None) -> Asked | None:
    """Return which method of a student's file is asked: it follows the opponent."""
    if name.kind not in ("ai", "local"):
        return None
    return forced or ("expectimax" if opponent.kind == "random" else "intelligent")
