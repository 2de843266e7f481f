"""Describe an analysis in words: the moves that cost most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from connect4.errors import harmless
from connect4.players.base import Outcome
from connect4.record import Record


def summary(record: Record, found: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each of the worst moves."""
    for player, numbers in zip((1, 2), found["worst"], strict=True):
        name = f"Player {player} ({harmless(record.players[player - 1].agent)})"
        if not numbers:
            yield f"{name}: no move cost anything"
        for number in numbers:
            turn = record.turns[number - 1]
            judged = found["turns"][number - 1]
            better, *rest = judged["line"]
            deed = turn.text if turn.outcome is Outcome.PLAYED else turn.outcome.value
            then = f", then {' '.join(rest)}" if rest else ""
            cost = f"cost {judged['loss']:g}; better {better}{then}"
            yield f"{name}: turn {number}, {deed}, {cost} ({certainty(judged)})"


def certainty(judged: dict[str, Any]) -> str:
    """Return whether a cost is proven, and the noise of an estimate."""
    if judged["proven"]:
        return "proven"
    if judged["loss"] <= judged["noise"]:
        return "estimated; from here the loss is forced"
    return f"estimated, noise {judged['noise']:g}"
