"""The two methods of a file, the positions in which `check` calls them, and its messages."""

import random
import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from connect4.games.base import SIDES, Seconds, State
from connect4.players.base import Method

Part: TypeAlias = Literal["a", "b"]

METHOD_OF: Final[dict[Part, Method]] = {"a": "expectimax", "b": "intelligent"}

METHODS: Final = tuple(METHOD_OF.values())

TIMES: Final[tuple[Seconds, ...]] = (0.1, 0.2, 0.5, 1, 2, 5)
"""Seconds per move that a file is asked with, in turn."""

KEEPS_STATE: Final = (
    "a new player gives a valid move there. Reset what is kept on self (such as a flag that stops "
    "the search) at the start of the method; --lifetime move plays the file as it is"
)

LINE: Final = re.compile(r'ai\.py", line (\d+)')


def line_of(method: str, source: str, detail: str = "") -> int:
    """Return the last line of a file that a traceback names, else the one that defines a method.

    It is 1 if there is neither.
    """
    if lines := LINE.findall(detail):
        return int(lines[-1])
    match = re.search(rf"^[ \t]+(def )?{re.escape(method)}\b", source, re.MULTILINE)
    return source.count("\n", 0, match.start()) + 1 if match else 1


def question(method: Method, state: State, kind: str) -> str:
    """Return in words what is asked; `kind` is that of `asked_positions`."""
    rows, columns = state.board().shape
    return f"get_{method}_move on {rows} rows and {columns} columns{kind}"


def asked_positions(starts: Sequence[State]) -> list[tuple[str, list[State]]]:
    """Return what a file is asked, given the starts of its games: what it is, and its positions.

    Each entry is for a new player, who is asked for a move in each position in turn. The first two
    are the largest and the smallest start, then comes the last move of a game without pop-outs. If
    a game has pop-outs, each player is asked in the middle of a game, and on a full board.
    """
    by_size = sorted(starts, key=lambda state: state.board().size)
    smallest, largest = by_size[0], by_size[-1]
    found = [("", [largest, *_next_of_mover(largest)]), ("", [smallest])]
    popping = next((state for state in by_size if any(state.pop_outs_left or ())), None)
    plain = next((state for state in by_size if not any(state.pop_outs_left or ())), None)
    if plain is not None:
        found.append((", in the last move of a game", _drops(plain)[-2:-1]))
    if popping is not None:
        played = _drops(popping)
        for what, state in (
            ("in the middle of a game with pop-outs", played[len(played) // 2]),
            ("on a full board, where only pop-outs are valid", played[-1]),
        ):
            for player in SIDES:
                own = state if state.mover == player else state.skip()
                found.append((f", player {player} {what}", [own]))
    return found


def _drops(start: State) -> list[State]:
    """Return the positions of a random game of drops alone, until there is none."""
    draw, played = random.Random(1), [start]
    while drops := [action for action in played[-1].legal_actions() if not action[1]]:
        played.append(played[-1].apply(draw.choice(drops)))
    return played


def _next_of_mover(state: State) -> list[State]:
    """Return the position two plies later, if the game reaches one with the same mover."""
    draw, mover = random.Random(1), state.mover
    for _ in SIDES:
        if state.is_over() or not state.legal_actions():
            return []
        state = state.apply(draw.choice(state.legal_actions()))
    return [] if state.is_over() or state.mover != mover else [state]
