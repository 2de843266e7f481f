"""Keeps a table of every pattern that it has met."""

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        rows = [tuple(int(cell) for cell in row) for row in state[0]]
        for row in rows:
            for first in range(len(row)):
                for last in range(first + 1, len(row) + 1):
                    key = row[first:last], len(self.seen) % 7
                    self.seen[key] = self.seen.get(key, 0) + 1
        choices = get_valid_actions(self.player_number, state)
        common = {value for _, value in sorted(self.seen.items(), key=lambda item: -item[1])[:5]}
        return choices[(sum(common) + len(self.seen)) % len(choices)]

    get_expectimax_move = get_intelligent_move
