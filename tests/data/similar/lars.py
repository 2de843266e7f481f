"""Denies the opponent its best reply; nothing deeper."""
from connect4.utils import get_pts, get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.opponent = {1: 2, 2: 1}[player_number]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)

    def get_intelligent_move(self, state):
        ranking = []
        for action in get_valid_actions(self.player_number, state):
            mine = self.simulate(state[0], self.player_number, action)
            threat = 0
            for answer in get_valid_actions(self.opponent, (mine, state[1])):
                theirs = self.simulate(mine, self.opponent, answer)
                threat = max(threat, get_pts(self.opponent, theirs))
            ranking.append((threat, -get_pts(self.player_number, mine), action))
        ranking.sort()
        return ranking[0][2]

    def simulate(self, board, token, action):
        (column, is_popout) = action
        simulated = board.tolist()
        if is_popout:
            for row in range(len(simulated) - 1, -1, -1):
                simulated[row][column] = simulated[row - 1][column] if row > 0 else 0
        else:
            target = None
            for row in range(len(simulated)):
                if simulated[row][column] == 0:
                    target = row
            simulated[target][column] = token
        return type(board)(shape=board.shape, dtype=board.dtype, buffer=__import__("numpy").array(simulated))
