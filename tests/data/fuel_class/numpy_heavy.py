"""Convolutions and products of matrices for each column."""

import numpy as np

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        board = np.asarray(state[0], dtype=float)
        own, other = (board == self.player_number) * 1.0, (board == 3 - self.player_number) * 1.0
        field = np.fft.ifft2(np.fft.fft2(own - 0.7 * other) * np.fft.fft2(np.ones_like(board))).real
        weight = np.linalg.norm(field @ np.random.default_rng(3).random((board.shape[1],) * 2), axis=0)
        choices = get_valid_actions(self.player_number, state)
        return max(choices, key=lambda action: weight[action[0]] - 0.5 * action[1])

    get_expectimax_move = get_intelligent_move
