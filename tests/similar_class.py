"""A made-up class: six independent searches, four copies, five files that are almost empty."""

import ast
import re
from pathlib import Path
from typing import Final

from tests.command import ROOT

FOLDER: Final = Path(__file__).parent / "data" / "similar"

COPIES: Final = {
    "renamed_gina": "gina",
    "reordered_dora": "dora",
    "reformatted_hugo": "hugo",
    "half_olga": "olga",
}
"""Each copy and whose it is."""

NAMES: Final = (
    *("table", "search", "entry", "moves", "depth", "best", "lo", "hi", "value", "kind"),
    *("player", "board", "pops", "do", "original", "answer", "top", "total"),
)
"""The names of `gina` that its copy changes."""

OWN_HALF: Final = '''
"""Half of it is mine."""
from time import process_time
import random
from connect4.utils import get_pts, get_valid_actions
import numpy as np

OPENING = {0: 3, 1: 3, 2: 2}


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        self.reserve = 0.25 * time
        self.dice = random.Random(8)

    def estimate(self):
        rows, columns = self.field.shape
        bonus = 0
        for y in range(rows):
            if self.field[y, columns // 2] == self.player_number:
                bonus += 3 + y
        return bonus + get_pts(self.player_number, self.field)

    def get_intelligent_move(self, state):
        count = int((state[0] > 0).sum())
        legal = list(get_valid_actions(self.player_number, state))
        if count in OPENING and (OPENING[count], False) in legal:
            return OPENING[count], False
        self.dice.shuffle(legal)
        self.pops = state[1]
        self.alarm = process_time() + self.reserve
        outcomes = []
        for action in legal:
            self.field = played(state[0], self.player_number, action)
            outcomes.append(self.alphabeta(1, -99999, 99999, False))
        return legal[outcomes.index(max(outcomes))]

    def get_expectimax_move(self, state):
        return self.get_intelligent_move(state)

{copied}

def played(board, token, action):
    tokens = [cell for cell in board[:, action[0]].tolist() if cell > 0]
    tokens = tokens[:-1] if action[1] else [token, *tokens]
    result = board.copy()
    result[:, action[0]] = [0] * (len(board) - len(tokens)) + tokens
    return result
'''


def read(name: str) -> str:
    """Return the source of a student of the class."""
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def independent() -> dict[str, str]:
    """Return the six who wrote their own."""
    return {path.stem: read(path.stem) for path in sorted(FOLDER.glob("*.py"))}


def renamed(source: str) -> str:
    """Return a source with other names and other comments."""
    text = source.replace('"""', '"""My own work. ', 1)
    for number, name in enumerate(NAMES):
        text = re.sub(rf"\b{name}\b", f"thing_{number}", text)
    return re.sub(r"^(    def .*)$", r"    # this is mine\n\1", text, flags=re.MULTILINE)


def reordered(source: str) -> str:
    """Return a source with its functions, classes and methods the other way round."""
    tree = ast.parse(source)

    def turned(body: list[ast.stmt]) -> list[ast.stmt]:
        defined = [item for item in body if isinstance(item, ast.FunctionDef | ast.ClassDef)]
        for item in defined:
            if isinstance(item, ast.ClassDef):
                item.body = turned(item.body)
        return [item for item in body if item not in defined] + defined[::-1]

    tree.body = turned(tree.body)
    return "# all my own\n" + ast.unparse(tree)


def half() -> str:
    """Return a file with the search of `olga` and everything else of its own."""
    source = read("olga")
    (player,) = (item for item in ast.parse(source).body if isinstance(item, ast.ClassDef))
    search = next(
        item
        for item in player.body
        if isinstance(item, ast.FunctionDef) and item.name == "alphabeta"
    )
    lines = source.splitlines()[search.lineno - 1 : search.end_lineno]
    return OWN_HALF.replace("{copied}", "\n".join(lines) + "\n")


def almost_empty() -> dict[str, str]:
    """Return five files that change one line of the stub."""
    stub = (ROOT / "grader" / "handout" / "ai_stub.py").read_text(encoding="utf-8")
    first = "get_valid_actions(self.player_number, state)[0]"
    choices = ("[-1]", "[len(state[0]) % 2]", "[1]", "[0] or (0, False)", "[:1][0]")
    return {
        f"empty_{number}": stub.replace(first, first.removesuffix("[0]") + choice)
        for number, choice in enumerate(choices)
    }


def the_class() -> dict[str, str]:
    """Return the sources of all."""
    copies = {
        "renamed_gina": renamed(read("gina")),
        "reordered_dora": reordered(read("dora")),
        "reformatted_hugo": ast.unparse(ast.parse(read("hugo"))),
        "half_olga": half(),
    }
    assert copies.keys() == COPIES.keys()
    return {**independent(), **copies, **almost_empty()}
