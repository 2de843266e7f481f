"""Random openings: positions that differ from pair to pair, so that pairs are independent."""

from __future__ import annotations

import random

from connect4.games import GAMES
from grader.rubric.model import Board, make_board


def opening(board: Board, plies: int, seed: int) -> Board:
    """Return the board after `plies` random moves, fewer if the game would be over."""
    rng = random.Random(seed)
    state = GAMES[board.game].from_json(board.start)
    for _ in range(plies):
        after = state.apply(rng.choice(state.legal_actions()))
        if after.is_over():
            break
        state = after
    return make_board(f"{board.name} opening {seed}", state.to_json(), board.game)
