"""Shared parts of the commands: exit status, rubric, workers, isolation."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation import memory_copy
from connect4.isolation.seat import choose_level
from grader.play.executors import Pool, cluster_pool, local_pool, worker_count
from grader.play.schedule import seed_of
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

DONE: Final = 0
FAILED: Final = 1
STOPPED: Final = 3


def read_rubric(arguments: argparse.Namespace) -> Rubric:
    """Return the rubric of `--rubric`, with the time limit of `--time`."""
    seconds = getattr(arguments, "time", None)
    rubric = timed_rubric(arguments.rubric, seconds, arguments.allow_large)
    note = rubrics.without_effect(rubric)
    if note is not None:
        print(note, file=sys.stderr)
    return rubric


def timed_rubric(path: Path | None, seconds: Seconds | None, allow_large: bool = False) -> Rubric:
    """Return a rubric (the default one for None) with another time limit per move."""
    rubric = rubrics.read(path, allow_large)
    if seconds is None:
        return rubric
    values = {**rubric.values, "match": {**rubric.values["match"], "time_limit": seconds}}
    stages = [{**stage, "time_limit": seconds} for stage in values["tournament"]["stages"]]
    values["tournament"] = {**values["tournament"], "stages": stages}
    folder = None if path is None else path.parent
    return rubrics.from_values(values, rubric.source, folder)


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
    """Return the workers' folder, the same for the same results, so that leftovers are removed."""
    user = os.getuid() if hasattr(os, "getuid") else ""  # Windows: the folder is the user's anyway
    name = seed_of(str(results.resolve()), user)
    return Path(tempfile.gettempdir(), f"connect4-grader-{name:x}")


def isolation_level(arguments: argparse.Namespace, rubric: Rubric) -> str:
    """Return the isolation level of agents; grading always isolates them.

    Raises `InputError` if the level is lower than the rubric requires.
    """
    required, asked = rubric.limits.require, arguments.isolation
    level, notes = choose_level("strong" if (asked, required) == ("auto", "strong") else asked)
    if required == "strong" and level != required:
        raise InputError(f"isolation {level}: {rubric.source} requires strong ([limits] require)")
    no_copy = memory_copy.use() if level == "strong" else None
    for note in (*notes, *([no_copy] if no_copy else [])):
        print(f"isolation: {note}", file=sys.stderr)
    return level


def named_few(names: Sequence[str]) -> str:
    """Return the first of many names, and the number of names."""
    shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    return f"{shown} ({len(names)} in all)"
