"""Iterative deepening: one ply, two plies, ... until the depth, the budget or the game ends."""

from __future__ import annotations

from connect4.games.base import State
from connect4.search.deadline import OutOfBudgetError
from connect4.search.evaluation import WIN
from connect4.search.minimax import Found, Minimax


def deepen(search: Minimax, state: State, depth: int) -> Found:
    """Search an unfinished position 1, 2, ... up to `depth` plies deep, best move first.

    Returns the result of the last search, even if the budget interrupted it: by then it had
    searched at least the best move so far to the new depth (Slate & Atkin 1977, "CHESS 4.5";
    Russell & Norvig 2020, section 5.2.3). Stops early if a deeper search cannot change the result,
    or a win or loss is found; the first one found is the fastest.
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
