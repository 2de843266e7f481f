"""Flat Monte Carlo: random playouts for each root move, the best mean wins."""
import random, time
from connect4.utils import get_pts, get_valid_actions

random.seed(17)


def play_on(board, popouts, turn, plies):
    skipped = 0
    while plies and skipped < 2:
        options = get_valid_actions(turn, (board, popouts))
        if options:
            put(board, turn, random.choice(options))
            skipped = 0
        else:
            skipped += 1
        turn = 3 - turn
        plies -= 1
    return board


def put(board, turn, option):
    c, is_pop = option
    if is_pop:
        column = list(board[:, c])
        board[:, c] = [0] + column[:-1]
        return
    for row in reversed(range(board.shape[0])):
        if not board[row, c]:
            board[row, c] = turn
            break


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.seconds = player_number, time

    def get_intelligent_move(self, state):
        end = time.time() + self.seconds * 0.5
        me = self.player_number
        actions = get_valid_actions(me, state)
        totals, visits = [0.0] * len(actions), [0] * len(actions)
        at = 0
        while time.time() < end or not all(visits):
            copy = state[0].copy()
            put(copy, me, actions[at])
            final = play_on(copy, state[1], 3 - me, 10)
            totals[at] += get_pts(me, final) - get_pts(3 - me, final)
            visits[at] += 1
            at = (at + 1) % len(actions)
        means = [t / v for t, v in zip(totals, visits)]
        return actions[means.index(max(means))]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
