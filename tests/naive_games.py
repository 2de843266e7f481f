"""The games a second time, slowly and obviously: cells in lists of lists.

Written from the rules alone; nothing of the kit is imported, so that the two can only agree by both
being right. A position begins with its rows, top first, and ends with the mover; pieces and tokens
are 1 and 2. Each game has `read`, `actions`, `apply`, `skip` and `over`, and `scores` unless
points decide it (`naive_api` counts those).
"""

from copy import deepcopy


def places(height, width, length):
    """Yield the cells `(row, column)` of every window in a row, a column or a diagonal."""
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + step * down, column + step * right) for step in range(length)]
                if all(0 <= y < height and 0 <= x < width for y, x in cells):
                    yield cells


def windows(rows, length):
    """Return the values in every window."""
    found = places(len(rows), len(rows[0]), length)
    return [[rows[y][x] for y, x in cells] for cells in found]


def lines(rows, length):
    """Return how many windows each player owns whole."""
    return tuple(windows(rows, length).count([player] * length) for player in (1, 2))


class Classic:
    def __init__(self, most_fours):
        self.most_fours = most_fours

    def read(self, text):
        first, *rows = [[int(word) for word in line.split()] for line in text.strip().splitlines()]
        return rows, first[2] if len(first) == 3 else 1

    def over(self, position):
        rows, _ = position
        won = not self.most_fours and any(lines(rows, 4))
        return won or all(cell for row in rows for cell in row)

    def actions(self, position):
        if self.over(position):
            return []
        return [column for column, cell in enumerate(position[0][0]) if cell == 0]

    def apply(self, position, column):
        rows, mover = deepcopy(position)
        row = max(row for row in range(len(rows)) if rows[row][column] == 0)
        rows[row][column] = mover
        return rows, 3 - mover

    def skip(self, position):
        rows, mover = deepcopy(position)
        return rows, 3 - mover

    def scores(self, position):
        one, two = lines(position[0], 4)
        return (one, two) if self.most_fours else (int(one > 0), int(two > 0))


class PopOut(Classic):
    """Without the draws by repetition and by length."""

    def __init__(self):
        super().__init__(most_fours=False)

    def over(self, position):
        return any(lines(position[0], 4)) or not self._moves(position)

    def actions(self, position):
        return [] if self.over(position) else self._moves(position)

    def _moves(self, position):
        rows, mover = position
        columns = range(len(rows[0]))
        drops = [(column, False) for column in columns if rows[0][column] == 0]
        return drops + [(column, True) for column in columns if rows[-1][column] == mover]

    def read(self, text):
        return super().read("\n".join(line for line in text.splitlines() if "=" not in line))

    def apply(self, position, action):
        column, is_popout = action
        if not is_popout:
            return super().apply(position, column)
        rows, mover = deepcopy(position)
        cells = [0, *[row[column] for row in rows[:-1]]]
        for row, cell in zip(rows, cells, strict=True):
            row[column] = cell
        return rows, 3 - mover

    def scores(self, position):
        one, two = (count > 0 for count in lines(position[0], 4))
        if one and two:  # the player who has just moved wins
            return (1, 0) if position[1] == 2 else (0, 1)
        return int(one), int(two)


class Dynamic:
    """Without the draws: they are no part of what a board allows. A position holds its line too."""

    def read(self, text):
        values = {"": 0, "O": 1, "X": 2}
        rows = [
            [values[cell.strip()] for cell in line.split(",")]
            for line in text.splitlines()
            if line.strip() and "=" not in line
        ]
        return rows, (3 if "line=3" in text else 4), (2 if "mover=2" in text else 1)

    def over(self, position):
        return any(lines(*position[:2]))

    def actions(self, position):
        rows, _, mover = position
        if self.over(position):
            return []
        found = []
        for y, row in enumerate(rows):
            for x, cell in enumerate(row):
                for name, (right, down) in STEPS.items():
                    free = 0 <= y + down < len(rows) and 0 <= x + right < len(row)
                    if cell == mover and free and rows[y + down][x + right] == 0:
                        found.append(f"{x + 1}{y + 1}{name}")
        return sorted(found)

    def apply(self, position, action):
        rows, line, mover = deepcopy(position)
        x, y = int(action[0]) - 1, int(action[1]) - 1
        right, down = STEPS[action[2]]
        rows[y][x] = 0
        rows[y + down][x + right] = mover
        return rows, line, 3 - mover

    def skip(self, position):
        rows, line, mover = position
        return rows, line, 3 - mover

    def scores(self, position):
        one, two = lines(*position[:2])
        return int(one > 0), int(two > 0)


STEPS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}


class Extended:
    """A position is `(rows, popouts, mover)`, `popouts` as `[player 1's, player 2's]`."""

    def read(self, text):
        first, *rows = [[int(word) for word in line.split()] for line in text.strip().splitlines()]
        one, two, mover = first if len(first) == 3 else (first[0], first[0], 1)
        return rows, [one, two], mover

    def over(self, position):
        return not self.actions(position)

    def actions(self, position):
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

    def apply(self, position, action):
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

    def skip(self, position):
        rows, popouts, mover = deepcopy(position)
        return rows, popouts, 3 - mover


NAIVE = {
    "extended": Extended(),
    "classic": Classic(most_fours=False),
    "classic-full": Classic(most_fours=True),
    "dynamic": Dynamic(),
    "popout": PopOut(),
}


def naive_rules(name):
    """Return the naive rules of a game."""
    assert name in NAIVE, f"add a row for {name!r} to NAIVE in tests/naive_games.py"
    return NAIVE[name]
