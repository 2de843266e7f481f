"""Trial games of the rubric's agents and boards, before anybody is marked.

A failing opponent gives every submission its points. Each opponent therefore plays one quick game
against `greedy` on its smallest board and one move from each side on the other boards.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any, Final

from connect4.errors import InputError, headline
from connect4.games import GAMES
from connect4.players.base import Outcome
from grader.play.executors import Pool
from grader.play.one_game import one_line, play_job, spread
from grader.play.schedule import seed_of
from grader.results.store import Store
from grader.rubric.keys import Board, KitAgent
from grader.rubric.model import Rubric

SECONDS: Final = 0.05
"""Seconds per move, enough to find errors; a late move is not an error here."""

GREEDY: Final = {"name": "greedy", "agent": "greedy", "sha256": None, "source": None}
"""The other side; against `random` a file would be called with another method than in the marks."""

TRIAL: Final = "trial"
"""The value for limits in the results file's notes on trial games."""

FAILURES: Final = (Outcome.ERROR, Outcome.INVALID)


def grade_trials(rubric: Rubric, level: str) -> list[dict[str, Any]]:
    """Return the trials of the opponents in parts A and B, on the boards that they play."""
    part_a, part_b = rubric.part_a, rubric.part_b
    ladder = [step.agent for step in part_b.baselines]
    return [
        *agent_trials([part_a.opponent], part_a.boards, rubric, level),
        *agent_trials(ladder, part_b.boards, rubric, level),
    ]


def tournament_trials(rubric: Rubric, level: str) -> list[dict[str, Any]]:
    """Return the trial of the boards of a tournament."""
    agent = KitAgent("random", "random", None, "random")
    boards = {board.digest: board for stage in rubric.tournament.stages for board in stage.boards}
    return agent_trials([agent], list(boards.values()), rubric, level)


def agent_trials(
    agents: Sequence[KitAgent], boards: Sequence[Board], rubric: Rubric, level: str
) -> list[dict[str, Any]]:
    """Return the trial of each agent on these boards."""
    smallest_first = sorted(boards, key=lambda board: sum(map(len, board.start["board"])))
    terms = {
        "game": rubric.match.game,
        "boards": [[board.name, board.start] for board in smallest_first],
        "limits": asdict(rubric.limits),
    }
    trials = []
    for agent in agents:
        text = json.dumps([agent.agent, agent.sha256, *terms.values()])
        own = {"name": agent.name, "agent": agent.agent, "sha256": agent.sha256, "source": None}
        trial = {
            **terms,
            "key": hashlib.sha256(text.encode()).hexdigest()[:32],
            "agent": own,
            "time_limit": min(SECONDS, rubric.match.time_limit),
            "seed": seed_of("trial"),
            # the kit's own agents need none
            "isolation": "none" if agent.sha256 is None and level != "wasm" else level,
        }
        trials.append(trial)
    return trials


def play_trials(
    trials: Sequence[dict[str, Any]], role: str, source: str, store: Store, pool: Pool
) -> None:
    """Play the trials that are not noted in the results file as passed, and note them.

    Raises `InputError` if one fails; it names the agent's `role` in the rubric `source`.
    """
    known = store.loaded(TRIAL)
    jobs = ((trial, trial) for trial in trials if trial["key"] not in known)
    with closing(spread(pool.executor, try_out, jobs, pool.slots)) as done:
        for trial, future in done:
            problem, name = future.result(), trial["agent"]["name"]
            if problem is not None:
                raise InputError(f"{source}: {role} {name!r} fails its trial game: {problem}")
            store.set_loaded(trial["key"], TRIAL, None)


def try_out(trial: dict[str, Any]) -> str | None:
    """Play a trial; return the error of the agent, of a board or of the grader, else None."""
    try:
        for number, (name, start) in enumerate(trial["boards"]):
            if not GAMES[trial["game"]].from_json(start).legal_actions():
                return f"board {name!r}: the game is over before the first move"
            for side in (1, 2):
                turns = side if number else None  # after the first board one move is enough
                problem = _problem({**trial, "start": start, "turns": turns}, side)
                if problem is not None:
                    return f"board {name!r}: {problem}"
    except Exception as error:  # whatever it is, it is named
        return one_line(error)
    return None


def _problem(trial: dict[str, Any], side: int) -> str | None:
    """Return the agent's error in a game against `greedy`."""
    own = trial["agent"]
    record, _ = play_job({**trial, "players": [own, GREEDY] if side == 1 else [GREEDY, own]})
    if record.result is not None and record.result.detail is not None:
        return headline(record.result.detail)
    for turn in record.turns:
        if turn.player == side and turn.outcome in FAILURES:
            return f"turn {turn.number} is lost: {headline(turn.detail or turn.outcome)}"
    return None
