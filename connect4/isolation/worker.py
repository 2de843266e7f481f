"""An agent's process: it limits itself, loads the agent and answers requests.

The warden forks it. `spawn` and `channel` are the referee's end, `protocol` defines the messages.
"""

from __future__ import annotations

import faulthandler
import json
import os
import socket
import sys
import traceback
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple, cast

from connect4.errors import AgentError, IllegalAction
from connect4.games.base import Game
from connect4.isolation import protocol, sandbox, submission
from connect4.isolation.limits import Limits
from connect4.isolation.protocol import STACK_SIGNAL, line_of, read_setup
from connect4.players.base import Agent, Setup, note_of
from connect4.players.student import MAX_FRAMES, Note, StudentAgent, clipped


class Reading(NamedTuple):
    """What an agent may read."""

    paths: tuple[Path, ...]
    rules: int | None = None
    """The kernel's rules for that; see `sandbox.rules`."""


def serve(
    channel: socket.socket, log: socket.socket, stack: int, parent: int, reading: Reading
) -> None:
    """Read the settings, limit this process, load the agent, answer until the referee hangs up.

    `stack` is the pipe for `STACK_SIGNAL`, which works in the middle of C code too.
    """
    requests = channel.makefile("rb")
    del sys.argv[1:], sys.orig_argv[1:]  # the last word names the referee's process
    _redirect(log)
    settings = json.loads(requests.readline())
    setup, game = read_setup(settings["setup"])
    limits = Limits(**settings["limits"])
    note = partial(submission.note, reading.paths) if sandbox.denies() else None
    try:
        sandbox.enter(limits, settings["slot"], settings["core"], reading.rules)
    except (OSError, ValueError) as error:
        say(channel, {protocol.BROKEN: f"{type(error).__name__}: {error}"})
        os._exit(1)
    if os.getppid() != parent:  # died before it could take us with it
        return
    if STACK_SIGNAL is not None and stack >= 0:
        faulthandler.register(STACK_SIGNAL, file=stack, all_threads=False)
    say(channel, {protocol.UP: os.getpid()})
    agent = load(channel, setup, note)
    if agent is None:
        return
    say(channel, {protocol.READY: True})
    for line in requests:
        message = answer(agent, game, json.loads(line))
        say(channel, message)
        if protocol.LAST in message:
            break


def _redirect(log: socket.socket) -> None:
    """Send what the agent prints to the log; it reads nothing."""
    if sys.platform == "win32":
        sys.stdout = sys.stderr = log.makefile("w", encoding="utf-8", errors="backslashreplace")
        sys.stdin.close()
    else:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        log.close()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.chdir("/")
        cast("TextIOWrapper", sys.stdout).reconfigure(line_buffering=True)


def say(channel: socket.socket, message: dict[str, Any]) -> None:
    """Flush what the agent has printed, then send one line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the agent may have closed or replaced it
            continue
    channel.sendall(line_of(message))


def load(channel: socket.socket, setup: Setup, note: Note | None) -> Agent | None:
    """Return the agent, or None where the referee has been told why there is none."""
    try:
        if setup.source is not None:
            return StudentAgent(setup, note)
        from connect4.players.building import build

        return build(setup)
    except BaseException as error:
        say(channel, {protocol.FAILED: _detail(error)})
        return None


def answer(agent: Agent, game: Game, request: dict[str, Any]) -> dict[str, str | list[str]]:
    """Return the answer to one request; `LAST` for an error that this process ends with."""
    state = game.from_json(request["state"])
    try:
        played = game.format_action(agent.choose(state, request["seconds"]))
        note = note_of(agent)
        return {protocol.PLAYED: played} if note is None else {protocol.NOTED: [played, note]}
    except IllegalAction as error:
        return {protocol.INVALID: str(error)}
    except BaseException as error:
        cause = error.__context__ if isinstance(error, AgentError) else error
        stops = isinstance(cause, SystemExit | KeyboardInterrupt)
        return {protocol.LAST if stops else protocol.ERROR: _detail(error)}


def _detail(error: BaseException) -> str:
    if isinstance(error, AgentError):
        return error.detail
    return clipped("".join(traceback.format_exception(error, limit=-MAX_FRAMES)).rstrip())
