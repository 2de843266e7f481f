"""Draws from every source of random bytes without a seed, and prints what came."""

import os
import random
import secrets
import uuid

import numpy as np

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.own = random.Random()
        self.rng = np.random.default_rng()

    def get_expectimax_move(self, state):
        random.seed()
        drawn = [
            self.rng.integers(1 << 30),
            self.own.random(),
            random.random(),
            random.SystemRandom().random(),
            np.random.RandomState().randint(1 << 30),
            np.random.SeedSequence().entropy,
            os.urandom(4).hex(),
            os.getrandom(4).hex() if hasattr(os, "getrandom") else "",
            secrets.token_hex(4),
            secrets.randbelow(1 << 30),
            uuid.uuid4(),
            hash("text"),
            random.Random(7).random(),
            np.random.default_rng(7).integers(1 << 30),
        ]
        print(*drawn)
        actions = get_valid_actions(self.player_number, state)
        return actions[secrets.randbelow(len(actions))]

    get_intelligent_move = get_expectimax_move
