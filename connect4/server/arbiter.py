"""Extend a game on a strict server: keep the board, judge the moves, write the record."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from connect4 import record
from connect4.games.base import Ending, Seconds, State
from connect4.games.dynamic import COLOURS, DYNAMIC, DynamicState
from connect4.players.base import Outcome, Reply
from connect4.record import Record, RecordedPlayer
from connect4.referee import Result, final, step

REMOTE: Final = "remote"
"""The name of a player whose agent is unknown."""


class Arbiter:
    """Applies the moves of one server game to its board; a side that cannot move passes."""

    def __init__(self, start: DynamicState, seconds: Seconds) -> None:
        client = RecordedPlayer(REMOTE)
        self._state: State = start
        self._record = Record(DYNAMIC, start, (client, client), seconds, 0)
        self.rows, self.columns = start.grid.rows, start.grid.columns
        self._pass()

    @property
    def mover(self) -> str:
        return COLOURS[self._state.mover - 1]

    @property
    def has_moves(self) -> bool:
        return any(turn.outcome is Outcome.PLAYED for turn in self._record.turns)

    def refusal(self, move: str) -> str | None:
        """Return the error line for an illegal move, or None."""
        turn, _ = step(0, self._state, Reply(Outcome.PLAYED, move, move))
        return f"illegal move: {turn.detail}" if turn.outcome is Outcome.INVALID else None

    def play(self, move: str, seconds: Seconds) -> None:
        """Play a legal move that took `seconds`."""
        self._step(Reply(Outcome.PLAYED, move, move, seconds))
        self._pass()

    def _pass(self) -> None:
        while not self._state.is_over() and not self._state.legal_actions():
            self._step(Reply(Outcome.PASS))

    def _step(self, reply: Reply) -> None:
        turns = self._record.turns
        turn, self._state = step(len(turns) + 1, self._state, reply)
        turns.append(turn)

    def verdict(self) -> str | None:
        """Return the line that announces the end, or None if the game is not over."""
        return verdict(self._state)

    def write(self, path: Path, broken_off: Ending | None, loser: str | None) -> None:
        """Write the record; `loser` is the side that ended the game early. Raises `InputError`."""
        ending = self._state.ending() or broken_off
        assert ending is not None
        result = final(self._state, ending)
        if loser is not None:
            result = Result(result.scores, ending, 2 if loser == COLOURS[0] else 1)
        self._record.result = result
        record.write(self._record, path)


def verdict(state: State) -> str | None:
    """Return the line that announces the end of a game."""
    ending = state.ending()
    if ending is None:
        return None
    winner = final(state, ending).winner
    return f"Game over: {COLOURS[winner - 1]} wins." if winner else "Game over: draw."
