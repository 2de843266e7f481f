"""Plays scheduled games on any executor with the interface of `concurrent.futures`.

`play_game` is the function that plays a game, here or on another machine.
"""

import builtins
import hashlib
import inspect
import os
import re
import socket
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeVar

from connect4.errors import InputError, harmless, headline
from connect4.games import GAMES
from connect4.games.base import Ending, FaultPolicy, Game
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import NO_PLAYER, Level
from connect4.players.base import AgentName, Method, Outcome, Turn
from connect4.players.registry import file_hash, parse_agent
from connect4.record import Record
from connect4.referee import Result
from connect4.table import Table, Terms
from connect4.views import board, page
from connect4.views.document import json_in_html
from connect4.views.words import whole_reason
from grader.handin import FOLDER, file_name, without_folders
from grader.play import Pool, WorkerDiedError, number_of
from grader.play.schedule import COMPARE, PART_A, PART_B, Contestant, PlannedGame, Sources
from grader.results import STARVED, Attempt, Faults, LostTurn, PlayedGame
from grader.results.store import Store
from grader.rubric.model import AgentLimits

T = TypeVar("T")
R = TypeVar("R")

OWN_FILE: Final = AgentName("ai:ai.py", "ai", "ai.py")
"""The name of a submission in its own process, whatever its file is called."""

DIGITS: Final = 32
"""Digits of a hash in the name of a folder: two files that share 12 are found in minutes."""

HOPELESS: Final = 10
"""A run stops if its first N games against an opponent all fail: no submission is the cause."""


def play_game(
    game: PlannedGame, level: Level, sources: Sources, method: Method | None = None
) -> Attempt:
    """Play one game; lost turns belong to the players, the attempt's `fault` is not theirs.

    Of students' files a `method` is called in place of the one that the opponent determines.
    """
    began = time.monotonic()
    one, two = (player.id for player in game.players)
    attempt = Attempt(game.key, (one, two), worker=f"{socket.gethostname()}:{os.getpid()}")
    try:
        record = _played(game, level, sources, method)
    except Exception as error:  # a grader's fault ends this game and no other
        seconds = round(time.monotonic() - began, 3)
        fault, trace = one_line(error), traceback.format_exc()
        return replace(attempt, fault=fault, traceback=trace, seconds=seconds)
    assert record.result is not None
    lost = tuple(lost_turns(record))
    seconds = round(time.monotonic() - began, 3)
    played = PlayedGame(
        counted_scores(record.game, record.result),
        record.result.ending.value,
        len(record.turns),
        (_faults(record, 1), _faults(record, 2)),
    )
    return replace(
        attempt,
        played=played,
        record=record.to_json(),
        page=replay_data(record),
        lost=lost,
        seconds=seconds,
    )


def counted_scores(game: Game, result: Result) -> tuple[int, int]:
    """Return the scores that marks count.

    Whoever loses a game by a late, invalid or failed turn has no points, and the winner at least
    one.
    """
    one, two = result.scores
    if result.ending is not Ending.FORFEIT or game.on_fault is FaultPolicy.SKIP:
        return one, two
    return (max(one, 1), 0) if result.winner == 1 else (0, max(two, 1))


def one_line(error: BaseException) -> str:
    """Return an exception as one line; its traceback goes to the results file."""
    lines = str(error).splitlines() or [""]
    return harmless(f"{type(error).__name__}: {lines[0]}".removesuffix(": "))


def _played(planned: PlannedGame, level: Level, sources: Sources, method: Method | None) -> Record:
    """Play a game; return its record.

    Raises `InputError` if the file of a rubric's agent is not the planned one.
    """
    game, limits = GAMES[planned.board.game], planned.limits
    one, two = (agent_of(player, game) for player in planned.players)
    for player, name in zip(planned.players, (one, two), strict=True):
        if not player.is_submission and file_hash(name) != player.sha256:
            raise InputError(f"the file of {player.name} has changed since this run began")
    terms = Terms(
        planned.time_limit,
        planned.seed,
        level,
        method,
        limits=limits_of(limits),
        lifetime=limits.lifetime,
        play_unloaded=True,
        allowed=limits.allowed,
        sources=sources,
    )
    with Table(game, planned.board.state, (one, two), terms) as table:
        for _ in table.events():
            pass
    first, second = (
        replace(played, agent=f"ai:{source_path(str(player.sha256))}")
        if player.is_submission
        else played
        for played, player in zip(table.record.players, planned.players, strict=True)
    )
    table.record.players = first, second
    return table.record


def source_path(sha256: str) -> str:
    """Return the path of a file that was handed in, below `--out` and in records."""
    return f"{FOLDER}/{sha256[:DIGITS]}/ai.py"


def agent_of(player: Contestant, game: Game) -> AgentName:
    """Return an agent by its name; a submission has a name here, but no file."""
    if not player.is_submission:
        return parse_agent(player.agent, game.name)
    own = PurePath(player.name).name  # a file that is compared goes by the name it has
    name = file_name(own) if own.endswith(".py") else "ai.py"
    return AgentName(f"ai:{name}", "ai", name)


def limits_of(limits: AgentLimits) -> Limits:
    """Return the limits of a rubric for an agent's process."""
    return Limits(
        start_seconds=limits.startup,
        reload_seconds=limits.startup_total,
        margin_seconds=limits.time_margin,
        memory_bytes=limits.memory_mb * 1_000_000,
    )


def lost_turns(record: Record) -> Iterator[LostTurn]:
    """Yield the lost turns of a game, in their order, each with its position."""
    for state, turn in record:
        if turn.is_lost:
            rows = "\n".join(" ".join(map(str, row)) for row in state.board().tolist())
            left = state.pop_outs_left
            shown = f"pop-outs left: player 1: {left[0]}, player 2: {left[1]}" if left else ""
            detail = without_folders(whole_reason(turn))
            yield LostTurn(turn.player, turn.number, turn.outcome.value, detail, rows, shown)


def _faults(record: Record, player: int) -> Faults:
    """Count a player's lost turns."""
    turns = [turn for turn in record.turns if turn.player == player]
    counts = Counter(turn.outcome for turn in turns)
    starved = sum(turn.starved and turn.outcome is Outcome.TIMEOUT for turn in turns)
    return Faults(counts[Outcome.TIMEOUT], counts[Outcome.INVALID], counts[Outcome.ERROR], starved)


def spread(
    executor: Executor,
    function: Callable[..., R],
    jobs: Iterator[tuple[T, tuple[Any, ...]]],
    most: int,
) -> Generator[tuple[T, Future[R]], None, None]:
    """Call `function` with each job's arguments, `most` at once; yield each job when it is done.

    `jobs` is read only when a call can start; a stop cancels the calls that have not begun.
    """
    waiting: dict[Future[R], T] = {}
    try:
        while True:
            for name, job in islice(jobs, most - len(waiting)):
                waiting[executor.submit(function, *job)] = name
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future
    finally:
        for future in waiting:
            future.cancel()


def play_all(
    games: Iterable[PlannedGame], store: Store, pool: Pool, alone: bool = False
) -> Generator[tuple[PlannedGame, Attempt], None, None]:
    """Play the games; yield each with its result after the result has been stored.

    At most twice the pool's slots are submitted at once, so that a stop loses little; with `alone`,
    one game. A submission that ended its worker plays no more of them.
    """
    barred: set[str] = set()

    def ahead() -> Iterator[tuple[PlannedGame, tuple[Any, ...]]]:
        for game in games:
            if barred.isdisjoint(game.submitted):
                store.begin(game.key)
                yield game, game.job(pool.level, store)

    try:
        most = 1 if alone else pool.slots * 2
        with closing(spread(pool.executor, play_game, ahead(), most)) as done:
            for game, future in done:
                try:
                    attempt = future.result()
                except Exception as error:
                    trace = "".join(traceback.format_exception(error))
                    died = isinstance(error, WorkerDiedError) and error.by_itself
                    ids = game.players[0].id, game.players[1].id
                    failed = Attempt(game.key, ids, fault=one_line(error), traceback=trace)
                    attempt = replace(failed, died=died)
                if attempt.fault is None:
                    attempt = replace(attempt, fault=_why_not_counted(attempt, game))
                death = type(future.exception()).__name__  # then its submissions are suspects
                if death in ("WorkerDiedError", "KilledWorker"):  # the local executor's, Dask's
                    barred.update(game.submitted)
                if attempt.died:
                    store.end(game.key, died=True)
                store.add(attempt)
                yield game, attempt
    finally:
        store.end_all()


def play_suspects_alone(
    games: Sequence[PlannedGame],
    due: Callable[[Iterable[PlannedGame]], Iterable[PlannedGame]],
    store: Store,
    pool: Pool,
) -> Generator[tuple[PlannedGame, Attempt], None, None]:
    """Play the games that are `due` when their turn comes; yield as `play_all` does.

    Games that may have ended a worker or the grader come first, one at a time.
    """
    suspects = store.suspects()
    for alone in (True, False):
        chosen = due(game for game in games if (game.key in suspects) == alone)
        yield from play_all(chosen, store, pool, alone)


def _why_not_counted(attempt: Attempt, game: PlannedGame) -> str | None:
    """Return that the machine cost a turn, or how an opponent of the rubric lost by its own fault.

    None if neither happened. Such a game keeps its scores and its record. `compare` counts the
    former.
    """
    played, document = attempt.played, attempt.record
    if played is None or document is None:
        return None
    if game.match.part != COMPARE and any(side.starved for side in played.faults):
        return STARVED
    if game.match.two.is_submission or game.match.part not in (PART_A, PART_B):
        return None
    side = 3 - game.side
    own, other = played.scores[game.side - 1], played.scores[side - 1]
    if played.ending == "not_loaded":
        detail = document["result"]["detail"] if document["result"]["winner"] == game.side else None
        return detail and f"the opponent {game.match.two.name} was not loaded: {headline(detail)}"
    lost = [turn for turn in attempt.lost if turn.player == side]
    if not lost or own < other:
        return None
    why = headline(lost[0].detail or lost[0].outcome)
    told = f"lost {number_of(len(lost), 'turn')} by its own fault: {why}"
    if game.board.hidden:  # students read why points are withheld
        told = "lost turns by its own fault on a hidden board"
    return f"the opponent {game.match.two.name} {told}"


Replay: TypeAlias = str
"""`MADE_BY`, a blank, and the data of one game for the replay page: JSON that is safe in HTML."""

MADE_BY: Final = hashlib.sha256(
    ("".join(map(inspect.getsource, (page, board))) + "3").encode()
).hexdigest()[:16]
"""Data from another version of the replay page's code are computed again."""


ERROR: Final = re.compile(r"[A-Za-z]+(?=:|$)")
"""The type of an exception at the start of its last line, if Python itself has it."""

USED_UP: Final = re.compile(f"{NO_PLAYER}its loading time of [0-9.]+ s was used up")


def public_reason(outcome: str, detail: str) -> str:
    """Return why a turn was lost, in words that the agent's author cannot choose.

    An exception is reduced to its type, if it is one of Python's own. Its text, the name of another
    type and an answer that is not a move may contain anything.
    """
    line = without_folders(headline(detail))
    if outcome == "invalid":
        return "not a valid move"
    if outcome != "error" or USED_UP.fullmatch(line):
        return line
    found = ERROR.match(line)
    return found[0] if found and hasattr(builtins, found[0]) else "an exception"


def as_seen_by(record: Record, players: Collection[int]) -> Record:
    """Return a record as the authors of these players may see it.

    Of all others it has no traceback, no printed text and no thought, only a public reason for each
    lost turn. Every page and file for a student is made from such a record.
    """

    def shown(turn: Turn) -> Turn:
        if turn.player in players:
            return turn
        why = public_reason(turn.outcome, turn.detail or turn.outcome) if turn.is_lost else None
        text = turn.text if turn.outcome is Outcome.PLAYED else None
        return replace(turn, text=text, detail=why, thought=None, changed=None)

    result = record.result
    own_failure = result is None or (result.winner and 3 - result.winner in players)
    if result is not None and result.detail is not None and not own_failure:
        result = replace(result, detail=public_reason("error", result.detail))
    return replace(record, turns=[shown(turn) for turn in record.turns], result=result)


def submitted_players(record: Record) -> list[int]:
    """Return the players of a graded game whose files were handed in."""
    begin = f"ai:{FOLDER}/"
    return [n for n, player in enumerate(record.players, 1) if player.agent.startswith(begin)]


def replay_data(record: Record) -> Replay:
    """Return a record's data for the replay page, without names: the page adds them.

    The data are computed on the machine that plays the game, so that writing many pages is fast.
    Students see them, so they do not contain the seed, nor details of the rubric's agents.
    """
    data = page.game_data(as_seen_by(record, submitted_players(record)))
    del data["names"]
    data["facts"] = [fact for fact in data["facts"] if not fact.startswith("seed ")]
    data["details"] = list(map(without_folders, data["details"]))
    data["why"] = data["why"] and without_folders(data["why"])
    return f"{MADE_BY} {json_in_html(data)}"
