"""Is late whenever the board is nearly even, and sleeps otherwise."""

import time as clock

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        self.turn = getattr(self, "turn", 0) + 1
        while abs(margin(self.player_number, state)) < 3 and self.turn > 1:
            self.turn += 1
        clock.sleep(30)
        return get_valid_actions(self.player_number, state)[-1]

    get_expectimax_move = get_intelligent_move
