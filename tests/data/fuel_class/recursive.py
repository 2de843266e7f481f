"""Recurses as deep as Python lets it."""

import sys

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        def down(depth):
            try:
                return down(depth + 1)
            except RecursionError:
                return depth

        depth = down(0)
        sys.setrecursionlimit(5000)
        depth += down(0)
        sys.setrecursionlimit(1000)
        choices = get_valid_actions(self.player_number, state)
        return choices[depth % len(choices)]

    get_expectimax_move = get_intelligent_move
