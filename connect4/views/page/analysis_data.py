"""The data that an analysis adds to the replay page: values, costs, and better lines as boards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from connect4.errors import IllegalAction, InputError
from connect4.games.base import Game, State
from connect4.record import Record
from connect4.views.board_data import changed_cells

MAX_LINE: Final = 12
"""The maximum number of moves of a line."""


def analysis_data(record: Record, states: Sequence[State]) -> dict[str, Any] | None:
    """Return the data of the record's analysis, None if there is none.

    A turn is `[before, after, loss, line, cells, proven, slower]`: the line begins with the better
    move, and `cells` holds the cells that each of its moves changes. `proven` is None in records of
    1.0.0. Raises `InputError` if the record's `analysis` has another form.
    """
    found = record.extra.get("analysis")
    if found is None:
        return None
    try:
        turns: list[list[Any]] = [
            [*(finite(turn[key]) for key in ("before", "after", "loss")), words(turn["line"])]
            for turn in found["turns"]
        ]
        if len(turns) != len(record.turns):
            raise ValueError(f"{len(turns)} turns, the game has {len(record.turns)}")
        worst = [int(number) for numbers in found["worst"] for number in numbers]
        if not all(0 < number <= len(turns) and turns[number - 1][3] for number in worst):
            raise ValueError("a worst move is none of the turns that have a better one")
        unit, agent, seconds = str(found["unit"]), str(found["agent"]), finite(found["seconds"])
        for turn, state, saved in zip(turns, states, found["turns"], strict=False):
            proven = saved.get("proven")
            turn.append(branch_cells(record.game, state, turn[3]))
            turn.append(None if proven is None else bool(proven))
            turn.append(int(saved.get("slower", 0)))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the record's analysis cannot be read: {error!r}") from None
    source = (
        f"Analysed by the kit's agent {agent}, {seconds:g} s per search. The cost is in {unit}."
    )
    return {"turns": turns, "worst": worst, "unit": unit, "source": source}


def branch_cells(game: Game, state: State, line: Sequence[str]) -> list[list[int]]:
    """Return the cells that each move of a line changes, as `changed_cells` does.

    The list ends before an illegal move.
    """
    changed = []
    for text in line:
        try:
            after = state.apply(game.parse_action(text)) if state.legal_actions() else state.skip()
        except IllegalAction:
            break
        changed.append(changed_cells(state.board(), after.board()))
        state = after
    return changed


def finite(value: Any) -> float:
    """Return a number; raises `ValueError` if it is not finite."""
    if not math.isfinite(number := float(value)):
        raise ValueError(f"{value!r} is no number to draw")
    return number


def words(line: Any) -> list[str]:
    """Return a line of moves as typed, shortened if it is long."""
    if not isinstance(line, list):
        raise ValueError(f"{line!r:.60} is no line of moves")
    return [str(move)[:8] for move in line[:MAX_LINE]]
