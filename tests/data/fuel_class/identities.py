"""Decides by addresses, hashes and the order of sets."""

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        words = {"red", "yellow", "column", "row", "disc", "board"}
        number = id(object()) // 16 + hash("connect4") + sum(n * len(w) for n, w in enumerate(words))
        self.kept = [repr(object()) for _ in range(number % 50)]
        choices = get_valid_actions(self.player_number, state)
        return choices[(number + len(self.kept)) % len(choices)]

    get_expectimax_move = get_intelligent_move
