"""Read what comes from an agent's process, as untrusted bytes."""

from __future__ import annotations

import json
import signal
from typing import Any, Final

from connect4.errors import IllegalAction, harmless
from connect4.games.base import Game
from connect4.isolation.protocol import ERROR, INVALID, LAST, NOTED, PLAYED
from connect4.players.base import Outcome, Reply
from connect4.players.student import MAX_DETAIL

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
