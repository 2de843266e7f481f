"""Shared parts of the commands: exit status, how games are played, lists of names."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from connect4.errors import InputError, harmless
from connect4.games.base import Seconds
from connect4.isolation import machine
from connect4.isolation.seat import LEVELS, Level, choose_level, level_named
from connect4.isolation.wasm.level import in_fuel, limit_of
from connect4.players.base import split_name, student_file
from grader.output import write
from grader.play import Pool, cluster_pool, local_pool, worker_count
from grader.play.schedule import seed_of
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric, kit_agents, level_of_games
from grader.rubric.reading import outside_assignment

DONE: Final = 0
FAILED: Final = 1
STOPPED: Final = 3


def say(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Playing:
    """How the games of a command are played."""

    rubric: Rubric
    isolation: str = "auto"
    jobs: int | None = None
    """How many games at once; None for one on each physical core."""
    force_jobs: bool = False
    """Whether there may be more jobs than cores."""
    scheduler: str | None = None
    """The address of a Dask scheduler; None plays on this machine."""
    path: Path | None = None
    """The file of the rubric; None for the default one."""
    note: str | None = None
    """What exceeds the assignment's limits in that file."""

    def workers(self) -> int:
        """Return how many games this machine plays at once; raises `InputError` if too many."""
        return worker_count(self.jobs, self.force_jobs)

    def level(self) -> Level:
        """Return the isolation level of agents, and say what it lacks.

        Raises `InputError` if it is lower than the rubric requires.
        """
        level, notes = required_level(self.isolation, self.rubric)
        for note in [*([self.note] if self.note else []), *(f"isolation: {one}" for one in notes)]:
            say(note)
        return level

    @contextlib.contextmanager
    def pool(self, results: Path) -> Iterator[Pool]:
        """Open the local workers or the cluster."""
        if self.scheduler is not None:
            with cluster_pool(self.scheduler) as pool:
                yield pool
            return
        with local_pool(self.workers(), scratch_for(results)) as pool:
            yield pool


def playing(
    rubric: Path | None,
    time: Seconds | None,
    fuel: int | None,
    isolation: str,
    jobs: int | None,
    force_jobs: bool,
    scheduler: str | None,
) -> Playing:
    """Return how games are played with the rubric of a file, and options in its place."""
    rules = read_rubric(rubric, time, fuel, isolation)
    note = None if rubric is None or time is not None else outside_assignment(rules)
    return Playing(rules, isolation, jobs, force_jobs, scheduler, rubric, note)


def read_rubric(
    path: Path | None,
    seconds: Seconds | None = None,
    fuel: int | None = None,
    isolation: str | None = None,
) -> Rubric:
    """Return a rubric as `timed_rubric` does; say whose code runs in its games."""
    rubric = timed_rubric(path, seconds, fuel, isolation)
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
