"""Matches a regular expression that takes for ever."""

import re


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return len(re.match("(a+)+$", "a" * 60 + "b")), False
