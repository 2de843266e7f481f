"""The searches and heuristics on the games: equal to plain minimax and to published figures."""

import re
from itertools import cycle
from random import Random

import pytest

from connect4.games import GAMES, load_start
from connect4.search import (
    ORDERS,
    WIN,
    Evaluation,
    ascending,
    center,
    heuristics,
    win_or_loss,
)
from connect4.search.heuristics import HEURISTICS, heuristic_of
from connect4.search.mcts import sampled
from connect4.search.minimax import AlphaBeta, Minimax, TableAlphaBeta, deepen
from tests import naive_heuristics
from tests.command import ROOT
from tests.positions import small_start

CLASSIC, FULL = GAMES["classic"], GAMES["classic-full"]
EXTENDED, DYNAMIC = GAMES["extended"], GAMES["dynamic"]

LONG = ("extended", "dynamic", "popout")
"""Games of many actions: their trees take seconds to compare."""

NOTHING = Evaluation(lambda state: 0, win_or_loss)


def walk(start, rng, plies):
    """Return a position after at most `plies` random plies, not over."""
    state = start
    for _ in range(plies):
        following = state.after(rng.choice(ascending(state)))
        if following.ending() is not None:
            break
        state = following
    return state


def small_starts(game):
    """Return starts on small boards, where a search of a few plies meets ends of games."""
    if game is EXTENDED:
        text = "2 1 {}\n0 0 0 0\n0 0 0 0\n0 0 0 0\n"
        return [EXTENDED.read(text.format(mover), "small") for mover in (1, 2)]
    if game is DYNAMIC:
        text = "O,X, , \n ,O,X, \n , ,O,X\nX, , ,O\n"
        small = DYNAMIC.read(text, "small")
        return [small, small.skip(), load_start(DYNAMIC, "b").with_options(line=3)]
    return [small_start(game, *size) for size in ((4, 4), (5, 4), (4, 5))]


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, id=name, marks=[pytest.mark.slow] if name in LONG else [])
        for name, game in GAMES.items()
    ],
)
def test_alpha_beta_equals_minimax_with_table_and_deepening_with_every_heuristic(game):
    rng = Random(game.name)
    starts = small_starts(game)
    names = cycle(entry.name for entry in HEURISTICS[game.name])
    orders = cycle(ORDERS.values())
    for number, name, order in zip(range(2000), names, orders, strict=False):
        state = walk(rng.choice(starts), rng, rng.randrange(16))
        depth = 3 if number % 4 == 0 else 2
        evaluation = heuristic_of(game, name).evaluation()
        plain = Minimax(evaluation, order).search(state, depth)
        pruned = AlphaBeta(evaluation, order).search(state, depth)
        table = TableAlphaBeta(evaluation, order).search(state, depth)
        deepened = deepen(TableAlphaBeta(evaluation, order), state, depth)
        expected = plain.value, plain.move
        assert (pruned.value, pruned.move) == expected, state.to_text()
        assert (table.value, table.move) == expected, state.to_text()
        assert pruned.line == plain.line
        assert pruned.nodes <= plain.nodes
        if deepened.depth == depth:
            assert (deepened.value, deepened.move) == expected, state.to_text()
        else:  # a decided game: what is left of the depth shifts the value, not the move
            assert deepened.move == plain.move
            assert deepened.complete or abs(deepened.value) >= WIN


@pytest.mark.parametrize("kind", [AlphaBeta, TableAlphaBeta])
@pytest.mark.parametrize("game", [CLASSIC, FULL, EXTENDED], ids=["classic", "full", "extended"])
def test_after_the_principal_variation_the_value_is_that_of_the_search(game, kind):
    rng = Random(game.name)
    evaluation = heuristic_of(game).evaluation()
    for _ in range(40):
        state = walk(rng.choice(small_starts(game)), rng, rng.randrange(12))
        found = kind(evaluation, center).search(state, 4)
        end = state
        for move in found.line:
            end = end.after(move)
        left = 4 - len(found.line)
        if end.is_over():
            value = evaluation.final(end, left)
        else:
            value = Minimax(evaluation).search(end, left).value if left else evaluation.leaf(end)
        assert found.value == (value if end.mover == state.mover else -value)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_heuristics_are_as_good_for_one_side_as_bad_for_the_other(game):
    rng = Random(1)
    for heuristic in HEURISTICS[game.name]:
        leaf = heuristic.evaluation().leaf
        for start in [game.start(None, None), *small_starts(game)]:
            for _ in range(40):
                state = walk(start, rng, rng.randrange(30))
                assert leaf(state) == -leaf(state.skip()), heuristic.name
                assert abs(leaf(state)) < WIN


@pytest.mark.parametrize("name", ["potential", "windows", "v1", "v2", "connected", "fuzzy"])
def test_a_heuristic_equals_its_description(name):
    rng = Random(name)
    games = {"connected": DYNAMIC, "fuzzy": DYNAMIC}
    game = games.get(name, CLASSIC)
    naive = getattr(naive_heuristics, name)
    sizes = [(6, 7), (6, 8), (4, 4), (3, 9), (12, 12), (1, 5)]
    for number in range(300):
        if game is DYNAMIC:
            line, name_of_start = ((4, "a"), (4, "b"), (4, "c"), (3, "start"))[number % 4]
            start = load_start(DYNAMIC, name_of_start).with_options(line=line)
            state = walk(start, rng, rng.randrange(8))
            expected = naive(state.board().tolist(), *([line] if name == "connected" else []))
        else:
            state = walk(FULL.start(*sizes[number % 6]), rng, rng.randrange(60))
            expected = naive(state.board().tolist())
        leaf = getattr(heuristics, name)
        for_mover = expected if state.mover == 1 else -expected
        assert leaf(state) == pytest.approx(for_mover), state.to_text()


def test_playing_md_lists_every_heuristic_by_game():
    text = (ROOT / "docs" / "playing.md").read_text(encoding="utf-8")
    table = text.partition("| game | heuristic |")[2].partition("\n\n")[0]
    listed, game = {}, ""
    for line in table.splitlines()[2:]:
        first, names, sentence = (cell.strip() for cell in line.split("|")[1:-1])
        game = first.strip("`") or game
        listed.setdefault(game, []).extend(re.findall("`(.+?)`", names))
        assert sentence
    assert listed == {
        game: [entry.name for entry in entries] for game, entries in HEURISTICS.items()
    }


OVER_THE_EDGE = """\
 , , , , , ,
X, , , ,O,O,X
O, , , , , ,
 , , , , , ,
 , ,X,X, , ,X
O,O, , , , ,
 ,X, , ,O, ,
"""
"""Lines of 2 and 2, soft lines of 4 and 5."""


def test_fuzzy_counts_what_hangs_over_the_edge_and_neighbours_beyond_the_ends():
    assert heuristics.fuzzy(DYNAMIC.read(OVER_THE_EDGE, "start")) == -0.125
    assert heuristics.fuzzy(DYNAMIC.read(f"{OVER_THE_EDGE}mover=2", "start")) == 0.125
    corner = DYNAMIC.read("O, , , , \n , , , , \n , , , , \n , , , , \n , , , ,X", "start")
    assert heuristics.fuzzy(corner) == naive_heuristics.fuzzy(corner.board().tolist()) == 0
    short = DYNAMIC.read(" , ,O, , \n ,O, , , \nO, , , , \nX, , , , \n , , , ,X", "start")
    assert heuristics.fuzzy(short) == naive_heuristics.fuzzy(short.board().tolist())
    assert heuristics.fuzzy(short) > 2, "three on a diagonal of three cells"


def test_white_forces_a_win_in_three_plies_in_a_and_in_c_and_none_in_five_in_b():
    for name, depth in (("a", 3), ("c", 3), ("b", 5)):
        search = TableAlphaBeta(heuristic_of(DYNAMIC).evaluation(), center)
        found = deepen(search, load_start(DYNAMIC, name), depth)
        assert (found.value >= WIN) == (name != "b")


def test_orders_of_moves():
    full = load_start(EXTENDED, "case1")
    for action in [(0, False)] * 5 + [(4, False), (3, False), (2, False)]:
        full = full.apply(action)
    drops = [(column, False) for column in (3, 4, 2, 5, 1, 6, 0, 7)]
    assert center(full) == [*drops, (4, True), (2, True), (0, True)]
    assert list(ascending(full)) == list(full.legal_actions())
    assert list(center(CLASSIC.start(6, 7))) == [3, 2, 4, 1, 5, 0, 6]
    assert list(center(CLASSIC.start(6, 8))) == [3, 4, 2, 5, 1, 6, 0, 7]
    moves = center(load_start(DYNAMIC, "a"))
    assert tuple(sorted(moves)) == load_start(DYNAMIC, "a").legal_actions()
    assert moves[:4] == ["44E", "44N", "44S", "44W"]


# Set-up 1: the potential heuristic


def test_potential_of_one_token_at_the_bottom_of_an_empty_6x8_board():
    start = CLASSIC.start(6, 8)
    potential = heuristics.potential
    values = [-potential(start.apply(column)) for column in range(8)]
    assert values == [30, 40, 50, 70, 70, 50, 40, 30]


# Set-up 2: random games and what agents make of them


@pytest.mark.slow
def test_the_expected_values_of_random_games():
    samples = 40_000
    start = CLASSIC.start(6, 7)
    rng = Random(2024)
    results = [start.playout(rng) for _ in range(samples)]
    for result, expected in (((1, 0), 0.5556), ((0, 1), 0.4418)):
        deviation = (expected * (1 - expected) / samples) ** 0.5
        assert abs(results.count(result) / samples - expected) < 4 * deviation
    error = 4 / samples**0.5
    assert sampled(samples, rng)(start) == pytest.approx(0.1138, abs=error)
    assert -sampled(samples, rng)(start.apply(3)) == pytest.approx(0.2815, abs=error)


# Set-up 3: the table of expanded states


EXPANDED = {
    None: ((8, 57, 400, 2801, 19608), None),
    "v1": ((8, 21, 76, 210, 699), (0, 0, 2, 0, 4)),
    "v2": ((8, 21, 87, 220, 917), (0, 0, 4, 0, 6)),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_the_states_that_the_published_agent_expands(name):
    nodes, values = EXPANDED[name]
    kind = Minimax if name is None else AlphaBeta
    evaluation = heuristic_of(GAMES["classic-full"], name or "v1").evaluation()
    start = FULL.start(6, 7)
    searched = [kind(evaluation, center).search(start, depth) for depth in range(1, 6)]
    assert tuple(found.nodes for found in searched) == nodes
    assert {found.move for found in searched} == {3}
    if values is not None:
        assert tuple(found.value for found in searched) == values


def test_on_a_full_board_only_fours_count():
    rng = Random(5)
    for worth, name in ((4, "v1"), (40, "v2")):
        state = FULL.start(6, 7)
        while not state.is_over():
            state = state.apply(rng.choice(state.legal_actions()))
        fours = state.margin(state.mover)
        assert fours
        evaluation = heuristic_of(GAMES["classic-full"], name).evaluation()
        assert evaluation.final(state, 2) == worth * fours


# Dynamic Connect-4


NODES = {
    "a": {3: 3307, 4: 37077, 5: 587046},
    "b": {3: 3522, 4: 59234, 5: 836614},
    "start": {1: 8, 2: 68, 3: 681, 4: 7086, 5: 81941},
}
CASES = [
    pytest.param(start, depth, nodes, marks=[pytest.mark.slow] if nodes > 100_000 else [])
    for start, counts in NODES.items()
    for depth, nodes in counts.items()
]


@pytest.mark.parametrize(("start", "depth", "nodes"), CASES)
def test_the_nodes_of_plain_minimax(start, depth, nodes):
    assert Minimax(NOTHING).search(load_start(DYNAMIC, start), depth).nodes == nodes
