"""A game on a server, on one side or the other: the board, its moves, the record."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from connect4 import record
from connect4.games.base import Ending, Seconds, State
from connect4.games.dynamic import COLOURS
from connect4.players.base import Outcome, Reply
from connect4.record import Record
from connect4.referee import Result, Turn, final, step

REMOTE: Final = "remote"
"""The name of a player whose agent is unknown."""


class Arbiter:
    """Applies the moves of one server game to its board; a side that cannot move passes."""

    def __init__(self, game: Record) -> None:
        self.record = game
        self.state: State = game.start
        self._pass()

    @property
    def mover(self) -> str:
        return COLOURS[self.state.mover - 1]

    @property
    def plies(self) -> int:
        return sum(turn.outcome is Outcome.PLAYED for turn in self.record.turns)

    def refusal(self, move: str) -> str | None:
        """Return the error line for an illegal move, or None."""
        turn, _ = step(0, self.state, Reply(Outcome.PLAYED, move, move))
        return f"illegal move: {turn.detail}" if turn.outcome is Outcome.INVALID else None

    def play(self, move: str, seconds: Seconds) -> Turn:
        """Play a move that took `seconds`; an illegal one leaves the board as it is."""
        turn = self.take(Reply(Outcome.PLAYED, move, move, seconds))
        self._pass()
        return turn

    def _pass(self) -> None:
        while not self.state.is_over() and not self.state.legal_actions():
            self.take(Reply(Outcome.PASS))

    def take(self, reply: Reply) -> Turn:
        """Add a turn to the record."""
        turns = self.record.turns
        turn, self.state = step(len(turns) + 1, self.state, reply)
        turns.append(turn)
        return turn

    def verdict(self) -> str | None:
        """Return the line that announces the end, or None if the game is not over."""
        ending = self.state.ending()
        if ending is None:
            return None
        winner = final(self.state, ending).winner
        return f"Game over: {COLOURS[winner - 1]} wins." if winner else "Game over: draw."

    def write(self, path: Path, broken_off: Ending | None, loser: str | None) -> None:
        """Write the record; `loser` is the side that ended the game early. Raises `InputError`."""
        ending = self.state.ending() or broken_off
        assert ending is not None
        result = final(self.state, ending)
        if loser is not None:
            result = Result(result.scores, ending, 2 if loser == COLOURS[0] else 1)
        self.record.result = result
        record.write(self.record, path)
