"""Iterative deepening: one ply, two plies, ... until the depth, the budget or the game ends."""

from __future__ import annotations

from connect4.games.base import State
from connect4.search.deadline import OutOfBudgetError
from connect4.search.evaluation import WIN
from connect4.search.minimax import Found, Minimax


def deepen(search: Minimax, state: State, depth: int) -> Found:
    """Search a position that is not over 1, 2, ... up to `depth` plies deep, best move first.

    Returns what the last search found that was begun, in part where the budget ran out: at least
    the move that was best before had then been searched to the new depth (Slate & Atkin 1977,
    "CHESS 4.5"; Russell & Norvig 2020, section 5.2.3). Stops early where no deeper search can
    come to anything else, or a win or loss is found: the first one found is the fastest.
    """
    found = Found(0, (search.order(state)[0],), 0, 0)
    try:
        for plies in range(1, depth + 1):
            found = search.search(state, plies, found.move)
            if found.complete or abs(found.value) >= WIN:
                break
    except OutOfBudgetError:
        found = search.best_so_far or found
    return found
