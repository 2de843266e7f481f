"""Overflows the C stack."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        chain = range(300_000)
        for _ in range(300_000):
            chain = filter(None, chain)
        return next(chain), False
