"""Trial games of the rubric's agents and boards, before anybody is marked.

A failing opponent gives every submission its points. Each opponent therefore plays quick games
against `greedy` on its smallest board and one move from each side on the other boards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any, Final

from connect4.errors import InputError, headline
from connect4.games import GAMES
from connect4.players.base import Outcome
from grader.play.executors import Pool
from grader.play.one_game import one_line, play_job, spread
from grader.play.schedule import SIDES, Contestant, Match, PlannedGame, opponent, seed_of
from grader.results.store import Store
from grader.rubric.keys import Board
from grader.rubric.model import Rubric

SECONDS: Final = 0.05
"""Seconds per move, enough to find errors; a late move is not an error here."""

GREEDY: Final = Contestant("greedy", "greedy", None)
"""The other side; against `random` a file would be called with another method than in the marks."""

TRIAL: Final = "trial"
"""The part that trials belong to, and the value for limits in the results file's notes on them."""

FAILURES: Final = (Outcome.ERROR, Outcome.INVALID)


def grade_trials(rubric: Rubric) -> list[PlannedGame]:
    """Return the trials of the opponents in parts A and B, on the boards that they play."""
    part_a, part_b = rubric.part_a, rubric.part_b
    ladder = [opponent(step.agent) for step in part_b.baselines]
    return [
        *agent_trials([opponent(part_a.opponent)], part_a.boards, rubric),
        *agent_trials(ladder, part_b.boards, rubric),
    ]


def tournament_trials(rubric: Rubric) -> list[PlannedGame]:
    """Return the trials of the boards of a tournament."""
    boards = {board.digest: board for stage in rubric.tournament.stages for board in stage.boards}
    return agent_trials([Contestant("random", "random", None)], boards.values(), rubric)


def agent_trials(
    agents: Iterable[Contestant], boards: Iterable[Board], rubric: Rubric
) -> list[PlannedGame]:
    """Return the trials of each agent on these boards; `repeat` is 0 on the smallest one only."""
    smallest_first = sorted(boards, key=lambda board: sum(map(len, board.start["board"])))
    terms = seed_of(TRIAL), min(SECONDS, rubric.match.time_limit), rubric.limits
    return [
        PlannedGame(Match(TRIAL, agent, GREEDY), board, number, side, *terms)
        for agent in agents
        for number, board in enumerate(smallest_first)
        for side in SIDES
    ]


def play_trials(
    trials: Sequence[PlannedGame], role: str, source: str, store: Store, pool: Pool, level: str
) -> None:
    """Play the trials that are not noted in the results file as passed, and note them.

    Raises `InputError` if one fails; it names the agent's `role` in the rubric `source`.
    """
    known = store.loaded(TRIAL)
    problems = {}
    jobs = ((game, _job(game, level, store)) for game in trials if game.key not in known)
    with closing(spread(pool.executor, try_out, jobs, pool.slots)) as done:
        for game, future in done:
            problems[game.key] = future.result()
            if problems[game.key] is None:
                store.set_loaded(game.key, TRIAL, None)
    for game in trials:
        if problem := problems.get(game.key):
            raise InputError(
                f"{source}: {role} {game.match.one.name!r} fails its trial game: "
                f"board {game.board.name!r}: {problem}"
            )


def _job(game: PlannedGame, level: str, store: Store) -> dict[str, Any]:
    """Return what a worker requires for a trial; the kit's own agents need no isolation."""
    isolation = "none" if game.match.one.sha256 is None and level != "wasm" else level
    turns = game.side if game.repeat else None
    return {**game.job(isolation, store), "side": game.side, "turns": turns}


def try_out(job: dict[str, Any]) -> str | None:
    """Play a trial; return the error of the agent, of the board or of the grader, else None."""
    try:
        if not GAMES[job["game"]].from_json(job["start"]).legal_actions():
            return "the game is over before the first move"
        record, _ = play_job(job)
    except Exception as error:  # whatever it is, it is named
        return one_line(error)
    if record.result is not None and record.result.detail is not None:
        return headline(record.result.detail)
    for turn in record.turns:
        if turn.player == job["side"] and turn.outcome in FAILURES:
            return f"turn {turn.number} is lost: {headline(turn.detail or turn.outcome)}"
    return None
