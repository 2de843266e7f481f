"""Principal variation search with killer moves."""
import time as timing
import numpy as np
from connect4.utils import get_pts, get_valid_actions


class Stop(Exception):
    """Time is up."""


class Position:
    def __init__(self, board, pops):
        self.board, self.pops = board.copy(), pops
        self.trail = []

    def make(self, player, move):
        column, pop = move
        self.trail.append((column, self.board[:, column].copy()))
        strip = self.board[:, column]
        if pop:
            strip[1:] = strip[:-1].copy()
            strip[0] = 0
        else:
            strip[np.argmax(np.append(strip != 0, True)) - 1] = player

    def unmake(self):
        column, before = self.trail.pop()
        self.board[:, column] = before


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.allowed = time * 0.5

    def pvs(self, pos, player, depth, ply, alpha, beta):
        if timing.perf_counter() >= self.until:
            raise Stop
        moves = list(get_valid_actions(player, (pos.board, pos.pops)))
        if depth == 0 or not moves:
            return get_pts(player, pos.board) - get_pts(3 - player, pos.board)
        killer = self.killers.get(ply)
        if killer in moves:
            moves.remove(killer)
            moves.insert(0, killer)
        for number, move in enumerate(moves):
            pos.make(player, move)
            try:
                if number == 0:
                    score = -self.pvs(pos, 3 - player, depth - 1, ply + 1, -beta, -alpha)
                else:
                    score = -self.pvs(pos, 3 - player, depth - 1, ply + 1, -alpha - 1, -alpha)
                    if alpha < score < beta:
                        score = -self.pvs(pos, 3 - player, depth - 1, ply + 1, -beta, -score)
            finally:
                pos.unmake()
            if score > alpha:
                alpha = score
                if ply == 0:
                    self.leading = move
            if alpha >= beta:
                self.killers[ply] = move
                return alpha
        return alpha

    def get_intelligent_move(self, state):
        self.until = timing.perf_counter() + self.allowed
        self.killers = {}
        self.leading = get_valid_actions(self.player_number, state)[0]
        pos = Position(*state)
        decided = self.leading
        for depth in range(1, 30):
            try:
                self.pvs(pos, self.player_number, depth, 0, -1_000_000, 1_000_000)
            except Stop:
                break
            decided = self.leading
        return decided

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
