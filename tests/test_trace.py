"""The recorded tree of a search: complete, in order, and right about what was left out."""

import math
from functools import cache
from typing import Any

import pytest

from connect4.errors import InputError
from connect4.games import GAMES, load_start
from connect4.games.base import State
from connect4.search import trace as traces
from connect4.search.heuristics import heuristic_of
from connect4.search.minimax import AlphaBeta, Expectimax, Minimax, TableAlphaBeta, deepen
from connect4.search.trace import Flag, Kind, Node, Trace

STARTS = [
    ("extended", load_start(GAMES["extended"], "case4")),
    ("classic", GAMES["classic"].start(5, 4)),
    ("classic-full", GAMES["classic-full"].start(4, 5)),
    ("dynamic", load_start(GAMES["dynamic"], "a")),
]
DEPTH = 3


def traced(kind: type[Minimax], name: str, state: State) -> tuple[Minimax, Trace, Any]:
    """Search `DEPTH` plies deep; return the search, its trace and what it found."""
    search = kind(heuristic_of(GAMES[name]).evaluation())
    trace = Trace(search)
    return search, trace, search.search(state, DEPTH)


def positions(nodes: list[Node], state: State) -> list[State]:
    """Return each node's position."""
    path = [state]
    found = [state]
    for node in nodes[1:]:
        del path[node.depth :]
        path.append(path[-1].after(node.move))
        found.append(path[-1])
    return found


def exact(name: str, root: State) -> Any:
    """Return a function of `(position, depth left)`: its minimax value from the root's view."""
    evaluation = heuristic_of(GAMES[name]).evaluation()

    @cache
    def solve(key: Any, left: int) -> float:
        state = known[key]
        if state.is_over():
            value = evaluation.final(state, left)
        elif not left:
            value = evaluation.leaf(state)
        else:
            moves = state.legal_actions() or [None]
            value = max(-look(state.after(move), left - 1) for move in moves)
        return value

    def look(state: State, left: int) -> float:
        known[state.key()] = state
        return solve(state.key(), left)

    known: dict[Any, State] = {}
    return lambda state, left: look(state, left) * (1 if state.mover == root.mover else -1)


@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, TableAlphaBeta, Expectimax])
@pytest.mark.parametrize(("name", "state"), STARTS)
def test_every_node_that_was_searched_is_recorded_once(
    kind: type[Minimax], name: str, state: State
) -> None:
    search, trace, _ = traced(kind, name, state)
    searched = [node for node in trace.nodes if Flag.PRUNED not in node.flags]
    assert len(searched) == search.nodes
    assert [node.depth for node in trace.nodes].count(0) == 1
    for node, position in zip(trace.nodes, positions(trace.nodes, state), strict=True):
        is_max = position.mover == state.mover
        assert node.kind is (
            Kind.MAX if is_max else Kind.CHANCE if kind is Expectimax else Kind.MIN
        )
        assert (Flag.FINAL in node.flags) == (position.is_over() and node in searched)


@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, TableAlphaBeta])
@pytest.mark.parametrize(("name", "state"), STARTS)
def test_values_are_exact_inside_the_window_and_bounds_outside(
    kind: type[Minimax], name: str, state: State
) -> None:
    _, trace, _ = traced(kind, name, state)
    value_of = exact(name, state)
    for node, position in zip(trace.nodes, positions(trace.nodes, state), strict=True):
        if Flag.PRUNED in node.flags:
            assert node.value is None
            continue
        true = value_of(position, DEPTH - node.depth)
        assert node.value is not None
        if kind is Minimax or node.alpha < node.value < node.beta:
            assert node.value == true
        elif node.value >= node.beta:
            assert true >= node.value
        else:
            assert true <= node.value


@pytest.mark.parametrize(("name", "state"), STARTS)
def test_a_cut_off_node_met_the_bound_that_the_page_names(name: str, state: State) -> None:
    _, trace, _ = traced(AlphaBeta, name, state)
    cut = [node for node in trace.nodes if Flag.CUT in node.flags]
    assert cut
    for node in cut:
        assert node.value is not None
        assert node.value >= node.beta if node.kind is Kind.MAX else node.value <= node.alpha
    assert any(Flag.PRUNED in node.flags for node in trace.nodes)


def test_without_pruning_nothing_is_pruned() -> None:
    for kind in (Minimax, Expectimax):
        _, trace, _ = traced(kind, *STARTS[0])
        assert not any(node.flags & (Flag.PRUNED | Flag.CUT) for node in trace.nodes)


@pytest.mark.parametrize(("name", "state"), STARTS)
def test_the_marked_nodes_are_the_principal_variation(name: str, state: State) -> None:
    _, trace, found = traced(AlphaBeta, name, state)
    best = [node for node in trace.nodes if Flag.BEST in node.flags]
    assert tuple(node.move for node in best[1:]) == found.line
    assert {node.value for node in best} == {found.value}


def test_of_a_deepening_search_the_last_whole_depth_is_kept() -> None:
    name, state = STARTS[0]
    search = TableAlphaBeta(heuristic_of(GAMES[name]).evaluation())
    trace = Trace(search)
    deepen(search, state, 4)
    assert max(node.depth for node in trace.nodes) == 4
    assert trace.nodes[0].alpha == -math.inf


def test_a_tree_too_large_to_look_at_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MAX_NODES", 50)
    with pytest.raises(InputError, match="more than 50 nodes; choose a smaller depth"):
        traced(Minimax, *STARTS[0])
