"""Share code between the tools that solve positions of ExtendedConnect4 exactly.

`exact.c` is the solver. It is compiled where it is needed, with the machine's C compiler,
as is `training/selfplay.c`.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from connect4.games.extended import ExtendedState
from grader.solved import text_of

SOURCE = Path(__file__).with_name("exact.c")
FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Wno-clobbered")


Values: TypeAlias = tuple[int, ...]
"""The mover's final margin after each legal action, in the order of `legal_actions`."""


def compiled(source: Path, folder: Path) -> Path:
    """Compile a program in C into `folder`; ends this one where there is no compiler."""
    cc = shutil.which("cc") or shutil.which("gcc")
    if cc is None:
        raise SystemExit(f"{source.name} needs a C compiler: apt install gcc")
    program = folder / source.stem
    subprocess.run([cc, *FLAGS, "-o", program, source, "-lm"], check=True)
    return program


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
