"""Perft: how many sequences of legal actions there are, from two independent generators."""

import json
from pathlib import Path

import pytest

from connect4.games import GAMES
from tests import naive_games

FOLDER = Path(__file__).parent / "data" / "perft"
TABLES = {name: json.loads((FOLDER / f"{name}.json").read_text("utf-8")) for name in GAMES}

QUICK, QUICK_NAIVE = 300_000, 3_000
"""Leaves that a generator counts in the normal run; deeper counts are slow."""

SLOW_NAIVE = 50_000
"""The naive generator is not asked for more."""


def cases(quick, most):
    return [
        pytest.param(
            game,
            "\n".join(entry["start"]),
            depth,
            leaves,
            marks=[] if leaves <= quick else [pytest.mark.slow, pytest.mark.timeout(600)],
            id=f"{game}: {name}, {depth} plies",
        )
        for game, table in TABLES.items()
        for name, entry in table.items()
        for depth, leaves in enumerate(entry["leaves"], 1)
        if leaves <= most
    ]


def perft(state, depth):
    """Return the sequences of `depth` plies; a pass is a ply, the end of a game is a leaf."""
    if depth == 0:
        return 1
    actions = state.legal_actions()
    if not actions and not state.is_over():
        return perft(state.skip(), depth - 1)
    if depth == 1:
        return len(actions)
    return sum(perft(state.apply(action), depth - 1) for action in actions)


@pytest.mark.parametrize(("game", "start", "depth", "leaves"), cases(QUICK, 10**9))
def test_the_rules_count_as_the_table_says(game, start, depth, leaves):
    assert perft(GAMES[game].read(start, "table"), depth) == leaves


@pytest.mark.parametrize(("game", "start", "depth", "leaves"), cases(QUICK_NAIVE, SLOW_NAIVE))
def test_the_naive_generator_counts_the_same(game, start, depth, leaves):
    naive = naive_games.NAIVE[game]
    assert naive_games.perft(naive, naive.read(start), depth) == leaves


def test_five_plies_on_an_empty_4x6_board_by_hand():
    """Five drops into six columns, less those that put all five into one column of four cells."""
    assert TABLES["extended"]["4x6, no pop-outs"]["leaves"][4] == 6**5 - 6


def test_the_published_counts_of_classic_connect_4():
    """Counted by others too: a four in a row is a leaf."""
    assert TABLES["classic"]["6x7, empty"]["leaves"] == [
        7, 49, 343, 2401, 16807, 117649, 823536, 5673234,
    ]  # fmt: skip
