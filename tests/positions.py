"""Seeded random positions of classic Connect 4 for the tests and benchmarks of searches."""

from connect4.games import GAMES


def random_position(rng, fewest, most):
    """Return an undecided 6 by 7 position of that many random moves, and the moves."""
    while True:
        state, moves = GAMES["classic"].start(6, 7), []
        plies = rng.randint(fewest, most)
        while len(moves) < plies and not state.is_over():
            moves.append(rng.choice(state.legal_actions()))
            state = state.apply(moves[-1])
        if not state.is_over():
            return state, moves


def wins(state):
    """Return the columns in which the mover wins at once."""
    return [column for column in state.legal_actions() if any(state.apply(column).scores())]


def with_a_win(rng, player):
    """Return a position in which `player` moves and can win at once."""
    while True:
        state, _ = random_position(rng, 6, 34)
        if state.mover == player and wins(state):
            return state


def with_one_threat(rng, player):
    """Return a position in which `player` moves and has to parry one threat, and how.

    Nobody wins at once, and after the parry the opponent has no threat left.
    """
    while True:
        state, _ = random_position(rng, 6, 34)
        threats = wins(state.skip())
        if state.mover != player or len(threats) != 1 or wins(state):
            continue
        parried = state.apply(threats[0])
        if not parried.is_over() and not wins(parried):
            return state, threats[0]
