"""Alpha-beta on a flat list, with an explicit stack of undo information."""
from time import process_time
from connect4.utils import get_pts, get_valid_actions
import numpy as np


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.reserve = 0.5 * time

    def alphabeta(self, depth, a, b, maximizing):
        if depth == 0 or process_time() > self.alarm:
            return self.estimate()
        token = self.player_number if maximizing else 3 - self.player_number
        state = (self.field, self.pops)
        value = -99999 if maximizing else 99999
        any_move = False
        for col, is_pop in get_valid_actions(token, state):
            any_move = True
            undo = self.field[:, col].copy()
            if is_pop:
                self.field[1:, col] = undo[:-1]
                self.field[0, col] = 0
            else:
                self.field[len(undo) - 1 - np.count_nonzero(undo), col] = token
            child = self.alphabeta(depth - 1, a, b, not maximizing)
            self.field[:, col] = undo
            if maximizing:
                value = max(value, child)
                a = max(a, value)
            else:
                value = min(value, child)
                b = min(b, value)
            if b <= a:
                break
        return value if any_move else self.estimate()

    def estimate(self):
        weights = np.minimum(np.arange(self.field.shape[1]), np.arange(self.field.shape[1])[::-1])
        centre = ((self.field == self.player_number) * weights).sum()
        return 4 * (get_pts(self.player_number, self.field) - get_pts(3 - self.player_number, self.field)) + centre

    def get_intelligent_move(self, state):
        self.alarm = process_time() + self.reserve
        self.field, self.pops = state[0].copy(), state[1]
        best = (-10**6, None)
        for move in get_valid_actions(self.player_number, state):
            saved = self.field.copy()
            if move[1]:
                self.field[1:, move[0]] = saved[:-1, move[0]]
                self.field[0, move[0]] = 0
            else:
                self.field[(saved[:, move[0]] == 0).sum() - 1, move[0]] = self.player_number
            outcome = self.alphabeta(2, -99999, 99999, False)
            self.field = saved
            if outcome > best[0]:
                best = (outcome, move)
        return best[1]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
