"""Measure plans of `--budget` on simulated classes: `python3 -m benchmarks.plan [--hours N ...]`.

Each simulated student has a true strength against each opponent. A pair of games scatters about it,
each board shifts it, and less time per move shifts it further (`--scatter`, `--boards` and
`--halving`, as shares of the margins that earn points; the defaults are those that the grader
plans with). With `--measured` the planner uses the simulation's own scatter and difference of
boards, as if it had measured them in an earlier class. The marks come from the grader's own code.
The rank correlation is Spearman's, over all students of a class, and the mean of all classes. The
first line compares two independent runs of the whole rubric, which is the best that any plan can
reach. A second table shows `[match] stop`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from connect4.errors import InputError
from grader.marks import budget
from grader.marks.budget import BOARDS, HALVING, SCATTER, SECONDS
from grader.marks.earned import baseline_of
from grader.marks.points import mark_match
from grader.marks.stopping import counted
from grader.marks.tally import by_match
from grader.play.schedule import PART_B, PlannedGame, grade_games, submitted
from grader.results.store import Faults, PlayedGame
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

STUDENTS = 200
CLASSES = 3
HOURS = (2.0, 8.0, 40.0)
STOPS = (2.0, 4.0)
STOP_REPEATS = 10

OPPONENT_SCORE = 10_000
"""The opponent's score in every simulated game, so that percentages are exact."""

Marks = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Standard deviations, as shares of the margins that earn points."""

    scatter: float
    boards: float
    halving: float


class SimulatedClass:
    """Students whose strengths are known; `seed` decides them."""

    def __init__(self, students: int, seed: int, rubric: Rubric, noise: Noise) -> None:
        self.students = [submitted(f"s{number}", f"{number:064x}") for number in range(students)]
        self.rubric, self.noise = rubric, noise
        self.seed = seed
        rng = np.random.default_rng((seed, 1))
        matches = 1 + len(rubric.part_b.baselines)
        talent = rng.normal(0.5, 0.25, (students, 1))
        self._strength = talent + rng.normal(0, 0.1, (students, matches))
        self._slow = rng.normal(0, noise.halving, (students, matches))
        names = {board.name for board in (*rubric.part_a.boards, *rubric.part_b.boards)}
        self._board = {
            name: rng.normal(0, noise.boards, (students, matches)) for name in sorted(names)
        }

    def truth(self) -> Marks:
        """Return the marks of endlessly many games by the whole rubric."""
        total = np.zeros(len(self.students))
        part_a, part_b = self.rubric.part_a, self.rubric.part_b
        matches = [(part_a.opponent, part_a.points, part_a.boards)]
        matches += [(step.agent, step.points, part_b.boards) for step in part_b.baselines]
        for number, (agent, points, boards) in enumerate(matches):
            own = self._index(agent.agent, number)
            share = self._strength[:, own].copy()
            share += np.mean([self._board[board.name][:, own] for board in boards], axis=0)
            if own != number:  # the games of part A, with another scale of points
                step = part_b.baselines[number - 1]
                share = (share * self._most - step.low) / (step.high - step.low)
            total += points * np.clip(share, 0, 1)
        return total

    @property
    def _most(self) -> float:
        """Return the margin with full points in part A."""
        return self.rubric.part_a.cap_percent * OPPONENT_SCORE / 100

    def _index(self, agent: str, number: int) -> int:
        """Return the column of a match; a baseline that is part A's opponent has its games."""
        return 0 if agent == self.rubric.part_a.opponent.agent else number

    def marks(self, rubric: Rubric, run: int) -> tuple[Marks, float]:
        """Play everything that a rubric names; return the marks and the share of games played.

        `run` decides the luck. The share is below 1 if matches end early.
        """
        rng = np.random.default_rng((self.seed, 2, run))
        games = grade_games(self.students, rubric)
        played = self._played(games, rubric, rng)
        needed = counted(games, played, rubric)
        totals = dict.fromkeys((item.name for item in self.students), 0.0)
        for match, listed in by_match(needed).items():
            totals[match.one.name] += mark_match(match, listed, played, rubric).points
        return np.array(list(totals.values())), len(needed) / len(games)

    def _played(
        self, games: Sequence[PlannedGame], rubric: Rubric, rng: np.random.Generator
    ) -> dict[str, PlayedGame]:
        halvings = np.log2(self.rubric.match.time_limit / rubric.match.time_limit)
        found: dict[str, PlayedGame] = {}
        pairs: dict[tuple[object, ...], float] = {}
        for game in games:
            if game.key in found:
                continue
            student = int(game.match.one.name[1:])
            match, low, high = 0, 0.0, self._most
            if game.match.part == PART_B:
                step = baseline_of(game.match, rubric)
                match = self._index(step.agent.agent, 1 + rubric.part_b.baselines.index(step))
                low, high = (step.low, step.high) if match else (low, high)
            pair = (student, match, game.board.name, game.repeat)
            if pair not in pairs:
                pairs[pair] = float(rng.normal(0, self.noise.scatter))
            share = pairs[pair] + self._strength[student, match]
            share += self._board[game.board.name][student, match]
            share += self._slow[student, match] * halvings
            own = OPPONENT_SCORE + round(low + share * (high - low))
            scores = (own, OPPONENT_SCORE) if game.side == 1 else (OPPONENT_SCORE, own)
            found[game.key] = PlayedGame(
                game.key, scores, "no_action", 8, (Faults(), Faults()), 1.0
            )
        return found


def rank_correlation(one: Marks, two: Marks) -> float:
    """Return Spearman's rank correlation."""
    ranks = [np.argsort(np.argsort(marks, kind="stable")) for marks in (one, two)]
    return float(np.corrcoef(*ranks)[0, 1])


def planned(rubric: Rubric, plan: budget.Plan) -> Rubric:
    """Return the rubric with the boards, repeats and times of a plan."""
    a, b = plan.sections
    boards = {board.name: board for board in (*rubric.part_a.boards, *rubric.part_b.boards)}
    return replace(
        rubric,
        match=replace(rubric.match, repeats=a.repeats, time_limit=a.time_limit),
        part_a=replace(rubric.part_a, boards=tuple(boards[name] for name in a.boards)),
        part_b=replace(rubric.part_b, boards=tuple(boards[name] for name in b.boards)),
    )


def budget_row(classes: Sequence[SimulatedClass], hours: float | None) -> list[str]:
    """Return the line of one budget; None stands for the whole rubric."""
    rubric = classes[0].rubric
    used, what = rubric, "the whole rubric"
    plan = budget.make_plan("grade", classes[0].students, hours or 1e9, rubric)
    cost = plan.whole_core_seconds
    if hours is not None:
        used, cost = planned(rubric, plan), plan.core_seconds
        pairs = [section.pairs for section in plan.sections]
        what = f"{pairs[0]} and {pairs[1]} pairs, {plan.sections[0].time_limit:g} s"
    found = []
    for group in classes:
        whole, _ = group.marks(rubric, 0)
        marks, _ = group.marks(used, 1)
        truth = group.truth()
        found.append(
            (
                rank_correlation(marks, whole),
                rank_correlation(marks, truth),
                float(np.abs(marks - truth).mean()),
            )
        )
    means = np.mean(found, axis=0)
    named = "" if hours is None else f"{hours:g}"
    scores = (f"{means[0]:.3f}", f"{means[1]:.3f}", f"{means[2]:.1f}")
    return [named, what, f"{cost / SECONDS:.1f}", *scores]


def stop_row(classes: Sequence[SimulatedClass], stop: float | None) -> list[str]:
    """Return the line of one `[match] stop`, with up to `STOP_REPEATS` pairs on each board."""
    rubric = classes[0].rubric
    match = replace(rubric.match, repeats=STOP_REPEATS, stop=stop)
    statistics = replace(rubric.statistics, watched=stop is not None)
    used = replace(rubric, match=match, statistics=statistics)
    found = []
    for group in classes:
        marks, share = group.marks(used, 1)
        truth = group.truth()
        found.append((share, rank_correlation(marks, truth), float(np.abs(marks - truth).mean())))
    share, rank, error = np.mean(found, axis=0)
    return ["none" if stop is None else f"{stop:g}", f"{share:.0%}", f"{rank:.3f}", f"{error:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, nargs="*", default=HOURS)
    parser.add_argument("--stops", type=float, nargs="*", default=STOPS)
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--classes", type=int, default=CLASSES)
    parser.add_argument("--scatter", type=float, default=SCATTER)
    parser.add_argument("--boards", type=float, default=BOARDS)
    parser.add_argument("--halving", type=float, default=HALVING)
    parser.add_argument("--measured", action="store_true", help="plan with these spreads")
    parser.add_argument("--least-pairs", type=int, help="in place of the rubric's floor")
    arguments = parser.parse_args()
    rubric = rubrics.read()
    if arguments.least_pairs is not None:
        floor = replace(rubric.budget, least_pairs=arguments.least_pairs)
        rubric = replace(rubric, budget=floor)
    if arguments.measured:  # games at one time limit show nothing about other time limits
        vars(budget).update(SCATTER=arguments.scatter, BOARDS=arguments.boards)
    noise = Noise(arguments.scatter, arguments.boards, arguments.halving)
    classes = [
        SimulatedClass(arguments.students, seed, rubric, noise) for seed in range(arguments.classes)
    ]
    rows = []
    for hours in (None, *arguments.hours):
        try:
            rows.append(budget_row(classes, hours))
        except InputError as error:
            print(error)
    headers = ["budget", "plan (parts A and B)", "core-hours", "rank: whole rubric"]
    print(tabulate(rows, [*headers, "rank: truth", "mean error"], disable_numparse=True))
    if arguments.stops:
        rows = [stop_row(classes, stop) for stop in (None, *arguments.stops)]
        headers = ["stop", "games played", "rank: truth", "mean error"]
        print(f"\n{STOP_REPEATS} pairs on each board at most:")
        print(tabulate(rows, headers, disable_numparse=True))


if __name__ == "__main__":
    main()
