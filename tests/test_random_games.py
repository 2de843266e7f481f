"""Whole games of the random player on every state file of the kit."""

from pathlib import Path

import pytest

from connect4.games.base import Ending
from connect4.players.base import Outcome
from connect4.record import replay
from tests import naive_api, naive_extended
from tests.games import played, reread

STATES = sorted((Path(__file__).parent.parent / "connect4/initial_states").glob("*.txt"))


def check_games(path, seeds):
    """Every game ends by the rules, its record replays, and naive rules and points agree."""
    for seed in seeds:
        record, state = played("random", "random", str(path), seed=seed)
        assert record.result.ending is Ending.NO_ACTION
        *_, last = replay(reread(record))
        naive = naive_extended.read(path.read_text(encoding="utf-8"))
        for turn in record.turns:
            assert turn.outcome is Outcome.PLAYED
            naive = naive_extended.apply(naive, turn.action)
        assert naive_extended.actions(naive) == []
        assert (last.board().tolist(), list(last.popouts), last.mover) == naive
        assert last.key() == state.key()
        one, two = (naive_api.get_pts(player, last.board()) for player in (1, 2))
        assert record.result.scores == (one, two)
        assert record.result.winner == (1 if one > two else 2 if two > one else 0)


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_random_games_end_replay_and_score(path):
    check_games(path, range(20))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_a_thousand_random_games_end_replay_and_score(path):
    check_games(path, range(1000))
