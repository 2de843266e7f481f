"""Answers with an object that would run a command when it is unpickled."""


class Bomb(tuple):
    def __reduce__(self):
        return exec, ("raise SystemExit",)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return Bomb()
