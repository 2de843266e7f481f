"""A table of rules: win points now, block, else stack near the own tokens."""
from connect4.utils import get_pts, get_valid_actions


def place(board, token, column):
    height = board.shape[0]
    for y in range(height):
        if board[height - 1 - y, column] == 0:
            copy = board.copy()
            copy[height - 1 - y, column] = token
            return copy, height - 1 - y
    return None, None


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.rules = [self.take, self.block, self.neighbour]

    def take(self, board, drops):
        now = get_pts(self.player_number, board)
        gains = {c: get_pts(self.player_number, place(board, self.player_number, c)[0]) - now for c in drops}
        c = max(gains, key=gains.get)
        return c if gains[c] >= 2 else None

    def block(self, board, drops):
        now = get_pts(3 - self.player_number, board)
        losses = {c: get_pts(3 - self.player_number, place(board, 3 - self.player_number, c)[0]) - now for c in drops}
        c = max(losses, key=losses.get)
        return c if losses[c] >= 2 else None

    def neighbour(self, board, drops):
        def friends(c):
            _, y = place(board, self.player_number, c)
            area = board[max(0, y - 1) : y + 2, max(0, c - 1) : c + 2]
            return (area == self.player_number).sum()

        return max(drops, key=friends)

    def get_intelligent_move(self, state):
        legal = get_valid_actions(self.player_number, state)
        drops = [c for c, pop in legal if not pop]
        if not drops:
            return legal[-1]
        for rule in self.rules:
            c = rule(state[0], drops)
            if c is not None:
                return c, False

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
