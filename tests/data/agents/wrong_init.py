"""Its constructor takes no time."""


class AIPlayer:
    def __init__(self, player_number):
        pass
