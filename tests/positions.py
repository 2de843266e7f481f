"""Positions for the tests and benchmarks of searches: random ones, and their values by force."""

from functools import lru_cache

from connect4.errors import InputError
from connect4.games import GAMES, load_start
from connect4.search.solver import tokens_in


def small_start(game, rows, columns):
    """Return an empty board of that size, or the usual start where the game has no other."""
    try:
        return game.start(rows, columns)
    except InputError:
        return game.start(None, None)


def random_position(rng, fewest, most, start=None):
    """Return an undecided position after N random moves from `start`, and the moves.

    Both sides have a move in it. The usual start is the empty 6 by 7 board of classic Connect 4.
    """
    while True:
        state, moves = start or GAMES["classic"].start(6, 7), []
        plies = rng.randint(fewest, most)
        while len(moves) < plies and state.legal_actions():
            moves.append(rng.choice(state.legal_actions()))
            state = state.apply(moves[-1])
        if state.legal_actions() and state.skip().legal_actions():
            return state, moves


def wins(state):
    """Return the moves with which the mover wins at once."""
    return [move for move in state.legal_actions() if any(state.apply(move).scores())]


def scores(solver, state):
    """Return the solver's score of a position with each move, by ascending column."""
    won = (43 - tokens_in(state)) // 2
    found = {}
    for column in state.legal_actions():
        after = state.apply(column)
        if after.is_over():
            found[column] = won if after.winner() else 0
        else:
            found[column] = -solver.score(after)
    return found


def tactical_positions(rng, game):
    """Yield random undecided positions of that game in which tactics are likely."""
    starts = [load_start(GAMES["dynamic"], name) for name in "abc"]
    while True:
        if game == "dynamic":
            yield random_position(rng, 1, 12, rng.choice(starts))[0]
        else:
            yield random_position(rng, 6, 34)[0]


def with_a_win(rng, player, game="classic"):
    """Return a position in which `player` moves and can win at once, and how."""
    for state in tactical_positions(rng, game):
        if state.mover == player and wins(state):
            return state, wins(state)


def with_a_threat(rng, player, game="classic"):
    """Return a position in which `player` moves and has to parry a threat, and how.

    Nobody wins at once, and after any of those moves the opponent has no threat left.
    """
    for state in tactical_positions(rng, game):
        if state.mover != player or not wins(state.skip()) or wins(state):
            continue
        parries = [move for move in state.legal_actions() if not wins(state.apply(move))]
        if parries:
            return state, parries


@lru_cache(300_000)
def by_force(state, chance=None):
    """Return player 1's margin at the end of a game that both sides play perfectly.

    All moves to the end are tried. The player `chance`, if there is one, plays at random.
    """
    values = [by_force(state.apply(action), chance) for action in state.legal_actions()]
    if not values:
        return state.margin(1)
    if state.mover == chance:
        return sum(values) / len(values)
    return max(values) if state.mover == 1 else min(values)
