"""Record the nodes of a search in the order in which it visits them."""

import math
from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import Final, NamedTuple

from connect4.errors import InputError
from connect4.games.base import State
from connect4.search import Move, OutOfBudgetError, mcts
from connect4.search.minimax import Expectimax, Found, Minimax

MAX_NODES: Final = 1_000_000
"""The most nodes that a person can still explore."""


class Kind(IntEnum):
    """Who chooses at a node: the side that searches, its opponent, or chance."""

    MAX = 0
    MIN = 1
    CHANCE = 2


class Flag(IntFlag):
    """How the search treated a node."""

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
    """A position that a search reached by `move` from its parent, or skipped (`PRUNED`).

    Value and bounds are from the view of MAX, the player who moves at the root.
    """

    depth: int
    """Plies from the root, which has 0."""
    move: Move
    kind: Kind
    value: float | None = None
    alpha: float = -math.inf
    beta: float = math.inf
    flags: Flag = Flag(0)
    visits: int | None = None
    """How often a Monte-Carlo tree search was there; None for other searches."""
    children: "tuple[Node, ...]" = ()
    """What `with_children` fills in."""

    def __repr__(self) -> str:
        value = "no value" if self.value is None else f"value {self.value:g}"
        below = f"{len(self.children)} children"
        return f"<Node {self.move} at depth {self.depth}: {value}, {below}>"


def with_children(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes of a tree, in search order, with their children."""
    found: list[Node] = []
    open_at: dict[int, list[Node]] = defaultdict(list)
    for node in reversed(nodes):
        below = open_at.pop(node.depth + 1, [])
        found.append(node._replace(children=tuple(reversed(below))))
        open_at[node.depth].append(found[-1])
    return found[::-1]


class Trace:
    """The tree of one search. `nodes` is in search order, each node followed by its subtree.

    Of a deepening search, it is the tree of the last completed depth.
    """

    def __init__(self, search: Minimax) -> None:
        """Watch `search`: replaces its methods `value`, `after` and `search`."""
        self.nodes: list[Node] = []
        self._growing: list[Node] = []
        self._visited: list[list[Move]] = []
        self._move: Move = None
        self._root = 1
        self._search = search
        self._other = Kind.CHANCE if isinstance(search, Expectimax) else Kind.MIN
        self._value, self._after, self._begin = search.value, search.after, search.search
        search.value = self._watch_value  # type: ignore[method-assign]
        search.after = self._watch_after
        search.search = self._watch_search  # type: ignore[method-assign]

    def _watch_search(self, state: State, depth: int, first: Move = None) -> Found:
        self._root = state.mover
        self._growing = [Node(0, None, Kind.MAX)]
        self._visited = [[]]
        found = self._begin(state, depth, first)
        self._growing[0] = self._growing[0]._replace(value=found.value)
        self.nodes = mark_line(self._growing, found.line)
        return found

    def _watch_after(self, state: State, move: Move) -> State:
        self._move = move
        return self._after(state, move)

    def _watch_value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        move, own, nodes = self._move, len(self._growing), self._growing
        if own >= MAX_NODES:
            if self.nodes:
                raise OutOfBudgetError  # keep the tree of the previous depth
            raise InputError(f"a tree of more than {MAX_NODES} nodes; choose a smaller depth")
        kind = Kind.MAX if state.mover == self._root else self._other
        window = (alpha, beta) if state.mover == self._root else (-beta, -alpha)
        node = Node(len(self._visited), move, kind, None, *window)
        self._visited[-1].append(move)
        nodes.append(node)
        self._visited.append([])
        value = self._value(state, depth, alpha, beta)
        visited = self._visited.pop()
        flags = Flag.FINAL if state.ending() is not None else Flag(0)
        if not flags and depth:
            if not visited:
                flags |= Flag.KNOWN
            elif kind is not Kind.CHANCE and self._prune(state, visited, node) and value >= beta:
                flags |= Flag.CUT
        seen = value if state.mover == self._root else -value
        nodes[own] = node._replace(value=seen, flags=flags)
        return value

    def _prune(self, state: State, visited: list[Move], node: Node) -> list[Move]:
        """Add the moves that were skipped, and return them."""
        left_out = [move for move in self._search.order(state) if move not in visited]
        kind = Kind.MIN if node.kind is Kind.MAX else Kind.MAX
        for move in left_out:
            bounds = node.alpha, node.beta
            self._growing.append(Node(node.depth + 1, move, kind, None, *bounds, Flag.PRUNED))
        return left_out


def mark_line(nodes: list[Node], line: tuple[Move, ...]) -> list[Node]:
    """Return the nodes with `BEST` on the root and on the moves of `line` below it."""
    marked = list(nodes)
    marked[0] = nodes[0]._replace(flags=nodes[0].flags | Flag.BEST)
    depth = 0
    for index, node in enumerate(nodes):
        if index and node.depth <= depth:
            break
        if depth < len(line) and node.depth == depth + 1 and node.move == line[depth]:
            marked[index] = node._replace(flags=node.flags | Flag.BEST)
            depth += 1
    return marked


def nodes_of_mcts(search: mcts.Mcts) -> list[Node]:
    """Return the tree of a Monte-Carlo tree search; its values have no bounds."""
    root = search.root
    side = root.state.mover
    nodes: list[Node] = []
    waiting = [(0, root, Flag.BEST)]
    while waiting:
        depth, node, best = waiting.pop()
        kind = Kind.MAX if node.state.mover == side else Kind.MIN
        flags = best | Flag.FINAL if node.over else best
        value = search.value(node)
        nodes.append(Node(depth, node.move, kind, value, flags=flags, visits=node.visits))
        first = max(node.children, key=mcts.MctsNode.worth, default=None)
        for child in reversed(node.children):
            waiting.append((depth + 1, child, best if child is first else Flag(0)))
    return nodes
