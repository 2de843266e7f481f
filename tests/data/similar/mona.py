"""Depth-first minimax written as one recursive generator expression."""
from functools import partial
import numpy as np
from connect4.utils import get_pts, get_valid_actions

OTHER = {1: 2, 2: 1}


def play(board, player, action):
    out = board.copy()
    col = out[:, action[0]]
    if action[1]:
        out[:, action[0]] = np.r_[0, col[:-1]]
    else:
        col[np.count_nonzero(col == 0) - 1] = player
    return out


def worth(me, pops, depth, board, turn):
    todo = depth and get_valid_actions(turn, (board, pops))
    if not todo:
        return get_pts(me, board) - 1.1 * get_pts(OTHER[me], board)
    return (max if turn == me else min)(worth(me, pops, depth - 1, play(board, turn, a), OTHER[turn]) for a in todo)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        me = self.player_number
        after = partial(play, state[0], me)
        judged = ((worth(me, state[1], 2, after(a), OTHER[me]), a) for a in get_valid_actions(me, state))
        return max(judged, key=lambda pair: pair[0])[1]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
