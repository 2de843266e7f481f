"""The inside of an agent's process: `python -c BOOT`, started by `connect4.isolation.seat`.

Two processes for each seat. The warden never runs a line of an agent: it forks the agent's
process when told to, ends it with all that it started, and dies when the referee does. The
agent's process limits itself, loads the agent and answers requests: one JSON line each way.
"""

from __future__ import annotations

import base64
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Iterable
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, cast

from connect4.errors import AgentError, IllegalAction
from connect4.games.base import Game
from connect4.games.extended import EXTENDED
from connect4.isolation import sandbox, submission
from connect4.players.base import Agent, Setup
from connect4.players.names import AgentName
from connect4.players.student import MAX_FRAMES, Note, StudentAgent, clipped

BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "kept = [__import__(name) for name in sys.argv[3].split()] and [*sys.modules]; "
    "from connect4.isolation import worker; worker.main(sys.argv, kept)"
)
"""Loads what a submission may import before anything else: all that is there then may stay."""

START: Final = b"s"
END: Final = b"e"
STATUS: Final = struct.Struct("=i")

STACK_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
"""Has an agent's process say where its code is; None where the system has no such signal."""

PR_SET_CHILD_SUBREAPER: Final = 36


def main(arguments: list[str], kept: list[str]) -> None:
    """Run a warden on the inherited socket, or, without `fork`, one agent on its shared handles.

    The folder that the kit was found in leaves the import path: beside it there may be files that
    are called like modules of the standard library. `kept` are the modules that stay in a
    submission's process; empty for the kit's own agents.
    """
    sys.path.remove(arguments[1])
    for module in arguments[4:-1]:
        importlib.import_module(module)
    files = submission.confine(kept, arguments[3].split()[1:]) if kept else None
    if arguments[2] != "shared":
        channel, log, stack, parent = guard(socket.socket(fileno=int(arguments[2])), files)
    else:
        channel, log = (_unshare(sys.stdin.readline()) for _ in range(2))
        stack = int(sys.stdin.readline() or -1)
        parent = os.getppid()
    try:
        serve(channel, log, stack, parent, files)
    except BaseException:  # whatever it is, it is written down before the process ends
        traceback.print_exc()
    finally:  # nothing that an agent registered with atexit is run, no thread is waited for
        os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def _unshare(line: str) -> socket.socket:
    if sys.platform == "win32":
        return socket.fromshare(base64.b64decode(line))
    return socket.socket(fileno=int(line))


# -- the warden


def guard(
    control: socket.socket, files: sandbox.Files
) -> tuple[socket.socket, socket.socket, int, int]:
    """Serve the referee until it hangs up.

    Returns in an agent's process alone: its two sockets, the pipe for its stack and its parent's
    number.
    """
    if sys.platform == "linux":
        sandbox.prctl(PR_SET_CHILD_SUBREAPER, 1)  # what an agent leaves behind comes to us
    sandbox.prepare(files)
    gc.freeze()
    agent, parent = 0, os.getpid()
    while True:
        command, handles, _, _ = socket.recv_fds(control, 1, 3)
        if command == START:
            agent = os.fork()
            if agent == 0:
                os.setpgid(0, 0)
                control.close()
                channel, log = (socket.socket(fileno=handle) for handle in handles[:2])
                return channel, log, handles[2], parent
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.setpgid(agent, agent)  # as it does itself: `end` may come before it gets there
            for handle in handles:
                os.close(handle)
        else:
            status = end(agent)
            if command != END:  # the referee has gone
                os._exit(0)
            control.sendall(STATUS.pack(status))


def end(agent: int) -> int:
    """Kill an agent's process group and whatever escaped from it; return how the agent ended.

    A status as in `subprocess`: below 0 the number of a signal.
    """
    status = 0
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; a zombie, on macOS
        os.killpg(agent, signal.SIGKILL)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(agent, 0)[1])
        while True:  # what escaped from its group is ours now
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                for child in _children():
                    os.kill(child, signal.SIGKILL)
                time.sleep(0.001)
    except ChildProcessError:
        return status


def _children() -> Iterable[int]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = entry.read_text(encoding="latin-1").rpartition(")")[2].split()
        except OSError:
            continue
        if int(after_name[1]) == os.getpid():
            yield int(entry.parent.name)


# -- the agent's process


def serve(
    channel: socket.socket, log: socket.socket, stack: int, parent: int, files: sandbox.Files
) -> None:
    """Read the settings, limit this process, load the agent, answer until the referee hangs up.

    `stack` is the pipe for `STACK_SIGNAL`, which works in the middle of C code too.
    """
    requests = channel.makefile("rb")
    _redirect(log)
    settings = json.loads(requests.readline())
    setup, game = read_setup(settings["setup"])
    limits = sandbox.Limits(**settings["limits"])
    readable = sandbox.readable_paths(files)  # cannot be found out any more in there
    note = partial(submission.note, readable) if sandbox.denies() else None
    try:
        sandbox.enter(limits, settings["slot"], settings["core"], files)
    except (OSError, ValueError) as error:
        _say(channel, {"broken": f"{type(error).__name__}: {error}"})
        os._exit(1)
    if os.getppid() != parent:  # died before it could take us with it
        return
    if STACK_SIGNAL is not None and stack >= 0:
        faulthandler.register(STACK_SIGNAL, file=stack, all_threads=False)
    _say(channel, {"up": os.getpid()})
    agent = _load(channel, setup, note)
    if agent is None:
        return
    _say(channel, {"ready": True})
    for line in requests:
        answer = _answer(agent, game, json.loads(line))
        _say(channel, answer)
        if "last" in answer:
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


def read_setup(value: dict[str, Any]) -> tuple[Setup, Game]:
    """Return what `isolation` wrote of a setup."""
    source = value["source"]
    if source is not None:
        game = EXTENDED
    else:
        from connect4.games import GAMES  # a submission's process has forgotten the others

        game = GAMES[value["game"]]
    setup = Setup(
        AgentName(**value["agent"]),
        value["player"],
        game,
        value["seconds"],
        seed=0,
        asked=value["asked"],
        source=None if source is None else source.encode("latin-1"),
        own_seed=value["own_seed"],
    )
    return setup, game


def _say(channel: socket.socket, message: dict[str, Any]) -> None:
    """Flush what the agent has printed, then send one line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the agent may have closed or replaced it
            continue
    channel.sendall(json.dumps(message).encode() + b"\n")


def _load(channel: socket.socket, setup: Setup, note: Note | None) -> Agent | None:
    """Return the agent, or None where the referee has been told why there is none."""
    try:
        if setup.source is not None:
            return StudentAgent(setup, note)
        from connect4.players.building import build

        return build(setup)
    except BaseException as error:
        _say(channel, {"failed": _detail(error)})
        return None


def _answer(agent: Agent, game: Game, request: dict[str, Any]) -> dict[str, str]:
    """Return the answer to one request; `last` for an error that this process ends with."""
    state = game.from_json(request["state"])
    try:
        return {"played": game.format_action(agent.choose(state, request["seconds"]))}
    except IllegalAction as error:
        return {"invalid": str(error)}
    except BaseException as error:
        cause = error.__context__ if isinstance(error, AgentError) else error
        stops = isinstance(cause, SystemExit | KeyboardInterrupt)
        return {"last" if stops else "error": _detail(error)}


def _detail(error: BaseException) -> str:
    if isinstance(error, AgentError):
        return error.detail
    return clipped("".join(traceback.format_exception(error, limit=-MAX_FRAMES)).rstrip())
