"""Play a game in a separate thread, so that the window stays responsive in the main thread."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from connect4.games.base import Ending, Game, Player, Seconds, State
from connect4.players.base import Seat
from connect4.players.human import HumanSeat
from connect4.players.names import AgentName
from connect4.record import Record
from connect4.referee import Event, TurnBegun, TurnEnded
from connect4.table import Table, Terms

PATIENCE: Final = 2.0
"""Seconds that `stop` waits for an agent which nothing can interrupt (isolation `none`)."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A game that is to be played: all that it needs before its first move.

    `record_name` is the file in which its record will be, empty where that is not known.
    """

    game: Game
    start: State
    agents: tuple[AgentName, AgentName]
    terms: Terms
    title: str
    record_name: str = ""

    def is_person(self, player: Player) -> bool:
        """Return whether a person plays that side."""
        return self.agents[player - 1].kind == "human"


@dataclass(frozen=True, slots=True)
class MoveAsked:
    """A person is asked for a move; the answer goes to `Session.answer`."""

    player: Player


@dataclass(frozen=True, slots=True)
class Notice:
    """A line that the person to move should read."""

    line: str


@dataclass(frozen=True, slots=True)
class GameFailed:
    """The game could not be played."""

    error: Exception


Message: TypeAlias = Event | MoveAsked | Notice | GameFailed


class Session:
    """Plays `planned` once it is started; `messages()` returns what happened since, at once.

    All methods are for the window's thread. Agents are asked only while the session is not
    paused, and no sooner than `pace` seconds after the turn before.
    """

    def __init__(self, planned: TablePlan, pace: Seconds) -> None:
        self.planned = planned
        self._messages: SimpleQueue[Message] = SimpleQueue()
        self._answers: SimpleQueue[str | None] = SimpleQueue()
        self._gate = threading.Condition()
        self._pace = pace
        self._paused = False
        self._steps = 0
        self._stopping = False
        self._turn_ended = 0.0
        self._table: Table | None = None
        self._thread = threading.Thread(target=self._run, name="game", daemon=True)

    def start(self) -> None:
        """Begin the game."""
        self._thread.start()

    def messages(self) -> list[Message]:
        """Return what has come since the last call."""
        found = []
        try:
            while True:
                found.append(self._messages.get_nowait())
        except Empty:
            return found

    def record(self) -> Record | None:
        """Return the record that grows with the game; None until the agents have started."""
        return self._table.record if self._table is not None else None

    def logs(self) -> list[str]:
        """Return what each player's agent has printed so far."""
        table = self._table
        return [table.log(player) for player in (1, 2)] if table is not None else []

    def answer(self, text: str) -> None:
        """Give a person's answer to the last `MoveAsked`."""
        self._answers.put(text)

    def pause(self, paused: bool) -> None:
        """Hold the next agent back, or let the game go on."""
        with self._gate:
            self._paused = paused
            self._steps = 0
            self._gate.notify_all()

    def step(self) -> None:
        """Let one agent's turn through a pause."""
        with self._gate:
            self._steps += 1
            self._gate.notify_all()

    def set_pace(self, pace: Seconds) -> None:
        """Set the least seconds between two turns."""
        with self._gate:
            self._pace = pace
            self._gate.notify_all()

    def stop(self) -> Record | None:
        """End the game wherever it is, leave nothing running, and return its record."""
        with self._gate:
            self._stopping = True
            self._gate.notify_all()
            table = self._table
        self._answers.put(None)
        if table is not None:
            table.close()
        self._thread.join(PATIENCE)
        if self._table is not None:  # it may have been opened meanwhile
            self._table.abandon(Ending.LEFT)
        return self.record()

    def _run(self) -> None:
        planned = self.planned
        try:
            with Table(
                planned.game, planned.start, planned.agents, planned.terms, self._seat_person
            ) as table:
                with self._gate:
                    self._table = table
                for event in table.events():
                    if isinstance(event, TurnBegun) and not planned.is_person(event.state.mover):
                        self._wait_for_turn()
                    if self._stopping:
                        return
                    self._messages.put(event)
                    if isinstance(event, TurnEnded):
                        self._turn_ended = time.monotonic()
        except Exception as error:
            self._messages.put(GameFailed(error))

    def _wait_for_turn(self) -> None:
        """Return once the next agent may be asked, or the game is to stop."""
        with self._gate:
            while not self._stopping:
                early = self._turn_ended + self._pace - time.monotonic()
                if self._steps:
                    self._steps -= 1
                    return
                if self._paused:
                    self._gate.wait()
                elif early > 0:
                    self._gate.wait(early)
                else:
                    return

    def _seat_person(self, player: Player) -> Seat:
        def read_line(prompt: str) -> str:
            self._messages.put(MoveAsked(player))
            answer = self._answers.get()
            if answer is None:
                raise EOFError
            return answer

        return HumanSeat(
            self.planned.game,
            player,
            read_line,
            lambda line: self._messages.put(Notice(line)),
            self.planned.terms.human_strict,
        )
