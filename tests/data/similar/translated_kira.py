"""kira.py, translated by hand into another style: functions and dictionaries, no classes of its own."""
from connect4.utils import get_pts, get_valid_actions
import time as watch


def do(history, grid, who, action):
    lane = action[0]
    old = [int(cell) for cell in grid[:, lane]]
    history += [(lane, old)]
    if action[1]:
        grid[:, lane] = [0] + old[:-1]
        return
    top = 0
    while top < len(old) and old[top] == 0:
        top += 1
    grid[top - 1, lane] = who


def undo(history, grid):
    lane, old = history.pop()
    grid[:, lane] = old


def explore(info, who, remaining, level, low, high):
    if not watch.perf_counter() < info["until"]:
        info["over"] = True
        return 0
    grid = info["grid"]
    options = [*get_valid_actions(who, (grid, info["pops"]))]
    if not options or remaining < 1:
        return get_pts(who, grid) - get_pts(3 - who, grid)
    first = info["good"].get(level)
    options.sort(key=lambda option: option != first)
    full = True
    for option in options:
        do(info["history"], grid, who, option)
        if full:
            result = -explore(info, 3 - who, remaining - 1, level + 1, -high, -low)
        else:
            result = -explore(info, 3 - who, remaining - 1, level + 1, -low - 1, -low)
            if not info["over"] and low < result and result < high:
                result = -explore(info, 3 - who, remaining - 1, level + 1, -high, -result)
        undo(info["history"], grid)
        full = False
        if info["over"]:
            return 0
        if result > low:
            low = result
            if not level:
                info["front"] = option
        if not low < high:
            info["good"][level] = option
            break
    return low


class AIPlayer:
    def __init__(self, player_number, time):
        self.who, self.share = player_number, time / 2

    def get_intelligent_move(self, state):
        info = {"until": watch.perf_counter() + self.share, "good": {}, "history": [], "over": False}
        info |= {"grid": state[0].copy(), "pops": state[1]}
        info["front"] = answer = get_valid_actions(self.who, state)[0]
        remaining = 1
        while remaining < 30:
            explore(info, self.who, remaining, 0, -1_000_000, 1_000_000)
            if info["over"]:
                return answer
            answer = info["front"]
            remaining += 1
        return answer

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)
