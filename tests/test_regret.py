"""The benchmark of regret: its solver obeys the kit's rules, and its figures are right."""

from random import Random

import pytest

from benchmarks.exact import SOURCE, compiled, read, solve, text_of
from benchmarks.games import empty
from benchmarks.regret import DATA
from tests.command import run
from tests.positions import by_force

SMALL = ("2x6+1", "3x4+1", "3x4+2", "4x4+1", "4x6", "6x8+1", "6x8", "8x10", "8x10+1")

FIRST_ACTION = """
from connect4.utils import get_valid_actions

class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return get_valid_actions(self.player_number, state)[0]
"""


def random_endings(number, rng):
    """Yield positions with at most seven plies left."""
    while number:
        state = empty(rng.choice(SMALL))
        due = rng.randrange(2, 8)
        while state.max_plies > due and not state.is_over():
            state = state.apply(rng.choice(state.legal_actions()))
        if not state.is_over():
            number -= 1
            yield state


def plain_values(state):
    """Return the mover's final margin after each legal action, by plain minimax."""
    sign = 1 if state.mover == 1 else -1
    return tuple(sign * by_force(state.apply(action)) for action in state.legal_actions())


@pytest.mark.slow
@pytest.mark.compiler
def test_the_solver_finds_the_values_of_plain_minimax(tmp_path):
    program = compiled(SOURCE, tmp_path)
    states = list(random_endings(80, Random(7)))
    found = [values for _, values in solve(program, states, 10**9, 1)]
    assert found == list(map(plain_values, states))


def test_every_stored_position_is_there_once_with_a_value_for_each_action():
    data = read(DATA.read_text().splitlines())
    assert len({text_of(solved.state) for solved in data}) == len(data) >= 600
    for solved in data:
        assert len(solved.values) == len(solved.state.legal_actions()) > 1
        assert max(solved.state.popouts) <= 2
    assert DATA.stat().st_size < 200_000


def test_the_points_given_away_are_those_of_a_game_worked_by_hand(tmp_path):
    """In `1 1 . .`, player 1 to move has 5 in the third column and 2 in the fourth.

    In `. . 2 2` column 1 denies the opponent three in a row, which column 0 does not.
    """
    first_action, data = tmp_path / "first_action.py", tmp_path / "data.txt"
    first_action.write_text(FIRST_ACTION)
    data.write_text("# a comment\n1 4 0 0 1 1/1// 5,2\n1 4 0 0 1 //2/2 -5,-2\n")
    done = run("benchmarks.regret", first_action, "--data", data, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    overall = next(line for line in done.stdout.splitlines() if "50.0 ±" in line)
    assert "1.50 ± 2.94" in overall
