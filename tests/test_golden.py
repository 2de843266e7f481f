"""The golden games: what was once played is played again, turn by turn and byte by byte."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from connect4.games import GAMES
from connect4.record import dumps, read, replay
from tests.games import played, without_times

FOLDER = Path(__file__).parent / "data" / "golden"
FILES = sorted(FOLDER.glob("*.json"))


def test_every_game_has_a_golden_game_and_the_command_that_makes_it():
    for name in GAMES:
        assert (FOLDER / f"{name}.json") in FILES, (
            f"add {name}.json, as tests/data/golden/README.md"
        )
    assert {path.stem for path in FILES} <= set(GAMES)
    commands = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FILES:
        assert re.search(rf"python3 -m .*{path.name}`", commands)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_game_is_played_again_to_the_byte(path):
    golden = read(path)
    one, two = (player.agent for player in golden.players)
    again, state = played(
        one, two, golden.start, seed=golden.seed, seconds=golden.time_limit, game=golden.game.name
    )
    again = replace(again, versions=golden.versions, isolation=golden.isolation)
    assert without_times(dumps(again)) == without_times(path.read_text(encoding="utf-8"))
    *_, last = replay(golden)
    assert last.key() == state.key()
