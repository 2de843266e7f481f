"""Shared behaviour: the moves that submissions choose in fixed positions.

Good players agree because they see the same best move. An agreement therefore counts more if fewer
others chose that move, and what a submission has in common with everybody is subtracted.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from connect4.errors import IsolationError, headline
from connect4.games.base import State
from connect4.games.extended import EXTENDED, format_action
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.registry import method_of, parse_agent
from grader.play.one_game import OWN_FILE, limits_of, one_line
from grader.rubric.keys import Board

SEED: Final = 4
"""The seed of the random games that the positions come from: the same positions every year."""

TEXTBOOK: Final = ("greedy", "minimax:depth=1", "minimax:depth=2", "minimax:depth=3")
"""Agents that show how often two players of some strength choose the same move."""

PLIES: Final = (2, 20)
CHOICES: Final = 4
"""A position with fewer legal actions is not used, because its moves reveal little."""

PATIENCE: Final = 5
"""An agent may take N times its time: on a busy machine, late moves also count."""

ALWAYS: Final = 0.9
"""An agent that chooses the first (or last) action this often counts as always choosing it."""

SMOOTH: Final = 0.5
SPREAD: Final = 1.4826
"""The standard deviation of normal values, in units of their median absolute deviation."""


def positions(boards: Sequence[Board], count: int) -> list[dict[str, Any]]:
    """Return fixed positions with player 1 to move, from random games on the boards."""
    random_source = random.Random(SEED)
    found: list[dict[str, Any]] = []
    tries = 0
    while len(found) < count and tries < 100 * count:
        state: State = EXTENDED.from_json(boards[tries % len(boards)].start)
        tries += 1
        for _ in range(random_source.randint(*PLIES)):
            if state.is_over():
                break
            actions = state.legal_actions()
            state = state.apply(random_source.choice(actions)) if actions else state.skip()
        if not state.is_over() and state.mover == 1 and len(state.legal_actions()) >= CHOICES:
            found.append(state.to_json())
    return found


def choose_moves(job: dict[str, Any]) -> tuple[list[str | None], str | None]:
    """Return an agent's move in each position, None for a lost turn, and why there are no more.

    Only a submission has a source.
    """
    moves: list[str | None] = []
    try:
        with closing(open_seat(_setup(job), job["isolation"], limits_of(job))) as seat:
            if seat.load_failure is not None:
                return moves, headline(seat.load_failure)
            for values in job["positions"]:
                state = EXTENDED.from_json(values)
                reply = seat.ask(
                    state, PATIENCE * job["seconds"] + 1
                )  # only the move is of interest
                legal = reply.action in state.legal_actions()
                played = reply.outcome is Outcome.PLAYED and legal
                moves.append(reply.text if played else None)
        return moves, None
    except (IsolationError, OSError) as error:
        return moves, one_line(error)


def _setup(job: dict[str, Any]) -> Setup:
    if job["source"] is None:
        agent = parse_agent(job["agent"])
        return Setup(agent, 1, EXTENDED, job["seconds"], SEED, method_of(agent, agent))
    given = job["source"].encode(), tuple(job["allowed"])
    return Setup(OWN_FILE, 1, EXTENDED, job["seconds"], SEED, "intelligent", *given)


def is_rule(moves: Sequence[str | None], found: Sequence[dict[str, Any]]) -> bool:
    """Return whether all moves are the first legal action, or the last: many agents do that."""
    legal = [EXTENDED.from_json(values) for values in found]
    texts = [[format_action(action) for action in state.legal_actions()] for state in legal]
    return any(
        sum(move == own[place] for move, own in zip(moves, texts, strict=True))
        >= ALWAYS * len(moves)
        for place in (0, -1)
    )


def unusual(moves: Mapping[str, Sequence[str | None]]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the players, and for each pair how unusual its agreement is.

    The unit is a robust estimate of the standard deviation over all pairs. A player that lost
    most of its turns is left out.
    """
    names = [name for name, own in moves.items() if own.count(None) < len(own) / 2]
    size = len(names)
    scores = np.full((size, size), np.nan)
    length = min(map(len, moves.values()), default=0)
    counts = [Counter(moves[name][at] for name in names) for at in range(length)]
    for i in range(size):
        for j in range(i):
            scores[i, j] = scores[j, i] = _agreement(moves[names[i]], moves[names[j]], counts)
    if size < 3:
        return names, np.zeros((size, size))
    own = np.nanmean(scores, axis=1)
    rest = scores - own[:, None] - own[None, :] + np.nanmean(scores)
    values = rest[np.tril_indices(size, -1)]
    spread = SPREAD * float(np.median(np.abs(values - np.median(values))))
    return names, (rest - np.median(values)) / max(spread, 1e-9)


def _agreement(
    one: Sequence[str | None], two: Sequence[str | None], counts: Sequence[Counter[str | None]]
) -> float:
    """Return how surprising two players' agreements are, as a mean over their common positions."""
    total, played = 0.0, 0
    for mine, yours, count in zip(one, two, counts, strict=False):
        if mine is None or yours is None:
            continue
        played += 1
        if mine == yours:
            others = count[mine] - 2
            everybody = count.total() - count[None] - 2
            total -= math.log((others + SMOOTH) / (everybody + SMOOTH * (len(count) + 1)))
    return total / max(1, played)
