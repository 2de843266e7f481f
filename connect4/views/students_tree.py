"""The tree of a student's search, asked for where an agent may do no harm.

`explain` runs in a process that has given up what an agent's process gives up in a game, inside
bubblewrap where that works; what comes out of it is checked node by node.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from typing import Any, Final

from connect4 import protections, sandbox
from connect4.errors import AgentFailure, BadInput
from connect4.games.base import Seconds, State
from connect4.games.extended import ExtendedState
from connect4.host import read_setup
from connect4.isolation import USUAL_LIMITS, choose_level, setup_to_json
from connect4.players.base import Setup
from connect4.players.student import StudentAgent
from connect4.processes import agent_environment
from connect4.search.trace import MAX_NODES, Flag, Kind, Node
from connect4.views.terminal import first_line

BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from connect4.views import students_tree; students_tree.serve()"
)

PATIENCE: Final = 30.0
"""Seconds that it may take longer than a move: to start, and because recording takes time."""

MAX_BYTES: Final = 1 << 28

NOTES: Final = {
    "best": Flag.BEST, "pruned": Flag.PRUNED, "cut": Flag.CUT, "known": Flag.KNOWN,
}  # fmt: skip
"""The words that a student's `explain` marks a node with."""


def explained_by_student(setup: Setup, state: State, seconds: Seconds) -> list[Node]:
    """Return what the optional method `explain(state)` of an `AIPlayer` returns, as nodes.

    It returns `(depth, move, kind, value, alpha, beta, note)` of each node in the order of the
    search, as docs/students.md describes. Raises `BadInput` for whatever is not that.
    """
    name = f"agent {setup.agent.text!r}"
    key, value = _ask(setup, state, seconds)
    if key == "missing":
        raise BadInput(
            f"{name}: its AIPlayer has no method explain(state); docs/students.md says what that is"
        )
    if key != "rows" or not isinstance(value, list):
        raise BadInput(f"{name} {first_line(str(value))}")
    if len(value) > MAX_NODES:
        raise BadInput(f"{name}: a tree of more than {MAX_NODES} nodes")
    nodes: list[Node] = []
    for number, row in enumerate(value):
        try:
            nodes.append(_read_node(row, nodes))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadInput(f"{name}: node {number} of its tree: {error}") from None
    if not nodes:
        raise BadInput(f"{name}: explain returned no nodes")
    return nodes


def _ask(setup: Setup, state: State, seconds: Seconds) -> tuple[str, Any]:
    """Return `rows` with the nodes as they came, `missing`, or `failed` with what it did."""
    inside: list[str] = []
    if choose_level("auto")[0] == "strong":
        program, *options = protections.bubblewrap()
        inside = [program, "--die-with-parent", *options]
    process = subprocess.Popen(
        [*inside, sys.executable, "-P", "-c", BOOT, str(sandbox.KIT.parent)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=agent_environment(),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    limits = replace(USUAL_LIMITS, tasks=USUAL_LIMITS.tasks + protections.tasks_of_user())
    request = {
        "setup": setup_to_json(setup), "state": state.to_json(), "limits": asdict(limits),
        "slot": process.pid,
    }  # fmt: skip
    timer = threading.Timer(seconds + PATIENCE, process.kill)
    timer.start()
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        ((key, value),) = json.loads(process.stdout.read(MAX_BYTES)).items()
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        late = f"gave no tree within {seconds + PATIENCE:g} s"
        return "failed", "answered explain with what is no tree" if timer.is_alive() else late
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
    return key, value


def _read_node(row: Any, before: list[Node]) -> Node:
    """Return one node of a student's tree, which follows those `before` it."""
    depth, move, kind, value, alpha, beta, note = row
    if not isinstance(depth, int) or not min(len(before), 1) <= depth <= _deepest(before):
        raise ValueError(f"depth {depth!r} does not follow from the nodes before it")
    flags = Flag(0)
    for word in note.split():
        flags |= NOTES[word]
    move = (int(move[0]), bool(move[1])) if depth else None
    return Node(
        depth,
        move,
        Kind[kind],
        None if value is None else float(value),
        float(alpha),
        float(beta),
        flags,
    )


def _deepest(before: list[Node]) -> int:
    """Return the greatest depth that the next node can have."""
    if not before:
        return 0
    last = before[-1]
    return last.depth if Flag.PRUNED in last.flags and last.depth else last.depth + 1


# -- the student's process


def serve() -> None:
    """Answer the one request on standard input; what the student's file prints is dropped."""
    sys.path.remove(sys.argv[1])
    request = json.loads(sys.stdin.readline())
    channel = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    sandbox.prepare()
    setup, game = read_setup(request["setup"])
    state = game.from_json(request["state"])
    sandbox.enter(sandbox.Limits(**request["limits"]), request["slot"], None)
    with os.fdopen(channel, "w", encoding="ascii") as answer:
        answer.write(_explain(setup, state))


def _explain(setup: Setup, state: State) -> str:
    """Return the answer as JSON."""
    assert isinstance(state, ExtendedState)
    try:
        player = StudentAgent(setup).player
        if not hasattr(player, "explain"):
            return json.dumps({"missing": None})
        rows = list(player.explain(state.for_agent()))
        return json.dumps({"rows": rows}, default=lambda number: number.item())  # numpy's
    except AgentFailure as error:
        return json.dumps({"failed": str(error)})
    except BaseException as error:
        return json.dumps({"failed": f"failed in explain: {error!r:.500}"})
