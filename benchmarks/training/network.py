"""Fit a small network to what the regression of `fit` leaves unexplained with pop-outs left.

One hidden layer of rectified linear units for each phase of the game. Its inputs are what
`selfplay probes` prints, its target is the value of a deep search less that of a search of two
plies, for the player who makes the last move. Mean squared error, minimised by Adam: Kingma and
Ba, "Adam: a method for stochastic optimization", 2015.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.training.fit import FEATURES, HIDDEN, INPUTS, PHASES, Floats, Learned, read_samples

EPOCHS, LAST_EPOCHS = 40, 20
"""Passes over all positions with each of the two rates."""

RATE, LAST_RATE = 3e-3, 5e-4
BATCH = 512
SCALE = 7.0
"""Points: about the standard deviation of the target in the late phase."""

ONE = FEATURES - 1
"""The input that is always 1."""


def worth(inputs: Floats, network: Floats, output: Floats) -> Floats:
    """Return what a network adds, in points: one number for each row of `inputs`."""
    found: Floats = np.maximum(inputs @ network, 0) @ output[:-1] + output[-1]
    return found


class NetworkFit:
    """The networks of all phases, round after round."""

    def __init__(self) -> None:
        self.rounds: list[list[tuple[Floats, Floats]]] = [[] for _ in range(PHASES)]
        """Of each phase the inputs and targets of each round."""

    def add(self, positions: list[Path], learned: Learned) -> None:
        """Replace the networks by ones that explain the positions of all rounds.

        A search finds values beside the network of its round: that one is added to its targets.
        """
        samples = read_samples(positions)
        for phase in range(PHASES):
            chosen = [sample.take(sample.set == phase) for sample in samples]
            inputs = np.concatenate([sample.features for sample in chosen])
            targets = np.concatenate([sample.target for sample in chosen])
            apart = np.concatenate([sample.game for sample in chosen]) % 5 == 0
            now = worth(inputs, learned.network[phase], learned.output[phase])
            print(f"phase {phase}: {len(targets)} positions, error", end=" ")
            print(f"{np.sqrt(np.mean(targets**2)):.2f} before,", end=" ")
            kept = [*self.rounds[phase], (inputs[~apart], (targets + now)[~apart])]
            network, output = fitted(*map(np.concatenate, zip(*kept, strict=True)))
            self.rounds[phase].append((inputs, targets + now))
            left = (targets + now - worth(inputs, network, output))[apart]
            print(f"{np.sqrt(np.mean(left**2)):.2f} after", flush=True)
            learned.network[phase], learned.output[phase] = network, output


def fitted(inputs: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return the weights of the hidden units, and of the output with what is added to it."""
    rng = np.random.default_rng(0)
    means, spreads = inputs.mean(0), inputs.std(0)
    spreads[spreads == 0] = np.inf  # what never changes here counts nothing
    means[ONE], spreads[ONE] = 0, 1  # the bias
    inputs, targets = (inputs - means) / spreads, targets / SCALE
    network = rng.normal(0, np.sqrt(2 / INPUTS), (INPUTS, HIDDEN))
    output = np.r_[rng.normal(0, np.sqrt(1 / HIDDEN), HIDDEN), 0.0]
    weights = [network, output]
    means_of, squares_of = ([np.zeros_like(part) for part in weights] for _ in range(2))
    step = 0
    for epoch in range(EPOCHS + LAST_EPOCHS):
        rate = RATE if epoch < EPOCHS else LAST_RATE
        for rows in np.split(rng.permutation(len(inputs)), range(BATCH, len(inputs), BATCH)):
            step += 1
            x = inputs[rows]
            hidden = np.maximum(x @ network, 0)
            error = (hidden @ output[:-1] + output[-1] - targets[rows]) / len(rows)
            back = np.outer(error, output[:-1]) * (hidden > 0)
            slopes = x.T @ back, np.r_[error @ hidden, error.sum()]
            for i, slope in enumerate(slopes):
                means_of[i] += 0.1 * (slope - means_of[i])
                squares_of[i] += 0.001 * (slope**2 - squares_of[i])
                root = np.sqrt(squares_of[i] / (1 - 0.999**step)) + 1e-8
                weights[i] -= rate * means_of[i] / (1 - 0.9**step) / root
    network /= spreads[:, None]
    network[ONE] -= means @ network
    return network, SCALE * output
