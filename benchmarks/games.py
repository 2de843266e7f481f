"""Share code between the benchmarks of playing strength: openings, games, intervals."""

import contextlib
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

from connect4.cli import fail
from connect4.errors import Connect4Error
from connect4.games import GAMES, extended
from connect4.games.base import Player, Seconds
from connect4.games.extended import ExtendedState
from connect4.isolation.seat import Level, open_seat
from connect4.players.base import Seat, Setup, Turn
from connect4.players.registry import method_of, parse_agent
from connect4.referee import Result, TurnEnded, play

GAME = GAMES["extended"]


def read_board(text: str) -> tuple[int, int, int]:
    """Read `8x10` or `8x10+4` (four pop-outs each) as rows, columns, pop-outs."""
    shape, _, popouts = text.partition("+")
    rows, _, columns = shape.partition("x")
    return int(rows), int(columns), int(popouts or 0)


def empty(board: str) -> ExtendedState:
    """Return the start of a game on the board that `read_board` reads."""
    rows, columns, popouts = read_board(board)
    return extended.position(np.zeros((rows, columns), dtype=np.int64), (popouts, popouts))


def played(state: ExtendedState, plies: int, rng: random.Random) -> ExtendedState:
    """Return the position after `plies` random actions, or the end of the game."""
    for _ in range(plies):
        if not (actions := state.legal_actions()):
            break
        state = state.apply(rng.choice(actions))
    return state


def agent_name(text: str, nodes: int | None) -> str:
    """Return `text` as an agent's name: a path means that file.

    `nodes` limits such a file and `reference`.
    """
    if text.endswith(".py") and not text.startswith("ai:"):
        text = f"ai:{text}"
    limited = nodes and text.partition(":")[0] in ("ai", "reference")
    if not limited:
        return text
    return f"{text},nodes={nodes}" if ":" in text else f"{text}:nodes={nodes}"


def play_game(
    start: ExtendedState,
    names: dict[Player, str],
    seconds: Seconds,
    limits: Mapping[Player, Seconds | None],
    seed: int,
) -> tuple[Result, list[Turn]]:
    """Play one game; the agents are told `seconds`, the referee enforces the `limits` of each.

    With a limit an agent has a process of its own, as in the kit: in one process for both the
    garbage collector walks the tables of both, and makes moves late.
    """
    agents = {player: parse_agent(name) for player, name in names.items()}
    seats: dict[Player, Seat] = {}
    with contextlib.ExitStack() as stack:
        for player, agent in agents.items():
            method = method_of(agent, agents[1 if player == 2 else 2])
            level: Level = "none" if limits[player] is None else "process"
            seat = open_seat(Setup(agent, player, GAME, seconds, seed, method), level)
            seats[player] = seat
            stack.callback(seat.close)
        events = play(GAME, start, seats, limits)
        turns = []
        while True:
            try:
                event = next(events)
            except StopIteration as over:
                return over.value, turns
            if isinstance(event, TurnEnded):
                turns.append(event.turn)


def interval(values: Sequence[float]) -> float:
    """Return the half-width of the 95 % interval of the mean."""
    if len(values) < 2:
        return math.inf
    return 1.96 * stdev(values) / math.sqrt(len(values))


def summary(values: Sequence[float]) -> str:
    """Return mean and interval as text."""
    return f"{fmean(values):+.1f} ± {interval(values):.1f}"


def run_main(main: Callable[[], None]) -> None:
    """Run the `main` of a benchmark; one line reports a file or an agent that cannot be used."""
    try:
        main()
    except (Connect4Error, OSError) as error:
        sys.exit(fail(error))
