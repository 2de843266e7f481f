"""An agent's process: it limits itself, loads the agent and answers requests.

The warden forks it. `spawn` and `channel` are the referee's end, `protocol` defines the messages.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from _socket import socket as Socket
from functools import partial
from io import TextIOWrapper
from typing import NamedTuple, cast

from connect4.isolation import landlock, protocol, sandbox, submission
from connect4.isolation.limits import Limits
from connect4.isolation.protocol import STACK_SIGNAL, read_setup
from connect4.isolation.serving import answer, draw_from, load, say


class Reading(NamedTuple):
    """What an agent may read."""

    paths: tuple[str, ...]
    rules: int | None = None
    """The kernel's rules for that; see `sandbox.rules`."""


def serve(channel: Socket, log: Socket, stack: int, parent: int, reading: Reading) -> None:
    """Read the settings, limit this process, load the agent, answer until the referee hangs up.

    `stack` is the pipe for `STACK_SIGNAL`, which works in the middle of C code too.
    """
    if sys.platform == "win32":
        requests = channel.makefile("rb")
    else:
        requests = os.fdopen(channel.fileno(), "rb", closefd=False)
    del sys.argv[1:], sys.orig_argv[1:]  # the last word names the referee's process
    _redirect(log)
    settings = json.loads(requests.readline())
    setup, game = read_setup(settings["setup"])
    limits = Limits(**settings["limits"])
    note = partial(submission.note, reading.paths) if sandbox.denies() else None
    try:
        if setup.folder is not None and reading.rules is not None:
            landlock.allow(reading.rules, setup.folder, landlock.READ_DIR)
        sandbox.enter(limits, settings["slot"], settings["core"], *reading)
    except (OSError, ValueError) as error:
        say(channel, {protocol.BROKEN: f"{type(error).__name__}: {error}"})
        os._exit(1)
    if os.getppid() != parent:  # died before it could take us with it
        return
    if STACK_SIGNAL is not None and stack >= 0:
        faulthandler.register(STACK_SIGNAL, file=stack, all_threads=False)
    draw_from(setup.derived_seed())
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


def _redirect(log: Socket) -> None:
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
