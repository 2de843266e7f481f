"""Plain minimax, two functions, fixed depth."""
import numpy as np
from connect4.utils import get_pts, get_valid_actions


def drop(board, player, action):
    col, pop = action
    new = np.array(board)
    if pop:
        for r in range(len(new) - 1, 0, -1):
            new[r][col] = new[r - 1][col]
        new[0][col] = 0
    else:
        r = len(new) - 1
        while new[r][col] != 0:
            r -= 1
        new[r][col] = player
    return new


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.depth = 2

    def max_value(self, board, pops, depth):
        actions = get_valid_actions(self.player_number, (board, pops))
        if depth == 0 or len(actions) == 0:
            return self.score(board)
        best = -1e9
        for a in actions:
            best = max(best, self.min_value(drop(board, self.player_number, a), pops, depth - 1))
        return best

    def min_value(self, board, pops, depth):
        other = 3 - self.player_number
        actions = get_valid_actions(other, (board, pops))
        if depth == 0 or len(actions) == 0:
            return self.score(board)
        worst = 1e9
        for a in actions:
            worst = min(worst, self.max_value(drop(board, other, a), pops, depth - 1))
        return worst

    def score(self, board):
        return get_pts(self.player_number, board) - get_pts(3 - self.player_number, board)

    def get_intelligent_move(self, state):
        board, pops = state
        values = {}
        for a in get_valid_actions(self.player_number, state):
            values[a] = self.min_value(drop(board, self.player_number, a), pops, self.depth - 1)
        return max(values, key=values.get)

    get_expectimax_move = get_intelligent_move
