"""Call a method of a student's `AIPlayer` other than for a move, in an isolated process.

That process has the same restrictions as an agent's process in a game, with bubblewrap if it works.
The caller checks the result.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
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
from connect4.isolation.spawn import SLOTS, agent_environment
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


def ask_student(setup: Setup, method: str, state: State, seconds: Seconds) -> tuple[str, Any]:
    """Call `method(state)` of a new `AIPlayer` of the mover with that time limit.

    Returns `answer` and the list that the method returned, or `missing`, or `failed` and the reason
    in one line. Raises `InputError` if the file cannot be read.
    """
    strong = choose_level("auto")[0] == "strong"
    tasks = machine.tasks_of_user() if machine.shares_user(strong) else 0
    question = {
        "setup": setup_to_json(replace(setup, player=state.mover)),
        "limits": asdict(replace(USUAL_LIMITS, tasks=USUAL_LIMITS.tasks + tasks)),
        "slot": secrets.randbelow(SLOTS),
        "method": method,
        "state": state.to_json(),
    }
    inside: list[str] = []
    if strong:
        program, *options = machine.bubblewrap()
        inside = [program, "--die-with-parent", *options]
    seconds += PATIENCE
    with subprocess.Popen(
        [*inside, str(readable.PYTHON), "-P", "-c", BOOT, str(readable.KIT.parent)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=agent_environment(),
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            with contextlib.suppress(OSError), process.stdin as stream:  # it may have ended
                stream.write(line_of(question))
            line = process.stdout.readline(MAX_BYTES)
        finally:
            in_time = timer.is_alive()
            timer.cancel()
            process.kill()
    try:
        ((key, value),) = _read(line).items()
    except (ValueError, TypeError, AttributeError, RecursionError):
        if in_time:
            return "failed", f"answered {method} with something that is not an answer"
        return "failed", f"did not answer {method} within {seconds:g} s"
    return key, value


def _read(line: bytes) -> Any:
    """Parse a line of JSON; raises `ValueError` if that would take too much memory."""
    if line.count(b"[") + line.count(b"{") > MAX_LISTS or line.count(b",") > MAX_VALUES:
        raise ValueError("more than a tree has")
    return json.loads(line)


# -- the student's process


def serve() -> None:
    """Answer the question on standard input; the output of the student's file is dropped."""
    sys.path.remove(sys.argv[1])
    question = json.loads(sys.stdin.readline())
    channel = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    setup, game = read_setup(question["setup"])
    files = submission.confine(("connect4", *ALLOWED_MODULES), ALLOWED_MODULES)
    rules = sandbox.rules(map(str, readable.readable_paths(files)))
    sandbox.enter(Limits(**question["limits"]), question["slot"], None, rules, None)
    answer = answer_question(setup, question["method"], game.from_json(question["state"]))
    with os.fdopen(channel, "w", encoding="ascii") as answers:
        answers.write(f"{answer}\n")
