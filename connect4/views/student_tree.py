"""Get the tree of a student's search from an isolated process, and check it node by node."""

from __future__ import annotations

import json
import math
from contextlib import closing
from typing import Any, Final

from connect4 import checked
from connect4.errors import InputError
from connect4.games.base import Game, State
from connect4.isolation.channel import is_large
from connect4.isolation.seat import IsolatedSeat, choose_level, open_seat
from connect4.players.base import Setup
from connect4.players.names import AgentName
from connect4.players.student import read_answer
from connect4.search.trace import MAX_NODES, Flag, Kind, Node
from connect4.views.words import first_line

MAX_VALUE: Final = 1e100
"""More than a search needs, also for a win."""

NOTES: Final = {
    "best": Flag.BEST, "pruned": Flag.PRUNED, "cut": Flag.CUT, "known": Flag.KNOWN,
}  # fmt: skip
"""The notes on a node that a student's `explain` may return."""


def explained_by_student(setup: Setup, state: State) -> list[Node]:
    """Return the nodes from the optional method `explain(state)` of an `AIPlayer`.

    It runs in a process with the same limits as in a game. Raises `InputError` if there is no such
    method, or it gives another answer than `read_nodes` reads.
    """
    level, _ = choose_level("auto")
    with closing(open_seat(setup, level)) as seat:
        assert isinstance(seat, IsolatedSeat)
        key, value = seat.call("explain", state, setup.seconds)
    return read_nodes(setup.agent, setup.game, key, value)


def read_nodes(agent: AgentName, game: Game, key: str, value: Any) -> list[Node]:
    """Return the nodes of an answer of `StudentAgent.call`, its `key` and `value`.

    The value is JSON, `(depth, move, kind, value, alpha, beta, note)` for each node in search
    order, as docs/students.md describes. Raises `InputError` for any other answer.
    """
    name = f"agent {agent.text!r}"
    if key == "missing":
        raise InputError(
            f"{name}: its AIPlayer has no method explain(state); docs/students.md describes it"
        )
    if key == "failed":
        said = value if isinstance(value, str) else checked.shown(value)
        raise InputError(f"{name} {first_line(said)}")
    if key == "":
        raise InputError(f"{name}: a tree of more than {MAX_NODES} nodes; search less deep")
    try:
        value = _read(value) if key == "answer" else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise InputError(
            f"{name}: explain returned no list of nodes; docs/students.md has an example"
        )
    if len(value) > MAX_NODES:
        raise InputError(f"{name}: a tree of more than {MAX_NODES} nodes")
    nodes: list[Node] = []
    for number, row in enumerate(value):
        try:
            nodes.append(_read_node(row, nodes, game))
        except ValueError as error:
            raise InputError(f"{name}: node {number} of its tree: {error}") from None
    if not nodes:
        raise InputError(f"{name}: explain returned no nodes")
    return nodes


def _read(text: str) -> Any:
    """Parse JSON; raises `ValueError` if that would take too much memory."""
    if is_large(text):
        raise ValueError("more than a tree has")
    return json.loads(text)


def _read_node(row: Any, before: list[Node], game: Game) -> Node:
    """Return one node of a student's tree; `before` are the nodes before it.

    Raises `ValueError`, of which `InputError` and `IllegalAction` are kinds.
    """
    depth, move, kind, value, alpha, beta, note = checked.items(row, "it", 7)
    if type(depth) is not int or not min(len(before), 1) <= depth <= _deepest(before):
        raise InputError(
            f"depth {checked.shown(depth)} does not follow: one root with depth 0, then its "
            "children"
        )
    flags = Flag(0)
    for word in checked.text(note, "note").split():
        if word not in NOTES:
            raise InputError(f"note {checked.shown(word)}; expected {', '.join(NOTES)}")
        flags |= NOTES[word]
    if checked.text(kind, "kind") not in Kind.__members__:
        raise InputError(f"kind {checked.shown(kind)}; expected {', '.join(Kind.__members__)}")
    assert game.file_action is not None
    if depth:
        move = game.file_action(read_answer(tuple(checked.items(move, "move", 2))))
    return Node(
        depth,
        move if depth else None,
        Kind[kind],
        None if value is None else _read_number("value", value),
        _read_number("alpha", alpha),
        _read_number("beta", beta),
        flags,
    )


def _read_number(name: str, value: Any) -> float:
    """Return a number, which may be infinite: a win, or no bound."""
    is_number = type(value) in (int, float)
    if not is_number or not (abs(value) <= MAX_VALUE or abs(value) == math.inf):
        said = f"{name} {checked.shown(value)} is no number"
        raise InputError(f"{said} from {-MAX_VALUE:g} to {MAX_VALUE:g}")
    return float(value)


def _deepest(before: list[Node]) -> int:
    """Return the maximum depth of the next node."""
    if not before:
        return 0
    last = before[-1]
    return last.depth if Flag.PRUNED in last.flags and last.depth else last.depth + 1
