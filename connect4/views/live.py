"""A game while it is played on a page: its events, and what a person answers.

The data are those of the replay page, event by event. The page of this machine and the playground
share this module.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Final

from connect4 import record as records
from connect4.analysis.experts import expert_for
from connect4.errors import IllegalAction
from connect4.games.base import Game, Player, Seconds, State
from connect4.players.base import Outcome, PlayerLeftError, Reply, ResignedError, TakenBackError
from connect4.players.human import LEAVE, reply_to
from connect4.record import Record
from connect4.referee import Event, TurnBegun, TurnEnded
from connect4.table import Table, TablePlan
from connect4.views.board import RunTable, motion_between
from connect4.views.page import game_data, turn_data

MAX_PRINTED: Final = 4000
"""The characters of an agent's output in one turn that a page shows."""

HINT: Final = 1.0
"""Seconds that the search for a hint takes; with a clock, at most a quarter of the limit."""


@dataclass
class Feed:
    """Sends one game after another to a page, by `add(name, data)` of an event."""

    add: Callable[[str, Any], object]
    turn: int = 0
    """The turn that has begun."""

    def begin(self, record: Record) -> None:
        """Announce a game whose first turn has not begun."""
        self._record = record
        self._hinted: list[State] = []
        self._runs = RunTable(record.start)
        self._details: dict[str, int] = {}
        self._state = record.start
        self.add("game", game_data(replace(record, turns=[], result=None, extra={})))

    def see(self, event: Event, plan: TablePlan, printed: str) -> None:
        """Send an event of the referee; `printed` is what the agent printed in the turn."""
        if isinstance(event, TurnBegun):
            self.turn = event.number
            mover = event.state.mover
            begun = {
                "player": mover,
                "limit": event.limit,
                "at": time.time(),
                "moves": playable(plan.game, event.state) if plan.is_person(mover) else None,
                "helps": is_helped(plan),
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

    def typed(self, text: str, begun: TurnBegun, plan: TablePlan, took: Seconds) -> Reply | None:
        """Return the reply of a person at a page; None if they asked for a hint, which was sent.

        Raises `PlayerLeftError`, `TakenBackError`, or `IllegalAction` for what is no move.
        """
        word = text.strip().lower()
        if word in LEAVE:
            raise PlayerLeftError("left the game")
        if word == "resign":
            raise ResignedError("resigned")
        if word in ("back", "hint") and not is_helped(plan):
            raise IllegalAction(f"{word}: only against an agent here, without --human-strict")
        if word == "back":
            raise TakenBackError(self._last_choice(begun.state.mover))
        if word == "hint":
            self._hint(begun)
            return None
        reply = reply_to(text, begun.state, plan.game, plan.terms.human_strict, took)
        return replace(reply, hint=begun.state in self._hinted)

    def _last_choice(self, player: Player) -> int:
        """Return the number of turns before a player's last one; raises `IllegalAction`."""
        for turn in reversed(self._record.turns):
            if turn.player == player and turn.outcome is not Outcome.PASS:
                return turn.number - 1
        raise IllegalAction("you have not moved yet")

    def _hint(self, begun: TurnBegun) -> None:
        """Send the move of the game's strongest agent; the turn's record will say so."""
        expert = expert_for(self._record.game, self._record.start)
        seconds = HINT if begun.limit is None else min(HINT, begun.limit / 4)
        found = expert.expect(begun.state, seconds)
        if found is None or not found.line or found.line[0] is None:
            raise IllegalAction(f"{expert.agent} has no hint for this position")
        self._hinted.append(begun.state)
        move = self._record.game.format_action(found.line[0])
        self.add("hint", {"text": move, "agent": expert.agent})

    def back(self) -> None:
        """Tell the page that the record has become shorter."""
        self._state = records.replay(self._record)[-1]
        self.add("back", {"turns": len(self._record.turns)})

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
            feed.see(event, plan, printed)
            if isinstance(event, TurnBegun) and is_sent(event.state.mover):
                reply = yield event
        except PlayerLeftError as error:
            events.throw(error)
        except TakenBackError as error:
            events = table.take_back(error.args[0])
            feed.back()
        except StopIteration:
            return


def is_helped(plan: TablePlan) -> bool:
    """Return whether a person may take back and get hints: against an agent."""
    people = [agent.kind for agent in plan.agents].count("human")
    return people == 1 and not plan.terms.human_strict


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
