"""Fills the memory."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        kept = []
        while True:
            kept.append(bytearray(1 << 24))
