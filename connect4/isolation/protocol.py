"""The messages between the referee and an agent's process, and how each end processes them.

The agent's end loads the agent and answers requests for moves: `worker` runs it in a separate
process, a guest in an interpreter that counts its steps.
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, BinaryIO, Final, TypeAlias

from connect4.errors import AgentError, IllegalAction, InputError, harmless
from connect4.games import find_game
from connect4.games.base import Game
from connect4.players.base import Agent, Outcome, Reply, Setup, note_of
from connect4.players.names import AgentName, policy_folder, read_source, student_file
from connect4.players.student import MAX_DETAIL, MAX_FRAMES, Note, StudentAgent, clipped

RULES: Final = b"r"
"""The first message to a warden, sent with the descriptor of its rules, if it has any."""
START: Final = b"s"
END: Final = b"e"
STATUS: Final = struct.Struct("=i")

STACK_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""Makes an agent's process report its stack; None if the system has no such signal."""

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


def handed_over(setup: Setup) -> Setup:
    """Return the setup that an agent's process receives: its file, and its own seed.

    Raises `InputError` if the student's file cannot be read.
    """
    agent, source = setup.agent, None
    if agent.kind == "ai":
        path = student_file(agent)
        agent = replace(agent, text="ai", rest=path.name)  # it must not learn the path of the file
        try:
            source = read_source(path) if setup.source is None else setup.source
        except InputError as error:
            raise InputError(f"agent {setup.agent.text!r}: the file {error}") from None
    own_seed, folder = setup.derived_seed(), policy_folder(setup.agent)
    return replace(setup, agent=agent, source=source, seed=0, own_seed=own_seed, folder=folder)


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """Return what `read_setup` needs of a setup that was `handed_over`, besides its source."""
    return {
        "agent": asdict(setup.agent),
        "player": setup.player,
        "game": setup.game.name,
        "seconds": setup.seconds,
        "method": setup.method,
        "own_seed": setup.own_seed,
        "folder": setup.folder,
    }


def read_setup(value: dict[str, Any], source: bytes | None) -> Setup:
    """Return the setup that `setup_to_json` wrote."""
    own = {"agent": AgentName(**value["agent"]), "game": find_game(value["game"])}
    return Setup(**(value | own), seed=0, source=source)


def opening(setup: Setup, **settings: Any) -> bytes:
    """Return the first message to an agent's process: a line, then the bytes of its file."""
    source = setup.source
    size = None if source is None else len(source)
    line = line_of({"setup": setup_to_json(setup), "size": size, **settings})
    return line if source is None else line + source


def read_opening(stream: BinaryIO) -> tuple[Setup, dict[str, Any]]:
    """Return the setup and the settings of an `opening`."""
    settings = json.loads(stream.readline())
    size = settings["size"]
    source = None if size is None else stream.read(size)
    return read_setup(settings["setup"], source), settings


MAX_ACTION_TEXT: Final = 16

NO_ANSWER: Final = "what came from the agent's process is not an answer"


def read_message(line: bytes) -> tuple[str, Any]:
    """Return the one key and the value of a line; an empty key if the line is invalid."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(message, dict) or len(message) != 1:
        return "", None
    return next(iter(message.items()))


def read_answer(line: bytes, game: Game, notes: bool) -> tuple[Reply, bool]:
    """Return the reply in a line, and whether the process may be asked again.

    `notes` says whether the agent may add a note to its move; views show it as the kit's own text.
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
    """Describe how a process ended."""
    if status >= 0:
        return f"its process ended with exit status {status}"
    if status == -9:
        return "its process was killed, or closed its line to the referee"
    names = {number.value: number.name for number in signal.Signals}  # not real-time ones
    return f"its process was ended by {names.get(-status, f'signal {-status}')}"


Send: TypeAlias = Callable[[bytes], object]
"""Sends bytes to the referee."""


def say(send: Send, message: dict[str, Any]) -> None:
    """Flush the agent's output, then send one line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the agent may have closed or replaced it
            continue
    send(line_of(message))


def draw_from(seed: int) -> None:
    """Make the system's random bytes depend on `seed`, so that a game repeats.

    That covers generators without a seed (numpy's too), `secrets` and `uuid4`.
    """
    stream = random.Random(f"system {seed}")  # not the stream of `random.seed(seed)`
    plain_seed = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        plain_seed(self, stream.getrandbits(256) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    random.seed = random._inst.seed
    random._urandom = os.urandom = stream.randbytes  # type: ignore[attr-defined]
    os.getrandom = lambda size, flags=0: stream.randbytes(size)


def load(send: Send, setup: Setup, note: Note | None) -> Agent | None:
    """Return the agent, or report the failure to the referee and return None."""
    try:
        if setup.source is not None:
            return StudentAgent(setup, note)
        from connect4.players.registry import build

        return build(setup)
    except BaseException as error:
        say(send, {FAILED: _detail(error)})
        return None


def answer(agent: Agent, game: Game, request: dict[str, Any]) -> dict[str, str | list[str]]:
    """Return the answer to one request; its key is `LAST` for an error that ends this process."""
    state = game.from_json(request["state"])
    try:
        played = game.format_action(agent.choose(state, request["seconds"]))
        note = note_of(agent)
        return {PLAYED: played} if note is None else {NOTED: [played, note]}
    except IllegalAction as error:
        return {INVALID: str(error)}
    except BaseException as error:
        cause = error.__context__ if isinstance(error, AgentError) else error
        stops = isinstance(cause, SystemExit | KeyboardInterrupt)
        return {LAST if stops else ERROR: _detail(error)}


def _detail(error: BaseException) -> str:
    if isinstance(error, AgentError):
        return error.detail
    return clipped("".join(traceback.format_exception(error, limit=-MAX_FRAMES)).rstrip())
