"""Wins or blocks if one move does, in Connect 4 with and without pop-outs."""

from connect4.utils import get_row_score, get_diagonals_primary, get_diagonals_secondary

POPS = True


def wins(board, player):
    lines = [*board, *board.T, *get_diagonals_primary(board), *get_diagonals_secondary(board)]
    four = get_row_score(player, [player] * 4)
    return any(get_row_score(player, line) >= four for line in lines if len(line) > 3)


def actions(board, player):
    columns = range(board.shape[1])
    drops = [(column, False) for column in columns if board[0, column] == 0]
    return drops + [(column, True) for column in columns if POPS and board[-1, column] == player]


def after(board, action, player):
    board, (column, pops) = board.copy(), action
    if pops:
        board[1:, column] = board[:-1, column].copy()
        board[0, column] = 0
    else:
        board[(board[:, column] == 0).sum() - 1, column] = player
    return board


class AIPlayer:
    def __init__(self, player_number, time):
        self.own, self.other = player_number, 3 - player_number

    def get_intelligent_move(self, state):
        board, popouts = state
        assert popouts[1].get_int() == popouts[2].get_int() == 0
        middle = (board.shape[1] - 1) / 2
        tried = sorted(actions(board, self.own), key=lambda one: (one[1], abs(one[0] - middle)))
        results = [(action, after(board, action, self.own)) for action in tried]
        for action, result in results:
            if wins(result, self.own):
                return action
        for action, result in results:
            answers = (after(result, reply, self.other) for reply in actions(result, self.other))
            if not any(wins(answer, self.other) for answer in answers):
                return action
        return tried[0]

    get_expectimax_move = get_intelligent_move
