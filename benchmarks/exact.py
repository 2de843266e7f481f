"""Share code between the tools that solve positions of ExtendedConnect4 exactly.

`exact.c` is the solver. It is compiled where it is needed, with the machine's C compiler,
as is `training/selfplay.c`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from connect4.games import extended
from connect4.games.base import Player
from connect4.games.extended import ExtendedState
from connect4.games.falling import ExtendedAction

SOURCE = Path(__file__).with_name("exact.c")
FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Wno-clobbered")


Values: TypeAlias = tuple[int, ...]
"""The mover's final margin after each legal action, in the order of `legal_actions`."""


class Solved(NamedTuple):
    """A position and what its actions are worth with best play."""

    state: ExtendedState
    values: Values

    @property
    def best(self) -> int:
        """Return the mover's final margin with best play."""
        return max(self.values)

    def regret(self, action: ExtendedAction) -> int:
        """Return the points that `action` gives away."""
        return self.best - self.values[self.state.legal_actions().index(action)]


def compiled(source: Path, folder: Path) -> Path:
    """Compile a program in C into `folder`; ends this one where there is no compiler."""
    cc = shutil.which("cc") or shutil.which("gcc")
    if cc is None:
        raise SystemExit(f"{source.name} needs a C compiler: apt install gcc")
    program = folder / source.stem
    subprocess.run([cc, *FLAGS, "-o", program, source, "-lm"], check=True)
    return program


def text_of(state: ExtendedState) -> str:
    """Return a position as the solver reads it: see `exact.c`."""
    rows, columns = state.shape
    board = state.for_agent()[0]
    stacks = ("".join(str(token) for token in column[::-1] if token) for column in board.T.tolist())
    one, two = state.popouts
    return f"{rows} {columns} {one} {two} {state.mover} {'/'.join(stacks)}"


def state_of(text: str) -> ExtendedState:
    """Return the position that `text_of` wrote."""
    *numbers, stacks = text.split(" ")
    rows, columns, one, two, mover = map(int, numbers)
    board = np.zeros((rows, columns), dtype=np.int64)
    for column, stack in enumerate(stacks.split("/")):
        for height, token in enumerate(stack):
            board[rows - 1 - height, column] = int(token)
    player: Player = 1 if mover == 1 else 2
    return extended.position(board, (one, two), player)


def solve(
    program: Path, states: Iterable[ExtendedState], nodes: int, jobs: int
) -> Iterator[tuple[ExtendedState, Values | None]]:
    """Yield each position with its values, in their order; None where `nodes` were not enough."""

    def values(state: ExtendedState) -> Values | None:
        command = [program, "solve", str(nodes)]
        text = f"{text_of(state)}\n"
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        _, *words = done.stdout.split()
        return None if words == ["unsolved"] else tuple(map(int, words))

    with ThreadPoolExecutor(jobs) as pool:
        known = list(states)
        yield from zip(known, pool.map(values, known), strict=True)


def to_text(solved: Solved) -> str:
    """Return a line of a file of solved positions."""
    return f"{text_of(solved.state)} {','.join(map(str, solved.values))}"


def read(lines: Iterable[str]) -> list[Solved]:
    """Read a file of solved positions; lines that begin with `#` are comments."""
    solved = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            position, _, values = line.rstrip().rpartition(" ")
            solved.append(Solved(state_of(position), tuple(map(int, values.split(",")))))
    return solved
