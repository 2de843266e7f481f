"""Monte-Carlo evaluation: the average outcome of a position when both sides play at random."""

from __future__ import annotations

from random import Random

from connect4.games.base import State


class Sampled:
    """A leaf evaluation: the mean margin of the mover over random playouts.

    If a win counts 1 point, as in classic Connect 4, that is (wins - losses) / samples. The
    playouts begin with the side to move (Abramson 1990, "Expected-outcome: a general model of
    static evaluation").
    """

    def __init__(self, samples: int, rng: Random) -> None:
        self._samples = samples
        self._random = rng

    def __call__(self, state: State) -> float:
        """Return the estimate for the mover of `state`."""
        total = 0
        for _ in range(self._samples):
            one, two = state.playout(self._random)
            total += one - two
        return (total if state.mover == 1 else -total) / self._samples
