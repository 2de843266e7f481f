"""Beam search: keeps the twelve best lines at each ply."""
import heapq
from connect4.utils import get_pts, get_valid_actions

WIDTH = 12
PLIES = 3


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def step(self, grid, who, act):
        fresh = grid.copy()
        c = act[0]
        if act[1]:
            fresh[1:, c] = grid[0:-1, c]
            fresh[0, c] = 0
        else:
            empties = [r for r in range(grid.shape[0]) if grid[r, c] == 0]
            fresh[empties[-1], c] = who
        return fresh

    def balance(self, grid):
        return get_pts(self.player_number, grid) - get_pts(3 - self.player_number, grid)

    def get_intelligent_move(self, state):
        grid, pops = state
        beam = []
        for a in get_valid_actions(self.player_number, state):
            g = self.step(grid, self.player_number, a)
            beam.append((self.balance(g), a, g))
        who = 3 - self.player_number
        for _ in range(PLIES - 1):
            wider = []
            for value, first, g in beam:
                replies = get_valid_actions(who, (g, pops))
                if not replies:
                    wider.append((value, first, g))
                    continue
                nexts = [self.step(g, who, r) for r in replies]
                pick = max if who == self.player_number else min
                chosen = pick(nexts, key=self.balance)
                wider.append((self.balance(chosen), first, chosen))
            beam = heapq.nlargest(WIDTH, wider, key=lambda item: item[0])
            who = 3 - who
        return beam[0][1]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
