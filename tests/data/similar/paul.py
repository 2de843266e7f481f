"""Best-first search over lines, with a priority queue."""
import itertools
import queue
from connect4.utils import get_pts, get_valid_actions


def applied(before, number, instruction):
    where, pops = instruction
    after = before.copy()
    if pops:
        after[1 : after.shape[0], where] = before[0 : after.shape[0] - 1, where]
        after[0, where] = 0
        return after
    row = after.shape[0] - 1
    for row in range(after.shape[0] - 1, -1, -1):
        if after[row, where] == 0:
            break
    after[row, where] = number
    return after


class AIPlayer:
    EXPANSIONS = 60

    def __init__(self, player_number, time):
        self.player_number = player_number
        self.rival = 3 - player_number
        self.ids = itertools.count()

    def get_intelligent_move(self, state):
        frontier = queue.PriorityQueue()
        votes = {}
        for first in get_valid_actions(self.player_number, state):
            board = applied(state[0], self.player_number, first)
            difference = get_pts(self.player_number, board) - get_pts(self.rival, board)
            votes[first] = difference
            frontier.put((-difference, next(self.ids), first, board, self.rival))
        for _ in range(self.EXPANSIONS):
            if frontier.empty():
                break
            _, _, first, board, mover = frontier.get()
            outcomes = []
            for reply in get_valid_actions(mover, (board, state[1])):
                later = applied(board, mover, reply)
                difference = get_pts(self.player_number, later) - get_pts(self.rival, later)
                outcomes.append((difference, next(self.ids), later))
            if not outcomes:
                continue
            extreme = max(outcomes) if mover == self.player_number else min(outcomes)
            votes[first] = 0.5 * votes[first] + 0.5 * extreme[0]
            frontier.put((-extreme[0], extreme[1], first, extreme[2], 3 - mover))
        return sorted(votes.items(), key=lambda item: item[1])[-1][0]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
