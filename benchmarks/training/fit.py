"""Learn what expected margins leave out: `python3 -m benchmarks.training.fit POSITIONS WEIGHTS`.

POSITIONS are what `selfplay games` prints. The target is the final margin less the value at the
horizon, seen from the player who makes the last move. The features are the contents of all windows
of four cells, by line kind, parity of the height and of the column, and the pop-outs left; each
phase of the game has its own numbers. Ridge regression; every fifth game is held out.
"""

from __future__ import annotations

import argparse
import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PHASES, KINDS, CODES = 6, 4, 81
ROW, RISE, FALL, COLUMN = range(KINDS)
STEPS = ((0, 1), (1, 1), (1, -1), (1, 0))
"""Of each kind: how far a window goes up and to the right from cell to cell."""

MOST_POPOUTS = 10
CHUNK = 4000
STEP = 1 / 32
HAND = 5
"""Numbers for the pop-outs in hand: see `hand_features`."""


@dataclass
class Sample:
    """Positions on boards of one shape, from the side of the player who makes the last move."""

    cells: Ints  # (positions, rows, columns), row 0 at the bottom: 0 empty, 1 the last mover's
    first: Ints  # the parity of the columns that the last mover may pop out of
    hand: Ints  # (positions, 2): pop-outs of the last mover and of the other one
    to_move: Ints  # 1 where the last mover is to move
    phase: Ints
    target: Floats
    value: Floats
    game: Ints


def read_samples(path: Path, target: str) -> list[Sample]:
    """Read the positions, by board shape."""
    rows: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    game, before = 0, -1
    with path.open() as file:
        for line in file:
            if not line.endswith("\n"):
                break  # the generator is still writing
            high, wide, one, two, mover, cells, *notes = line.split()
            left = cells.count("0") + 2 * (int(one) + int(two))
            game += left >= before
            before = left
            horizon, searched, _, margin = map(float, notes)
            aim = margin if target == "margin" else searched
            if target == "both":
                aim = (margin + searched) / 2
            row = (cells, int(one), int(two), int(mover), horizon, aim, left, game)
            rows.setdefault((int(high), int(wide)), []).append(row)
    return [sample(shape, found) for shape, found in rows.items()]


def sample(shape: tuple[int, int], rows: list[tuple[Any, ...]]) -> Sample:
    """Turn positions to the last mover's side."""
    text = "".join(row[0] for row in rows).encode()
    cells = (np.frombuffer(text, dtype=np.uint8) - 48).reshape(len(rows), *shape).astype(np.int64)
    one, two, mover = (np.array([row[i] for row in rows]) for i in (1, 2, 3))
    value, aim = (np.array([row[i] for row in rows]) for i in (4, 5))
    left, game = (np.array([row[i] for row in rows]) for i in (6, 7))
    last = np.where(left % 2 == 1, mover, 3 - mover)
    to_move = (last == mover).astype(np.int64)
    sign = 2 * to_move - 1
    swapped = np.where(cells > 0, 3 - cells, 0)
    cells = np.where((last == 1)[:, None, None], cells, swapped)
    hand = np.where((last == 1)[:, None], np.stack((one, two), 1), np.stack((two, one), 1))
    empty = left - 2 * (one + two)
    size = shape[0] * shape[1]
    third = (empty * 3 > size).astype(np.int64) + (empty * 3 > 2 * size)
    phase = third + 3 * (one + two > 0)
    return Sample(cells, last - 1, hand, to_move, phase, sign * (aim - value), sign * value, game)


def reversed_code(code: int) -> int:
    """Return a window's code read from its other end."""
    digits = [code // 3**place % 3 for place in range(4)]
    return sum(digit * 3 ** (3 - place) for place, digit in enumerate(digits))


def swapped_code(code: int) -> int:
    """Return a window's code with the players exchanged."""
    return sum((3 - code // 3**place % 3) % 3 * 3**place for place in range(4))


def is_full(code: int) -> bool:
    """Return whether a window with this code has no empty cell."""
    return all(code // 3**place % 3 for place in range(4))


def parameters(heights: bool, columns: bool, sides: bool) -> tuple[Ints, Ints, int]:
    """Return for each of the 4 x 2 x 2 x 81 windows its number and sign, and how many there are.

    Mirrored windows share one number: a rise is the mirror image of a fall. A full window has none,
    so that the evaluation of a full board stays exact. Without `sides` the number of a window is
    the negative of the one with the players exchanged.
    """
    numbers = np.zeros((KINDS, 2, 2, CODES), dtype=np.int64)
    signs = np.zeros_like(numbers)
    known: dict[tuple[int, ...], int] = {}
    for kind, height, own, code in np.ndindex(*numbers.shape):
        if is_full(code):
            continue
        same = [(FALL if kind == RISE else kind, height, own, code)]
        if kind == ROW:
            same.append((ROW, height, 1 - own, reversed_code(code)))
        forms = [(*form, 1) for form in same]
        if not sides:
            forms += [(k, h, 1 - o, swapped_code(c), -1) for k, h, o, c in same]
        plain = [(k, h * heights, o * columns, c, s) for k, h, o, c, s in forms]
        least = min(form[:4] for form in plain)
        found = {form[4] for form in plain if form[:4] == least}
        if len(found) == 2:
            continue  # equal to its own negative: nothing
        numbers[kind, height, own, code] = known.setdefault(least, len(known))
        signs[kind, height, own, code] = found.pop()
    return numbers, signs, len(known)


def hand_features(hand: Ints) -> Floats:
    """Return the features of the pop-outs that the last mover and the other one have."""
    last, other = hand[:, 0].astype(float), hand[:, 1].astype(float)
    return np.stack((last, other, last * last, other * other, last * other), 1)


def design(chosen: Sample, numbers: Ints, signs: Ints, count: int) -> Floats:
    """Return the features of the positions: windows, pop-outs, whose turn it is."""
    positions, rows, columns = chosen.cells.shape
    x = np.zeros((positions, count + HAND + 2))
    flat, where = x.ravel(), np.arange(positions) * x.shape[1]
    for kind, (up, right) in enumerate(STEPS):
        for height in range(rows - 3 * up):
            for column in range(3 if right < 0 else 0, columns - (3 if right > 0 else 0)):
                code = sum(
                    3**i * chosen.cells[:, height + i * up, column + i * right] for i in range(4)
                )
                own = (column % 2 == chosen.first).astype(np.int64)
                picked = numbers[kind, height % 2, own, code]
                flat[where + picked] += signs[kind, height % 2, own, code]
    x[:, count : count + HAND] = hand_features(chosen.hand)
    x[:, count + HAND] = 1
    x[:, count + HAND + 1] = chosen.to_move
    return x


def subset(chosen: Sample, rows: Any) -> Sample:
    """Return some of the positions."""
    return Sample(*(getattr(chosen, name)[rows] for name in Sample.__dataclass_fields__))


@dataclass
class Fit:
    """Sums over the positions of one phase, and the numbers that follow from them."""

    normal: Floats
    right: Floats
    seen: int = 0

    def add(self, x: Floats, y: Floats) -> None:
        self.normal += x.T @ x
        self.right += x.T @ y
        self.seen += len(y)

    def solve(self, ridge: float, free: int) -> Floats:
        """Return the numbers; the last `free` ones are not drawn towards zero."""
        penalty = np.full(len(self.right), ridge)
        penalty[-free:] = 1e-3
        solution: Floats = np.linalg.solve(self.normal + np.diag(penalty), self.right)
        return solution


def fit(samples: list[Sample], options: argparse.Namespace) -> tuple[Floats, Floats]:
    """Return the windows' numbers and the pop-outs' by phase; print the errors."""
    windows = np.zeros((PHASES, KINDS, 2, 2, CODES))
    hands = np.zeros((PHASES, MOST_POPOUTS + 1, MOST_POPOUTS + 1))
    last, other = np.indices(hands.shape[1:])
    for phase in range(PHASES):
        numbers, signs, count = parameters(options.heights, options.columns and phase > 2, options.sides)
        size = count + HAND + 2
        sums = Fit(np.zeros((size, size)), np.zeros(size))
        held = []
        for group in samples:
            chosen = np.flatnonzero(group.phase == phase)
            for begin in range(0, len(chosen), CHUNK):
                part = subset(group, chosen[begin : begin + CHUNK])
                x = design(part, numbers, signs, count)
                apart = part.game % 5 == 0
                sums.add(x[~apart], part.target[~apart])
                held.append((x[apart].astype(np.float32), part.target[apart]))
        if not sums.seen:
            continue
        solution = sums.solve(options.ridge, HAND + 2)
        windows[phase] = signs * solution[numbers]
        pairs = np.stack((last.ravel(), other.ravel()), 1)
        hands[phase] = (hand_features(pairs) @ solution[count : count + HAND]).reshape(last.shape)
        y = np.concatenate([target for _, target in held])
        rest = y - np.concatenate([x @ solution for x, _ in held])
        constant = y - y.mean()
        print(
            f"phase {phase}: {sums.seen:7} positions, {count} windows; held out {len(y)}: "
            f"error {np.sqrt(np.mean(constant**2)):.2f} before, {np.sqrt(np.mean(rest**2)):.2f} after"
        , flush=True)
    return windows, hands


def read_windows(path: Path) -> Floats:
    """Return the windows' numbers in a file of weights."""
    for line in path.read_text().splitlines():
        name, *numbers = line.split()
        if name == "window":
            return np.array(numbers, dtype=float).reshape(PHASES, KINDS, 2, 2, CODES)
    raise SystemExit(f"{path} has no windows")


def packed(windows: Floats) -> str:
    """Return the numbers of the phases with pop-outs as `LEARNED` in `ai.py` has them."""
    open_codes = [code for code in range(CODES) if not is_full(code)]
    tables = [
        table[open_codes]
        for phase in windows[PHASES // 2 :]
        for table in (*phase[ROW, :, 0], *phase[FALL].reshape(4, CODES), *phase[COLUMN].reshape(4, CODES))
    ]
    steps = np.clip(np.rint(np.array(tables) / STEP), -128, 127).astype(np.int8)
    return base64.b85encode(steps.tobytes()).decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("positions", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--ridge", type=float, default=300.0)
    parser.add_argument("--target", choices=("margin", "value", "both"), default="margin")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers")
    parser.add_argument("--add", type=Path, help="WEIGHTS that the positions were played with")
    for name in ("heights", "columns", "sides"):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    windows, hands = fit(read_samples(options.positions, options.target), options)
    windows *= options.scale
    if options.add:
        windows += read_windows(options.add)
    with options.weights.open("w") as file:
        for name, numbers in (("window", windows), ("hand", hands)):
            print(name, *(f"{number:.3f}" for number in numbers.ravel()), file=file)


if __name__ == "__main__":
    main()
