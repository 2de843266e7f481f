"""The referee: plays one game between two seats and reports it event by event.

It does not depend on any view, record or grader. Iterating over `play` yields the events, and the
generator's return value is the `Result`. Whoever iterates can play a turn: the reply to a
`TurnBegun` that is sent to the generator takes the place of the seat's.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from connect4.errors import IllegalAction
from connect4.games import base
from connect4.players.base import Outcome, PlayerLeftError, Reply, ResignedError, Seat, Turn


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of a game, why it ended and who won: three separate values."""

    scores: tuple[int, int]
    ending: base.Ending
    winner: base.Winner
    detail: str | None = None
    """Details of the ending, such as why an agent could not be loaded."""


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """The referee is about to ask `state.mover`; `limit` None means that there is no clock."""

    number: int
    state: base.State
    limit: base.Seconds | None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn was judged; `state` is the position after it."""

    turn: Turn
    state: base.State


@dataclass(frozen=True, slots=True)
class Over:
    """The game has ended in `state`."""

    result: Result
    state: base.State


Event: TypeAlias = TurnBegun | TurnEnded | Over


def play(
    game: base.Game,
    start: base.State,
    seats: Mapping[base.Player, Seat],
    limits: Mapping[base.Player, base.Seconds | None],
    play_unloaded: bool = False,
) -> Generator[Event, Reply | None, Result]:
    """Play one game from `start`, yielding each event as it happens.

    A late, invalid or failed turn is skipped or loses the game, depending on `game.on_fault`. An
    agent that could not be loaded loses the game before its first turn; with `play_unloaded` it
    loses each of its turns instead. The caller closes the seats.
    """
    state = start
    number = skips = 0
    result = None if play_unloaded or start.is_over() else not_loaded(start, seats)
    while result is None:
        ending = state.ending() or (base.Ending.STALLED if skips == game.max_skips else None)
        if ending is not None:
            result = final(state, ending)
            break
        number += 1
        player = state.mover
        if not state.legal_actions():
            turn, state = step(number, state, Reply(Outcome.PASS))
            yield TurnEnded(turn, state)
            continue
        try:
            reply = yield TurnBegun(number, state, limits[player])
            if reply is None:
                reply = seats[player].ask(state, limits[player])
        except ResignedError:
            result = Result(state.scores(), base.Ending.RESIGNED, base.opponent(player))
            break
        except PlayerLeftError:
            result = Result(state.scores(), base.Ending.LEFT, 0)
            break
        turn, state = step(number, state, reply)
        yield TurnEnded(turn, state)
        if turn.outcome is Outcome.PLAYED:
            skips = 0
        elif game.on_fault is base.FaultPolicy.FORFEIT:
            result = Result(state.scores(), base.Ending.FORFEIT, base.opponent(player))
        else:
            skips += 1
    yield Over(result, state)
    return result


def step(number: int, state: base.State, reply: Reply) -> tuple[Turn, base.State]:
    """Return the judged turn for `reply`, and the position after it.

    An action that the rules refuse makes the turn invalid; a turn without an action is skipped.
    """
    outcome, detail, after = reply.outcome, reply.detail, None
    if outcome is Outcome.PLAYED:
        try:
            after = state.apply(reply.action)
        except IllegalAction as error:
            outcome, detail = Outcome.INVALID, str(error)
    turn = reply.judged(outcome, detail, number, state.mover)
    return turn, state.skip() if after is None else after


def final(state: base.State, ending: base.Ending) -> Result:
    """Return the result of a position in which the rules end the game: the higher score wins."""
    scores = state.scores()
    return Result(scores, ending, base.leader(scores))


def not_loaded(state: base.State, seats: Mapping[base.Player, Seat]) -> Result | None:
    """Return the result if an agent could not be loaded (the other side wins), else None."""
    players: tuple[base.Player, base.Player] = (1, 2)
    failures = {player: seats[player].load_failure for player in players}
    failed = [player for player in players if failures[player] is not None]
    if not failed:
        return None
    reasons = dict.fromkeys(reason for reason in failures.values() if reason is not None)
    winner: base.Winner = 0 if len(failed) == 2 else base.opponent(failed[0])
    return Result(state.scores(), base.Ending.NOT_LOADED, winner, "\n\n".join(reasons))
