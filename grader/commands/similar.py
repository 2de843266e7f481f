"""The command `similar`: screens a class for pairs that share source or behaviour.

Good players agree because they see the same best move. An agreement therefore counts more if fewer
others chose that move, and what a submission has in common with everybody is subtracted.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from connect4.errors import InputError, IsolationError, headline
from connect4.games.base import Seconds, State
from connect4.games.extended import EXTENDED, format_action
from connect4.isolation.seat import Level, choose_level, open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.registry import method_of, parse_agent
from grader.commands.common import DONE, open_pool, say
from grader.handin import find as submissions
from grader.output.files import write
from grader.output.tables import wrapped
from grader.play.executors import Progress
from grader.play.one_game import OWN_FILE, limits_of, one_line, spread
from grader.rubric import reading as rubrics
from grader.rubric.keys import Board
from grader.rubric.model import Rubric
from grader.similar import FIRST, Pair, documents, ranked, similar_page

KIT: Final = Path(__file__).resolve().parent.parent.parent
STUB: Final = KIT / "grader" / "handout" / "ai_stub.py"
AGENTS: Final = KIT / "connect4" / "players" / "agents.py"
BASE: Final = (STUB, KIT / "README.md", AGENTS, *sorted((KIT / "connect4" / "search").glob("*.py")))
"""Code that students were given or may read in a textbook; it does not count."""

TOLD: Final = 10


def run_similar(arguments: argparse.Namespace) -> int:
    """Compare all pairs, print the first ones and write the report."""
    pairs, notes = compare(arguments)
    write(arguments.out, similar_page(pairs, notes))
    print(wrapped(FIRST))
    for number, pair in enumerate(pairs[:TOLD], 1):
        line = f"source {pair.shared.percent:.0f} %"
        if pair.behaviour_rank is not None:
            line += f" (rank {pair.source_rank}), behaviour {pair.behaviour:+.1f}"
            line += f" (rank {pair.behaviour_rank})"
        print(wrapped(f"{number:3}. {pair.one.name} and {pair.two.name}: {line}"))
    say(f"The report is in {arguments.out}")
    return DONE


def compare(arguments: argparse.Namespace) -> tuple[list[Pair], list[str]]:
    """Return all pairs, and notes for the report."""
    rubric = rubrics.read(arguments.rubric)
    left: list[str] = []
    here = _sources(arguments.paths, rubric, "", left)
    if len(here) < 2:
        raise InputError("similar requires at least two submissions with a source")
    before = _sources(arguments.against, rubric, "earlier: ", left) if arguments.against else {}
    base = [code_of(path) for path in (*BASE, *arguments.base)]
    made = documents({**here, **before}, base)
    found, against = made[: len(here)], made[len(here) :]
    notes = [f"{len(found)} submissions, {len(against)} other hand-ins to compare with."]
    if left:
        notes.append(f"Not compared: {'; '.join(left)}.")
        say(notes[-1])
    for item in made:
        if item.problem is not None:
            notes.append(f"{item.name}: {item.problem}; its pairs are not compared by source.")
            say(notes[-1])
    if same := [name for name, text in before.items() if text in here.values()]:
        notes.append(f"Handed in again without a change: {'; '.join(same)}.")
    if arguments.source_only:
        return ranked(found, against, [], np.zeros((0, 0))), notes
    moves = _moves({**here, **before}, arguments, rubric, notes)
    return ranked(found, against, *unusual(moves)), notes


def code_of(path: Path) -> str:
    """Return the code in a file; in a Markdown page, that of its Python blocks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        return text
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


def _sources(paths: list[Path], rubric: Rubric, prefix: str, left: list[str]) -> dict[str, str]:
    """Return the sources of hand-ins by name; those without one are added to `left`."""
    found: dict[str, str] = {}
    for item in submissions.find(paths, rubric.submission):
        name = f"{prefix}{item.name}"
        if item.source and item.source.strip():
            found[name] = item.source
        else:
            why = (item.problem or "the file is empty").partition(";")[0]
            left.append(f"{name} ({why})")
    return found


def _moves(
    sources: dict[str, str], arguments: argparse.Namespace, rubric: Rubric, notes: list[str]
) -> dict[str, list[str | None]]:
    """Return each player's moves in the fixed positions; note who did not play them."""
    asked = "auto" if arguments.isolation == "wasm" else arguments.isolation  # moves are by time
    level, lacking = choose_level(asked)
    for note in lacking:
        say(f"isolation: {note}")
    boards = [board for board in rubric.part_b.boards if not board.hidden]
    fixed, seconds = positions(boards, arguments.positions), arguments.time
    jobs = _jobs(sources, level, fixed, seconds, rubric)
    played: dict[str, list[str | None]] = {}
    simple: list[str] = []
    with (
        open_pool(arguments, arguments.out) as pool,
        Progress(len(jobs)) as progress,
        closing(spread(pool.executor, choose_moves, iter(jobs.items()), pool.slots)) as done,
    ):
        for name, future in done:
            moves, why = future.result()
            progress.step()
            if why is not None:
                notes.append(f"{name} did not play: {why}.")
                continue
            if lost := moves.count(None):
                notes.append(f"{name} lost {lost} of {len(fixed)} turns.")
            if is_rule(moves, fixed):
                simple.append(name)
            else:
                played[name] = moves
    if simple:
        notes.append(f"Always the first or the last action, so not compared: {'; '.join(simple)}.")
    notes.append(f"Behaviour: {len(fixed)} positions, {seconds:g} s each.")
    return {name: played[name] for name in jobs if name in played}


def _jobs(
    sources: Mapping[str, str],
    level: Level,
    fixed: Sequence[dict[str, Any]],
    seconds: Seconds,
    rubric: Rubric,
) -> dict[str, dict[str, Any]]:
    """Return what `choose_moves` needs for each player: submissions and textbook agents."""
    asked_of_all = {
        "positions": fixed,
        "seconds": seconds,
        "limits": asdict(rubric.limits),
        "allowed": rubric.submission.allowed,
    }
    jobs = {
        name: {"agent": name, "source": text, "isolation": level, **asked_of_all}
        for name, text in sources.items()
    }
    for name in TEXTBOOK:
        jobs[name] = {"agent": name, "source": None, "isolation": "none", **asked_of_all}
    return jobs


SEED: Final = 4
"""The seed of the random games that the positions come from: the same positions every year."""

TEXTBOOK: Final = ("greedy", "minimax:depth=1", "minimax:depth=2", "minimax:depth=3")
"""Agents that show how often two players of some strength choose the same move."""

PLIES: Final = (2, 20)
CHOICES: Final = 4
"""A position with fewer legal actions is not used, because its moves reveal little."""

PATIENCE: Final = 5
"""An agent may take N times its time: on a busy machine, late moves also count."""

ALWAYS: Final = 0.9
"""An agent that chooses the first (or last) action this often counts as always choosing it."""

SMOOTH: Final = 0.5
SPREAD: Final = 1.4826
"""The standard deviation of normal values, in units of their median absolute deviation."""


def positions(boards: Sequence[Board], count: int) -> list[dict[str, Any]]:
    """Return fixed positions with player 1 to move, from random games on the boards."""
    random_source = random.Random(SEED)
    found: list[dict[str, Any]] = []
    tries = 0
    while len(found) < count and tries < 100 * count:
        state: State = EXTENDED.from_json(boards[tries % len(boards)].start)
        tries += 1
        for _ in range(random_source.randint(*PLIES)):
            if state.is_over():
                break
            actions = state.legal_actions()
            state = state.apply(random_source.choice(actions)) if actions else state.skip()
        if not state.is_over() and state.mover == 1 and len(state.legal_actions()) >= CHOICES:
            found.append(state.to_json())
    return found


def choose_moves(job: dict[str, Any]) -> tuple[list[str | None], str | None]:
    """Return an agent's move in each position, None for a lost turn, and why there are no more.

    Only a submission has a source.
    """
    moves: list[str | None] = []
    try:
        with closing(open_seat(_setup(job), job["isolation"], limits_of(job))) as seat:
            if seat.load_failure is not None:
                return moves, headline(seat.load_failure)
            for values in job["positions"]:
                state = EXTENDED.from_json(values)
                reply = seat.ask(
                    state, PATIENCE * job["seconds"] + 1
                )  # only the move is of interest
                legal = reply.action in state.legal_actions()
                played = reply.outcome is Outcome.PLAYED and legal
                moves.append(reply.text if played else None)
        return moves, None
    except (IsolationError, OSError) as error:
        return moves, one_line(error)


def _setup(job: dict[str, Any]) -> Setup:
    if job["source"] is None:
        agent = parse_agent(job["agent"])
        return Setup(agent, 1, EXTENDED, job["seconds"], SEED, method_of(agent, agent))
    given = job["source"].encode(), tuple(job["allowed"])
    return Setup(OWN_FILE, 1, EXTENDED, job["seconds"], SEED, "intelligent", *given)


def is_rule(moves: Sequence[str | None], found: Sequence[dict[str, Any]]) -> bool:
    """Return whether all moves are the first legal action, or the last: many agents do that."""
    legal = [EXTENDED.from_json(values) for values in found]
    texts = [[format_action(action) for action in state.legal_actions()] for state in legal]
    return any(
        sum(move == own[place] for move, own in zip(moves, texts, strict=True))
        >= ALWAYS * len(moves)
        for place in (0, -1)
    )


def unusual(moves: Mapping[str, Sequence[str | None]]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the players, and for each pair how unusual its agreement is.

    The unit is a robust estimate of the standard deviation over all pairs. A player that lost
    most of its turns is left out.
    """
    names = [name for name, own in moves.items() if own.count(None) < len(own) / 2]
    size = len(names)
    scores = np.full((size, size), np.nan)
    length = min(map(len, moves.values()), default=0)
    counts = [Counter(moves[name][at] for name in names) for at in range(length)]
    for i in range(size):
        for j in range(i):
            scores[i, j] = scores[j, i] = _agreement(moves[names[i]], moves[names[j]], counts)
    if size < 3:
        return names, np.zeros((size, size))
    own = np.nanmean(scores, axis=1)
    rest = scores - own[:, None] - own[None, :] + np.nanmean(scores)
    values = rest[np.tril_indices(size, -1)]
    spread = SPREAD * float(np.median(np.abs(values - np.median(values))))
    return names, (rest - np.median(values)) / max(spread, 1e-9)


def _agreement(
    one: Sequence[str | None], two: Sequence[str | None], counts: Sequence[Counter[str | None]]
) -> float:
    """Return how surprising two players' agreements are, as a mean over their common positions."""
    total, played = 0.0, 0
    for mine, yours, count in zip(one, two, counts, strict=False):
        if mine is None or yours is None:
            continue
        played += 1
        if mine == yours:
            others = count[mine] - 2
            everybody = count.total() - count[None] - 2
            total -= math.log((others + SMOOTH) / (everybody + SMOOTH * (len(count) + 1)))
    return total / max(1, played)
