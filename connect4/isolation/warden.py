"""The warden: forks an agent's process when the referee requests one, and ends it.

It runs as `python -c spawn.BOOT`, one for each seat, and never runs an agent's code. It ends an
agent's process together with everything that it started, and exits when the referee does.
"""

from __future__ import annotations

import base64
import contextlib
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
from pathlib import Path
from typing import Final

from connect4.isolation import sandbox, submission
from connect4.isolation.protocol import END, SIZE, START, STATUS
from connect4.isolation.worker import Reading, serve

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
        control = socket.socket(fileno=int(arguments[2]))
        reading = _reading(control, files)
        channel, log, stack, parent = _guard(control, files)
    else:
        reading = Reading(sandbox.readable_paths(files))
        channel, log = (_unshare(sys.stdin.readline()) for _ in range(2))
        stack = int(sys.stdin.readline() or -1)
        parent = os.getppid()
    try:
        serve(channel, log, stack, parent, reading)
    except BaseException:  # whatever it is, it is written down before the process ends
        traceback.print_exc()
    finally:  # nothing that an agent registered with atexit is run, no thread is waited for
        os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def _unshare(line: str) -> socket.socket:
    if sys.platform == "win32":
        return socket.fromshare(base64.b64decode(line))
    return socket.socket(fileno=int(line))


def _reading(control: socket.socket, files: sandbox.Files) -> Reading:
    """Return what agents may read, with the kernel's rules for it; raises `OSError`.

    Made once for all agents of this warden: there are hundreds of rules. Where the referee names no
    paths, all of Python that is here may be read.
    """
    (size,) = SIZE.unpack(control.recv(SIZE.size, socket.MSG_WAITALL))
    named = json.loads(control.recv(size, socket.MSG_WAITALL))
    paths = sandbox.readable_paths(files)
    if named["readable"] is not None:
        paths = (*map(Path, named["readable"]), *(files or ()))
    return Reading(paths, sandbox.rules(paths, [Path(path) for path in named["listable"]]))


def _guard(
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
                os.setpgid(agent, agent)  # as it does itself: `_end` may come before it gets there
            for handle in handles:
                os.close(handle)
        else:
            status = _end(agent)
            if command != END:  # the referee has gone
                os._exit(0)
            control.sendall(STATUS.pack(status))


def _end(agent: int) -> int:
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
