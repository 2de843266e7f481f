"""Minimax on lists of columns, no numpy at all."""
from connect4.utils import get_valid_actions


def columns_of(board):
    return tuple(tuple(int(x) for x in reversed(col) if x) for col in board.T)


def lines(columns, height):
    width = len(columns)
    cell = lambda x, y: columns[x][y] if 0 <= x < width and 0 <= y < len(columns[x]) else 0
    for x in range(width):
        for y in range(height):
            first = cell(x, y)
            if not first:
                continue
            for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
                if cell(x - dx, y - dy) == first:
                    continue
                length = 1
                while cell(x + dx * length, y + dy * length) == first:
                    length += 1
                if length > 1:
                    yield first, length


def value(columns, height, me):
    return sum((1 if who == me else -1) * length**3 for who, length in lines(columns, height))


def choices(columns, height):
    return [x for x, col in enumerate(columns) if len(col) < height]


def push(columns, x, who):
    return columns[:x] + (columns[x] + (who,),) + columns[x + 1 :]


def look(columns, height, me, who, depth):
    xs = choices(columns, height)
    if not depth or not xs:
        return value(columns, height, me)
    results = (look(push(columns, x, who), height, me, 3 - who, depth - 1) for x in xs)
    return max(results) if who == me else min(results)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        cols, height, me = columns_of(state[0]), state[0].shape[0], self.player_number
        xs = choices(cols, height)
        if not xs:
            return get_valid_actions(me, state)[0]
        return max(xs, key=lambda x: look(push(cols, x, me), height, me, 3 - me, 1)), False

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
