"""The Python API behind `import grader`: is one agent better than another?

Nothing here prints, ends the process or leaves another one behind, whatever interrupts a call.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from connect4.api import show_progress
from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation.seat import choose_level
from grader.commands import compare as command
from grader.commands.common import scratch_for, timed_rubric
from grader.play.executors import local_pool, worker_count
from grader.results.store import Store


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the games of one part came to; `str` gives it in words.

    `verdict` is `better`, `worse`, `equal` or `open` (more games are needed) of the new agent.
    `margin` is its mean margin in points a game, in part A how much more of it than the old agent
    has. `interval` holds the mean at the rubric's confidence; None where there are too few games.
    """

    verdict: str
    margin: float
    interval: tuple[float, float] | None
    games: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict of each part that was played, else None; `str` gives both in words.

    In part `a`, `get_expectimax_move` of both plays the same random player; in part `b`,
    `get_intelligent_move` of both play each other.
    """

    a: Verdict | None = None
    b: Verdict | None = None

    def __str__(self) -> str:
        parts = (("part A", self.a), ("part B", self.b))
        return "\n".join(f"{name}: {verdict}" for name, verdict in parts if verdict)


def compare(
    new: str | os.PathLike[str],
    old: str | os.PathLike[str],
    *,
    seconds: Seconds | None = None,
    games: int | None = None,
    part: Literal["a", "b", "both"] = "both",
    rubric: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    isolation: str = "auto",
    progress: bool = False,
) -> Comparison:
    """Find out whether a new agent is better than an old one; return a verdict for each part.

    Each is a file, such as `old/ai.py`, or an agent's name. They play pairs of games, one from
    each side, on varied openings of the rubric's boards, until the verdict is clear: at most
    `games` games of the new one in each part. `seconds` is the limit of a move, `rubric` a file
    that differs from the default one in some keys, `jobs` the number of games at once (None: one
    for each physical core). Raises `InputError` for what cannot be loaded or does not exist,
    `RuntimeError` where the machine fails.

    >>> verdict = compare("greedy", "random", seconds=1, games=4, part="b")
    >>> verdict.b.games, verdict.b.margin > 20, verdict.a
    (4, True, None)
    """
    if part not in ("a", "b", "both"):
        raise InputError(f"part {part!r}: expected a, b or both")
    where = None if rubric is None else Path(rubric)
    rules = command.shorter(timed_rubric(where, seconds), games)
    sources: dict[str, str] = {}
    agents = command.contestants(os.fspath(new), os.fspath(old), rules, sources)
    level, _ = choose_level("strong" if rules.limits.require == "strong" else isolation)
    parts: list[command.Part] = ["a", "b"] if part == "both" else [part]
    found = command.Comparisons()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="connect4-compare-")))
        store = stack.enter_context(Store(folder / "results.db", writing=True))
        pool = stack.enter_context(local_pool(worker_count(jobs, False), scratch_for(folder)))
        step = _step(stack, progress)
        for latest, _ in command.compare(agents, parts, rules, store, pool, level, sources):
            found = latest
            step()
    names = [agent.name for agent in agents]
    verdicts = {item.part: _verdict(item, names) for item in found.all}
    return Comparison(verdicts.get("a"), verdicts.get("b"))


def _step(stack: contextlib.ExitStack, shown: bool) -> Callable[[], object]:
    """Return what is called after each game."""
    if not shown:
        return lambda: None
    update: Callable[[], object] = show_progress(stack, "games").update
    return update


def _verdict(item: command.Comparison, names: list[str]) -> Verdict:
    interval = item.interval
    wide = interval is None or not abs(interval.low) < float("inf")
    return Verdict(
        item.verdict,
        item.mean,
        None if interval is None or wide else (interval.low, interval.high),
        item.tally.games,
        command.conclusion(item, names),
    )
