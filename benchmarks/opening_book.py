"""Make the solver's opening book: `nice -n 19 python3 -m benchmarks.opening_book [FILE]`.

Scores every position of up to 8 plies of classic Connect 4, 6 by 7, that is not over and in which
the mover has no immediate win. Of a position and its mirror image, it scores one. The scores come
from `bitbully` (extra `solver`) and take about half a minute.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from connect4.search import solver
from connect4.search.solver import BOARD, BOTTOMS, ORDER, winning_cells

SEGMENT = 4096
SPARE = 1.17
"""Slots of the table for each position."""


def positions(plies):
    """Return `(own, mask)` of every position to be stored, without mirror images."""
    level, stored = {0: (0, 0)}, []
    for ply in range(plies + 1):
        after = {}
        for own, mask in level.values():
            if winning_cells(own, BOARD ^ mask) & mask + BOTTOMS:
                wins = winning_cells(own, BOARD ^ mask)
            else:
                wins = 0
                stored.append((own, mask))
            free = (mask + BOTTOMS) & BOARD & ~wins
            while ply < plies and free:
                move = free & -free
                free ^= move
                key, is_mirrored = solver.key_of(own ^ mask, mask | move)
                if key not in after:
                    pair = (own ^ mask, mask | move)
                    after[key] = tuple(map(solver.mirrored, pair)) if is_mirrored else pair
        level = after
    return stored


def moves_to(own, mask):
    """Return columns that lead to a position, which has to be reachable."""
    if not mask:
        return []
    other = own ^ mask
    for column, cells in enumerate(solver.GRID.column_cells):
        top = (mask & cells) + solver.GRID.bottoms[column] >> 1
        if top & other and solver.is_reachable(other ^ top, mask ^ top):
            return [*moves_to(other ^ top, mask ^ top), column]
    raise ValueError("no game leads there")


def bitbully_scores():
    """Return a function that scores the moves of a position with the library."""
    import bitbully

    engine = bitbully.BitBully()

    def scores(own, mask):
        board = bitbully.Board()
        assert board.play(moves_to(own, mask)) or not mask
        return engine.score_all_moves(board)

    return scores


def value(scores):
    """Return what the book holds of a position with these scores of its moves."""
    best = max(scores.values())
    column = next(column for column in ORDER if scores.get(column) == best)
    return ((best > 0) - (best < 0) + 1) * solver.COLUMNS + column


def table(values, seed):
    """Return the table from which every key gets its value; None where the seed does not do."""
    length = -(-int(len(values) * SPARE) // SEGMENT) * SEGMENT
    slots = {key: solver.slots_of(key, seed, length, SEGMENT) for key in values}
    degree, sums = np.zeros(length, int).tolist(), [0] * length
    for key, places in slots.items():
        for place in places:
            degree[place] += 1
            sums[place] ^= key
    alone = [place for place in range(length) if degree[place] == 1]
    peeled = []
    while alone:
        place = alone.pop()
        if degree[place] != 1:
            continue
        key = sums[place]
        peeled.append((key, place))
        for other in slots[key]:
            degree[other] -= 1
            sums[other] ^= key
            if degree[other] == 1:
                alone.append(other)
    if len(peeled) < len(values):
        return None
    filled = [0] * length
    for key, place in reversed(peeled):
        rest = values[key]
        for other in slots[key]:
            if other != place:
                rest ^= filled[other]
        filled[place] = rest
    return np.array(filled, dtype=np.uint8)


def packed(seed: int, segment: int, values: npt.NDArray[np.uint8]) -> bytes:
    """Return the bytes of a book's file: seed, segment, number of slots, five bits per slot."""
    bits = np.unpackbits(values[:, None], axis=1)[:, -solver.BITS :]
    head = seed.to_bytes(8, "little") + segment.to_bytes(4, "little")
    return head + len(values).to_bytes(4, "little") + np.packbits(bits).tobytes()


def make(path):
    began = time.monotonic()
    scores = bitbully_scores()
    values = {}
    for own, mask in positions(solver.PLIES):
        key, is_mirrored = solver.key_of(own, mask)
        assert not is_mirrored or own == solver.mirrored(own)
        values[key] = value(scores(own, mask))
        if len(values) % 10_000 == 0:
            print(f"{len(values)} positions, {time.monotonic() - began:.0f} s", flush=True)
    seed = 1
    while (filled := table(values, seed)) is None:
        seed += 1
    data = packed(seed, SEGMENT, filled)
    path.write_bytes(data)
    print(f"{path}: {len(values)} positions, {len(data)} bytes, seed {seed}")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.opening_book", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=solver.FILE)
    make(parser.parse_args(argv).file)


if __name__ == "__main__":
    main()
