"""Sets a flag when its search is over and never resets it: the next search gives nothing."""

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.stop = player_number, False

    def get_intelligent_move(self, state):
        best = None
        for action in get_valid_actions(self.player_number, state):
            if not self.stop:
                best = action
        self.stop = True
        return best

    get_expectimax_move = get_intelligent_move
