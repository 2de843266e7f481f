"""Monte Carlo tree search with UCT; nodes are objects."""
import math
import random as rnd
import time as clock
from connect4.utils import get_pts, get_valid_actions


class Node:
    __slots__ = ("parent", "action", "who", "children", "n", "w", "untried", "board")

    def __init__(self, board, pops, who, parent=None, action=None):
        self.board, self.who, self.parent, self.action = board, who, parent, action
        self.children, self.n, self.w = [], 0, 0.0
        self.untried = list(get_valid_actions(who, (board, pops)))

    def uct(self):
        log = math.log(self.n)
        return max(self.children, key=lambda ch: ch.w / ch.n + 1.2 * math.sqrt(log / ch.n))


def moved(board, who, action):
    result = board.copy()
    if action[1]:
        result[1:, action[0]] = board[:-1, action[0]]
        result[0, action[0]] = 0
        return result
    depth = 0
    while depth + 1 < result.shape[0] and result[depth + 1, action[0]] == 0:
        depth += 1
    result[depth, action[0]] = who
    return result


class AIPlayer:
    def __init__(self, player_number, time):
        rnd.seed(99)
        self.player_number = player_number
        self.limit = time / 2

    def evaluate(self, board, pops, who):
        for _ in range(8):
            actions = get_valid_actions(who, (board, pops))
            if not actions:
                break
            board = moved(board, who, rnd.choice(actions))
            who = 3 - who
        mine, yours = (get_pts(p, board) for p in (self.player_number, 3 - self.player_number))
        return 1 / (1 + math.exp((yours - mine) / 20))

    def get_intelligent_move(self, state):
        stop = clock.perf_counter() + self.limit
        root = Node(state[0], state[1], self.player_number)
        while clock.perf_counter() < stop or not root.children:
            node = root
            while not node.untried and node.children:
                node = node.uct()
            if node.untried:
                action = node.untried.pop()
                child = Node(moved(node.board, node.who, action), state[1], 3 - node.who, node, action)
                node.children.append(child)
                node = child
            value = self.evaluate(node.board, state[1], node.who)
            while node:
                node.n += 1
                node.w += value if node.who != self.player_number else 1 - value
                node = node.parent
        return max(root.children, key=lambda ch: ch.n).action

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
