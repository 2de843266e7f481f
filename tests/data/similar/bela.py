"""Negamax with alpha-beta pruning and iterative deepening until the clock says stop."""
from time import perf_counter
from connect4 import utils


class OutOfTime(Exception):
    pass


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.budget = 0.6 * time
        self.start = 0.0

    def successor(self, state, who, move):
        grid = state[0].copy()
        column = move[0]
        if move[1]:
            grid[1:, column] = state[0][:-1, column]
            grid[0, column] = 0
        else:
            free = (grid[:, column] == 0).sum()
            grid[free - 1, column] = who
        return grid, state[1]

    def negamax(self, state, who, depth, alpha, beta):
        if perf_counter() - self.start > self.budget:
            raise OutOfTime
        legal = utils.get_valid_actions(who, state)
        if depth <= 0 or not legal:
            return utils.get_pts(who, state[0]) - utils.get_pts(3 - who, state[0])
        for move in legal:
            alpha = max(alpha, -self.negamax(self.successor(state, who, move), 3 - who, depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    def get_intelligent_move(self, state):
        self.start = perf_counter()
        order = utils.get_valid_actions(self.player_number, state)
        choice = order[0]
        try:
            for depth in range(0, 20):
                ranked = sorted(
                    order,
                    key=lambda m: self.negamax(self.successor(state, self.player_number, m), 3 - self.player_number, depth, -10**9, 10**9),
                )
                choice, order = ranked[0], ranked
        except OutOfTime:
            pass
        return choice

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
