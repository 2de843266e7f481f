"""The search-tree page: what a search looked at, and why it did not look at the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import IntFlag
from typing import Any, Literal, NamedTuple

from connect4.games.base import Action, Game, State
from connect4.views import document
from connect4.views.page import changed_cells, shape_data


class Flag(IntFlag):
    BEST = 1
    PRUNED = 2
    CUT = 4
    FINAL = 8
    KNOWN = 16


class Node(NamedTuple):
    depth: int
    move: Action | None
    kind: Literal[0, 1, 2]
    value: float | None
    alpha: float
    beta: float
    flags: int


def tree_page(game: Game, start: State, agent: str, nodes: Iterable[Node]) -> str:
    """Return the page of a recorded search as one HTML document."""
    data = tree_data(game, start, nodes)
    data.update(
        title=game.title, agent=agent, facts=["facts"], max_is="player 1", min_is="player 2"
    )
    return document.build(f"Search tree: {agent}", ("base", "board", "tree"), data)


def tree_data(game: Game, start: State, nodes: Iterable[Node]) -> dict[str, Any]:
    moves: dict[str, int] = {}
    changes: dict[tuple[int, ...], int] = {(): 0}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("depth", "move", "kind", "value", "alpha", "beta", "flags", "change")
    }
    path = [(start, start.board())]
    for node in nodes:
        changed: tuple[int, ...] = ()
        if node.depth:
            del path[node.depth :]
            above, before = path[-1]
            state = above.skip() if node.move is None else above.apply(node.move)
            board = state.board()
            path.append((state, board))
            changed = tuple(changed_cells(before, board))
        text = "pass" if node.move is None else game.format_action(node.move)
        columns["depth"].append(node.depth)
        columns["move"].append(moves.setdefault(text, len(moves)))
        columns["change"].append(changes.setdefault(changed, len(changes)))
        columns["kind"].append(node.kind)
        columns["flags"].append(int(node.flags))
        for name in ("value", "alpha", "beta"):
            columns[name].append(rounded(getattr(node, name)))
    return {
        **shape_data(start),
        "start": "".join(map(str, start.board().ravel().tolist())),
        "moves": list(moves),
        "changes": [list(changed) for changed in changes],
        **columns,
    }


def rounded(value: float | None) -> float | None:
    """Return a number as the page writes it, None for no number or no bound."""
    if value is None or math.isinf(value):
        return None
    return int(value) if value == int(value) else round(value, 3)
