"""Compute the cost of each move of a finished game, and say in words which moves cost most.

The kit's strongest agent for the game searches every position for a few seconds. The cost of a turn
is the value that best play loses between the positions before and after it.

Estimates of different depths are not comparable, in particular if one search ends with a move of
player 1 and the other with a move of player 2. A position and the position after a move are
therefore compared at the same last ply: the first is searched one ply deeper than the second.
"""

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from connect4 import record as records
from connect4.analysis.experts import Expected, Expert, expert_for
from connect4.errors import InputError, one_line
from connect4.games.base import Game, Player, Seconds, State
from connect4.players.base import Outcome, Turn
from connect4.record import Record
from connect4.views.words import belief_text, skipped_text, thought_text

WORST: Final = 3
"""The number of worst moves listed for each side."""


@lru_cache(1)
def _replayed(text: str) -> tuple[list[State], Expert]:
    """Return the positions of a record, given as text, and who judges them."""
    record = records.loads(text)
    return list(records.replay(record)), expert_for(record.game, record.start)


def _search(text: str, seconds: Seconds, turns: int) -> Expected | None:
    """Return best play after a number of turns; None if the expert does not know the position."""
    states, expert = _replayed(text)
    return expert.expect(states[turns], seconds)


Progress = Callable[[int, int], None]
"""Receives the number of searches done, and their total."""


def analyse(
    record: Record,
    seconds: Seconds,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
) -> "Analysis":
    """Return what each move of a record cost; each search takes `seconds`.

    `jobs` processes search; with 0, this process does.
    """
    expert = expert_for(record.game, record.start)
    found = []
    todo = range(len(record.turns) + 1)
    progress(0, len(todo))
    for expected in _searched(todo, min(jobs, len(todo)), records.dumps(record), seconds):
        found.append(expected)
        progress(len(found), len(todo))
    judged = [
        None
        if before is None or after is None
        else judge(record.game, turn, before, after, expert.largest)
        for turn, before, after in zip(record.turns, found, found[1:], strict=False)
    ]
    worst = worst_turns(record, judged, 1), worst_turns(record, judged, 2)
    text = "\n".join(summary(record, expert.agent, judged, worst))
    return Analysis(expert.agent, expert.unit, seconds, tuple(judged), worst, text)


def _searched(
    todo: Iterable[int], jobs: int, text: str, seconds: Seconds
) -> Iterator[Expected | None]:
    """Yield the results of searches in `jobs` processes (0: in this one).

    After an exception, the processes end at once. Raises `InputError` if one of them has ended.
    """
    if not jobs:
        yield from map(partial(_search, text, seconds), todo)
        return
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor  # late: browsers have none
    from multiprocessing import active_children

    ignored = signal.SIGINT, signal.SIG_IGN  # this process handles Ctrl-C
    pool = ProcessPoolExecutor(jobs, initializer=signal.signal, initargs=ignored)
    try:
        yield from pool.map(partial(_search, text, seconds), todo)
    except BrokenExecutor:
        raise InputError("a search was ended from outside, perhaps for lack of memory") from None
    except BaseException:  # also on Ctrl-C: the searches may run for minutes
        for child in active_children():
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def judge(game: Game, turn: Turn, before: Expected, after: Expected, largest: float) -> "Cost":
    """Return the cost of a turn; it is 0 if the expert has no better move."""
    found = cost_of(turn.player, before, after, largest)
    is_best = turn.outcome is Outcome.PLAYED and before.line[:1] == (turn.action,)
    if turn.outcome is Outcome.PASS or (is_best and not found.proven):
        found = Cost(after.value, after.value, 0.0, found.proven, found.noise)
    moves = before.line if found.loss or found.slower else ()
    line = ("pass" if move is None else game.format_action(move) for move in moves)
    rounded = {key: round(getattr(found, key), 2) for key in ("before", "after", "loss", "noise")}
    return found._replace(**rounded, line=tuple(line), turn=turn.number)


def worst_turns(record: Record, judged: "Sequence[Cost | None]", player: Player) -> tuple[int, ...]:
    """Return the numbers of the most costly turns of a player, worst first."""
    losses = [
        (-found.loss, turn.number)
        for turn, found in zip(record.turns, judged, strict=True)
        if found is not None and turn.player == player and found.loss > 0
    ]
    return tuple(number for _, number in sorted(losses)[:WORST])


def summary(
    record: Record,
    agent: str,
    judged: "Sequence[Cost | None]",
    worst: Sequence[Sequence[int]],
) -> Iterator[str]:
    """Yield a line for each of the worst moves, and one for what was not analysed."""
    for player, numbers in zip((1, 2), worst, strict=True):
        name = f"Player {player} ({one_line(record.players[player - 1].agent)})"
        if not numbers:
            yield f"{name}: no move cost anything"
        for number in numbers:
            turn, found = record.turns[number - 1], judged[number - 1]
            assert found is not None
            better, *rest = found.line
            deed = one_line(turn.text) if turn.outcome is Outcome.PLAYED else turn.outcome.value
            then = f", then {' '.join(rest)}" if rest else ""
            cost = f"cost {found.loss:g}; better {better}{then}"
            yield f"{name}: turn {number}, {deed}, {cost} ({found.certainty})"
            worth = found.best_for(player)
            if belief := belief_text(turn, worth - found.loss, better, worth):
                yield f"    {belief}"
    if left_out := skipped_text(judged, agent):
        yield left_out


def thoughts(record: Record, found: "Analysis") -> Iterator[str]:
    """Yield what the agents thought by turn, beside what the analysis says of it."""
    for turn, cost in zip(record.turns, found.costs, strict=True):
        if text := thought_text(turn):
            best = "" if cost is None else f" (analysis: {cost.best_for(turn.player):+g})"
            yield f"turn {turn.number}, player {turn.player}, {one_line(turn.text)}: {text}{best}"


LAST: Final = 4
"""The number of depths that determine the noise of an estimated cost."""


class Cost(NamedTuple):
    """The cost of a turn for its mover, in the analysis' unit; `loss` is never below 0.

    `before` and `after` are the values of best play before and after the turn, from player 1's
    view. A cost that is not `proven` is an estimate greater than its `noise`. If the outcome stays
    the same, `slower` counts the plies by which the mover wins later or loses sooner than possible.
    `line` is the better move and its continuation, as typed; empty if nothing was lost.
    """

    before: float
    after: float
    loss: float
    proven: bool
    noise: float = 0.0
    slower: int = 0
    line: tuple[str, ...] = ()
    turn: int = 0

    def best_for(self, player: int) -> float:
        """Return the value of the best move, from the side of a player."""
        return self.before if player == 1 else -self.before

    @property
    def certainty(self) -> str:
        """Return whether a cost is proven, and the noise of an estimate."""
        if self.proven:
            return "proven"
        if self.loss <= self.noise:
            return "estimated; from here the loss is forced"
        return f"estimated, noise {self.noise:g}"

    def to_json(self) -> dict[str, Any]:
        """Return an entry of `turns`, as `docs/formats.md` describes it."""
        keys = ("before", "after", "loss", "line", "proven", "noise", "slower")
        return {**{key: getattr(self, key) for key in keys}, "line": list(self.line)}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The costs of the moves of a game, one `Cost` for each turn in `costs`.

    A turn that the agent could not judge, because a side had missed a turn, has None in its place.
    `agent` is the agent that judged, `unit` the unit. `worst` has the most costly turns of player 1
    and of player 2, worst first; `str` describes them.
    """

    agent: str
    unit: str
    seconds: Seconds
    costs: tuple[Cost | None, ...]
    worst: tuple[tuple[int, ...], tuple[int, ...]]
    text: str

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Return the `analysis` of a record, as `docs/formats.md` describes it."""
        return {
            "agent": self.agent,
            "seconds": self.seconds,
            "unit": self.unit,
            "turns": [None if cost is None else cost.to_json() for cost in self.costs],
            "worst": [list(numbers) for numbers in self.worst],
        }


def cost_of(player: Player, before: Expected, after: Expected, largest: float) -> Cost:
    """Return the cost of the move of `player` that led from `before` to `after`.

    If only one of the two is proven, it counts as an estimate of at most `largest`. A cost within
    the noise also counts if the move led to a forced loss that the search before it would have
    found. If neither has values of single depths, their final values are compared.
    """
    sign = 1 if player == 1 else -1
    if before.proven and after.proven:
        loss = max(0.0, sign * (before.value - after.value))
        slower = 0
        if not loss and before.value and before.plies is not None and after.plies is not None:
            later = after.plies + 1 - before.plies
            slower = max(0, later if sign * before.value > 0 else -later)
        return Cost(before.value, after.value, loss, True, slower=slower)
    pairs = [
        (max(-largest, min(largest, one)), max(-largest, min(largest, two)))
        for one, two in _pairs(before, after)
    ]
    if not (pairs or before.depths or after.depths):
        pairs = [(before.value, after.value)]
    if not pairs:
        return Cost(after.value, after.value, 0.0, False)
    costs = [sign * (one - two) for one, two in pairs[-LAST:]]
    noise = max(costs) - min(costs)
    depth = before.depths[-1][0] if before.depths else 0
    is_forced_now = bool(after.plies and after.value) and depth > (after.plies or 0)
    if costs[-1] <= (0 if is_forced_now else noise):
        return Cost(after.value, after.value, 0.0, False, noise)
    return Cost(*pairs[-1], costs[-1], False, noise)


def _pairs(before: Expected, after: Expected) -> Iterator[tuple[float, float]]:
    """Yield the values of both at the same last ply, the deepest last."""
    plies = {depth for depth, _ in before.depths} | {depth + 1 for depth, _ in after.depths}
    for ply in sorted(plies):
        one, two = before.at(ply), after.at(ply - 1)
        if one is not None and two is not None:
            yield one, two
