"""The heuristics a second time, cell by cell and window by window, from their descriptions.

`rows` are a board's rows, top first, with 0, 1 and 2; values are player 1's.
"""

from itertools import pairwise

from tests.naive_games import places
from tests.naive_games import windows as cells_of_windows


def signed(rows, value_of):
    """Return the sum over all windows of the value of a window, player 2's counted against."""
    total = 0
    for window in cells_of_windows(rows, 4):
        for player, sign in ((1, 1), (2, -1)):
            if 3 - player not in window:
                total += sign * value_of[window.count(player)]
    return total


def potential(rows):
    return signed(rows, [0, 10, 100, 1000, 10_000])


def windows(rows):
    return signed(rows, [0, 2, 5, 8, 0])


def looking(rows, player, down, right):
    """Yield the cells `(row, column)` of each window from a cell of `player`'s in a direction."""
    for row in range(len(rows)):
        for column in range(len(rows[0])):
            cells = [(row + step * down, column + step * right) for step in range(4)]
            inside = all(0 <= y < len(rows) and 0 <= x < len(rows[0]) for y, x in cells)
            if rows[row][column] == player and inside:
                yield cells


UP, RIGHT, UP_RIGHT, UP_LEFT = (-1, 0), (0, 1), (-1, 1), (-1, -1)
LEFT, DOWN_RIGHT, DOWN_LEFT = (0, -1), (1, 1), (1, -1)


def v1(rows):
    total = 0
    for player, sign in ((1, 1), (2, -1)):
        for direction in (UP, RIGHT, UP_RIGHT, UP_LEFT):
            for cells in looking(rows, player, *direction):
                values = [rows[y][x] for y, x in cells]
                own, enemy = values.count(player), values.count(3 - player)
                if enemy == 0 and own >= 2:
                    total += sign * own
                if (own, enemy) == (3, 1):
                    total -= sign
        for cells in looking(rows, player, *LEFT):
            values = [rows[y][x] for y, x in cells]
            if values == [player, player, player, 0]:
                total += 3 * sign
    return total


def level(rows, cells):
    """Return how many of the cells are filled or can be filled by the next token."""
    return sum(bool(rows[y][x]) or y + 1 == len(rows) or bool(rows[y + 1][x]) for y, x in cells)


def v2(rows):
    total = 0
    for player, sign in ((1, 1), (2, -1)):
        for direction in (UP, RIGHT, UP_RIGHT, UP_LEFT):
            for cells in looking(rows, player, *direction):
                values = [rows[y][x] for y, x in cells]
                own, enemy, full = (
                    values.count(player),
                    values.count(3 - player),
                    level(rows, cells),
                )
                if enemy == 0:
                    worth = {4: 40, 3: 17 if full == 4 else 15, 2: 4 if full == 4 else 2}
                    total += sign * worth.get(own, 0)
                elif (own, enemy) == (3, 1):
                    total -= 13 * sign
        for direction in (LEFT, DOWN_RIGHT, DOWN_LEFT):
            for cells in looking(rows, player, *direction):
                values = [rows[y][x] for y, x in cells]
                own, full = values.count(player), level(rows, cells)
                if values[3] != 0 or 3 - player in values:
                    continue
                if own == 3:
                    total += sign * {4: 17, 3: 15}.get(full, 0)
                elif own == 2 and direction == LEFT:
                    total += sign * {4: 4}.get(full, 0)
                elif own == 2:
                    total += sign * {4: 4, 3: 2}.get(full, 0)
    return total


def connected(rows, line=4):
    best = [
        max(window.count(player) for window in cells_of_windows(rows, line)) for player in (1, 2)
    ]
    return best[0] - best[1]


def fuzzy(rows, line=4):
    """The soft kernels as arrays, one position after the other."""
    height, width = len(rows), len(rows[0])

    def cell(y, x):
        inside = 0 <= y < height and 0 <= x < width
        return (0, 1, -1)[rows[y][x]] if inside else 0

    sums = []
    for own in places(height, width, line):
        (first_y, first_x), (next_y, next_x) = own[:2]
        down, right = next_y - first_y, next_x - first_x
        near = set()
        if down and right:  # beside the diagonal: the cells that touch two of its cells
            for (y, x), (below, aside) in pairwise(own):
                near |= {(y, aside), (below, x)}
        else:
            for y, x in own:
                near |= {(y + right, x + down), (y - right, x - down)}
        sums.append(2 * sum(cell(*at) for at in own) + sum(cell(*at) for at in near))
    return connected(rows, line) + (max(sums) + min(sums)) / 8
