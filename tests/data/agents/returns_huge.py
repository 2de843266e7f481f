"""Answers with a column of 5000 digits."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return (10**5000, False)
