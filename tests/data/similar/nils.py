"""Rollouts with a greedy policy and an epsilon of chance."""
import numpy as np
import time as tm
from connect4.utils import get_pts, get_valid_actions

GENERATOR = np.random.default_rng(5)


class Simulator:
    def __init__(self, board, pops, epsilon=0.3):
        self.board = board.copy()
        self.pops = pops
        self.epsilon = epsilon

    def height(self, column):
        return int(np.sum(self.board[:, column] > 0))

    def act(self, token, action):
        column, pop = action
        if pop:
            self.board[:, column] = np.insert(self.board[:-1, column], 0, 0)
        else:
            self.board[self.board.shape[0] - 1 - self.height(column), column] = token

    def choose(self, token):
        actions = get_valid_actions(token, (self.board, self.pops))
        if not actions:
            return None
        if GENERATOR.random() < self.epsilon:
            return actions[GENERATOR.integers(len(actions))]
        centre = (self.board.shape[1] - 1) / 2
        return min(actions, key=lambda a: (a[1], self.height(a[0]) + 0.5 * abs(a[0] - centre)))

    def run(self, token, length):
        for _ in range(length):
            action = self.choose(token)
            if action is not None:
                self.act(token, action)
            token = 3 - token
        return self.board


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.time = time

    def get_intelligent_move(self, state):
        finish = tm.monotonic() + 0.45 * self.time
        actions = list(get_valid_actions(self.player_number, state))
        record = {action: [] for action in actions}
        while True:
            for action in actions:
                simulator = Simulator(*state)
                simulator.act(self.player_number, action)
                end = simulator.run(3 - self.player_number, 7)
                record[action].append(get_pts(self.player_number, end) - get_pts(3 - self.player_number, end))
            if tm.monotonic() > finish:
                return max(record, key=lambda action: np.mean(record[action]))

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
