"""Takes a gigabyte of memory; answers with column 99 if that works."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        self.kept = [bytearray(1 << 24) for _ in range(64)]
        return 99, False
