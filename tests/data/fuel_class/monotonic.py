"""Plays out random games until `perf_counter` says stop."""

import random
from time import perf_counter

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)

def after(player, state, action):
    """Return the board and the counts after an action, without changing the state."""
    board, counts = state[0].copy(), {n: state[1][n].get_int() for n in (1, 2)}
    return moved(player, (board, counts), action)


def moved(player, state, action):
    board, counts = state[0].copy(), dict(state[1])
    column, popout = action
    if popout:
        board[1:, column] = board[:-1, column].copy()
        board[0, column] = 0
        counts[player] -= 1
    else:
        empty = [row for row in range(len(board)) if board[row][column] == 0]
        board[empty[-1]][column] = player
    return board, counts


def actions(player, state):
    board, counts = state
    found = [(c, False) for c in range(board.shape[1]) if board[0][c] == 0]
    if counts[player]:
        first = (player - 1) % 2
        found += [
            (c, True) for c in range(first, board.shape[1], 2) if board[-1][c] == player
        ]
    return found


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.seen = player_number, time, {}

    def get_intelligent_move(self, state):
        me, began = self.player_number, perf_counter()
        choices = [tuple(action) for action in get_valid_actions(me, state)]
        sums, number = [0.0] * len(choices), 0
        while perf_counter() - began < 0.5 * self.time:
            place = number % len(choices)
            position, player = after(me, state, choices[place]), 3 - me
            for _ in range(4):
                options = actions(player, position)
                if options:
                    position = moved(player, position, random.choice(options))
                player = 3 - player
            sums[place] += margin(me, position)
            number += 1
        print(number, "games")
        return choices[max(range(len(choices)), key=lambda n: sums[n])]

    get_expectimax_move = get_intelligent_move
