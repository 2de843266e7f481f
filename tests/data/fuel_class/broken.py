"""Raises, returns nonsense, or plays, in turn."""

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        self.turn = getattr(self, "turn", 0) + 1
        choices = get_valid_actions(self.player_number, state)
        if self.turn % 4 == 1:
            return [][len(choices)]
        return (99, False) if self.turn % 4 == 2 else choices[0]

    get_expectimax_move = get_intelligent_move
