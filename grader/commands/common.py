"""Shared parts of the commands: exit status, rubric, workers, isolation, core-hours."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from connect4.errors import InputError, harmless
from connect4.games.base import Seconds
from connect4.isolation import machine
from connect4.isolation.seat import LEVELS, Level, choose_level, level_named
from connect4.isolation.wasm.level import in_fuel, limit_of
from connect4.players.names import split_name, student_file
from grader.marks.tournament import later_games, stages
from grader.output import write
from grader.output.results import GRADE
from grader.output.tables import text_table
from grader.play import Pool, cluster_pool, local_pool, worker_count
from grader.play.schedule import Contestant, PlannedGame, grade_games, seed_of, worth
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric, kit_agents, level_of_games
from grader.rubric.reading import outside_assignment

DONE: Final = 0
FAILED: Final = 1
STOPPED: Final = 3


def say(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


def read_rubric(arguments: argparse.Namespace) -> Rubric:
    """Return the rubric of `--rubric`, with the limit of `--time` or `--fuel`."""
    rubric = timed_rubric(
        arguments.rubric,
        getattr(arguments, "time", None),
        getattr(arguments, "fuel", None),
        getattr(arguments, "isolation", None),
    )
    for line in rubrics.code_from_elsewhere(rubric):
        say(harmless(line))
    return rubric


def timed_rubric(
    path: Path | None,
    seconds: Seconds | None,
    fuel: int | None = None,
    isolation: str | None = None,
) -> Rubric:
    """Return a rubric (the default one for None) with another limit per move.

    With an isolation level, games are to be played: the rubric names what they depend on here.
    """
    rubric = rubrics.read(path)
    limit, level = limit_of(fuel, seconds, isolation)
    if seconds is not None and level_of_games(rubric).exact:
        raise InputError(f"--time: {rubric.source} counts fuel; --fuel sets another budget")
    values = rubric.values
    if seconds is not None:
        stages = [{**stage, "time_limit": seconds} for stage in values["tournament"]["stages"]]
        values = {
            **values,
            "match": {**values["match"], "time_limit": seconds},
            "ladder": {**values["ladder"], "time_limit": seconds},
            "tournament": {**values["tournament"], "stages": stages},
        }
    if fuel is not None and limit is not None:
        values = in_fuel(values, limit)
    elif level_named(level).exact:
        values = {**values, "limits": {**values["limits"], "require": level}}
    if isolation is not None:
        values = level_named(values["limits"].get("require")).pinned(values, rubric.source)
    if values is rubric.values:
        return rubric
    return rubrics.from_values(values, rubric.source, None if path is None else path.parent)


@contextlib.contextmanager
def open_pool(arguments: argparse.Namespace, results: Path) -> Iterator[Pool]:
    """Open the local workers or the cluster that the command line selects."""
    if arguments.scheduler is not None:
        with cluster_pool(arguments.scheduler) as pool:
            yield pool
        return
    jobs = worker_count(arguments.jobs, arguments.force_jobs)
    with local_pool(jobs, scratch_for(results)) as pool:
        yield pool


def scratch_for(results: Path) -> Path:
    """Make a folder for the workers, for this user alone and with a name that nobody can foresee.

    What a killed run with the same results has left is removed.
    """
    begin = f"connect4-grader-{seed_of(str(results.resolve())):x}-"
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows, the parent is the user's
    for left in Path(tempfile.gettempdir()).glob(f"{begin}*"):
        if user is None or left.lstat().st_uid == user:
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=begin))


def isolation_level(arguments: argparse.Namespace, rubric: Rubric) -> str:
    """Return the isolation level of agents; grading always isolates them.

    Raises `InputError` if the level is lower than the rubric requires.
    """
    options = vars(arguments)
    if options.get("rubric") is not None and options.get("time") is None:
        note = outside_assignment(rubric)
        if note is not None:
            say(note)
    level, notes = required_level(arguments.isolation, rubric)
    for note in notes:
        say(f"isolation: {note}")
    return level


def required_level(asked: str, rubric: Rubric) -> tuple[Level, tuple[str, ...]]:
    """Return the level that a rubric and `--isolation` come to, and the missing protections.

    The level is prepared, which may take minutes the first time on a machine.
    """
    if asked == "none":
        raise InputError("isolation none: submissions never run in the grader's own process")
    required, games = rubric.limits.require, level_of_games(rubric)
    for agent in kit_agents(rubric):
        if split_name(agent.agent).kind in games.outside:
            raise InputError(f"{rubric.source}: {agent.name} {games.why_outside}")
    demanding = required not in (None, "process")
    level, notes = choose_level(str(required) if demanding and asked == "auto" else asked)
    if demanding and level != required and not LEVELS[level].exact:
        raise InputError(
            f"isolation {level}: {rubric.source} requires {required} ([limits] require)"
        )
    for path in secret_files(rubric) if level == "process" else ():
        if machine.is_open_to_agents(path):
            raise InputError(
                f"{path}: agents here could read it, as every user can, because the kernel has no "
                f"Landlock: chmod go-rwx {path}"
            )
    LEVELS[level].prepare(say)
    return level, notes


def secret_files(rubric: Rubric) -> list[Path]:
    """Return the files that no submission may read: a rubric with its seed, boards, agents."""
    source = Path(rubric.source)
    found = [] if rubric.match.seed is None else [source]
    found += [source.parent / name for name in rubric.match.hidden]
    agents = [split_name(agent.agent) for agent in kit_agents(rubric)]
    found += [student_file(agent) for agent in agents if agent.kind == "ai" and agent.rest]
    return [path for path in found if path.is_file()]


def named_few(names: Sequence[str]) -> str:
    """Return the first of many names, and the number of names."""
    shown = "; ".join([*names[:4], *(["..."] if len(names) > 4 else [])])
    return f"{shown} ({len(names)} in all)"


UNLIKELY: Final = "{} pairs of agents have margins that their ratings do not predict: see {}"

MOST_NAMED: Final = 10
"""More names than these are listed in a file."""


def name_all(what: str, names: Sequence[str], out: Path | None, file: str) -> None:
    """List names; more than ten are listed in a file below `out`, or the first of them."""
    shown = "; ".join(names)
    if len(names) > MOST_NAMED and out is not None:
        place = out / file
        write(place, "".join(f"{name}\n" for name in names))
        shown = f"{len(names)} names, listed in {place}"
    elif len(names) > MOST_NAMED:
        shown = named_few(names)
    if names:
        say(f"{what}: {shown}")


HOURS_HEADERS: Final = ("a move", "1 pair on each board", "2 pairs on each board")


def hours_text(kind: str, contestants: Sequence[Contestant], rubric: Rubric) -> str:
    """Return the core-hours of a whole class if every submission uses all of its time."""
    games = list(_games(kind, contestants, rubric))
    once = [game for game in games if game.repeat == 0]
    rows = []
    for label, limit in level_of_games(rubric).other_limits().items():
        one_pair = sum(worth(replace(game, time_limit=limit)) for game in once)
        rows.append((label, _hours(one_pair), _hours(2 * one_pair)))
    return (
        f"{rubric.source} takes {_hours(sum(map(worth, games)))} core-hours if submissions use all "
        "their time.\n"
        "Core-hours with another limit and other `repeats`:\n"
        f"{text_table(rows, HOURS_HEADERS)}"
    )


def _games(kind: str, contestants: Sequence[Contestant], rubric: Rubric) -> Iterable[PlannedGame]:
    """Return all games, each once: several matches may share a game."""
    if kind == GRADE:
        games = grade_games(contestants, rubric)
    else:
        begun = stages(contestants, {}, rubric)
        games = [game for group in begun[0].groups for game in group.games]
        games += (game for later in later_games(begun, rubric).values() for game in later)
    return {game.key: game for game in games}.values()


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.1f}" if hours >= 1 else f"{hours:.2g}"
