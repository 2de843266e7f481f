"""Has no method for intelligent moves."""


class AIPlayer:
    def __init__(self, player_number, time):
        pass
