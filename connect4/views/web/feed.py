"""Convert the referee's events to the page's events, as plain data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from connect4 import record as records
from connect4.games.base import Game, State
from connect4.record import Record
from connect4.referee import Event, TurnBegun, TurnEnded
from connect4.views.board_data import RunTable, moves_of
from connect4.views.page.page import game_data, head_data, page, turn_data
from connect4.views.web.server import Events

MAX_PRINTED: Final = 4000
"""The characters of an agent's output in one turn that a page shows."""


@dataclass
class Feed:
    """Sends one game after another to the pages of a server."""

    events: Events

    def begin(self, record: Record) -> None:
        """Announce a game whose first turn has not begun."""
        self._record = record
        self._runs = RunTable(record.start.board().shape[1])
        self._details: dict[str, int] = {}
        self._state = record.start
        first = [self._runs.number(run) for run in record.start.runs()]
        later: dict[str, Any] = {
            **{"turns": [], "details": [], "result": "", "why": None, "winner": 0},
            **{"analysis": None, "scores_end": list(record.start.scores())},
            **{"runs": self._runs.rows(), "first_runs": first},
        }
        self.events.add("game", {**head_data(record), **later})

    def see(self, event: Event, person: bool, printed: str) -> None:
        """Send an event of the referee.

        `person` is true if the mover is a person. `printed` is what the agent printed in the turn.
        """
        if isinstance(event, TurnBegun):
            moves = playable(self._record.game, event.state) if person else None
            begun = {
                "player": event.state.mover,
                "limit": event.limit,
                "at": time.time(),
                "moves": moves,
            }
            self.events.add("begin", begun)
        elif isinstance(event, TurnEnded):
            before, after = self._state, event.state
            known, told = len(self._runs.rows()), len(self._details)
            changes = self._runs.changes(before.runs(), after.runs())
            row = turn_data(event.turn, before, after, changes, self._details)
            new: dict[str, Any] = {
                "runs": self._runs.rows()[known:],
                "details": list(self._details)[told:],
                "printed": printed[:MAX_PRINTED],
            }
            self._state = after
            self.events.add("turn", {"turn": row, **new})

    def note(self, text: str) -> None:
        """Show a message on the page."""
        self.events.add("note", text)

    def over(self, record: Record) -> None:
        """Send the finished game, with its record as text."""
        self.events.add("over", {"game": game_data(record), "record": records.dumps(record)})

    def stay(self) -> None:
        """Tell the page that its server keeps running after the last game."""
        self.events.add("stay", None)

    def end(self, games: Sequence[Record]) -> None:
        """After the last game, send the page that people can save."""
        self.events.add("end", {"page": page(games) if games else ""})


def playable(game: Game, state: State) -> list[dict[str, Any]]:
    """Return the mover's legal moves: the text of each, and the cells or the column it changes.

    Cells are counted row by row from the top.
    """
    columns = state.board().shape[1]
    found = []
    for motion, action in moves_of(state).items():
        move: dict[str, Any] = {"text": game.format_action(action)}
        if motion.target is not None:
            move["to"] = motion.target[0] * columns + motion.target[1]
        if motion.origin is not None:
            row, column = motion.origin
            is_slide = motion.target is not None
            move.update({"from": row * columns + column} if is_slide else {"column": column})
        found.append(move)
    return found
