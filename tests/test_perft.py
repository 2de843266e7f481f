"""Perft: how many sequences of legal actions there are."""

import json
from pathlib import Path

import pytest

from connect4.games import GAMES

FOLDER = Path(__file__).parent / "data" / "perft"
TABLES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}

QUICK = 300_000
"""Leaves that are counted in the normal run; deeper counts are slow."""


def cases():
    return [
        pytest.param(
            game,
            "\n".join(entry["start"]),
            depth,
            leaves,
            marks=[] if leaves <= QUICK else [pytest.mark.slow, pytest.mark.timeout(600)],
            id=f"{game}: {name}, {depth} plies",
        )
        for game, table in TABLES.items()
        for name, entry in table.items()
        for depth, leaves in enumerate(entry["leaves"], 1)
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


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_table(game):
    assert game in TABLES, f"add {game}.json to tests/data/perft: what tests/naive_games.py counts"


@pytest.mark.parametrize(("game", "start", "depth", "leaves"), cases())
def test_the_rules_count_as_the_table_says(game, start, depth, leaves):
    assert perft(GAMES[game].read(start, "table"), depth) == leaves


def test_the_published_counts_of_classic_connect_4():
    """Counted by others too: a four in a row is a leaf."""
    assert TABLES["classic"]["6x7, empty"]["leaves"] == [
        7, 49, 343, 2401, 16807, 117649, 823536, 5673234,
    ]  # fmt: skip
