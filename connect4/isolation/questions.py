"""Call a student's `AIPlayer` for purposes other than moves, in an isolated process.

That process has the same restrictions as an agent's process in a game, with bubblewrap if it works.
The caller checks the result.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from typing import Any, Final

from connect4.config import ALLOWED_MODULES
from connect4.games.base import Seconds, State
from connect4.isolation import machine, readable, sandbox, submission
from connect4.isolation.in_process import answer_question
from connect4.isolation.limits import Limits
from connect4.isolation.protocol import line_of, read_setup, setup_to_json
from connect4.isolation.seat import USUAL_LIMITS, choose_level
from connect4.isolation.spawn import agent_environment
from connect4.players.base import Setup

BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from connect4.isolation import questions; questions.serve()"
)

PATIENCE: Final = 30.0
"""Seconds in addition to the limit of a move: for the start, and for long answers."""

MAX_BYTES: Final = 1 << 27
MAX_LISTS: Final = 2_100_000
MAX_VALUES: Final = 12_000_000
"""More than the tree of a search has (`search.trace.MAX_NODES`).

An empty list takes two bytes in an answer, and 64 once it is read."""


class Questions:
    """Asks the file that `setup` names; each question goes to a new `AIPlayer`."""

    def __init__(self, setup: Setup) -> None:
        """Raise `InputError` if the file cannot be read; no code runs before the first question."""
        shares_user = machine.shares_user(choose_level("auto")[0] == "strong")
        tasks = USUAL_LIMITS.tasks + (machine.tasks_of_user() if shares_user else 0)
        limits = replace(USUAL_LIMITS, tasks=tasks)
        self._settings = {"setup": setup_to_json(setup), "limits": asdict(limits)}
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, method: str, state: State, seconds: Seconds) -> tuple[str, Any]:
        """Call the mover's `method(state)` with that time limit.

        Returns `answer` and the list that the method returned, or `missing`, or `failed` and the
        reason in one line.
        """
        process = self._process = self._process or _start(self._settings)
        assert process.stdout is not None
        seconds += PATIENCE
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            _send(process, {"method": method, "player": state.mover, "state": state.to_json()})
            ((key, value),) = _read(process.stdout.readline(MAX_BYTES)).items()
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            in_time = timer.is_alive()
            self.close()
            if in_time:
                return "failed", f"answered {method} with something that is not an answer"
            return "failed", f"did not answer {method} within {seconds:g} s"
        finally:
            timer.cancel()
        return key, value

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _read(line: bytes) -> Any:
    """Parse a line of JSON; raises `ValueError` if that would take too much memory."""
    if line.count(b"[") + line.count(b"{") > MAX_LISTS or line.count(b",") > MAX_VALUES:
        raise ValueError("more than a tree has")
    return json.loads(line)


def _start(settings: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the student's process."""
    inside: list[str] = []
    if choose_level("auto")[0] == "strong":
        program, *options = machine.bubblewrap()
        inside = [program, "--die-with-parent", *options]
    process = subprocess.Popen(
        [*inside, str(readable.PYTHON), "-P", "-c", BOOT, str(readable.KIT.parent)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=agent_environment(),
    )  # fmt: skip
    _send(process, {**settings, "slot": process.pid})
    return process


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(line_of(message))
    process.stdin.flush()


# -- the student's process


def serve() -> None:
    """Answer the questions on standard input; the output of the student's file is dropped."""
    sys.path.remove(sys.argv[1])
    questions, channel = os.fdopen(os.dup(0), encoding="ascii"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    settings = json.loads(questions.readline())
    setup, game = read_setup(settings["setup"])
    files = submission.confine(("connect4", *ALLOWED_MODULES), ALLOWED_MODULES)
    paths = tuple(map(str, readable.readable_paths(files)))
    sandbox.prepare(paths)
    rules = sandbox.rules(paths)
    sandbox.enter(Limits(**settings["limits"]), settings["slot"], None, paths, rules)
    with os.fdopen(channel, "w", encoding="ascii") as answers:
        for line in questions:
            answers.write(answer_question(setup, game, json.loads(line)) + "\n")
            answers.flush()
            gc.unfreeze()  # the module is a cycle, and its search may have frozen it
            gc.collect()
