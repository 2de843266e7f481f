"""The commands `grade` and `tournament`: submissions against the baselines, or each other.

`grade --quick` grades one file in about two minutes: a first estimate, not a mark. The command
`fuel` prints what `--dry-run` estimates core-hours from.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation.wasm.level import OTHER_FUEL, seconds_of, shown
from grader.commands import DONE, Playing, required_level, say
from grader.commands.report import Outputs
from grader.commands.run import Task, foresee, go
from grader.handin import find as submissions
from grader.handin.positions import METHODS
from grader.output.results import GRADE, TOURNAMENT
from grader.output.tables import text_table
from grader.play import schedule
from grader.play.working_time import asking_for, grading_pace, plays_from
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric


def grade(
    paths: Sequence[Path],
    playing: Playing,
    outputs: Outputs,
    results: Path | None = None,
    roster: Sequence[Path] = (),
    name: str | None = None,
    quick: bool = False,
    dry_run: bool = False,
    try_again: Sequence[str] = (),
) -> int:
    """Grade submissions; games that have a result are not played again."""
    rubric = playing.rubric
    found = submissions.find(paths, rubric.submission, name)
    if quick:
        if len(found) > 1:
            raise InputError(f"--quick is for one submission, and there are {len(found)}")
        playing = replace(playing, rubric=_shorter(playing, found[0].source))
    task = Task(
        GRADE,
        playing,
        found,
        results or Path("quick.db" if quick else "grade.db"),
        outputs,
        try_again,
        roster,
        quick,
        of_one_file=len(found) == len(paths) == 1
        and (paths[0].is_file() or (paths[0] / "ai.py").is_file()),
    )
    return foresee(task) if dry_run else go(task)


def tournament(
    folder: Path,
    playing: Playing,
    outputs: Outputs,
    results: Path | None = None,
    dry_run: bool = False,
    try_again: Sequence[str] = (),
) -> int:
    """Play a staged tournament, or continue a stopped one."""
    found = submissions.find([folder], playing.rubric.submission)
    if sum(item.problem is None for item in found) < 2:
        raise InputError(f"{folder}: a tournament needs two submissions that can play")
    path = results or Path("tournament.db")
    task = Task(TOURNAMENT, playing, found, path, outputs, try_again)
    return foresee(task) if dry_run else go(task)


def _shorter(playing: Playing, source: bytes | None) -> Rubric:
    """Return the rubric of `--quick` for a file, and say what it leaves out."""
    rubric, path = playing.rubric, playing.path
    folder = None if path is None else path.parent
    short, note = quick_rubric(rubric, folder)
    needed: Seconds = 0.0
    if source is not None:
        pace, most = grading_pace(short), rubric.match.time_limit
        level = required_level(playing.isolation, short)[0]
        times = [seconds for seconds in pace.times if seconds < most] + [most]
        asking = asking_for(source, short, level, say, most)
        needed = plays_from(asking, METHODS, pace.board.state, times)[0] or 0.0
    if needed > short.match.time_limit:
        short, note = quick_rubric(rubric, folder, needed)
    say(note)
    return short


def quick_rubric(rubric: Rubric, folder: Path | None, needed: Seconds = 0.0) -> tuple[Rubric, str]:
    """Return the rubric with the shortest board of each part and less time, and what it leaves out.

    `folder` contains the rubric's own boards. `needed` is the time from which on the file plays.
    """
    values: dict[str, Any] = {**rubric.values, "match": {**rubric.values["match"], "repeats": 1}}
    left: list[str] = []
    for part, boards in (("part_a", rubric.part_a.boards), ("part_b", rubric.part_b.boards)):
        shortest = min(boards, key=lambda board: board.state.max_plies)
        values[part] = {**values[part], "boards": [shortest.name]}
        left += [board.name for board in boards if board.name != shortest.name]
    games = "one pair of games against each opponent"
    if needed > 0.5:  # else it gets the time that it needs
        games = "one pair of games in each part"
        baselines = values["part_b"]["baselines"]
        chosen = baselines[min(1, len(baselines) - 1)]  # the first is often random, as in part A
        left += [step["agent"] for step in baselines if step is not chosen]
        values["part_b"] = {**values["part_b"], "baselines": [chosen]}
    shorter = rubrics.from_values(values, rubric.source, folder)
    planned = {
        game.key: game for game in schedule.grade_games([schedule.submitted("", "")], shorter)
    }.values()
    turns = sum(map(schedule.timed_turns, planned))
    # two minutes on one core; below 0.05 s, process start and communication would dominate
    seconds = (120.0 - schedule.START_SECONDS * len(planned)) / max(1, turns)
    limit = min(rubric.match.time_limit, max(0.05, round(seconds, 2), needed))
    values["match"] = {**values["match"], "time_limit": limit}
    without = f", without {', '.join(dict.fromkeys(left))}" if left else ""
    why = f" (your file plays from {needed:g} s on)" if needed else ""
    note = (
        f"--quick: a first look, not a mark: {limit:g} s a move instead of "
        f"{rubric.match.time_limit:g}{why}, {games}{without}"
    )
    return rubrics.from_values(values, rubric.source, folder), note


FUEL_TURNS: Final = 40
"""Turns of a typical game in which both agents search: an 8x6 board with a few pop-outs."""


def fuel(budget: int | None = None) -> int:
    """Measure this machine and print how many seconds each budget takes here."""
    from connect4.isolation.wasm import images, package  # late: no other command needs them

    package.compiled(say)
    rounds, median = images.measure_speed()
    print(speed_text(rounds, median, budget))
    print(f"What counts here: {images.identity_text()}")
    return DONE


def speed_text(rounds: Mapping[str, Sequence[float]], median: float, budget: int | None) -> str:
    """Return what each budget takes, and one more, from the fuel of a second in each round."""
    medians = [statistics.median(values) for values in rounds.values()]
    speeds = [
        (name, *(f"{value / 1e9:.2f}" for value in (min(values), middle, max(values))))
        for (name, values), middle in zip(rounds.items(), medians, strict=True)
    ]
    budgets = [
        (
            shown(one),
            f"{seconds_of(one):g}",
            f"{one / max(medians):.1f} to {one / min(medians):.1f}",
            f"{3600 / (FUEL_TURNS * one / median):.0f}",
        )
        for one in sorted({*OTHER_FUEL, *([budget] if budget else [])})
    ]
    games = f"games of {FUEL_TURNS} full turns an hour, a core"
    of_round = len(next(iter(rounds.values())))
    return (
        f"{text_table(speeds, ('what runs', 'slowest', 'median', 'fastest'))}\n"
        f"\nGigafuel a second, {of_round} rounds. Median of all: {median / 1e9:.2f}.\n\n"
        f"{text_table(budgets, ('budget', 'virtual s', 'seconds a move here', games))}\n"
        "\nMarks do not depend on these figures. --dry-run estimates hours from them."
    )
