"""Random moves, from three sources."""

import os
import random
import secrets

import numpy as np

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        choices = get_valid_actions(self.player_number, state)
        drawn = random.randrange(1000) + int(np.random.randint(1000)) + secrets.randbelow(1000)
        drawn += int(np.random.default_rng().integers(1000)) + os.urandom(1)[0]
        return choices[drawn % len(choices)]

    get_expectimax_move = get_intelligent_move
