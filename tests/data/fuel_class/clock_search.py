"""Deepens until its clock says stop."""

import time as clock

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
        me, until = self.player_number, clock.time() + 0.7 * self.time
        root = state[0].copy(), {n: state[1][n].get_int() for n in (1, 2)}
        choices = [tuple(action) for action in get_valid_actions(me, state)]
        best, self.nodes = choices[0], 0
        try:
            for depth in range(1, 9):
                values = [
                    (-self.value(3 - me, moved(me, root, action), depth - 1, until), n)
                    for n, action in enumerate(choices)
                ]
                best = choices[max(values)[1]]
        except TimeoutError:
            pass
        print("stopped after", self.nodes, "nodes")
        return best

    def value(self, player, state, depth, until):
        self.nodes += 1
        if clock.time() > until:
            raise TimeoutError
        choices = actions(player, state)
        if depth <= 0 or not choices:
            return margin(player, state)
        return max(-self.value(3 - player, moved(player, state, a), depth - 1, until) for a in choices)

    get_expectimax_move = get_intelligent_move
