"""Convert the referee's events to the page's events, as plain data, and play games with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Final

from connect4 import record as records
from connect4.games.base import Game, Player, Seconds, State
from connect4.players.base import PlayerLeftError, Reply
from connect4.players.human import LEAVE, reply_to
from connect4.record import Record
from connect4.referee import Event, TurnBegun, TurnEnded
from connect4.table import Table, TablePlan
from connect4.views.board import RunTable, motion_between
from connect4.views.page import game_data, turn_data

MAX_PRINTED: Final = 4000
"""The characters of an agent's output in one turn that a page shows."""


@dataclass
class Feed:
    """Sends one game after another to a page, by `add(name, data)` of an event."""

    add: Callable[[str, Any], object]
    turn: int = 0
    """The turn that has begun."""

    def begin(self, record: Record) -> None:
        """Announce a game whose first turn has not begun."""
        self._game = record.game
        self._runs = RunTable(record.start)
        self._details: dict[str, int] = {}
        self._state = record.start
        self.add("game", game_data(replace(record, turns=[], result=None, extra={})))

    def see(self, event: Event, person: bool, printed: str) -> None:
        """Send an event of the referee.

        `person` is true if the mover is a person. `printed` is what the agent printed in the turn.
        """
        if isinstance(event, TurnBegun):
            self.turn = event.number
            moves = playable(self._game, event.state) if person else None
            begun = {
                "player": event.state.mover,
                "limit": event.limit,
                "at": time.time(),
                "moves": moves,
            }
            self.add("begin", begun)
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
            self.add("turn", {"turn": row, **new})

    def over(self, record: Record) -> None:
        """Send the finished game, with its record as text."""
        self.add("over", {"game": game_data(record), "record": records.dumps(record)})


class SentSeat:
    """The seat of a player whose replies are sent to the referee, such as a person at the page."""

    def __init__(self) -> None:
        self.log = ""
        self.load_failure: str | None = None

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Leave the game: only a game without a page calls this."""
        raise PlayerLeftError("no page")

    def close(self) -> None:
        """Do nothing; it needs no cleanup."""


def turns_to_send(
    table: Table, plan: TablePlan, feed: Feed, is_sent: Callable[[Player], bool]
) -> Generator[TurnBegun, Reply | None, None]:
    """Play a game and feed the page; yield each turn of the players that `is_sent` names.

    The reply that is sent to this generator is the turn's; with None, the seat is asked.
    """
    events = table.events()
    reply: Reply | None = None
    while True:
        try:
            event = events.send(reply)
            reply = None
            printed = table.printed(event.turn) if isinstance(event, TurnEnded) else ""
            person = isinstance(event, TurnBegun) and plan.is_person(event.state.mover)
            feed.see(event, person, printed)
            if isinstance(event, TurnBegun) and is_sent(event.state.mover):
                reply = yield event
        except PlayerLeftError as error:
            events.throw(error)
        except StopIteration:
            return


def typed_reply(text: str, begun: TurnBegun, plan: TablePlan, took: Seconds) -> Reply:
    """Return the reply of a person at a page, who may also type that they leave.

    Raises `PlayerLeftError`, or `IllegalAction` for what is no move.
    """
    if text.strip().lower() in LEAVE:
        raise PlayerLeftError("left the game")
    return reply_to(text, begun.state, plan.game, plan.terms.human_strict, took)


def playable(game: Game, state: State) -> list[dict[str, Any]]:
    """Return the mover's legal moves: the text of each, and the cells or the column it changes.

    Cells are counted row by row from the top.
    """
    columns = state.board().shape[1]
    found = []
    for action in state.legal_actions():
        motion = motion_between(state.board(), state.apply(action).board())
        if motion is None:
            continue
        move: dict[str, Any] = {"text": game.format_action(action)}
        if motion.target is not None:
            move["to"] = motion.target[0] * columns + motion.target[1]
        if motion.origin is not None:
            row, column = motion.origin
            is_slide = motion.target is not None
            move.update({"from": row * columns + column} if is_slide else {"column": column})
        found.append(move)
    return found
