"""A class of six, whose moves depend on all that differs from run to run without fuel."""

from textwrap import dedent, indent
from typing import Final

FILE: Final = '''"""A submission of the class of six."""

import gc
import os
import random
import secrets
import socket
import subprocess
import sys
import threading
import time as clock
import weakref

import numpy as np

from connect4.utils import get_pts, get_valid_actions


def margin(player, state):
    board = state[0]
    return get_pts(player, board) - get_pts(3 - player, board)


class Node:
    """An object that can be in a cycle."""


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time = player_number, time
        self.turn = 0

    def get_intelligent_move(self, state):
        me, choices = self.player_number, get_valid_actions(self.player_number, state)
        self.turn += 1
{body}

    get_expectimax_move = get_intelligent_move
'''

BODIES: Final = {
    "hostile": """
    attempts = [
        lambda: open("/etc/passwd").read(),
        lambda: open("note.txt", "w").write("mine"),
        lambda: os.listdir("/work"),
        lambda: subprocess.run(["ls"]),
        lambda: socket.create_connection(("127.0.0.1", 22)),
        lambda: threading.Thread(target=print).start(),
        lambda: os.kill(1, 9),
        lambda: bytearray(3 << 29),
    ]
    for attempt in attempts:
        try:
            print("reached", attempt())
        except (OSError, RuntimeError, MemoryError, AttributeError, ImportError) as error:
            print(type(error).__name__)
    if self.turn % 5 == 3:
        os._exit(7)
    if self.turn % 5 == 4:
        sys.exit(3)
    return choices[0]
    """,
    "identities": """
    words = {"red", "yellow", "column", "row", "disc", "board"}
    number = id(object()) // 16 + hash("connect4") + sum(n * len(w) for n, w in enumerate(words))
    self.kept = [repr(object()) for _ in range(number % 50)]
    return choices[(number + len(self.kept)) % len(choices)]
    """,
    "monotonic": """
    def moved(player, board, column):
        board = board.copy()
        board[[row for row in range(len(board)) if board[row][column] == 0][-1]][column] = player
        return board

    def value(player, board, depth):
        self.nodes += 1
        if now() > until:
            raise TimeoutError
        columns = [column for column in range(board.shape[1]) if board[0][column] == 0]
        if depth <= 0 or not columns:
            return margin(player, (board, None))
        return max(-value(3 - player, moved(player, board, c), depth - 1) for c in columns)

    now, until = clock.perf_counter, clock.perf_counter() + 0.5 * self.time
    self.nodes, best = 0, choices[0]
    drops = [choice for choice in choices if not choice[1]]
    try:
        for depth in range(1, 9):
            values = [
                (-value(3 - me, moved(me, state[0], action[0]), depth - 1), number)
                for number, action in enumerate(drops)
            ]
            best = drops[max(values)[1]] if values else best
    except TimeoutError:
        pass
    print("stopped after", self.nodes, "nodes")
    return best
    """,
    "objects": """
    freed = []
    for number in range(3000):
        node = Node()
        node.self = node
        weakref.finalize(node, freed.append, number)
    print(len(freed), gc.get_count())
    return choices[len(freed) % len(choices)]
    """,
    "random_moves": """
    drawn = random.randrange(1000) + int(np.random.randint(1000)) + secrets.randbelow(1000)
    drawn += int(np.random.default_rng().integers(1000)) + os.urandom(1)[0]
    return choices[drawn % len(choices)]
    """,
    "slow": """
    while abs(margin(me, state)) < 3 and self.turn > 1:
        self.turn += 1
    clock.sleep(30)
    return choices[-1]
    """,
}

CLASS: Final = {
    name: FILE.format(body=indent(dedent(body).strip("\n"), " " * 8))
    for name, body in BODIES.items()
}
"""The file of each of the six, by name."""
