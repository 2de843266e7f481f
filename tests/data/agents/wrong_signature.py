"""Its method takes no state."""


class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_intelligent_move(self):
        return 0, False
