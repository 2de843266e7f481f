"""Never returns from a loop in C that holds the interpreter's lock."""

import itertools


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return sum(itertools.repeat(0)), False
