"""A deterministic agent: looks DEPTH plies ahead and prefers columns in its ORDER."""

import numpy as np

from connect4.utils import get_pts, get_valid_actions

DEPTH = 1
ORDER = 1


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        return self.best(state, self.player_number, DEPTH)[1]

    def get_intelligent_move(self, state):
        return self.best(state, self.player_number, DEPTH)[1]

    def best(self, state, player, depth):
        moves = get_valid_actions(player, state)[::ORDER]
        if not depth or not moves:
            return get_pts(player, state[0]) - get_pts(3 - player, state[0]), None
        values = []
        for move in moves:
            after = (self.after(state[0], player, move), state[1])
            values.append(-self.best(after, 3 - player, depth - 1)[0])
        return max(values), moves[int(np.argmax(values))]

    def after(self, board, player, move):
        column, is_popout = move
        after = board.copy()
        if is_popout:
            after[1:, column] = board[:-1, column]
            after[0, column] = 0
        else:
            after[np.count_nonzero(board[:, column] == 0) - 1, column] = player
        return after
