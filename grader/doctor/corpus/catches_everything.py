"""Catches whatever is raised and goes on."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
