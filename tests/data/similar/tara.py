"""MTD(f): zero-window searches around a guess."""
import time as tt
from collections import defaultdict
from connect4.utils import get_pts, get_valid_actions


def put_token(matrix, token, act):
    m = matrix.copy()
    if act[1]:
        m[:, act[0]] = [0, *matrix[:-1, act[0]]]
    else:
        zeros = [i for i, x in enumerate(matrix[:, act[0]]) if x == 0]
        m[zeros[-1], act[0]] = token
    return m


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.span = time * 0.4

    def memory_search(self, m, pops, token, depth, beta):
        key = (m.tobytes(), token, depth)
        low, high = self.bounds[key]
        if low >= beta:
            return low
        if high < beta:
            return high
        if tt.monotonic() > self.end:
            raise InterruptedError
        acts = get_valid_actions(token, (m, pops)) if depth else []
        if not acts:
            g = int(get_pts(token, m) - get_pts(3 - token, m))
            self.bounds[key] = (g, g)
            return g
        g = -(10**7)
        for act in acts:
            g = max(g, -self.memory_search(put_token(m, token, act), pops, 3 - token, depth - 1, 1 - beta))
            if g >= beta:
                break
        self.bounds[key] = (g, high) if g >= beta else (low, g)
        return g

    def mtdf(self, m, pops, token, depth, guess):
        low, high = -(10**7), 10**7
        while low < high:
            beta = guess + 1 if guess == low else guess
            guess = self.memory_search(m, pops, token, depth, beta)
            if guess < beta:
                high = guess
            else:
                low = guess
        return guess

    def get_intelligent_move(self, state):
        self.end = tt.monotonic() + self.span
        self.bounds = defaultdict(lambda: (-(10**7), 10**7))
        m, pops = state
        acts = list(get_valid_actions(self.player_number, state))
        guesses = dict.fromkeys(acts, 0)
        try:
            for depth in range(6):
                for act in acts:
                    child = put_token(m, self.player_number, act)
                    guesses[act] = -self.mtdf(child, pops, 3 - self.player_number, depth, -guesses[act])
        except InterruptedError:
            pass
        return max(acts, key=guesses.__getitem__)

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
