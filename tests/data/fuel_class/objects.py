"""Makes cycles for the garbage collector, and counts what it frees."""

import gc
import weakref

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        freed = []
        for number in range(3000):
            node = Node(number)
            node.self = node
            weakref.finalize(node, freed.append, number)
        choices = get_valid_actions(self.player_number, state)
        print(len(freed), gc.get_count())
        return choices[len(freed) % len(choices)]

    get_expectimax_move = get_intelligent_move


class Node:
    def __init__(self, number):
        self.number = number
