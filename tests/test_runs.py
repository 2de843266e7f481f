"""The runs that views show: they add up to the score, and change as a move changed the score."""

import random
from itertools import pairwise

import numpy as np
import pytest

from connect4.games import GAMES, extended
from connect4.games.base import Player, State
from connect4.games.board import Run, run_changes
from connect4.games.extended import ExtendedState

MAXIMUM = 12


def random_state(rng: random.Random) -> ExtendedState:
    """Return a position of ExtendedConnect4 with columns of random heights and tokens."""
    rows, columns = rng.randint(1, MAXIMUM), 2 * rng.randint(1, MAXIMUM // 2)
    board = np.zeros((rows, columns), dtype=np.int64)
    for column in range(columns):
        for row in range(rng.randint(0, rows), rows):
            board[row, column] = rng.randint(1, 2)
    mover: Player = 1 if rng.random() < 0.5 else 2
    return extended.position(board, (rng.randint(0, 3), rng.randint(0, 3)), mover)


def assert_runs_add_up(state: State) -> None:
    board = state.board()
    points = [0, 0]
    for run in state.runs():
        points[run.player - 1] += run.points
        (first_row, first_column), (down, right) = run.first, run.step
        assert {int(board[cell]) for cell in run.cells} == {run.player}
        for row, column in (
            (first_row - down, first_column - right),
            (first_row + down * run.length, first_column + right * run.length),
        ):
            inside = 0 <= row < board.shape[0] and 0 <= column < board.shape[1]
            assert not inside or board[row, column] != run.player, "a run is as long as it can be"
    assert tuple(points) == state.scores()


def assert_changes_add_up(before: State, after: State) -> None:
    old, new = before.runs(), after.runs()
    changes = run_changes(old, new)
    for player in (1, 2):
        gained = sum(change.points for change in changes if change.player == player)
        assert gained == after.scores()[player - 1] - before.scores()[player - 1]
    made = {run for change in changes for run in change.made}
    broken = {run for change in changes for run in change.broken}
    assert (set(old) - broken) | made == set(new)


def test_the_runs_of_random_boards_add_up_to_the_score() -> None:
    rng = random.Random(22)
    for _ in range(300):
        state = random_state(rng)
        assert_runs_add_up(state)
        if actions := state.legal_actions():
            assert_changes_add_up(state, state.apply(rng.choice(actions)))


@pytest.mark.parametrize("name", GAMES)
def test_the_runs_of_every_game_add_up_from_start_to_end(name: str) -> None:
    for seed in range(3):
        rng = random.Random(seed)
        states = [GAMES[name].start(None, None)]
        while not states[-1].is_over():
            actions = states[-1].legal_actions()
            states.append(states[-1].apply(rng.choice(actions)) if actions else states[-1].skip())
        for before, after in pairwise(states[-30:]):
            assert_runs_add_up(after)
            assert_changes_add_up(before, after)


def position(*rows: str) -> State:
    board = np.array([[int(cell) for cell in row] for row in rows])
    return extended.position(board, (6, 6))


def test_a_pair_that_grows_is_one_change() -> None:
    before = position("0000", "0000", "1100")
    (change,) = run_changes(before.runs(), before.apply((2, False)).runs())
    assert (change.player, change.points) == (1, 3)
    assert change.made == (Run(1, (2, 0), (0, 1), 3, 5),)
    assert change.broken == (Run(1, (2, 0), (0, 1), 2, 2),)
    assert change.made[0].cells == ((2, 0), (2, 1), (2, 2))


def test_a_run_that_a_pop_out_splits_costs_its_points() -> None:
    before = position("0000", "0220", "1111")
    changes = run_changes(before.runs(), before.apply((2, True)).runs())
    assert [(change.player, change.points) for change in changes] == [(1, -18), (2, -2), (2, 2)]
    split, pair, diagonal = changes
    assert [run.length for run in (*split.broken, *split.made)] == [4, 2]
    assert (pair.broken[0].first, diagonal.made[0].first) == ((1, 1), (1, 1))


def test_both_lines_of_a_winner_are_runs_and_one_has_the_point() -> None:
    state = GAMES["classic"].read(
        "0\n"
        + "0 0 0 0 0 0 0\n" * 2
        + "\n".join(["1 0 0 0 0 0 0", "1 0 0 0 0 0 0", "1 0 0 0 0 0 0", "1 1 1 1 0 0 0"]),
        "drawn",
    )
    assert [(run.length, run.points) for run in state.runs()] == [(4, 1), (4, 0)]
