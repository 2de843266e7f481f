"""Alpha-beta with a transposition table keyed by the bytes of the board."""
import time as t
from connect4.utils import get_pts, get_valid_actions

INF = float("inf")
EXACT, LOWER, UPPER = range(3)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.total = time
        self.table = {}
        self.nodes = 0

    @staticmethod
    def do(board, player, col, pop):
        b = board.copy()
        if not pop:
            rows = b.shape[0]
            for i in range(rows):
                if i + 1 == rows or b[i + 1, col]:
                    b[i, col] = player
                    return b
        b[1:, col], b[0, col] = board[:-1, col], 0
        return b

    def search(self, board, pops, player, depth, lo, hi):
        key = (board.tobytes(), player)
        entry = self.table.get(key)
        if entry and entry[0] >= depth:
            _, kind, value = entry
            if kind == EXACT:
                return value
            if kind == LOWER:
                lo = max(lo, value)
            else:
                hi = min(hi, value)
            if lo >= hi:
                return value
        self.nodes += 1
        if self.nodes % 64 == 0 and t.monotonic() > self.deadline:
            raise TimeoutError
        moves = get_valid_actions(player, (board, pops))
        if depth == 0 or not moves:
            return get_pts(player, board) - get_pts(3 - player, board)
        original, best = lo, -INF
        for col, pop in sorted(moves, key=lambda m: abs(m[0] - board.shape[1] // 2)):
            v = -self.search(self.do(board, player, col, pop), pops, 3 - player, depth - 1, -hi, -lo)
            if v > best:
                best = v
            if best > lo:
                lo = best
            if lo >= hi:
                break
        kind = UPPER if best <= original else LOWER if best >= hi else EXACT
        self.table[key] = (depth, kind, best)
        return best

    def get_intelligent_move(self, state):
        self.deadline = t.monotonic() + self.total * 0.55
        board, pops = state
        answer = get_valid_actions(self.player_number, state)[0]
        depth = 1
        try:
            while depth < 12:
                top = -INF
                for move in get_valid_actions(self.player_number, state):
                    v = -self.search(self.do(board, self.player_number, *move), pops, 3 - self.player_number, depth - 1, -INF, -top)
                    if v > top:
                        top, candidate = v, move
                answer = candidate
                depth += 1
        except TimeoutError:
            pass
        return answer

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
