"""The processes on an agent's side: the warden, and the agent's process that it forks.

An agent's process limits itself, loads the agent and answers requests. `spawn` and
`process` are the referee's end, `protocol` defines the messages.
"""

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Final, cast

from connect4.games import find_game
from connect4.isolation import protocol, sandbox
from connect4.isolation.protocol import STACK_SIGNAL, say
from connect4.isolation.sandbox import Limits
from connect4.players.student import StudentAgent


def serve(channel: socket.socket, log: socket.socket, parent: int, rules: int | None) -> None:
    """Read the settings, limit this process, load the agent, answer until the referee disconnects.

    `rules` name the readable files, see `sandbox.rules`. On `STACK_SIGNAL` it prints its stack,
    even during C code.
    """
    requests = channel.makefile("rb")
    del sys.argv[1:], sys.orig_argv[1:]  # the last word is the number of the referee's process
    _redirect(log)
    settings = json.loads(requests.readline())
    setup = protocol.read_setup(settings["setup"])
    limits = Limits(**settings["limits"])
    note = protocol.note if sandbox.denies() else None
    try:
        slot, core, strong = (settings[name] for name in ("slot", "core", "strong"))
        temporary = setup.agent.kind == "kaggle"
        sandbox.enter(limits, slot, core, rules, setup.folder, strong, temporary)
    except (OSError, ValueError) as error:
        say(channel.sendall, {protocol.BROKEN: f"{type(error).__name__}: {error}"})
        os._exit(1)
    if os.getppid() != parent:  # the parent died before its death signal was set
        return
    if STACK_SIGNAL is not None:
        faulthandler.register(STACK_SIGNAL, file=2, all_threads=False)
    protocol.draw_from(setup.derived_seed())
    say(channel.sendall, {protocol.UP: os.getpid()})
    agent = protocol.load(channel.sendall, setup, note)
    if agent is None:
        return
    say(channel.sendall, {protocol.READY: True})
    for line in requests:
        request = json.loads(line)
        if "method" in request:
            state = setup.game.from_json(request["state"])
            say(channel.sendall, cast("StudentAgent", agent).call(request["method"], state))
            continue
        message = protocol.answer(agent, setup.game, request, note)
        say(channel.sendall, message)
        if protocol.THOUGHT in message:
            protocol.say_thought(channel.sendall, agent)
        if protocol.LAST in message:
            break


def _redirect(log: socket.socket) -> None:
    """Redirect the agent's output to the log, and close its input."""
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


PR_SET_CHILD_SUBREAPER: Final = 36


def main(arguments: list[str], kept: list[str]) -> None:
    """Run a warden on the inherited socket or, without `fork`, one agent on its shared handles.

    The folder of the kit is removed from the import path, because files next to the kit may have
    the names of standard modules. `kept` are the modules that stay in a submission's process; it is
    empty for the kit's own agents.
    """
    sys.path.remove(arguments[1])
    _, _, handle, allowed, game, *modules, _ = arguments
    find_game(game)
    for module in modules:
        importlib.import_module(module)
    files = protocol.confine(kept, allowed.split()[1:]) if kept else ()
    gc.enable()
    if handle != "shared":
        control = socket.socket(fileno=int(handle))
        rules = _rules(control, files)
        channel, log, parent = _guard(control)
    else:
        rules = None  # nothing is denied without `fork`
        channel, log = (_unshare(sys.stdin.readline()) for _ in range(2))
        parent = os.getppid()
    try:
        serve(channel, log, parent, rules)
    except BaseException:  # print any error before the process ends
        traceback.print_exc()
    finally:  # skip what an agent registered with atexit, and do not wait for threads
        os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def _unshare(line: str) -> socket.socket:
    if sys.platform == "win32":
        import base64

        return socket.fromshare(base64.b64decode(line))
    return socket.socket(fileno=int(line))


def _rules(control: socket.socket, files: Iterable[Path]) -> int | None:
    """Return the kernel's rules on files, if there are any; raises `OSError`.

    The referee has made the hundreds of rules for Python once for all wardens. The `files` of the
    kit are added here, because only this process knows which were loaded.
    """
    _, handles, _, _ = socket.recv_fds(control, len(protocol.RULES), 1)
    if not handles:
        return None
    for path in files:
        sandbox.allow(handles[0], str(path))
    return handles[0]


def _guard(control: socket.socket) -> tuple[socket.socket, socket.socket, int]:
    """Serve the referee until it disconnects.

    Returns only in an agent's process: its two sockets, and its parent's number.
    """
    if sys.platform == "linux":
        sandbox.prctl(PR_SET_CHILD_SUBREAPER, 1)  # adopt what an agent leaves behind, see `_end`
    gc.freeze()
    agent, parent = 0, os.getpid()
    while True:
        command, handles, _, _ = socket.recv_fds(control, 1, 2)
        if command == protocol.START:
            agent = os.fork()
            if agent == 0:
                os.setpgid(0, 0)
                control.close()
                channel, log = (socket.socket(fileno=handle) for handle in handles)
                return channel, log, parent
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.setpgid(agent, agent)  # the child does so too; `_end` may be called before that
            for handle in handles:
                os.close(handle)
        else:
            status = _end(agent) if agent else 0
            agent = 0  # the number of an agent that has ended may be another process's by now
            if command != protocol.END:  # the referee has disconnected
                os._exit(0)
            control.sendall(protocol.STATUS.pack(status))


def _end(agent: int) -> int:
    """Kill an agent's process group and all processes that left it; return how the agent ended.

    Only without seccomp can an agent start processes. The daemon that it then leaves behind, in a
    group of its own, has become a child of this process. The status is that of `subprocess`: a
    negative number is a signal.
    """
    status = 0
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; a zombie, on macOS
        os.killpg(agent, signal.SIGKILL)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(agent, 0)[1])
        while True:  # processes that left its group are our children now
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
