"""The command `similar`: screens a class for pairs that share source or behaviour."""

from __future__ import annotations

import argparse
import re
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np

from connect4.errors import InputError
from connect4.isolation.seat import choose_level
from grader.commands.common import DONE, open_pool, say
from grader.handin import find as submissions
from grader.output.files import write
from grader.output.tables import wrapped
from grader.play.executors import Progress
from grader.play.one_game import spread
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric
from grader.similar.behaviour import TEXTBOOK, choose_moves, is_rule, positions, unusual
from grader.similar.pairs import FIRST, Pair, documents, ranked, similar_page

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
    here = _sources(arguments.paths, rubric, "")
    if len(here) < 2:
        raise InputError("similar requires at least two submissions with a source")
    before = _sources(arguments.against, rubric, "earlier: ") if arguments.against else {}
    base = [code_of(path) for path in (*BASE, *arguments.base)]
    made = documents({**here, **before}, base)
    found, against = made[: len(here)], made[len(here) :]
    notes = [f"{len(found)} submissions, {len(against)} other hand-ins to compare with."]
    for item in made:
        if item.problem is not None:
            notes.append(f"{item.name}: {item.problem}; its pairs are not compared by source.")
            say(notes[-1])
    if same := [name for name, text in before.items() if text in here.values()]:
        notes.append(f"Handed in again without a change: {', '.join(same)}.")
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


def _sources(paths: list[Path], rubric: Rubric, prefix: str) -> dict[str, str]:
    found = submissions.find(paths, rubric.submission)
    return {f"{prefix}{item.name}": item.source for item in found if item.source}


def _moves(
    sources: dict[str, str], arguments: argparse.Namespace, rubric: Rubric, notes: list[str]
) -> dict[str, list[str | None]]:
    """Return each player's moves in the fixed positions; note who did not play them."""
    asked = "auto" if arguments.isolation == "wasm" else arguments.isolation  # moves are by time
    level, lacking = choose_level(asked)
    for note in lacking:
        say(f"isolation: {note}")
    boards = [board for board in rubric.part_b.boards if not board.hidden]
    fixed = positions(boards, arguments.positions)
    seconds = arguments.time
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
        notes.append(f"Always the first or the last action, so not compared: {', '.join(simple)}.")
    notes.append(f"Behaviour: {len(fixed)} positions, {seconds:g} s each.")
    return {name: played[name] for name in jobs if name in played}
