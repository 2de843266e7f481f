"""Plays scheduled games on any executor with the interface of `concurrent.futures`.

`play_game` is the function that plays a game, here or on another machine. Its argument and its
result are plain values.
"""

from __future__ import annotations

import os
import socket
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeVar, cast

from connect4.errors import InputError, harmless, headline
from connect4.games import GAMES
from connect4.games.base import Ending, FaultPolicy, Game, Player
from connect4.isolation.limits import Limits
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.names import AgentName
from connect4.players.registry import file_hash, parse_agent
from connect4.record import Record, RecordedPlayer
from connect4.referee import Result
from connect4.table import Table, Terms
from grader.handin.submission import FOLDER, file_name
from grader.play.executors import Pool
from grader.play.replays import replay_data
from grader.play.schedule import (
    COMPARE,
    PART_A,
    PART_B,
    Contestant,
    Match,
    PlannedGame,
    limits_text,
)
from grader.play.working_time import Asking, Pace, plays_from
from grader.results.store import STARVED, Faults, PlayedGame, Store
from grader.rubric.model import Rubric

Job: TypeAlias = dict[str, Any]
JobResult: TypeAlias = dict[str, Any]

T = TypeVar("T")

OWN_FILE: Final = AgentName("ai:ai.py", "ai", "ai.py")
"""The name of a submission in its own process, whatever its file is called."""

LOADING: Final = "load "
"""The prefix of the key of a loading trial; the hash of the submission follows."""

PASSING: Final = ("was not loaded within", "its process was killed")
"""Words in the headline of a load failure that a busy machine may cause: it is tried again."""

DEADLY: Final = 2
"""After N deaths of the grader or its worker, the cause is not tried again."""

HOPELESS: Final = 10
"""A run stops if its first N games all fail: the machine is the cause."""

DEATHS: Final = ("WorkerDiedError", "KilledWorker")
"""Exceptions of the local executor and Dask for a call that killed its worker in every attempt."""


def play_game(job: Job) -> JobResult:
    """Play one game and return its entry for the results file.

    The entry has every failure: lost turns belong to the players, `fault` is not theirs.
    """
    began = time.monotonic()
    result = _without_result(job["key"], [player["name"] for player in job["players"]])
    result["worker"] = f"{socket.gethostname()}:{os.getpid()}"
    try:
        record, result["left_behind"] = play_job(job)
    except Exception as error:  # a grader's fault ends this game and no other
        result["fault"] = one_line(error)
        result["traceback"] = traceback.format_exc()
    else:
        assert record.result is not None
        result["scores"] = list(counted_scores(record.game, record.result))
        result["ending"] = record.result.ending.value
        result["turns"] = len(record.turns)
        result["faults"] = [_faults(record, player) for player in (1, 2)]
        result["record"] = record.to_json()
        result["page"] = replay_data(record, result["names"])
    result["seconds"] = round(time.monotonic() - began, 3)
    return result


def _without_result(key: str, names: list[str]) -> JobResult:
    """Return the entry of a game that has no result."""
    parts = ("scores", "ending", "turns", "faults", "record", "page", "fault", "traceback")
    return {
        **{"key": key, "names": names, "worker": "", "seconds": 0.0},
        **dict.fromkeys(parts),
        **{"died": False, "left_behind": []},
    }


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


def play_job(job: Job) -> tuple[Record, list[Player]]:
    """Play a game; return its record, and the players with a process that could not be ended."""
    game = game_of(job)
    one, two = (_agent(player, game) for player in job["players"])
    for player, name in zip(job["players"], (one, two), strict=True):
        _check_unchanged(player, name)
    terms = Terms(
        job["time_limit"],
        job["seed"],
        job["isolation"],
        limits=limits_of(job),
        lifetime=job["limits"]["lifetime"],
        play_unloaded=True,
        allowed=tuple(job["limits"]["allowed"]),
        sources=(_source(job["players"][0]), _source(job["players"][1])),
    )
    start = game.from_json(job["start"])
    with Table(game, start, (one, two), terms) as table:
        for _ in table.events():
            pass
    return _with_names(table.record, job), table.left_behind


def game_of(job: Job) -> Game:
    """Return the game that a job plays."""
    return GAMES[job["game"]]


def played_of(result: JobResult) -> PlayedGame:
    """Return a new result in the form of a stored one."""
    one, two = (Faults(*side) for side in result["faults"])
    scores = result["scores"][0], result["scores"][1]
    return PlayedGame(
        result["key"], scores, result["ending"], result["turns"], (one, two), result["seconds"]
    )


def _check_module(job: Job) -> None:
    """Raise `InputError` if this machine counts fuel in another way than the planned one."""
    if job["isolation"] == "wasm":
        from connect4.isolation.wasm import images

        here = images.identity_text()
        if job["limits"]["module"] not in (None, here):
            planned = job["limits"]["module"]
            raise InputError(f"this machine counts fuel by {here!r}, the run by {planned!r}")


def _agent(player: dict[str, Any], game: Game) -> AgentName:
    """Return an agent by its name; a submission has a name here, but no file."""
    if player["source"] is None:
        return parse_agent(player["agent"], game.name)
    own = PurePath(player["name"]).name  # a file that is compared goes by the name it has
    name = file_name(own) if own.endswith(".py") else "ai.py"
    return AgentName(f"ai:{name}", "ai", name)


def _check_unchanged(player: dict[str, Any], name: AgentName) -> None:
    """Raise `InputError` if the file of a rubric's agent is not the planned one."""
    if player["source"] is None and file_hash(name) != player["sha256"]:
        raise InputError(f"the file of {player['name']} has changed since this run began")


def _source(player: dict[str, Any]) -> bytes | None:
    return None if player["source"] is None else player["source"].encode()


def limits_of(job: Job) -> Limits:
    """Return the limits of a job for an agent's process."""
    limits = job["limits"]
    return Limits(
        start_seconds=limits["startup"],
        reload_seconds=limits["startup_total"],
        margin_seconds=limits["time_margin"],
        memory_bytes=limits["memory_mb"] * 1_000_000,
    )


def try_load(job: Job) -> JobResult:
    """Load a submission as player 1 and, if that fails, as player 2; return what failed.

    `problem` is the submission's error, None if it can be loaded; `fault` is the grader's error.
    `slow` is the time from which on it plays, or why it does not; None if the job's time will do.
    """
    result: JobResult = {"problem": None, "slow": None, "fault": None, "traceback": None}
    player = job["players"][0]
    try:
        _check_module(job)
        sides: tuple[Player, Player] = (1, 2)
        for side in sides:
            setup = Setup(
                _agent(player, game_of(job)),
                side,
                game_of(job),
                job["time_limit"],
                0,
                "intelligent",
                _source(player),
                tuple(job["limits"]["allowed"]),
            )
            with closing(open_seat(setup, job["isolation"], limits_of(job))) as seat:
                if seat.load_failure is None:
                    break
                result["problem"] = result["problem"] or seat.load_failure
        else:
            return result
        return {**result, "problem": None, "slow": _slow(job, setup)}
    except Exception as error:  # a grader's fault is never a submission's
        fault = {"fault": one_line(error), "traceback": traceback.format_exc()}
        return {**result, "problem": None, **fault}


def _slow(job: Job, setup: Setup) -> str | None:
    """Return the time from which on a submission plays, or why it does not.

    None if it plays with the job's time, or if that cannot be known.
    """
    asking = Asking(setup, job["isolation"], limits_of(job))
    state = game_of(job).from_json(job["start"])
    limit = job["time_limit"]
    seconds, failure = plays_from(asking, job["methods"], state, job["times"])
    if seconds is not None:
        return f"{seconds:g}" if seconds > limit else None
    if failure is None or failure.starved or failure.seconds < limit:
        return None
    return f"no move with up to {failure.seconds:g} s: {failure.text}"


def _with_names(record: Record, job: Job) -> Record:
    """Return the record with the submissions' folders under their authors' names."""
    players = [
        played
        if player["source"] is None
        else replace(played, agent=f"ai:{FOLDER}/{file_name(player['name'])}/ai.py")
        for played, player in zip(record.players, job["players"], strict=True)
    ]
    record.players = cast("tuple[RecordedPlayer, RecordedPlayer]", tuple(players))
    return record


def _faults(record: Record, player: int) -> list[int]:
    """Count a player's timeouts, invalid turns, errors, and the starved among the timeouts."""
    turns = [turn for turn in record.turns if turn.player == player]
    counts = [
        sum(turn.outcome is outcome for turn in turns)
        for outcome in (Outcome.TIMEOUT, Outcome.INVALID, Outcome.ERROR)
    ]
    return [*counts, sum(turn.starved and turn.outcome is Outcome.TIMEOUT for turn in turns)]


def spread(
    executor: Executor,
    function: Callable[[Job], JobResult],
    jobs: Iterator[tuple[T, Job]],
    most: int,
) -> Generator[tuple[T, Future[JobResult]], None, None]:
    """Call `function` with each job, at most `most` at once; yield each job when it is done.

    `jobs` is read only when a call can start; a stop cancels the calls in progress.
    """
    waiting: dict[Future[JobResult], T] = {}
    try:
        while True:
            for name, job in islice(jobs, most - len(waiting)):
                waiting[executor.submit(function, job)] = name
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future
    finally:
        for future in waiting:
            future.cancel()


def play_all(
    games: Iterable[PlannedGame],
    store: Store,
    executor: Executor,
    slots: int,
    isolation: str,
    sources: Mapping[str, str],
    alone: bool = False,
) -> Generator[tuple[PlannedGame, JobResult], None, None]:
    """Play the games; yield each with its result after the result has been stored.

    At most twice `slots` games are submitted at once, so that a stop loses little; with `alone`,
    one game. A submission whose process could not be ended, or that ended its worker, plays no
    more of them.
    """
    barred: set[str] = set()

    def ahead() -> Iterator[tuple[PlannedGame, Job]]:
        for game in games:
            if barred.isdisjoint(game.submitted):
                store.begin(game.key, f"{game.match.one.name}, {game.title}")
                yield game, game.job(isolation, dict(sources))

    try:
        with closing(spread(executor, play_game, ahead(), 1 if alone else slots * 2)) as done:
            for game, future in done:
                result = _result_of(future, game)
                result["fault"] = (
                    result["fault"]
                    or starved_failure(result, game)
                    or opponent_failure(result, game)
                )
                _store(result, game, store, alone or slots == 1)
                if result["died"]:
                    barred.update(game.submitted)
                barred.update(str(game.players[side - 1].sha256) for side in result["left_behind"])
                yield game, result
    finally:
        store.end_all()


def play_suspects_alone(
    games: Sequence[PlannedGame],
    due: Callable[[Iterable[PlannedGame]], Iterable[PlannedGame]],
    store: Store,
    pool: Pool,
    isolation: str,
    sources: Mapping[str, str],
) -> Generator[tuple[PlannedGame, JobResult], None, None]:
    """Play the games that are `due` when their turn comes; yield as `play_all` does.

    Games that may have ended a worker or the grader come first, one at a time.
    """
    suspects = store.suspects()
    for alone in (True, False):
        chosen = due(game for game in games if (game.key in suspects) == alone)
        yield from play_all(chosen, store, pool.executor, pool.slots, isolation, sources, alone)


def is_passing(problem: str) -> bool:
    """Return whether a load failure may be temporary."""
    return any(words in headline(problem) for words in PASSING)


def load_all(
    contestants: Iterable[Contestant],
    rubric: Rubric,
    store: Store,
    pool: Pool,
    isolation: str,
    sources: Mapping[str, str],
    pace: Pace,
) -> Generator[tuple[Contestant, str | None, str | None], None, None]:
    """Load each contestant that has a file; yield it with its problem and the grader's fault.

    One that can be loaded is asked for moves, see `too_slow`. A source with a known result under
    these limits is skipped, unless the failure may be temporary.
    """
    limits = limits_text(rubric)
    asked = store.loaded(pace.key(rubric))
    known = {
        sha256
        for sha256, problem in store.loaded(limits).items()
        if (sha256 in asked if problem is None else not is_passing(problem))
    }
    board = pace.board
    slots = 1 if any(key.startswith(LOADING) for key in store.suspects()) else pool.slots

    def ahead() -> Iterator[tuple[Contestant, Job]]:
        for item in contestants:
            store.begin(f"{LOADING}{item.sha256}", f"loading {item.name}")
            match = Match(LOADING, item, item)
            game = PlannedGame(match, board, 0, 1, 0, pace.seconds, rubric.limits)
            job = game.job(isolation, dict(sources))
            yield item, {**job, "methods": pace.methods, "times": pace.times}

    new = {item.sha256: item for item in contestants if item.sha256 is not None}
    contestants = [item for sha256, item in new.items() if sha256 not in known]
    try:
        with closing(spread(pool.executor, try_load, ahead(), slots)) as done:
            for item, future in done:
                result = _loading_result(future, item, store)
                if result["fault"] is None:
                    store.end(f"{LOADING}{item.sha256}", died=False)
                    store.set_loaded(str(item.sha256), limits, result["problem"])
                    if result["problem"] is None:
                        store.set_loaded(str(item.sha256), pace.key(rubric), result["slow"])
                yield item, result["problem"], result["fault"]
    finally:
        store.end_all()


def _loading_result(future: Future[JobResult], item: Contestant, store: Store) -> JobResult:
    """Return the result of `try_load`; a source that ended its worker is blamed in the store."""
    try:
        return future.result()
    except Exception as error:
        if type(error).__name__ in DEATHS:
            store.end(f"{LOADING}{item.sha256}", died=True)
            store.blame({str(item.sha256): ""}, f"loading {item.name}")
        return {"problem": None, "fault": one_line(error)}


def _store(result: JobResult, game: PlannedGame, store: Store, alone: bool) -> None:
    """Store a result; a game that ended its worker makes its submissions suspects.

    If no other game was in progress, they are blamed.
    """
    if result["died"]:
        store.end(game.key, died=True)
        if alone:
            store.blame(game.blamed(), game.title)
    store.add(result)


def starved_failure(result: JobResult, game: PlannedGame) -> str | None:
    """Return that a player lost a turn because of the machine, None if none did.

    `compare` counts such games.
    """
    if result["faults"] is None or game.match.part == COMPARE:
        return None
    return STARVED if any(Faults(*side).starved for side in result["faults"]) else None


def opponent_failure(result: JobResult, game: PlannedGame) -> str | None:
    """Return how an opponent of the rubric lost by its own fault, None if it did not.

    Such a game keeps its scores and its record. The rubric decides whether it counts.
    """
    if game.match.two.is_submission or game.match.part not in (PART_A, PART_B):
        return None
    if result["fault"] is not None:
        return None
    side = 3 - game.side
    document = result["record"]
    own, other = result["scores"][game.side - 1], result["scores"][side - 1]
    if result["ending"] == "not_loaded":
        detail = document["result"]["detail"] if document["result"]["winner"] == game.side else None
        return detail and f"the opponent {game.match.two.name} was not loaded: {headline(detail)}"
    lost = [
        turn
        for turn in document["turns"]
        if turn["player"] == side and turn["outcome"] not in (Outcome.PLAYED, Outcome.PASS)
    ]
    if not lost or own < other:
        return None
    own_fault = [turn for turn in lost if not turn["starved"]]
    first = (own_fault or lost)[0]
    why = headline(first["detail"] or first["outcome"])
    turns = "1 turn" if len(lost) == 1 else f"{len(lost)} turns"
    cause = " by its own fault" if own_fault else ""
    return f"the opponent {game.match.two.name} lost {turns}{cause}: {why}"


def _result_of(future: Future[JobResult], game: PlannedGame) -> JobResult:
    """Return a game's result; if its worker died in every attempt, return that failure instead."""
    result = _without_result(game.key, [player.name for player in game.players])
    try:
        return future.result()
    except CancelledError:
        result["fault"] = "cancelled"
    except Exception as error:
        result["fault"] = one_line(error)
        result["traceback"] = "".join(traceback.format_exception(error))
        result["died"] = type(error).__name__ in DEATHS
    return result
