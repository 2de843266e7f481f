"""Searches of small drawn trees: the move, the value, and exactly the positions visited."""

from random import Random

import pytest

from connect4.games import GAMES, load_start
from connect4.search import WIN, Deadline, Evaluation, ascending, center, win_or_loss
from connect4.search.mcts import Mcts, sampled
from connect4.search.minimax import AlphaBeta, Expectimax, Minimax, TableAlphaBeta, deepen
from tests.drawn import BY_VALUE, Drawn

EXTENDED = load_start(GAMES["extended"], "case1")

TEXTBOOK = {
    "B": {"b": 3, "c": 12, "d": 8},
    "C": {"e": 2, "f": 4, "g": 6},
    "D": {"h": 14, "i": 5, "j": 2},
}
"""Figure 6.2 of Russell & Norvig (2020): MAX, then MIN."""

DEEP = {
    "l": {"l": {"l": 5, "r": 6}, "r": {"l": 7, "r": 4}},
    "m": {"l": {"l": 3, "r": 2}, "r": {"l": 9, "r": 9}},
    "r": {"l": {"l": 6, "r": 8}, "r": {"l": 7, "r": 5}},
}
"""MAX, MIN, MAX."""


def search(kind, tree, depth, mover=1, **more):
    root = Drawn(tree, mover)
    found = kind(BY_VALUE, **more).search(root, depth)
    return found, " ".join(root.seen)


@pytest.mark.parametrize(
    ("kind", "tree", "depth", "value", "line", "visited"),
    [
        (Minimax, TEXTBOOK, 2, 3, "Bb", "B Bb Bc Bd C Ce Cf Cg D Dh Di Dj"),
        # C is cut off after its first leaf: MIN has 2 there, MAX has 3 elsewhere.
        (AlphaBeta, TEXTBOOK, 2, 3, "Bb", "B Bb Bc Bd C Ce D Dh Di Dj"),
        (TableAlphaBeta, TEXTBOOK, 2, 3, "Bb", "B Bb Bc Bd C Ce D Dh Di Dj"),
        (AlphaBeta, TEXTBOOK, 1, 0, "B", "B C D"),
        # lr is cut off by beta after 7; m by alpha after ml, whose 3 is no more than 6.
        (AlphaBeta, DEEP, 3, 7, "rrl", "l ll lll llr lr lrl m ml mll mlr r rl rll rlr rr rrl rrr"),
        (AlphaBeta, {"a": 1, "b": {"c": 1, "d": 0}}, 2, 1, "a", "a b bc"),
    ],
)
def test_a_search_visits_what_it_must_and_nothing_else(kind, tree, depth, value, line, visited):
    found, seen = search(kind, tree, depth)
    assert (found.value, "".join(found.line), seen) == (value, line, visited)
    assert found.nodes == 1 + len(visited.split())
    assert found.move == line[0]


@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, TableAlphaBeta])
def test_player_2_searches_for_the_lowest_of_player_1s_values(kind):
    found, _ = search(kind, TEXTBOOK, 2, mover=2)
    assert (found.value, found.line) == (-6, ("C", "g"))


@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, TableAlphaBeta])
def test_of_equal_moves_the_first_is_kept_whichever_is_searched_first(kind):
    tree = {"a": {"x": 1, "y": 4}, "b": {"x": 3}, "c": {"x": 3, "y": 5}, "d": {"x": 2}}
    for first in (None, "a", "b", "c", "d"):
        found = kind(BY_VALUE).search(Drawn(tree), 2, first)
        assert (found.value, found.line) == (3, ("b", "x")), first


@pytest.mark.parametrize("order", [ascending, center])
@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, TableAlphaBeta])
def test_a_mover_without_an_action_passes(kind, order):
    found, seen = search(kind, {"a": ({"b": 5, "c": 7},), "d": 6}, 3, order=order)
    assert (found.value, found.line) == (7, ("a", None, "c"))
    assert seen == "a a- a-b a-c d"


def test_the_sooner_win_and_the_later_loss_are_better():
    evaluation = Evaluation(lambda state: 0, win_or_loss)
    wins = {"a": {"x": {"y": 1}}, "b": 1, "c": {"x": {"y": 1}}}
    found = Minimax(evaluation).search(Drawn(wins), 3)
    assert (found.move, found.value) == ("b", WIN + 2)
    losses = {"a": {"x": -1}, "b": {"x": {"y": {"z": -1}}}, "c": {"x": -1}}
    found = AlphaBeta(evaluation).search(Drawn(losses), 4)
    assert (found.line, found.value) == (("b", "x", "y", "z"), -WIN)


@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, TableAlphaBeta])
def test_deepening_finds_what_the_deepest_search_finds_and_stops_at_the_end_of_the_game(kind):
    deepest = kind(BY_VALUE).search(Drawn(DEEP), 3)
    found = deepen(kind(BY_VALUE), Drawn(DEEP), 60)
    assert (found.value, found.line, found.depth) == (deepest.value, deepest.line, 3)
    assert found.complete
    assert not kind(BY_VALUE).search(Drawn(DEEP), 2).complete


def test_deepening_stops_at_the_first_win():
    evaluation = Evaluation(lambda state: 0, win_or_loss)
    endless = {}
    endless["a"] = endless
    found = deepen(Minimax(evaluation), Drawn({"a": endless, "b": {"c": {"d": 1}}}), 60)
    assert (found.line, found.depth) == (("b", "c", "d"), 3)


def test_a_budget_of_nodes_is_never_exceeded_and_the_best_move_so_far_is_kept():
    for kind in (Minimax, AlphaBeta, TableAlphaBeta):
        for nodes in range(1, 60):
            counting = kind(BY_VALUE, deadline=Deadline(nodes=nodes))
            root = Drawn(DEEP)
            found = deepen(counting, root, 3)
            assert len(root.seen) <= nodes + 2  # a position is made before it is counted
            assert found.nodes <= nodes
            assert found.move in DEEP
    assert found.move == "r"


CHANCE = {
    "a": {"x": 0, "y": 0, "z": 9},
    "b": {"x": 2, "y": 2, "z": 2},
    "c": {"x": 4, "y": {"s": 5, "t": -5}, "z": -6},
}


def test_expectimax_takes_the_best_mean_where_minimax_is_cautious():
    found, seen = search(Expectimax, CHANCE, 3)
    assert (found.move, found.value) == ("a", 3)
    assert len(seen.split()) == 14
    assert search(Minimax, CHANCE, 3)[0].move == "b"
    found, _ = search(Expectimax, CHANCE, 3, mover=2)
    assert found.move == "c"
    assert found.value == pytest.approx((-4 + 5 + 6) / 3)  # player 1 draws lots there


def test_playouts_begin_with_the_mover_and_are_signed_for_it():
    tree = {"a": 1, "b": 1, "c": 1, "d": {"e": -1}}
    estimate = sampled(4000, Random(1))
    assert estimate(Drawn(tree)) == pytest.approx(0.5, abs=0.06)
    assert estimate(Drawn(tree, mover=2)) == pytest.approx(-0.5, abs=0.06)


def test_tree_search_finds_the_win_that_most_random_games_miss():
    # Moving to a wins nine random games of ten, and loses to the one right reply.
    trap = {"a": {**{str(number): 1 for number in range(9)}, "x": -1}, "b": {"y": {"z": 1}, "w": 0}}
    for mover, sign in ((1, 1), (2, -1)):
        tree = trap if sign == 1 else negated(trap)
        searched = Mcts(Drawn(tree, mover), 2.0, Random(3))
        searched.run(400)
        assert searched.best() == "b"
        by_move = {child.move: child for child in searched.root.children}
        assert searched.margin(by_move["a"]) == -sign


def negated(tree):
    """Return the same tree with the values of the two players exchanged."""
    if isinstance(tree, int):
        return -tree
    return {move: negated(after) for move, after in tree.items()}


def test_tree_search_counts_one_playout_and_one_new_position_an_iteration():
    root = Drawn(DEEP)
    searched = Mcts(root, 2.0, Random(1), decided_by_win=False)
    searched.run(12)
    assert searched.iterations == 12
    assert searched.root.visits == 12
    assert sum(child.visits for child in searched.root.children) == 12


def test_tree_search_fights_longest_where_every_move_loses():
    lost = {"a": {"x": -1, "y": 1}, "b": {"x": {"y": {"z": -1}, "w": {"z": -1}}}, "c": {"x": -1}}
    for seed in range(20):
        searched = Mcts(Drawn(lost), 2.0, Random(seed))
        searched.run(200)
        assert searched.root.proven
        assert searched.best() == "b"


def test_tree_search_stops_at_its_budget():
    searched = Mcts(Drawn(DEEP), 2.0, Random(1), False, deadline=Deadline(nodes=30))
    searched.run()
    assert searched.root.visits == 30
    nothing = Mcts(Drawn(DEEP), 2.0, Random(1), False, deadline=Deadline(seconds=0, stride=1))
    nothing.run()
    assert nothing.best() in DEEP


def test_tree_search_takes_the_best_mean_where_points_decide():
    searched = Mcts(Drawn(DEEP), 2.0, Random(5), decided_by_win=False)
    searched.run(3000)
    assert searched.best() == "r"
    best = max(searched.root.children, key=lambda child: child.visits)
    assert searched.margin(best) == pytest.approx(7, abs=0.5)


def test_cautious_expectimax_does_not_let_the_opponent_win_at_once():
    state = GAMES["classic"].start(6, 7)
    for column in (6, 0, 6, 1, 5, 2):
        state = state.apply(column)
    flat = Evaluation(lambda state: 0, win_or_loss)
    assert Expectimax(flat, ascending).search(state, 1).move == 0
    assert Expectimax(flat, ascending, cautious=True).search(state, 1).move == 3


def test_tree_search_expects_the_margin_that_its_heuristic_estimates():
    for start in (EXTENDED, EXTENDED.skip()):
        search = Mcts(start, 2.0, Random(1), False, lambda state: 9 if state.mover == 1 else -9)
        search.run(50)
        assert search.margin(search.root) == pytest.approx(9)
