"""Potential lines: how many fours are still open for each side, with a table of line masks."""
from connect4.utils import get_valid_actions


def line_table(rows, cols):
    table = []
    for r in range(rows):
        for c in range(cols):
            for vr, vc in [(0, 1), (1, 0), (1, 1), (-1, 1)]:
                cells = [(r + k * vr, c + k * vc) for k in range(4)]
                if all(0 <= y < rows and 0 <= x < cols for y, x in cells):
                    table.append(sum(1 << (y * cols + x) for y, x in cells))
    return table


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.cache = {}

    def masks(self, board):
        found = {1: 0, 2: 0}
        for bit, token in enumerate(board.ravel().tolist()):
            if token:
                found[token] |= 1 << bit
        return found

    def potential(self, board):
        shape = board.shape
        if shape not in self.cache:
            self.cache[shape] = line_table(*shape)
        masks = self.masks(board)
        own, foe = masks[self.player_number], masks[3 - self.player_number]
        total = 0
        for line in self.cache[shape]:
            if not line & foe:
                total += bin(line & own).count("1") ** 2
            elif not line & own:
                total -= bin(line & foe).count("1") ** 2
        return total

    def get_intelligent_move(self, state):
        scores = {}
        for col, pop in get_valid_actions(self.player_number, state):
            pile = [x for x in state[0][:, col].tolist() if x != 0]
            if pop:
                pile.pop()
            else:
                pile.insert(0, self.player_number)
            board = state[0].copy()
            board[:, col] = [0] * (board.shape[0] - len(pile)) + pile
            scores[col, pop] = self.potential(board)
        top = max(scores.values())
        return [key for key, score in scores.items() if score == top][0]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
