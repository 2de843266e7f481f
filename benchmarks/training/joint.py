"""Fit sums and small networks together to what deep searches find.

The sums are those of `fit`: windows, pop-outs in hand, features. The first `NETWORK_SETS` sets of
numbers, each phase with pop-outs left and the late phase without, each have a network of one hidden
layer of rectified linear units. Its inputs are what `selfplay probes` prints. The other two sets
keep what `fit` learned. The target is the value of a deep search less that of a search of
two plies, for the player who makes the last move. A round first fits the sums to what the network
leaves, then the network to what the sums leave (backfitting): Hastie and Tibshirani, "Generalized
additive models", 1990.
The network is fitted by Adam: Kingma and Ba, "Adam: a method for stochastic optimization", 2015.
"""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.training.fit import (
    FEATURES,
    HIDDEN,
    INPUTS,
    KEPT,
    NETWORK_SETS,
    Floats,
    Learned,
    Sample,
    SetFit,
    chunks,
    read_samples,
)

Singles = npt.NDArray[np.float32]
Network = tuple[Floats, Floats]
"""The weights of the hidden units, (inputs, units), and of the output with what is added to it."""

ROUNDS = 10
"""How many of the latest rounds the fit uses."""

FEWEST = 1000
"""Positions: a set with fewer keeps its numbers."""

EPOCHS, LAST_EPOCHS = 30, 15
"""Passes over all positions with each of the two rates."""

RATE, LAST_RATE = 3e-3, 5e-4
BATCH = 512
SCALE = 7.0
"""Points: about the standard deviation of the target in the late phase."""

ONE = FEATURES - 1
"""The input that is always 1."""


def worth(inputs: Singles | Floats, network: Floats, output: Floats) -> Floats:
    """Return what a network adds, in points: one number for each row of `inputs`."""
    found: Floats = np.maximum(inputs @ network, 0) @ output[:-1] + output[-1]
    return found


@dataclass
class Round:
    """What a round found in one set. The arrays have a row for each position."""

    counts: npt.NDArray[np.uint8]  # of windows
    others: Singles  # the other terms of the sums
    inputs: Singles
    target: Floats  # what is left for both, beside the sums of `fit`
    apart: npt.NDArray[np.bool_]  # held out while this round is the last one

    def terms(self) -> Singles:
        """Return the terms of the sums."""
        return np.concatenate((self.counts, self.others), 1, dtype=np.float32)


class JointSetFit:
    """The sums and the network of one set, round after round."""

    def __init__(self, number: int):
        self.sums = SetFit(number)
        self.rounds: list[Round] = []

    def add(self, samples: list[Sample], network: Network) -> Network:
        """Fit the sums, then the network, to one more round, whose searches used `network`.

        A round counts KEPT times as much as the one after it. Prints the error where held out.
        """
        pieces = list(chunks(samples, self.sums.number))
        if not pieces:
            return network
        found = np.concatenate([piece.target for piece in pieces])
        self.rounds = [*self.rounds, self._round(pieces, found, network)][-ROUNDS:]
        targets = np.concatenate([one.target for one in self.rounds])
        inputs = np.concatenate([one.inputs for one in self.rounds])
        ages = np.repeat(range(len(self.rounds))[::-1], [len(one.target) for one in self.rounds])
        weights = KEPT**ages
        held = self.rounds[-1].apart
        weights[len(weights) - len(found) :][held] = 0
        kept = weights > 0
        if kept.sum() < FEWEST:
            return network

        self._solve(targets - worth(inputs, *network), weights)
        targets -= np.concatenate([one.terms() @ self.sums.solution for one in self.rounds])
        network = fitted(inputs[kept], targets[kept], weights[kept])
        left = (targets - worth(inputs, *network))[-len(found) :]
        if held.any():
            errors = [np.sqrt(np.mean(error[held] ** 2)) for error in (found, left)]
            print(f"{self.sums.name}: {held.sum()} positions held out,", end=" ")
            print(f"error {errors[0]:.2f} before, {errors[1]:.2f} after", flush=True)
        return network

    def _round(self, pieces: list[Sample], found: Floats, network: Network) -> Round:
        terms = [self.sums.terms(piece) for piece in pieces]
        counts = np.concatenate(
            [x[:, : self.sums.count] for x in terms], dtype=np.uint8, casting="unsafe"
        )
        others = np.concatenate([x[:, self.sums.count :] for x in terms], dtype=np.float32)
        inputs = np.concatenate([piece.inputs for piece in pieces], dtype=np.float32)
        apart = np.concatenate([piece.game for piece in pieces]) % 5 == 0
        beside = np.concatenate([x @ self.sums.solution for x in terms])
        return Round(counts, others, inputs, found + worth(inputs, *network) + beside, apart)

    def _solve(self, targets: Floats, weights: Floats) -> None:
        """Solve the normal equations of the sums: ridge regression."""
        normal, right = np.diag(self.sums.ridge), np.zeros(len(self.sums.ridge))
        begin = 0
        for one in self.rounds:
            rows = slice(begin, begin := begin + len(one.target))
            terms = one.terms()
            weighted = terms.T * weights[rows].astype(np.float32)
            normal += weighted @ terms
            right += weighted @ targets[rows]
        self.sums.solution = np.linalg.solve(normal, right)


class JointFit:
    """The sums and the networks of the sets that have one."""

    def __init__(self, learned: Learned):
        self.first = deepcopy(learned)
        self.sets = [JointSetFit(number) for number in range(NETWORK_SETS)]

    def add(self, positions: list[Path], learned: Learned) -> None:
        """Replace the numbers by ones that explain the last rounds best."""
        samples = read_samples(positions)
        for number, fit in enumerate(self.sets):
            network = learned.network[number], learned.output[number]
            learned.network[number], learned.output[number] = fit.add(samples, network)
            window, hand, feature = fit.sums.learned()
            learned.window[number] = self.first.window[number] + window
            learned.hand[number] = self.first.hand[number] + hand
            learned.feature[number] = self.first.feature[number] + feature


def fitted(inputs: Singles | Floats, targets: Floats, weights: Floats) -> Network:
    """Return the network that explains the targets best; each position counts by its weight."""
    rng = np.random.default_rng(0)
    means, spreads = inputs.mean(0, dtype=float), inputs.std(0, dtype=float)
    spreads[spreads == 0] = np.inf  # what never changes here counts nothing
    means[ONE], spreads[ONE] = 0, 1  # the bias
    inputs = ((inputs - means) / spreads).astype(np.float32)
    targets, weights = (targets / SCALE).astype(np.float32), weights.astype(np.float32)
    network = rng.normal(0, np.sqrt(2 / INPUTS), (INPUTS, HIDDEN)).astype(np.float32)
    output = np.r_[rng.normal(0, np.sqrt(1 / HIDDEN), HIDDEN), 0.0].astype(np.float32)
    numbers = [network, output]
    means_of, squares_of = ([np.zeros_like(part) for part in numbers] for _ in range(2))
    step = 0
    for epoch in range(EPOCHS + LAST_EPOCHS):
        rate = RATE if epoch < EPOCHS else LAST_RATE
        for rows in np.split(rng.permutation(len(inputs)), range(BATCH, len(inputs), BATCH)):
            step += 1
            x = inputs[rows]
            hidden = np.maximum(x @ network, 0)
            error = weights[rows] * (hidden @ output[:-1] + output[-1] - targets[rows]) / len(rows)
            back = np.outer(error, output[:-1]) * (hidden > 0)
            slopes = x.T @ back, np.append(error @ hidden, error.sum())
            for i, slope in enumerate(slopes):
                means_of[i] += 0.1 * (slope - means_of[i])
                squares_of[i] += 0.001 * (slope**2 - squares_of[i])
                root = np.sqrt(squares_of[i] / (1 - 0.999**step)) + 1e-8
                numbers[i] -= rate / (1 - 0.9**step) * means_of[i] / root
    weights_in = network.astype(float) / spreads[:, None]
    weights_in[ONE] -= means @ weights_in
    return weights_in, SCALE * output.astype(float)
