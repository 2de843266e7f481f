"""The Python API behind `import grader`: is one agent better than another?

No function here prints or ends the process. None leaves a process behind, even if interrupted.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from connect4.api import show_progress
from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation.wasm.budget import read_fuel
from grader.commands import compare as command
from grader.commands.common import required_level, scratch_for, timed_rubric
from grader.play.executors import local_pool, worker_count
from grader.results.store import Store


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one part; `str` returns it in words.

    `verdict` is `better`, `worse`, `equal` or `open` (more games are required), for the new agent.
    `margin` is its mean margin in points per game; in part A, the difference from the old agent's.
    `interval` is the confidence interval of the mean; None if there are too few games.
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
    """The verdict of each part, None for a part that was not played; `str` returns both in words.

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
    fuel: int | str | None = None,
    games: int | None = None,
    part: Literal["a", "b", "both"] = "both",
    rubric: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    isolation: str = "auto",
    progress: bool = False,
) -> Comparison:
    """Compare a new agent with an old one; return a verdict for each part.

    Each argument is a file, such as `old/ai.py`, or an agent's name. The agents play pairs of
    games, one from each side, on varied openings of the rubric's boards, until the verdict is
    clear. In each part the new agent plays at most `games` games. `seconds` is the time limit
    per move, `fuel` a budget of instructions in its place, such as `"5G"`. `rubric` is a file
    with keys that differ from the default rubric. `jobs` is the number of games at once (None:
    one for each physical core). Raises `InputError` if a file or an agent does not exist or
    cannot be loaded, and `RuntimeError` if the machine fails.

    >>> verdict = compare("greedy", "random", seconds=1, games=4, part="b")
    >>> verdict.b.games, verdict.b.margin > 20, verdict.a
    (4, True, None)
    """
    if part not in ("a", "b", "both"):
        raise InputError(f"part {part!r}: expected a, b or both")
    where = None if rubric is None else Path(rubric)
    budget = None if fuel is None else read_fuel(str(fuel))
    rules = command.shorter(timed_rubric(where, seconds, False, budget, isolation), games)
    sources: dict[str, str] = {}
    agents = command.contestants(os.fspath(new), os.fspath(old), rules, sources)
    level, _ = required_level(isolation, rules)
    parts: list[command.Part] = ["a", "b"] if part == "both" else [part]
    verdicts: dict[command.Part, Verdict] = {}
    names = [agent.name for agent in agents]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="connect4-compare-")))
        store = stack.enter_context(Store(folder / "results.db", writing=True))
        pool = stack.enter_context(local_pool(worker_count(jobs, False), scratch_for(folder)))
        update = show_progress(stack, "games").update if progress else None
        for latest, _ in command.compare(agents, parts, rules, store, pool, level, sources):
            verdicts[latest.part] = _verdict(latest, names)
            if update is not None:
                update()
    return Comparison(verdicts.get("a"), verdicts.get("b"))


def _verdict(item: command.PartComparison, names: list[str]) -> Verdict:
    interval = item.interval
    wide = interval is None or not abs(interval.low) < float("inf")
    return Verdict(
        item.verdict,
        item.mean,
        None if interval is None or wide else (interval.low, interval.high),
        item.tally.games,
        command.conclusion(item, names),
    )
