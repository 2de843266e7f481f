"""Trial games: of the rubric's opponents before anybody is marked, and of a file under suspicion.

A failing opponent gives every submission its points. A file in whose games the grader or its
worker ends is set aside only if a trial proves that the file is the cause.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from typing import Any, Final

from connect4.errors import InputError, headline
from connect4.games import GAMES
from connect4.isolation.seat import level_named
from connect4.players.base import Outcome
from connect4.players.registry import method_of
from grader.play import Pool, WorkerDiedError
from grader.play.one_game import Job, agent_of, one_line, play_game, play_job, spread
from grader.play.schedule import SIDES, Contestant, Match, PlannedGame, opponent, seed_of
from grader.results import TRIAL, Attempt
from grader.results.store import Store
from grader.rubric import Board
from grader.rubric.model import Rubric

TRIAL_SECONDS: Final = 0.05
"""Seconds per move, enough to find errors; a late move is not an error here."""

GREEDY: Final = Contestant("greedy", "greedy", None, "greedy")
"""The other side; against `random` a file would be called with another method than in the marks."""

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
    return agent_trials([Contestant("random", "random", None, "random")], boards.values(), rubric)


def agent_trials(
    agents: Iterable[Contestant], boards: Iterable[Board], rubric: Rubric
) -> list[PlannedGame]:
    """Return the trials of each agent on these boards; `repeat` is 0 on the smallest one only."""
    smallest_first = sorted(boards, key=lambda board: sum(map(len, board.start["board"])))
    terms = seed_of(TRIAL), min(TRIAL_SECONDS, rubric.match.time_limit), rubric.limits
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
    known = store.notes(TRIAL, "")
    problems = {}
    jobs = ((game, _job(game, level, store)) for game in trials if game.key not in known)
    with closing(spread(pool.executor, try_out, jobs, pool.slots)) as done:
        for game, future in done:
            problems[game.key] = future.result()
            if problems[game.key] is None:
                store.note(TRIAL, game.key, "", None)
    for game in trials:
        if problem := problems.get(game.key):
            raise InputError(
                f"{source}: {role} {game.match.one.name!r} fails its trial game: "
                f"board {game.board.name!r}: {problem}"
            )


def _job(game: PlannedGame, level: str, store: Store) -> dict[str, Any]:
    """Return what a worker requires for a trial; the kit's own agents need no isolation."""
    of_kit = game.match.one.sha256 is None
    isolation = "none" if of_kit and not level_named(level).exact else level
    turns = game.side if game.repeat else None
    return {**game.job(isolation, store), "side": game.side, "turns": turns}


def try_out(job: dict[str, Any]) -> str | None:
    """Play a trial; return the error of the agent, of the board or of the grader, else None."""
    try:
        if not GAMES[job["game"]].from_json(job["start"]).legal_actions():
            return "the game is over before the first move"
        record = play_job(job)
    except Exception as error:  # whatever it is, it is named
        return one_line(error)
    if record.result is not None and record.result.detail is not None:
        return headline(record.result.detail)
    for turn in record.turns:
        if turn.player == job["side"] and turn.outcome in FAILURES:
            return f"turn {turn.number} is lost: {headline(turn.detail or turn.outcome)}"
    return None


STAND_IN: Final = b"""\
from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        return get_valid_actions(self.player_number, state)[0]

    get_intelligent_move = get_expectimax_move
"""
"""A file that plays the first valid action, in place of a suspect."""

PROOF: Final = "proof "
STAND: Final = "stand-in "
"""The prefixes of the keys that note the two halves of a proof; the hash of the file follows."""


DEADLY: Final = 2
"""After N deaths of the grader or its worker in a game, it is not played again."""

NOT_PROVEN: Final = (
    "the grader or its worker ended in this game again and again, and no trial proves that a file "
    "does it"
)


def prove_deadly(
    games: Iterable[PlannedGame], store: Store, executor: Executor, isolation: str
) -> bool:
    """Look for the cause of each game that ended the grader too often; return whether there is one.

    A game without a proof stays without a result, with the reason.
    """
    deaths, looked = store.suspects(), False
    for game in games:
        if deaths.get(game.key, 0) >= DEADLY and not store.aside().keys() & set(game.submitted):
            looked = True
            if not prove(game, store, executor, isolation):
                one, two = game.players
                store.add(Attempt(game.key, (one.id, two.id), fault=NOT_PROVEN, died=True))
    return looked


def ways_out(games: Iterable[PlannedGame]) -> list[str]:
    """Return for each match with games that stay without a proof what the teacher can do."""
    lines = []
    for match in dict.fromkeys(game.match for game in games):
        one, two = match.one.name, match.two.name
        out = ", or take one of them out of the folder" if match.two.is_submission else ""
        lines.append(
            f"{one} and {two}: their game ends the grader or its worker, and no trial proves that "
            "a file does it; the same command does not play it again: "
            f"`--try-again {shlex.quote(one)}` does{out}"
        )
    return lines


def prove(game: PlannedGame, store: Store, executor: Executor, isolation: str) -> list[str]:
    """Set aside each file of a game that ends its worker again by itself; return their hashes.

    Proof is that the worker ends again, on the same board and side, with the same seed and method,
    against `greedy`, and that it does not with another file in the place of this one.
    """
    found = []
    for side, player in enumerate(game.players, 1):
        if not player.is_submission:
            continue
        own = game.job(isolation, store)
        agents = [agent_of(one, GAMES[own["game"]]) for one in own["players"]]
        own["method"] = method_of(agents[side - 1], agents[2 - side])
        own["players"][2 - side] = GREEDY.plain(store)
        other = {**own, "players": list(own["players"])}
        other["players"][side - 1] = {**other["players"][side - 1], "source": STAND_IN}
        if evidence := proof(str(player.sha256), own, other, play_game, store, executor):
            store.set_aside(str(player.sha256), game.nameless, evidence)
            found.append(str(player.sha256))
    return found


def proof(
    sha256: str,
    own: Job,
    other: Job,
    function: Callable[[Job], Any],
    store: Store,
    executor: Executor,
) -> str:
    """Return what proves that a call ends its worker, and that the `other` does not; else nothing.

    If an earlier grader was ended within a trial, there is no proof: a power cut does that, too.
    """
    if store.suspects().keys() & {f"{PROOF}{sha256}", f"{STAND}{sha256}"}:
        return ""
    again = _cause(f"{PROOF}{sha256}", function, own, store, executor)
    if not again or _cause(f"{STAND}{sha256}", function, other, store, executor):
        return ""
    return f"{again} with this file in a trial, and not with another one in its place"


def _cause(
    key: str, function: Callable[[Job], Any], job: Job, store: Store, executor: Executor
) -> str:
    """Return why the worker of a call ended by itself; empty if it did not, or was killed."""
    store.begin(key)
    try:
        executor.submit(function, job).result()
    except WorkerDiedError as error:
        return str(error) if error.by_itself else ""
    except Exception:  # an error that the worker survived proves nothing
        return ""
    finally:
        store.end(key, died=False)
    return ""
