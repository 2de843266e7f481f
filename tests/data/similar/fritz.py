"""Expectimax to depth two: the opponent is an average over its moves."""
import numpy
from connect4.utils import get_pts as points
from connect4.utils import get_valid_actions as valid


class AIPlayer:
    def __init__(self, player_number, time):
        self.me = self.player_number = player_number
        self.you = 1 if player_number == 2 else 2

    def result(self, state, mover, column, pop):
        board = numpy.copy(state[0])
        if pop:
            board[:, column] = numpy.roll(board[:, column], 1)
            board[0, column] = 0
        else:
            filled = numpy.flatnonzero(board[:, column])
            lowest = filled[0] - 1 if filled.size else board.shape[0] - 1
            board[lowest, column] = mover
        return (board, state[1])

    def expectation(self, state, level, chance):
        moves = valid(self.you if chance else self.me, state)
        if level == 0 or not moves:
            return float(points(self.me, state[0])) - 0.9 * points(self.you, state[0])
        if chance:
            below = [self.expectation(self.result(state, self.you, *m), level - 1, False) for m in moves]
            return sum(below) / len(below)
        return max(self.expectation(self.result(state, self.me, *m), level - 1, True) for m in moves)

    def get_expectimax_move(self, state):
        best_move, best_value = None, None
        for m in valid(self.me, state):
            value = self.expectation(self.result(state, self.me, *m), 1, True)
            if best_value is None or value > best_value:
                best_move, best_value = m, value
        return best_move

    get_intelligent_move = get_expectimax_move
