"""Shared by both ends of an agent's process: the messages between them, and the setup.

The referee's end is `spawn`, `channel` and `seat`; the other end is `warden` and `worker`. A
message is one line of JSON, an object with one key.
"""

from __future__ import annotations

import json
import os
import signal
import struct
from dataclasses import asdict
from typing import Any, Final

from connect4.errors import InputError
from connect4.games import find_game
from connect4.games.base import Game
from connect4.players.base import Setup
from connect4.players.names import AgentName, student_file

# -- what the referee tells the warden, and its answer

SIZE: Final = struct.Struct("=I")
"""Before the first message: a list of what agents may read; the rules' descriptor comes with it."""
START: Final = b"s"
END: Final = b"e"
STATUS: Final = struct.Struct("=i")

STACK_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""Has an agent's process say where its code is; None where the system has no such signal."""

# -- keys of messages from an agent's process

BROKEN: Final = "broken"
"""It cannot be isolated; the value is the reason."""
UP: Final = "up"
"""It is isolated; the value is its process number. The agent is loaded next."""
READY: Final = "ready"
"""The agent is loaded."""
FAILED: Final = "failed"
"""The agent could not be loaded; the value is the reason."""
PLAYED: Final = "played"
"""An action, as text."""
NOTED: Final = "noted"
"""An action, as text, and the agent's note on it."""
INVALID: Final = "invalid"
"""An answer that is not an action; the value is the reason."""
ERROR: Final = "error"
"""The agent raised an exception; the value is its traceback."""
LAST: Final = "last"
"""As `ERROR`, after which the process ends."""


def line_of(message: dict[str, Any]) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(message).encode() + b"\n"


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """Return what the agent's process is told: its own seed but not the game's, and its source.

    Raises `InputError` where the student's file cannot be read.
    """
    agent, source = asdict(setup.agent), None
    if setup.agent.kind == "ai":
        path = student_file(setup.agent)
        agent.update(text="ai", rest=path.name)  # the agent must not learn where the file lies
        try:
            data = path.read_bytes() if setup.source is None else setup.source
            source = data.decode("latin-1")
        except OSError as error:
            raise InputError(f"agent {setup.agent.text!r}: {error.strerror}") from None
    return {
        "agent": agent,
        "player": setup.player,
        "game": setup.game.name,
        "seconds": setup.seconds,
        "method": setup.method,
        "own_seed": setup.derived_seed(),
        "folder": os.getcwd() if setup.agent.kind == "env" else None,
        "source": source,
    }


def read_setup(value: dict[str, Any]) -> tuple[Setup, Game]:
    """Return what `isolation` wrote of a setup."""
    source = value["source"]
    game = find_game(value["game"])
    setup = Setup(
        AgentName(**value["agent"]),
        value["player"],
        game,
        value["seconds"],
        seed=0,
        method=value["method"],
        source=None if source is None else source.encode("latin-1"),
        own_seed=value["own_seed"],
        folder=value["folder"],
    )
    return setup, game
