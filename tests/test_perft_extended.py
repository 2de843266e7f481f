"""Perft: how many sequences of legal actions there are, from two independent generators."""

import json
from pathlib import Path

import pytest

from connect4.games.extended import read
from tests import naive_extended

TABLE = json.loads((Path(__file__).parent / "data/perft/extended.json").read_text("utf-8"))

QUICK, QUICK_NAIVE = 1_000_000, 35_000
"""Leaves that a generator counts in the normal run; deeper counts are slow."""


def cases(quick):
    return [
        pytest.param(
            entry,
            depth,
            leaves,
            marks=[] if leaves <= quick else [pytest.mark.slow],
            id=f"{name}, {depth} plies",
        )
        for name, entry in TABLE.items()
        for depth, leaves in enumerate(entry["leaves"], 1)
    ]


def perft(state, depth):
    if depth == 1:
        return len(state.legal_actions())
    return sum(perft(state.apply(action), depth - 1) for action in state.legal_actions())


@pytest.mark.parametrize(("entry", "depth", "leaves"), cases(QUICK))
def test_the_rules_count_as_the_table_says(entry, depth, leaves):
    assert perft(read("\n".join(entry["start"]), "table"), depth) == leaves


@pytest.mark.parametrize(("entry", "depth", "leaves"), cases(QUICK_NAIVE))
def test_the_naive_generator_counts_the_same(entry, depth, leaves):
    assert naive_extended.perft(naive_extended.read("\n".join(entry["start"])), depth) == leaves


def test_five_plies_on_an_empty_4x6_board_by_hand():
    """Five drops into six columns, less those that put all five into one column of four cells."""
    assert TABLE["4x6, no pop-outs"]["leaves"][4] == 6**5 - 6
