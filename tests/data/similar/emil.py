"""Greedy for points, breaks ties towards the middle."""
from connect4.utils import get_pts, get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)

    def get_intelligent_move(self, state):
        cells, _ = state
        middle = cells.shape[1] / 2

        def merit(choice):
            where, pop = choice
            trial = cells.copy()
            stack = [token for token in trial[:, where] if token]
            stack = stack[:-1] if pop else [self.player_number] + stack
            trial[:, where] = [0] * (len(trial) - len(stack)) + stack
            gain = get_pts(self.player_number, trial) - get_pts(3 - self.player_number, trial)
            return gain, -abs(where - middle)

        return max(get_valid_actions(self.player_number, state), key=merit)
