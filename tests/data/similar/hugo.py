"""Counts windows of four and looks one move ahead."""
import numpy as np
from connect4.utils import get_valid_actions

WEIGHTS = {1: 1, 2: 6, 3: 40, 4: 400}


def windows(board):
    h, w = board.shape
    for y in range(h):
        for x in range(w):
            for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if 0 <= y + 3 * dy < h and 0 <= x + 3 * dx < w:
                    yield [board[y + i * dy, x + i * dx] for i in range(4)]


def rate(board, me):
    total = 0
    for four in windows(board):
        mine = four.count(me)
        theirs = four.count(3 - me)
        if mine and not theirs:
            total += WEIGHTS[mine]
        elif theirs and not mine:
            total -= WEIGHTS[theirs]
    return total


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        board = state[0]
        answers = []
        for index, (col, popped) in enumerate(get_valid_actions(self.player_number, state)):
            after = np.where(board == 0, 0, board)
            if popped:
                after[:, col] = np.concatenate(([0], after[:-1, col]))
            else:
                after[np.max(np.where(after[:, col] == 0)), col] = self.player_number
            answers.append((rate(after, self.player_number), -index, (col, popped)))
        return max(answers)[2]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
