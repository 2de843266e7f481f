"""Reads address 0."""

import ctypes


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return ctypes.string_at(0), False
