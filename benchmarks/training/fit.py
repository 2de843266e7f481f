"""Fit what the evaluation leaves out to positions from `selfplay probes`.

The target is the value of a deep search less that of a search of two plies, for the player who
makes the last move. Three parts are fitted together:

- windows: how many windows of four cells there are, by line kind, contents, and parities of height
  and column;
- hand: the pop-outs in hand of both players;
- features: gains of the best pop-outs and drops, which `selfplay` prints.

Hand and features have a second number that counts times the lateness: how far the last third of the
board is filled. Each phase of the game has its own numbers, with pop-outs left and without. Ridge
regression; every fifth game is held out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PHASES, KINDS, CODES = 3, 4, 81
"""The late phase comes first."""

SETS, NETWORK_SETS = 2 * PHASES, PHASES + 1
"""A phase each, with pop-outs left, then without. The first NETWORK_SETS have a network."""

ROW, RISE, FALL, COLUMN = range(KINDS)
STEPS = ((0, 1), (1, 1), (1, -1), (1, 0))
"""Of each kind: how far a window goes up and to the right from cell to cell."""

MOST = 10
"""More pop-outs in hand count as this many."""

FEATURES, PRIZE = 16, 10
INPUTS, HIDDEN = 33, 64
"""Of a network, see `joint`: the features come first."""

HAND = 2 * MOST + 3
RIDGE, OTHER_RIDGE = 500.0, 20.0

KEPT = 0.8
"""Of the weight of a position, with each round after its own."""

STEP = 1 / 32
"""Of the numbers as the agent has them, in points."""

DIGITS = 5, 5, 5, 8, 8
"""Decimal places of the parts of `Learned` in a file: a network's weights may be small."""

CHUNK = 4000


@dataclass
class Sample:
    """Positions on boards of one shape, from the side of the player who makes the last move."""

    cells: Ints  # (positions, rows, columns), row 0 at the bottom: 0 empty, 1 the last mover's
    own: Ints  # the parity of the columns that the last mover may pop out of
    hand: Ints  # (positions, 2): pop-outs of the last mover and of the other one
    to_move: Ints  # 1 where the last mover is to move
    set: Ints  # the phase, plus PHASES without pop-outs left
    target: Floats
    game: Ints
    late: Floats
    inputs: Floats  # (positions, INPUTS)

    def take(self, rows: Any) -> "Sample":
        """Return some of the positions."""
        return Sample(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def read_samples(paths: list[Path]) -> list[Sample]:
    """Read the positions, by board shape."""
    by_shape: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    game, before = 0, 0
    for path in paths:
        with path.open() as file:
            for line in file:
                rows, columns, one, two, mover, cells, *numbers = line.split()
                quick, value, late, *inputs = map(float, numbers)
                left = cells.count("0") + 2 * (int(one) + int(two))
                game += left > before + 10  # probes go astray by a few plies
                before = left
                row = cells, int(one), int(two), int(mover), value - quick, left, game, late
                by_shape.setdefault((int(rows), int(columns)), []).append((*row, inputs))
    return [_sample(shape, found) for shape, found in by_shape.items()]


def _sample(shape: tuple[int, int], found: list[tuple[Any, ...]]) -> Sample:
    texts, *numbers = zip(*found, strict=True)
    tokens = np.frombuffer("".join(texts).encode(), dtype=np.uint8) - 48
    cells = tokens.reshape(len(found), *shape).astype(np.int64)
    one, two, mover, surplus, left, game, late, inputs = map(np.array, numbers)
    last = np.where(left % 2 == 1, mover, 3 - mover)
    to_move = (last == mover).astype(np.int64)
    exchanged = np.where(cells > 0, 3 - cells, 0)
    is_one = last == 1
    cells = np.where(is_one[:, None, None], cells, exchanged)
    hand = np.where(is_one[:, None], np.stack((one, two), 1), np.stack((two, one), 1))
    empty, size = left - 2 * (one + two), shape[0] * shape[1]
    phase = (empty * 3 > size).astype(np.int64) + (empty * 3 > 2 * size)
    chosen = phase + PHASES * (one + two == 0)
    target = (2 * to_move - 1) * surplus
    return Sample(cells, last - 1, hand, to_move, chosen, target, game, late, inputs)


def is_full(code: int) -> bool:
    """Return whether a window with this code has no empty cell."""
    return all(code // 3**place % 3 for place in range(4))


def reversed_code(code: int) -> int:
    """Return a window's code read from its other end."""
    return sum(code // 3**place % 3 * 3 ** (3 - place) for place in range(4))


def numbering(popouts: bool) -> tuple[Ints, int]:
    """Return the number of each window (kind, height, column, code), and how many there are.

    Mirrored windows share a number: a rise is the mirror image of a fall. Without pop-outs all
    columns are the same. The last number is that of full windows, which count nothing, so that the
    evaluation of a full board stays exact.
    """
    numbers = np.zeros((KINDS, 2, 2, CODES), dtype=np.int64)
    known: dict[tuple[int, ...], int] = {}
    full = []
    for kind, height, own, code in np.ndindex(*numbers.shape):
        if is_full(code):
            full.append((kind, height, own, code))
            continue
        forms = [(FALL if kind == RISE else kind, height, own * popouts, code)]
        if kind == ROW:
            forms.append((ROW, height, (1 - own) * popouts, reversed_code(code)))
        numbers[kind, height, own, code] = known.setdefault(min(forms), len(known))
    for window in full:
        numbers[window] = len(known)
    return numbers, len(known) + 1


def window_counts(sample: Sample, numbers: Ints, count: int) -> Floats:
    """Return how often each window is there, one row for each position."""
    positions, rows, columns = sample.cells.shape
    table = np.zeros((positions, count))
    flat, start = table.ravel(), np.arange(positions) * count
    for kind, (up, right) in enumerate(STEPS):
        for height in range(rows - 3 * up):
            for column in range(3 if right < 0 else 0, columns - (3 if right > 0 else 0)):
                window = [sample.cells[:, height + i * up, column + i * right] for i in range(4)]
                code = sum(3**i * cell for i, cell in enumerate(window))
                own = np.equal(column % 2, sample.own).astype(np.int64)
                flat[start + numbers[kind, height % 2, own, code]] += 1
    table[:, count - 1] = 0
    return table


def hand_terms(last: Ints, other: Ints) -> Floats:
    """Return what the worth of pop-outs in hand is a sum of: one column for each term."""
    last, other = np.minimum(last, MOST)[..., None], np.minimum(other, MOST)[..., None]
    counts = np.arange(1, MOST + 1)
    both = (last * other / 10, np.minimum(last, other), (last > other) & (other > 0))
    return np.concatenate((last == counts, other == counts, *both), -1).astype(float)


def other_terms(sample: Sample) -> Floats:
    """Return hand and features, each also times the lateness; features apart by who is to move."""
    turn = sample.to_move[:, None]
    features = sample.inputs[:, :FEATURES]
    features = np.concatenate((features * (1 - turn), features * turn), 1)
    hand = hand_terms(*sample.hand.T)
    late = sample.late[:, None]
    return np.concatenate((hand, late * hand, features, late * features), 1)


def chunks(samples: list[Sample], number: int) -> Iterator[Sample]:
    """Yield the positions of a set in parts that fit in memory."""
    for sample in samples:
        chosen = np.flatnonzero(sample.set == number)
        for begin in range(0, len(chosen), CHUNK):
            yield sample.take(chosen[begin : begin + CHUNK])


@dataclass
class Learned:
    """The numbers of all sets, as `selfplay` reads them."""

    window: Floats  # set, kind, parity of the height, own column, code
    hand: Floats  # set, times lateness, pop-outs of the last mover, of the other
    feature: Floats  # set, the last mover is to move, times lateness, feature
    network: Floats  # set, input, hidden unit; 0 without a network
    output: Floats  # set, hidden unit, then what is added


class SetFit:
    """The numbers of one set beside the first ones: the solution of the normal equations.

    Positions of earlier rounds stay in them, with a weight of KEPT to the power of their age. What
    a round found beside the numbers of then is turned into what it found beside the first ones.
    """

    def __init__(self, number: int):
        self.number = number
        without = "out" if number >= PHASES else ""
        self.name = f"phase {number % PHASES} with{without} pop-outs"
        self.numbers, self.count = numbering(number < PHASES)
        size = self.count + 2 * HAND + 4 * FEATURES
        self.ridge = np.r_[np.full(self.count, RIDGE), np.full(size - self.count, OTHER_RIDGE)]
        self.normal, self.right = np.zeros((size, size)), np.zeros(size)
        self.solution = np.zeros(size)

    def terms(self, part: Sample) -> Floats:
        """Return what is counted of each position: one row for each."""
        counts = window_counts(part, self.numbers, self.count)
        return np.concatenate((counts, other_terms(part)), 1)

    def add(self, samples: list[Sample]) -> None:
        """Fit to the positions of one more round; prints the error where it is held out."""
        normal, right = np.zeros_like(self.normal), np.zeros_like(self.right)
        held: list[tuple[Floats, Floats]] = []
        for part in chunks(samples, self.number):
            x = self.terms(part)
            apart = part.game % 5 == 0
            if apart.any():
                held.append((x[apart], part.target[apart]))
            normal += x[~apart].T @ x[~apart]
            right += x[~apart].T @ part.target[~apart]
        self.normal = KEPT * self.normal + normal
        self.right = KEPT * self.right + right + normal @ self.solution
        before = self.solution
        self.solution = np.linalg.solve(self.normal + np.diag(self.ridge), self.right)
        if held:
            found = np.concatenate([y for _, y in held])
            left = np.concatenate([y - x @ (self.solution - before) for x, y in held])
            errors = [np.sqrt(np.mean(error**2)) for error in (found - found.mean(), left)]
            print(
                f"{self.name}: {len(found)} positions held out,"
                f" error {errors[0]:.2f} before, {errors[1]:.2f} after",
                flush=True,
            )

    def learned(self) -> tuple[Floats, Floats, Floats]:
        """Return the numbers of windows, of pop-outs in hand and of the features."""
        hand = self.solution[self.count : self.count + 2 * HAND].reshape(2, HAND)
        terms = hand_terms(*np.indices((MOST + 1, MOST + 1)))
        feature = self.solution[self.count + 2 * HAND :].reshape(2, 2, FEATURES).swapaxes(0, 1)
        return self.solution[self.numbers], np.moveaxis(terms @ hand.T, -1, 0), feature


class Fit:
    """The numbers of all sets, round after round."""

    def __init__(self) -> None:
        self.sets = [SetFit(number) for number in range(SETS)]

    def add(self, positions: list[Path]) -> Learned:
        """Return the numbers that explain the positions of this round and of those before best."""
        samples = read_samples(positions)
        for fitted in self.sets:
            fitted.add(samples)
        parts = zip(*(fitted.learned() for fitted in self.sets), strict=True)
        window, hand, feature = map(np.stack, parts)
        first = first_weights()
        first.window += window
        first.hand += hand
        first.feature += feature
        return first


def write_weights(path: Path, learned: Learned) -> None:
    """Write the numbers as `selfplay` reads them."""
    path.write_text(
        "".join(
            f"{name} " + " ".join(f"{number:.{digits}f}" for number in numbers.ravel()) + "\n"
            for (name, numbers), digits in zip(vars(learned).items(), DIGITS, strict=True)
        )
    )


def read_weights(path: Path) -> Learned:
    """Return the numbers that `write_weights` wrote."""
    shapes = [part.shape for part in vars(first_weights()).values()]
    lines = path.read_text().splitlines()
    return Learned(
        *(
            np.array(line.split()[1:], float).reshape(s)
            for line, s in zip(lines, shapes, strict=True)
        )
    )


def first_weights() -> Learned:
    """Return what `selfplay` begins with: worths of pop-outs in hand and the prize of zugzwang."""
    last, other = np.indices((MOST + 1, MOST + 1))
    hand = np.zeros((SETS, 2, MOST + 1, MOST + 1))
    hand[:PHASES, 0] = 5 * last - 2 * other
    feature = np.zeros((SETS, 2, 2, FEATURES))
    feature[PHASES:, :, 0, PRIZE] = 0.9
    return Learned(np.zeros((SETS, KINDS, 2, 2, CODES)), hand, feature, *no_networks())


def no_networks() -> tuple[Floats, Floats]:
    """Return networks that add nothing."""
    return np.zeros((SETS, INPUTS, HIDDEN)), np.zeros((SETS, HIDDEN + 1))


def agent_numbers() -> Learned:
    """Return the numbers of `connect4.reference`."""
    from connect4.reference.evaluation import FEATURES as WEIGHTS
    from connect4.reference.evaluation import HAND as WORTHS
    from connect4.reference.evaluation import LEARNED, WINDOWS
    from connect4.reference.lines import ME

    hand = np.concatenate((WORTHS, np.zeros_like(WORTHS)))  # none without pop-outs
    learned = Learned(np.array(WINDOWS[ME]), hand, np.array(WEIGHTS), *no_networks())
    learned.network[:NETWORK_SETS] = LEARNED["hidden"]
    learned.output[:NETWORK_SETS] = LEARNED["output"]
    return learned


def packed(learned: Learned) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of `connect4/reference/learned.npz`, whose module describes them."""
    codes = [code for code in range(CODES) if not is_full(code)]
    tables = [
        table[codes]
        for chosen in learned.window
        for kind in (chosen[ROW, :, 0], chosen[FALL], chosen[COLUMN])
        for table in kind.reshape(-1, CODES)
    ]
    steps = np.clip(np.rint(np.array(tables) / STEP), -128, 127).astype(np.int8)
    return {
        "windows": steps.reshape(SETS, -1, len(codes)),
        "hand": np.rint(learned.hand[:PHASES] / STEP).astype("<i2"),
        "features": np.rint(learned.feature / STEP).astype("<i2"),
        "hidden": learned.network[:NETWORK_SETS].astype("<f2"),
        "output": learned.output[:NETWORK_SETS].astype("<f2"),
    }
