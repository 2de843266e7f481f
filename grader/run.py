"""Plays scheduled games on any executor with the interface of `concurrent.futures`.

`play_game` is the one function that plays a game, here or on another machine: plain values in,
plain values out.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from connect4.errors import BadInput
from connect4.games.extended import EXTENDED
from connect4.players.base import Outcome
from connect4.players.names import AgentName
from connect4.players.registry import parse_agent
from connect4.record import Record, RecordedPlayer
from connect4.referee import Turn
from connect4.sandbox import Limits
from connect4.table import Table, Terms
from grader.feedback import replay_data
from grader.schedule import Game
from grader.store import Store
from grader.submissions import FOLDER, file_name

Job: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]


def play_game(job: Job) -> Result:
    """Play one game and return what the results file keeps of it.

    Whatever goes wrong is in the result: lost turns are the players', `fault` is the grader's own.
    """
    began = time.monotonic()
    result: Result = {
        "key": job["key"],
        "names": [player["name"] for player in job["players"]],
        "worker": f"{socket.gethostname()}:{os.getpid()}",
        **dict.fromkeys(("scores", "ending", "turns", "faults", "record", "page")),
        **dict.fromkeys(("fault", "traceback")),
    }
    try:
        with tempfile.TemporaryDirectory(prefix="connect4-game-") as folder:
            record = _play(job, Path(folder))
    except Exception as error:  # a grader's fault ends this game and no other
        result["fault"] = one_line(error)
        result["traceback"] = traceback.format_exc()
    else:
        assert record.result is not None
        result["scores"] = list(record.result.scores)
        result["ending"] = record.result.ending.value
        result["turns"] = len(record.turns)
        result["faults"] = [_faults(record, player) for player in (1, 2)]
        result["record"] = record.to_json()
        result["page"] = replay_data(record, result["names"])
    result["seconds"] = round(time.monotonic() - began, 3)
    return result


def one_line(error: BaseException) -> str:
    """Return an exception as one line; its traceback goes to the results file."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".removesuffix(": ")


def _play(job: Job, folder: Path) -> Record:
    agents = []
    for number, player in enumerate(job["players"], 1):
        if player["source"] is None:
            agents.append(parse_agent(player["agent"]))
            continue
        path = folder / str(number) / "ai.py"
        path.parent.mkdir()
        path.write_bytes(player["source"].encode())
        agents.append(AgentName(f"ai:{path}", "ai", str(path)))
    limits = job["limits"]
    terms = Terms(
        job["time_limit"],
        job["seed"],
        job["isolation"],
        limits=Limits(
            start_seconds=limits["startup"],
            margin_seconds=limits["time_margin"],
            memory_bytes=limits["memory_mb"] * 1_000_000,
        ),
        lifetime=limits["lifetime"],
        play_unloaded=True,
    )
    start = EXTENDED.from_json(job["start"])
    with Table(EXTENDED, start, (agents[0], agents[1]), terms, _nobody) as table:
        for _ in table.events():
            pass
    return _anonymous_paths(table.record, job, folder)


def _nobody(player: int) -> Any:
    raise BadInput("people play no graded games")


def _anonymous_paths(record: Record, job: Job, folder: Path) -> Record:
    """Return the record as it reads on any machine: names in place of this machine's folders."""
    players = [
        played
        if player["source"] is None
        else replace(played, agent=f"ai:{FOLDER}/{file_name(player['name'])}/ai.py")
        for played, player in zip(record.players, job["players"], strict=True)
    ]

    def cleaned(turn: Turn) -> Turn:
        if turn.detail is None:
            return turn
        return replace(turn, detail=turn.detail.replace(f"{folder}/{turn.player}/", ""))

    record.players = cast("tuple[RecordedPlayer, RecordedPlayer]", tuple(players))
    record.turns = [cleaned(turn) for turn in record.turns]
    return record


def _faults(record: Record, player: int) -> list[int]:
    """Count a player's timeouts, invalid turns, errors, and the starved among the timeouts."""
    turns = [turn for turn in record.turns if turn.player == player]
    counts = [
        sum(turn.outcome is outcome for turn in turns)
        for outcome in (Outcome.TIMEOUT, Outcome.INVALID, Outcome.ERROR)
    ]
    return [*counts, sum(turn.starved and turn.outcome is Outcome.TIMEOUT for turn in turns)]


def play_all(
    games: Iterable[Game],
    store: Store,
    executor: Executor,
    slots: int,
    isolation: str,
    sources: Mapping[str, str],
) -> Iterator[tuple[Game, Result]]:
    """Play the games, yielding each with its result once that is stored.

    Only twice `slots` games are handed out at once, so that a stop loses next to nothing.
    """
    waiting: dict[Future[Result], Game] = {}
    queue = iter(games)
    exhausted = False
    try:
        while waiting or not exhausted:
            while not exhausted and len(waiting) < slots * 2:
                game = next(queue, None)
                if game is None:
                    exhausted = True
                    break
                job = game.job(isolation, dict(sources))
                waiting[executor.submit(play_game, job)] = game
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                game = waiting.pop(future)
                result = _result_of(future, game)
                store.add(result)
                yield game, result
    finally:
        for future in waiting:
            future.cancel()


def _result_of(future: Future[Result], game: Game) -> Result:
    """Return a game's result; where its worker died again and again, say so in its place."""
    try:
        return future.result()
    except CancelledError:
        fault, trace = "cancelled", None
    except Exception as error:
        fault, trace = one_line(error), "".join(traceback.format_exception(error))
    return {
        "key": game.key,
        "names": [player.name for player in game.players],
        "worker": "",
        "seconds": 0.0,
        "fault": fault,
        "traceback": trace,
        **dict.fromkeys(("scores", "ending", "turns", "faults", "record", "page")),
    }
