"""Raises an exception."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        board, popouts = state
        return board[99][99], False
