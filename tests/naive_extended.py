"""ExtendedConnect4 a second time, slowly and obviously: the rules in lists of lists.

Written from the rules alone; it imports nothing of the kit, so that the two can only agree by
both being right. A position is `(rows, popouts, mover)`: `rows` top first, `popouts` as
`[player 1's, player 2's]`.
"""

from copy import deepcopy


def read(text):
    first, *rows = [[int(word) for word in line.split()] for line in text.strip().splitlines()]
    one, two, mover = first if len(first) == 3 else (first[0], first[0], 1)
    return rows, [one, two], mover


def actions(position):
    """Return what the mover may do: drops by ascending column, then pop-outs."""
    rows, popouts, mover = position
    columns = range(len(rows[0]))
    drops = [(column, False) for column in columns if any(row[column] == 0 for row in rows)]
    pops = [
        (column, True)
        for column in columns
        if popouts[mover - 1] > 0
        and any(row[column] != 0 for row in rows)
        and column % 2 == (0 if mover == 1 else 1)
    ]
    return drops + pops


def apply(position, action):
    """Return a new position; the action has to be one of `actions(position)`."""
    rows, popouts, mover = deepcopy(position)
    column, is_popout = action
    tokens = [row[column] for row in rows if row[column] != 0]
    if is_popout:
        tokens.pop()
        popouts[mover - 1] -= 1
    else:
        tokens.insert(0, mover)
    tokens = [0] * (len(rows) - len(tokens)) + tokens
    for row, token in zip(rows, tokens, strict=True):
        row[column] = token
    return rows, popouts, 3 - mover


def skip(position):
    rows, popouts, mover = deepcopy(position)
    return rows, popouts, 3 - mover


def perft(position, depth):
    """Return how many sequences of `depth` legal actions there are."""
    if depth == 0:
        return 1
    return sum(perft(apply(position, action), depth - 1) for action in actions(position))
