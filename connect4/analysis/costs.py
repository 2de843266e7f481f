"""Compute the cost of each move of a finished game, and say in words which moves cost most.

The kit's strongest agent for the game searches every position for a few seconds. The cost of a turn
is the value that best play loses between the positions before and after it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from connect4 import record as records
from connect4.analysis.comparison import Cost, Expected, cost_of
from connect4.analysis.experts import Expert, expert_for
from connect4.errors import InputError, one_line
from connect4.games.base import Game, Seconds
from connect4.players.base import Outcome, Turn
from connect4.record import Record
from connect4.views.words import skipped_text

WORST: Final = 3
"""The number of worst moves listed for each side."""


Search = Callable[[int], Expected | None]
"""Searches the position of a record after that many turns; None if the expert does not know it."""


def searcher(text: str, seconds: Seconds) -> Search:
    """Return a search of the positions of a record, which is given as the text of its file."""
    record = records.loads(text)
    states, expert = list(records.replay(record)), expert_for(record.game, record.start)
    return lambda turns: expert.expect(states[turns], seconds)


_search: Search | None = None


def _open_worker(text: str, seconds: Seconds) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    global _search  # noqa: PLW0603 - a worker process has one record
    _search = searcher(text, seconds)


def _work(turns: int) -> Expected | None:
    assert _search is not None
    return _search(turns)


Progress = Callable[[int, int], None]
"""Receives the number of searches done, and their total."""


def analyse(
    record: Record,
    seconds: Seconds,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
) -> dict[str, Any]:
    """Return the `analysis` of a record; each search takes `seconds`.

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
    return to_json(record, expert, seconds, judged)


def _searched(
    todo: Iterable[int], jobs: int, text: str, seconds: Seconds
) -> Iterator[Expected | None]:
    """Yield the results of `Search` in `jobs` processes (0: in this one).

    After an exception, the processes end at once. Raises `InputError` if one of them has ended.
    """
    if not jobs:
        yield from map(searcher(text, seconds), todo)
        return
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor  # late: browsers have none
    from multiprocessing import active_children

    pool = ProcessPoolExecutor(jobs, initializer=_open_worker, initargs=(text, seconds))
    try:
        yield from pool.map(_work, todo)
    except BrokenExecutor:
        raise InputError("a search was ended from outside, perhaps for lack of memory") from None
    except BaseException:  # also on Ctrl-C: the searches may run for minutes
        for child in active_children():
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def judge(game: Game, turn: Turn, before: Expected, after: Expected, largest: float) -> Cost:
    """Return the cost of a turn; it is 0 if the expert has no better move."""
    found = cost_of(turn.player, before, after, largest)
    is_best = turn.outcome is Outcome.PLAYED and before.line[:1] == (turn.action,)
    if turn.outcome is Outcome.PASS or (is_best and not found.proven):
        return Cost(after.value, after.value, 0.0, found.proven, found.noise)
    moves = before.line if found.loss or found.slower else ()
    line = ("pass" if move is None else game.format_action(move) for move in moves)
    return found._replace(line=tuple(line))


def worst_turns(record: Record, judged: Sequence[Cost | None]) -> list[list[int]]:
    """Return the numbers of the most costly turns of player 1 and of player 2, worst first."""
    worst: list[list[int]] = []
    for player in (1, 2):
        losses = [
            (-found.loss, turn.number)
            for turn, found in zip(record.turns, judged, strict=True)
            if found is not None and turn.player == player and found.loss > 0
        ]
        worst.append([number for _, number in sorted(losses)[:WORST]])
    return worst


def to_json(
    record: Record, expert: Expert, seconds: Seconds, judged: Sequence[Cost | None]
) -> dict[str, Any]:
    """Return the `analysis` of a record, as `docs/formats.md` describes it."""
    return {
        "agent": expert.agent,
        "seconds": seconds,
        "unit": expert.unit,
        "turns": [
            None
            if found is None
            else {
                "before": round(found.before, 2),
                "after": round(found.after, 2),
                "loss": round(found.loss, 2),
                "line": list(found.line),
                "proven": found.proven,
                "noise": round(found.noise, 2),
                "slower": found.slower,
            }
            for found in judged
        ],
        "worst": worst_turns(record, judged),
    }


def summary(record: Record, found: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each of the worst moves, and one for what was not analysed."""
    for player, numbers in zip((1, 2), found["worst"], strict=True):
        name = f"Player {player} ({one_line(record.players[player - 1].agent)})"
        if not numbers:
            yield f"{name}: no move cost anything"
        for number in numbers:
            turn = record.turns[number - 1]
            judged = found["turns"][number - 1]
            better, *rest = judged["line"]
            deed = one_line(turn.text) if turn.outcome is Outcome.PLAYED else turn.outcome.value
            then = f", then {' '.join(rest)}" if rest else ""
            cost = f"cost {judged['loss']:g}; better {better}{then}"
            yield f"{name}: turn {number}, {deed}, {cost} ({certainty(judged)})"
    if left_out := skipped_text(found["turns"], found["agent"]):
        yield left_out


def certainty(judged: dict[str, Any]) -> str:
    """Return whether a cost is proven, and the noise of an estimate."""
    if judged["proven"]:
        return "proven"
    if judged["loss"] <= judged["noise"]:
        return "estimated; from here the loss is forced"
    return f"estimated, noise {judged['noise']:g}"
