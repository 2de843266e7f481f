"""The heuristics a second time, cell by cell and window by window, from their descriptions.

`rows` are a board's rows, top first, with 0, 1 and 2; values are player 1's.
"""

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


SOFT = [
    [0, 1, 1, 1, 1, 0],
    [1, 2, 2, 2, 2, 1],
    [0, 1, 1, 1, 1, 0],
]
SOFT_DIAGONAL = [
    [1, 1, 0, 0, 0, 0],
    [1, 2, 1, 0, 0, 0],
    [0, 1, 2, 1, 0, 0],
    [0, 0, 1, 2, 1, 0],
    [0, 0, 0, 1, 2, 1],
    [0, 0, 0, 0, 1, 1],
]
DIAGONAL = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def convolved(cells, kernel, down, right):
    """Return every value of the convolution; `down, right` is the kernel's middle."""
    height, width = len(cells), len(cells[0])
    values = []
    for r in range(height):
        for c in range(width):
            total = 0
            for i in range(len(kernel)):
                for j in range(len(kernel[0])):
                    y, x = r + down - i, c + right - j
                    if 0 <= y < height and 0 <= x < width:
                        total += kernel[i][j] * cells[y][x]
            values.append(total)
    return values


def fuzzy(rows):
    """The formula of the published notebook, with the boards of the players as lists."""
    best = []
    for player in (1, 2):
        own = [[cell == player for cell in row] for row in rows]
        best.append(
            max(
                *convolved(own, [[1, 1, 1, 1]], 0, 2),
                *convolved(own, [[1], [1], [1], [1]], 2, 0),
                *convolved(own, DIAGONAL, 2, 2),
                *convolved(own, DIAGONAL[::-1], 2, 2),
            )
        )
    signed_cells = [[(0, 1, -1)[cell] for cell in row] for row in rows]
    upright = [list(column) for column in zip(*SOFT, strict=True)]
    sums = [
        *convolved(signed_cells, SOFT, 1, 3),
        *convolved(signed_cells, upright, 3, 1),
        *convolved(signed_cells, SOFT_DIAGONAL, 3, 3),
        *convolved(signed_cells, SOFT_DIAGONAL[::-1], 3, 3),
    ]
    return best[0] - best[1] + (max(sums) - -min(sums)) / 8
