"""Depth-three minimax that only looks at the most promising half of the moves."""
import numpy as np
import connect4.utils as kit


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def promising(self, state, token):
        pairs = []
        for m in kit.get_valid_actions(token, state):
            nxt = self.next_state(state, token, m)
            pairs.append((kit.get_pts(token, nxt[0]) - kit.get_pts(3 - token, nxt[0]), m, nxt))
        pairs.sort(key=lambda p: p[0], reverse=True)
        return pairs[: max(2, len(pairs) // 2)]

    def next_state(self, state, token, move):
        board, pops = state
        clone = np.zeros_like(board)
        clone[:] = board
        if move[1]:
            clone[:, move[0]] = np.hstack([[0], board[: board.shape[0] - 1, move[0]]])
        else:
            level = board.shape[0] - 1
            while board[level, move[0]]:
                level = level - 1
            clone[level, move[0]] = token
        return clone, pops

    def value(self, state, token, left):
        if left == 0:
            return kit.get_pts(token, state[0]) - kit.get_pts(3 - token, state[0])
        found = self.promising(state, token)
        if len(found) == 0:
            return kit.get_pts(token, state[0]) - kit.get_pts(3 - token, state[0])
        return max(-self.value(nxt, 3 - token, left - 1) for _, _, nxt in found)

    def get_intelligent_move(self, state):
        options = self.promising(state, self.player_number)
        results = [-self.value(nxt, 3 - self.player_number, 2) for _, _, nxt in options]
        return options[int(np.argmax(results))][1]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
