"""Lets a search of the kit play, as if it were its own."""

from connect4.search.mcts import Mcts


class AIPlayer:
    def __init__(self, player_number, time):
        self.search = Mcts

    def get_intelligent_move(self, state):
        return 0, False
