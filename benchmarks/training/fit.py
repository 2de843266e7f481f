"""Fit what the evaluation leaves out: `python3 -m benchmarks.training.fit POSITIONS WEIGHTS`.

POSITIONS come from `selfplay probes` or `selfplay games`. The target is the value of a deeper
search (or the final margin) less the value at the horizon, for the player who makes the last move.
The features count the windows of four cells by line kind, contents, and parities of height and
column. Each phase of the game has its own numbers. Ridge regression; every fifth game is held out.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PHASES, KINDS, CODES = 6, 4, 81
"""Phases 3 to 5 are those with pop-outs left; in each half the late phase comes first."""

ROW, RISE, FALL, COLUMN = range(KINDS)
STEPS = ((0, 1), (1, 1), (1, -1), (1, 0))
"""Of each kind: how far a window goes up and to the right from cell to cell."""

FREE = 7
"""Features that are fitted but not kept: pop-outs in hand, whose turn it is, a constant."""

CHUNK = 4000


@dataclass
class Sample:
    """Positions on boards of one shape, from the side of the player who makes the last move."""

    cells: Ints  # (positions, rows, columns), row 0 at the bottom: 0 empty, 1 the last mover's
    own: Ints  # the parity of the columns that the last mover may pop out of
    hand: Ints  # (positions, 2): pop-outs of the last mover and of the other one
    to_move: Ints  # 1 where the last mover is to move
    phase: Ints
    target: Floats
    game: Ints

    def take(self, rows: Any) -> Sample:
        """Return some of the positions."""
        return Sample(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def read_samples(path: Path, target: str) -> list[Sample]:
    """Read the positions, by board shape."""
    by_shape: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    game, before = 0, 0
    with path.open() as file:
        for line in file:
            if not line.endswith("\n"):
                break  # the generator is still writing
            rows, columns, one, two, mover, cells, horizon, value, _, margin = line.split()
            left = cells.count("0") + 2 * (int(one) + int(two))
            game += left > before + 10  # probes go astray by a few plies
            before = left
            goal = float(margin if target == "margin" else value)
            row = cells, int(one), int(two), int(mover), goal - float(horizon), left, game
            by_shape.setdefault((int(rows), int(columns)), []).append(row)
    return [_sample(shape, found) for shape, found in by_shape.items()]


def _sample(shape: tuple[int, int], found: list[tuple[Any, ...]]) -> Sample:
    texts, *numbers = zip(*found, strict=True)
    tokens = np.frombuffer("".join(texts).encode(), dtype=np.uint8) - 48
    cells = tokens.reshape(len(found), *shape).astype(np.int64)
    one, two, mover, surplus, left, game = map(np.array, numbers)
    last = np.where(left % 2 == 1, mover, 3 - mover)
    to_move = (last == mover).astype(np.int64)
    exchanged = np.where(cells > 0, 3 - cells, 0)
    is_one = last == 1
    cells = np.where(is_one[:, None, None], cells, exchanged)
    hand = np.where(is_one[:, None], np.stack((one, two), 1), np.stack((two, one), 1))
    empty, size = left - 2 * (one + two), shape[0] * shape[1]
    third = (empty * 3 > size).astype(np.int64) + (empty * 3 > 2 * size)
    phase = third + 3 * (one + two > 0)
    return Sample(cells, last - 1, hand, to_move, phase, (2 * to_move - 1) * surplus, game)


def is_full(code: int) -> bool:
    """Return whether a window with this code has no empty cell."""
    return all(code // 3**place % 3 for place in range(4))


def reversed_code(code: int) -> int:
    """Return a window's code read from its other end."""
    return sum(code // 3**place % 3 * 3 ** (3 - place) for place in range(4))


def numbering(columns: bool) -> tuple[Ints, int]:
    """Return the number of each window (kind, height, column, code), and how many there are.

    Mirrored windows share a number: a rise is the mirror image of a fall. The last number is that
    of full windows, which count nothing, so that the evaluation of a full board stays exact.
    """
    numbers = np.zeros((KINDS, 2, 2, CODES), dtype=np.int64)
    known: dict[tuple[int, ...], int] = {}
    full = []
    for kind, height, own, code in np.ndindex(*numbers.shape):
        if is_full(code):
            full.append((kind, height, own, code))
            continue
        forms = [(FALL if kind == RISE else kind, height, own * columns, code)]
        if kind == ROW:
            forms.append((ROW, height, (1 - own) * columns, reversed_code(code)))
        numbers[kind, height, own, code] = known.setdefault(min(forms), len(known))
    for window in full:
        numbers[window] = len(known)
    return numbers, len(known) + 1


def features(sample: Sample, numbers: Ints, count: int) -> Floats:
    """Return the features of the positions, one row each."""
    positions, rows, columns = sample.cells.shape
    table = np.zeros((positions, count + FREE))
    flat, start = table.ravel(), np.arange(positions) * table.shape[1]
    for kind, (up, right) in enumerate(STEPS):
        for height in range(rows - 3 * up):
            for column in range(3 if right < 0 else 0, columns - (3 if right > 0 else 0)):
                window = [sample.cells[:, height + i * up, column + i * right] for i in range(4)]
                code = sum(3**i * cell for i, cell in enumerate(window))
                own = (column % 2 == sample.own).astype(np.int64)
                flat[start + numbers[kind, height % 2, own, code]] += 1
    table[:, count - 1] = 0
    last, other = sample.hand.T
    table[:, count:] = np.stack(
        (last, other, last**2, other**2, last * other, sample.to_move, np.ones(positions)), 1
    )
    return table


def chunks(samples: list[Sample], phase: int) -> Iterator[Sample]:
    """Yield the positions of a phase in parts that fit in memory."""
    for sample in samples:
        chosen = np.flatnonzero(sample.phase == phase)
        for begin in range(0, len(chosen), CHUNK):
            yield sample.take(chosen[begin : begin + CHUNK])


def fit_phase(samples: list[Sample], phase: int, ridge: float) -> Floats:
    """Return the numbers of one phase, and print the error where it is held out."""
    numbers, count = numbering(columns=phase >= PHASES // 2)
    normal = np.diag(np.r_[np.full(count, ridge), np.full(FREE, 1e-3)])
    right = np.zeros(count + FREE)
    held: list[tuple[Floats, Floats]] = []
    for part in chunks(samples, phase):
        x, apart = features(part, numbers, count), part.game % 5 == 0
        held.append((x[apart], part.target[apart]))
        normal += x[~apart].T @ x[~apart]
        right += x[~apart].T @ part.target[~apart]
    solution = np.linalg.solve(normal, right)
    if held:
        before = np.concatenate([y for _, y in held])
        after = np.concatenate([y - x @ solution for x, y in held])
        errors = [np.sqrt(np.mean(error**2)) for error in (before - before.mean(), after)]
        print(
            f"phase {phase}: {len(before)} positions held out, error {errors[0]:.2f} before,"
            f" {errors[1]:.2f} after",
            flush=True,
        )
    found: Floats = solution[numbers]
    return found


def fit(positions: Path, target: str = "value", ridge: float = 500.0) -> Floats:
    """Return the numbers of all windows: phase, kind, height, column, code."""
    samples = read_samples(positions, target)
    return np.stack([fit_phase(samples, phase, ridge) for phase in range(PHASES)])


def write_weights(path: Path, windows: Floats) -> None:
    """Write the numbers as `selfplay` reads them."""
    path.write_text("window " + " ".join(f"{number:.5f}" for number in windows.ravel()) + "\n")


def read_weights(path: Path) -> Floats:
    """Return the numbers that `write_weights` wrote."""
    _, *numbers = path.read_text().split()
    return np.array(numbers, dtype=float).reshape(PHASES, KINDS, 2, 2, CODES)


def agent_windows() -> Floats:
    """Return the numbers in `ai.py`; those without pop-outs left are 0."""
    from connect4.players import ai

    learned = np.array(ai.WINDOWS[ai.ME])
    return np.concatenate((np.zeros_like(learned), learned))


def packed(windows: Floats) -> str:
    """Return the numbers of the phases with pop-outs left as `LEARNED` in `ai.py` has them."""
    from connect4.players import ai

    codes = [code for code in range(CODES) if not is_full(code)]
    tables = [
        table[codes]
        for phase in windows[PHASES // 2 :]
        for kind in (phase[ROW, :, 0], phase[FALL], phase[COLUMN])
        for table in kind.reshape(-1, CODES)
    ]
    steps = np.clip(np.rint(np.array(tables) / ai.LEARNED_STEP), -128, 127).astype(np.int8)
    return base64.b85encode(steps.tobytes()).decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("positions", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--ridge", type=float, default=500.0)
    parser.add_argument("--target", choices=("value", "margin"), default="value")
    parser.add_argument("--add", type=Path, help="WEIGHTS that the positions were played with")
    options = parser.parse_args()
    windows = fit(options.positions, options.target, options.ridge)
    if options.add:
        windows += read_weights(options.add)
    write_weights(options.weights, windows)


if __name__ == "__main__":
    main()
