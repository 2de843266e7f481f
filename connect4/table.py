"""A table with two named players: opens their seats, plays one game, keeps its record."""

from collections.abc import Callable, Container, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from connect4.config import ALLOWED_MODULES
from connect4.errors import InputError
from connect4.games.base import SIDES, Ending, Game, Player, Seconds, State
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import LEVELS, Level, Lifetime, open_seat
from connect4.players import base
from connect4.players.registry import file_hash, method_of
from connect4.record import Record, RecordedPlayer, agent_versions
from connect4.referee import Event, Over, Result, TurnBegun, TurnEnded, play


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions of a game. `seconds` is the limit of a move.

    `method` is the method of students' files to call; by default the opponent determines it. Only
    with `human_clock` do people have a time limit, and only with `human_strict` does an illegal
    move cost them the turn. An agent that could not be loaded ends the game before it begins; with
    `play_unloaded` it fails on each of its turns instead.
    """

    seconds: Seconds
    seed: int
    level: Level = "none"
    method: base.Method | None = None
    human_clock: bool = False
    human_strict: bool = False
    limits: Limits = field(default_factory=Limits)
    lifetime: Lifetime = "game"
    play_unloaded: bool = False
    allowed: tuple[str, ...] = ALLOWED_MODULES
    """Modules that students' files may import besides the standard library and numpy."""
    sources: tuple[bytes | None, bytes | None] = (None, None)
    """Each player's student file, if it must not be read from disk."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A game that is to be played: all that it needs before its first move.

    `record_name` is the file in which its record will be, empty where that is not known.
    """

    game: Game
    start: State
    agents: tuple[base.AgentName, base.AgentName]
    terms: Terms
    title: str
    record_name: str = ""

    def is_person(self, player: Player) -> bool:
        return self.agents[player - 1].kind == "human"


def no_person(player: Player) -> base.Seat:
    """Refuse a person in a game between programs: raises `InputError`."""
    raise InputError(f"player {player} is a person, and only programs play here")


class Table:
    """One game between two agents, as a context manager that closes their seats.

    `record` grows with every turn and is complete once `events()` has ended or `abandon` was
    called.
    """

    def __init__(
        self,
        game: Game,
        start: State,
        agents: tuple[base.AgentName, base.AgentName],
        terms: Terms,
        seat_person: Callable[[Player], base.Seat] = no_person,
        kinds: Container[str] = ("human", "local"),
    ) -> None:
        """Open both seats; `seat_person(player)` creates the seat of a player of these `kinds`.

        A `local` agent is an object of this process.
        """
        methods = method_of(*agents, terms.method), method_of(*agents[::-1], terms.method)
        players = [
            RecordedPlayer(agent.text, method, file_hash(agent, source))
            for agent, method, source in zip(agents, methods, terms.sources, strict=True)
        ]
        versions, extra = LEVELS[terms.level].record_fields(terms.seconds)
        self.record = Record(
            game,
            start,
            (players[0], players[1]),
            terms.seconds,
            terms.seed,
            isolation=terms.level,
            lifetime=terms.lifetime,
            versions=versions or agent_versions(),
            extra=extra,
        )
        self._state = start
        self._play_unloaded = terms.play_unloaded
        self._seats: dict[Player, base.Seat] = {}
        self._limits: dict[Player, Seconds | None] = {}
        try:
            for player, agent, method in zip(SIDES, agents, methods, strict=True):
                person = agent.kind == "human"
                self._limits[player] = None if person and not terms.human_clock else terms.seconds
                if agent.kind in kinds:
                    self._seats[player] = seat_person(player)
                else:
                    source, allowed = terms.sources[player - 1], terms.allowed
                    common = terms.seconds, terms.seed, method, source, allowed
                    setup = base.Setup(agent, player, game, *common)
                    limits, lifetime = terms.limits, terms.lifetime
                    self._seats[player] = open_seat(setup, terms.level, limits, lifetime)
        except BaseException:  # also on Ctrl-C, so that no process stays behind
            self.close()
            raise

    def events(self) -> Generator[Event, base.Reply | None, None]:
        """Play the game, yielding the referee's events; it receives a reply as `play` does."""
        record = self.record
        game = play(record.game, record.start, self._seats, self._limits, self._play_unloaded)
        reply: base.Reply | None = None
        left: base.PlayerLeftError | None = None
        while True:
            try:
                event = game.send(reply) if left is None else game.throw(left)
            except StopIteration:
                return
            if isinstance(event, TurnBegun):
                begin = getattr(self._seats[event.state.mover], "begin_turn", None)
                if begin is not None:
                    begin(event.number)
            elif isinstance(event, TurnEnded):
                record.turns.append(event.turn)
                self._state = event.state
            elif isinstance(event, Over):
                record.result = event.result
            reply = left = None
            try:
                reply = yield event
            except base.PlayerLeftError as error:
                left = error

    def take_back(self, turns: int) -> Generator[Event, base.Reply | None, None]:
        """Return the events after the first `turns` turns; the later ones no longer count."""
        kept = self.record.turns[:turns]
        self.record.taken_back += len(self.record.turns) - turns
        self.record.turns.clear()
        self._state = self.record.start
        events = self.events()
        for turn in kept:
            if isinstance(next(events), TurnBegun):
                events.send(turn)
        return events

    def abandon(self, ending: Ending) -> None:
        """Set the result of an interrupted game: the current scores, and no winner."""
        if self.record.result is None:
            self.record.result = Result(self._state.scores(), ending, 0)

    def log(self, player: Player) -> str:
        return self._seats[player].log

    def printed(self, turn: base.Turn) -> str:
        """Return what an agent printed in the turn that has just ended."""
        _, marker, text = self.log(turn.player).rpartition(f"[turn {turn.number}]\n")
        return text if marker else ""

    def close(self) -> None:
        with ExitStack() as stack:  # closes the second also if the first fails
            for seat in self._seats.values():
                stack.callback(seat.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
