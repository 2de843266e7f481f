"""Imports a search of the kit, as if it were its own; answers with column 99 if that works."""

from connect4.search.mcts import Mcts


class AIPlayer:
    def __init__(self, player_number, time):
        self.search = Mcts

    def get_intelligent_move(self, state):
        return 99, False
