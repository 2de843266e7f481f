"""The search-tree page: what a search looked at, in which order, and why it left the rest out.

The nodes go into the page in the order in which the search came to them, as columns of plain values
with tables of the moves and of the cells that they change, so that 100,000 nodes stay small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import IntEnum, IntFlag
from typing import Any, NamedTuple

from connect4.games.base import Action, Game, State
from connect4.views import document
from connect4.views.page import changed_cells, shape_data


class Kind(IntEnum):
    """Who chooses at a node: the side that searches, its opponent, or chance."""

    MAX = 0
    MIN = 1
    CHANCE = 2


class Flag(IntFlag):
    """What became of a node."""

    BEST = 1
    """On the principal variation."""
    PRUNED = 2
    """Not searched: its parent was cut off before."""
    CUT = 4
    """Cut off: its value met a bound before all moves were searched."""
    FINAL = 8
    """The game is over there."""
    KNOWN = 16
    """Its value comes from the transposition table."""


class Node(NamedTuple):
    """A position that a search came to by `move` from its parent, or left out (`PRUNED`).

    Value and bounds are from the view of MAX, the player who moves at the root.
    """

    depth: int
    """Plies from the root, which has 0."""
    move: Action | None
    kind: Kind
    value: float | None
    alpha: float
    beta: float
    flags: Flag


def tree_page(game: Game, start: State, agent: str, nodes: Iterable[Node]) -> str:
    """Return the page of a search as one HTML document.

    `nodes` come in the order of the search, the root first, each followed by all that is below it.
    """
    nodes = list(nodes)
    data = {
        **tree_data(game, start, nodes),
        "title": game.title,
        "agent": agent,
        "facts": facts(game, nodes),
        "max_is": f"player {start.mover}, who searches",
        "min_is": f"player {3 - start.mover}",
    }
    return document.build(f"Search tree of {agent}", ("base", "board", "tree"), data)


def facts(game: Game, nodes: list[Node]) -> list[str]:
    """Return the counts of a search, and what it found."""
    pruned = sum(Flag.PRUNED in node.flags for node in nodes)
    cuts = sum(Flag.CUT in node.flags for node in nodes)
    best = next((node for node in nodes if node.depth == 1 and Flag.BEST in node.flags), None)
    found = [
        f"{len(nodes) - pruned:,} nodes",
        f"{cuts:,} cut-offs",
        f"{pruned:,} branches pruned",
        f"{max(node.depth for node in nodes)} plies deep",
    ]
    if best is not None and best.value is not None:
        found.append(f"best move {write_move(game, best.move)}, value {best.value:.6g}")
    return found


def write_move(game: Game, move: Action | None) -> str:
    """Return a move as it is typed; None is a pass."""
    return "pass" if move is None else game.format_action(move)


def tree_data(game: Game, start: State, nodes: Iterable[Node]) -> dict[str, Any]:
    """Return the nodes as columns, with the boards as changes of the parent's board."""
    moves: dict[str, int] = {}
    changes: dict[tuple[int, ...], int] = {}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("depth", "move", "change", "kind", "flags", "value", "alpha", "beta")
    }
    path = [(start, start.board())]
    for node in nodes:
        changed: tuple[int, ...] = ()
        if node.depth:
            del path[node.depth :]
            above, before = path[-1]
            state = above.skip() if node.move is None else above.apply(node.move)
            path.append((state, state.board()))
            changed = tuple(changed_cells(before, path[-1][1]))
        text = write_move(game, node.move)
        columns["depth"].append(node.depth)
        columns["move"].append(moves.setdefault(text, len(moves)))
        columns["change"].append(changes.setdefault(changed, len(changes)))
        columns["kind"].append(int(node.kind))
        columns["flags"].append(int(node.flags))
        for name in ("value", "alpha", "beta"):
            columns[name].append(plain_number(getattr(node, name)))
    return {
        **shape_data(start),
        "start": "".join(map(str, start.board().ravel().tolist())),
        "moves": list(moves),
        "changes": [list(changed) for changed in changes],
        **columns,
    }


def plain_number(value: float | None) -> float | None:
    """Return a number as the page writes it; None for no number and for no bound."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else round(value, 3)
