"""The messages between the referee and an agent's process, and what their answers mean."""

from __future__ import annotations

import json
import os
import signal
import struct
from dataclasses import asdict
from typing import Any, Final

from connect4.errors import IllegalAction, InputError, harmless
from connect4.games import find_game
from connect4.games.base import Game
from connect4.players.base import Outcome, Reply, Setup
from connect4.players.names import AgentName, student_file
from connect4.players.student import MAX_DETAIL

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


MAX_ACTION_TEXT: Final = 16

NO_ANSWER: Final = "what came from the agent's process is not an answer"


def read_message(line: bytes) -> tuple[str, Any]:
    """Return the one key and the value of a line; an empty key where it is no message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(message, dict) or len(message) != 1:
        return "", None
    return next(iter(message.items()))


def read_answer(line: bytes, game: Game, notes: bool) -> tuple[Reply, bool]:
    """Return the reply that a line makes, and whether the process may be asked again.

    `notes` tells whether the agent may add a note to its move: views show it as the kit's own text.
    """
    key, value = read_message(line)
    note = None
    if key == NOTED and notes and isinstance(value, list) and len(value) == 2:
        key, value, note = PLAYED, value[0], cleaned(value[1])
    if key == PLAYED and isinstance(value, str) and len(value) <= MAX_ACTION_TEXT:
        try:
            action = game.parse_action(value)
        except IllegalAction as error:
            return Reply(Outcome.INVALID, detail=cleaned(str(error))), True
        return Reply(Outcome.PLAYED, action, game.format_action(action), detail=note), True
    if key == INVALID:
        return Reply(Outcome.INVALID, detail=cleaned(value)), True
    if key in (ERROR, LAST):
        return Reply(Outcome.ERROR, detail=cleaned(value)), key == ERROR
    return Reply(Outcome.INVALID, detail=NO_ANSWER), False


def cleaned(text: object) -> str:
    """Return a harmless detail of bounded length."""
    if not isinstance(text, str):
        return NO_ANSWER
    return harmless(text[: MAX_DETAIL + 10])[: MAX_DETAIL + 10]


def ending_text(status: int) -> str:
    """Return how a process ended, in words."""
    if status >= 0:
        return f"its process ended with exit status {status}"
    if status == -9:
        return "its process was killed, or closed its line to the referee"
    names = {number.value: number.name for number in signal.Signals}  # most real-time ones lack one
    return f"its process was ended by {names.get(-status, f'signal {-status}')}"
