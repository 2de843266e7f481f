"""The solver: published scores, plain search, and another solver as an oracle."""

from random import Random

import pytest

from connect4.games import GAMES
from connect4.search.deadline import Deadline, OutOfBudgetError
from connect4.search.evaluation import WIN, Evaluation, win_or_loss
from connect4.search.ordering import center
from connect4.search.solver import Solver
from connect4.search.transposition import TableAlphaBeta
from tests.positions import random_position, wins

CLASSIC = GAMES["classic"]


def after_moves(text):
    """Return the position after moves written as columns counted from 1."""
    state = CLASSIC.start(6, 7)
    for digit in text:
        state = state.apply(int(digit) - 1)
    return state


@pytest.mark.parametrize(("moves", "score"), [("4455", 18), ("44455554221", -15)])
def test_published_scores(moves, score):
    assert Solver(memory=16).score(after_moves(moves)) == score


def test_the_move_keeps_the_score_and_scores_lists_them_all():
    solver = Solver(memory=16)
    rng = Random(1)
    for _ in range(60):
        state, _ = random_position(rng, 24, 40)
        move, score = solver.best(state)
        scores = solver.scores(state)
        assert list(scores) == list(state.legal_actions())
        assert max(scores.values()) == scores[move] == score == solver.score(state)
        assert bool(wins(state)) == (score == (43 - state.mask.bit_count()) // 2)


def test_scores_are_what_a_plain_search_to_the_end_finds():
    solver = Solver(memory=16)
    rng = Random(2)
    to_the_end = Evaluation(lambda state: 0, win_or_loss)
    for _ in range(150):
        state, moves = random_position(rng, 30, 41)
        left = 42 - len(moves)
        found = TableAlphaBeta(to_the_end, center).search(state, left)
        assert found.complete
        score = solver.score(state)
        assert (score > 0) - (score < 0) == (found.value > 0) - (found.value < 0)
        if found.value:
            plies = left - (abs(found.value) - WIN)  # from here to the end of the game
            tokens = (len(moves) + plies + 1) // 2  # the winner's
            assert abs(score) == 22 - tokens


@pytest.mark.bitbully
def test_bitbully_agrees_on_500_positions():
    import bitbully

    oracle = bitbully.BitBully()
    solver = Solver(memory=64)
    rng = Random(3)
    for _ in range(500):
        state, moves = random_position(rng, 17, 41)
        board = bitbully.Board()
        assert board.play([int(move) for move in moves])
        assert solver.score(state) == oracle.mtdf(board), moves


@pytest.mark.bitbully
def test_the_oracle_has_the_published_scale():
    """The empty board is beyond the solver; the oracle scores it from its book of openings."""
    import bitbully

    scores = bitbully.BitBully().score_all_moves(bitbully.Board())
    assert [scores[column] for column in range(7)] == [-2, -1, 0, 1, 0, -1, -2]


def test_a_small_table_only_costs_time():
    rng = Random(4)
    small, large = Solver(memory=1), Solver(memory=64)
    for _ in range(30):
        state, _ = random_position(rng, 22, 30)
        assert small.score(state) == large.score(state)


@pytest.mark.slow
def test_published_bounds_on_nodes():
    # Means over 200 positions each; the benchmark measures the time too.
    rng = Random(5)
    for fewest, most, limit in ((28, 41, 100), (20, 27, 100_000)):
        solver = Solver(memory=64)
        for _ in range(200):
            solver.score(random_position(rng, fewest, most)[0])
        assert solver.nodes / 200 < limit


def test_it_stops_at_its_budget_and_stays_usable():
    solver = Solver(memory=16)
    solver.deadline = Deadline(nodes=1000)
    with pytest.raises(OutOfBudgetError):
        solver.score(CLASSIC.start(6, 7))
    assert solver.nodes == 1001
    solver.deadline = Deadline()
    assert solver.score(after_moves("44455554221")) == -15


@pytest.mark.parametrize(
    "state",
    [
        CLASSIC.start(6, 8),
        after_moves("1212121"),
        GAMES["dynamic"].start(None, None),
        GAMES["classic-full"].start(6, 7),
    ],
)
def test_other_positions_are_refused(state):
    solver = Solver(memory=1)
    for method in (solver.score, solver.best, solver.scores):
        with pytest.raises(ValueError, match="classic Connect 4 of 6 rows by 7 columns, not over"):
            method(state)


def test_perfect_play_against_itself_ends_as_scored():
    solver = Solver(memory=64)
    rng = Random(6)
    for _ in range(10):
        state, _ = random_position(rng, 18, 24)
        player, score = state.mover, solver.score(state)
        while not state.is_over():
            assert solver.score(state) == (score if state.mover == player else -score)
            state = state.apply(solver.best(state)[0])
        assert (state.margin(player) > 0) == (score > 0)
        assert (state.margin(player) < 0) == (score < 0)


def test_a_mirrored_position_has_mirrored_scores():
    solver = Solver(memory=16)
    rng = Random(7)
    for _ in range(20):
        state, moves = random_position(rng, 24, 38)
        mirrored = CLASSIC.start(6, 7)
        for column in moves:
            mirrored = mirrored.apply(6 - column)
        there = {6 - column: score for column, score in solver.scores(mirrored).items()}
        assert there == solver.scores(state)
