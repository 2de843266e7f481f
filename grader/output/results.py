"""The content of a results file, with the marks and places that follow from it.

It stands in `output`, not in `results`: marks, stages and protection belong to layers above that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from connect4.errors import InputError, headline
from connect4.isolation import machine
from grader.handin.roster import Student, assign
from grader.handin.submission import Submission
from grader.marks.points import Mark, gradable, lateness, marks
from grader.marks.tournament import Placing, StageState, placings, stages
from grader.output import tables
from grader.play.schedule import PlannedGame, grade_games, limits_text
from grader.play.working_time import slow_files
from grader.results.store import (
    DAMAGED,
    STARVED,
    Attempt,
    InfraFailure,
    PlayedGame,
    Store,
    utc_now,
)
from grader.rubric.model import Rubric
from grader.rubric.reading import from_stored

GRADE: Final = "grade"
TOURNAMENT: Final = "tournament"

LAST_LINES: Final = 20

NEVER: Final = "9999"
"""Later than every time."""

RUNS: Final = "protection"
"""The name in a results file of the list of protections that games were played under."""

PROOF: Final = "doctor"
"""The name of the table that `doctor` stored."""

ROSTER: Final = "roster"

PLACEMENT: Final = "placement"
"""The name of the points for placement, with the name of the tournament's file."""


@dataclass(frozen=True)
class Results:
    """The content of a results file; a run adds the games that it plays."""

    kind: str
    rubric: Rubric
    submissions: list[Submission]
    played: dict[str, PlayedGame]
    faults: dict[str, InfraFailure]
    details: dict[str, str] = field(default_factory=dict)
    """Details for each submission that cannot be loaded."""
    protection: Sequence[str] = ()
    """The protections that games were played under, in words."""
    published: dict[int, str] = field(default_factory=dict)
    """When each seed that is no longer secret was published."""
    students: Mapping[str, Sequence[Student]] = field(default_factory=dict)
    """Who gets the mark of each submission by the roster; empty without one."""
    slow: Mapping[str, str] = field(default_factory=dict)
    """From which time on the files play that do not in this grading, by hash."""
    placement: Mapping[str, float] = field(default_factory=dict)
    """The points for placement in a tournament, by submission."""
    tournament: str = ""
    """The name of that tournament's file."""

    @cached_property
    def games(self) -> list[PlannedGame]:
        """Return the games of the grading, or of the stages that have begun."""
        if self.kind == GRADE:
            return grade_games(gradable(self.submissions), self.rubric)
        return [game for state in self.stages for group in state.groups for game in group.games]

    def games_of(self, name: str) -> list[PlannedGame]:
        """Return the games of a submission, in the order of the schedule."""
        return self.games_by_name.get(name, [])

    @cached_property
    def games_by_name(self) -> dict[str, list[PlannedGame]]:
        """Return the games of each submission that has any."""
        found: dict[str, list[PlannedGame]] = {}
        for game in self.games:
            for player in game.players:
                if player.is_submission:
                    found.setdefault(player.name, []).append(game)
        return found

    @cached_property
    def marks(self) -> list[Mark]:
        """Return the marks of a grading; empty for a tournament."""
        if self.kind != GRADE:
            return []
        read = (self.submissions, self.played, self.rubric, self.details, self.faults)
        made = []
        for mark in marks(*read, self.games):
            name = mark.submission.name
            students = self.students.get(name) or mark.students
            late, public = lateness(students, self.rubric), len(self.public(name))
            slow = self.slow.get(str(mark.submission.sha256), "")
            made.append(
                replace(mark, public=public, students=tuple(students), late=late, slow=slow)
            )
        return made

    def public(self, name: str) -> set[str]:
        """Return the keys of a submission's games that were played when their seed was public."""
        return {
            game.key
            for game in self.games_of(name)
            if game.key in self.played
            and self.played[game.key].played_at >= self.published.get(game.seed, NEVER)
        }

    @cached_property
    def stages(self) -> list[StageState]:
        """Return the stages begun in a tournament; empty for a grading."""
        if self.kind == GRADE:
            return []
        return stages(gradable(self.submissions), self.played, self.rubric)

    @cached_property
    def placings(self) -> list[Placing]:
        """Return the places of a tournament; empty for a grading."""
        return placings(self.stages, self.rubric)

    def add(self, attempt: Attempt) -> None:
        """Add a game that has just ended, so that the file need not be read again."""
        counted = self.rubric.match.opponent_faults == "count" and attempt.fault != STARVED
        failed = self.faults.pop(attempt.key, None)
        if attempt.played is not None and (attempt.fault is None or counted):
            self.played[attempt.key] = replace(attempt.played, played_at=utc_now())
        else:
            tries = 1 if failed is None else failed.attempts + 1
            self.faults[attempt.key] = InfraFailure(attempt.fault or DAMAGED, tries)
        of_games = (
            ("marks",) if self.kind == GRADE else ("games", "games_by_name", "stages", "placings")
        )
        for name in of_games:
            self.__dict__.pop(name, None)

    @property
    def missing(self) -> int:
        """Return how many of the games have no result."""
        return len({game.key for game in self.games} - self.played.keys())

    def text(self, details: bool = False) -> str:
        """Return the tables."""
        if self.kind == GRADE:
            return tables.grade_text(self.marks, self.placement, self.rubric, details)
        notes = "".join(f"{name}: not in it: {why}\n" for name, why in self.left_out.items())
        return tables.tournament_text(self.stages, self.placings, self.rubric) + notes

    @property
    def left_out(self) -> dict[str, str]:
        """Return the submissions that are not in the tournament, with the reasons."""
        return {item.name: item.problem for item in self.submissions if item.problem}


def read_results(store: Store) -> Results:
    """Read a whole results file; raises `InputError` if it has no schedule yet."""
    kind, values = store.meta("kind"), store.meta_json("rubric")
    if kind == "ladder":
        raise InputError(
            f"{store.path}: the results of a ladder; `python3 -m grader ladder HAND-INS --results "
            f"{store.path} --site DIR` writes its files again"
        )
    if kind is None or values is None:
        raise InputError(f"{store.path}: no grading or tournament was begun in it")
    rubric = from_stored(values, f"{store.path} (rubric)")
    return results_of(store, kind, rubric, store.submissions())


def results_of(store: Store, kind: str, rubric: Rubric, found: Sequence[Submission]) -> Results:
    """Return the results of these submissions, with all that a results file knows of them."""
    rubric, roster = with_secret(rubric, store), stored_roster(store)
    assigned = assign(found, roster)
    listed, details = known_problems(assigned.submissions, store, rubric)
    counted = rubric.match.opponent_faults == "count"
    placed = store.meta_json(PLACEMENT) or {"points": {}, "file": ""}
    present = {item.name for item in listed}
    now = {old: new for old, new in store.renamed().items() if old not in present}
    return Results(
        kind,
        rubric,
        listed,
        store.played(counted),
        store.faults(counted),
        details,
        protection_lines(store),
        store.published(),
        assigned.students if roster else {},
        slow_files(rubric, store) if kind == GRADE else {},
        {now.get(name, name): points for name, points in placed["points"].items()},
        placed["file"],
    )


def stored_roster(store: Store) -> tuple[Student, ...]:
    """Return the students in the roster of a results file; none if it has no roster."""
    held = store.meta_json(ROSTER) or {}
    return tuple(Student(**one) for one in held.get("students", ()))


def with_secret(rubric: Rubric, store: Store) -> Rubric:
    """Return a rubric that names no seed with the secret seed of a results file."""
    secret = store.secret(make=False)
    if secret is None or rubric.match.seed is not None:
        return rubric
    return replace(rubric, match=replace(rubric.match, seed=secret))


def known_problems(
    found: Sequence[Submission], store: Store, rubric: Rubric
) -> tuple[list[Submission], dict[str, str]]:
    """Return the submissions with problems from loading and playing them, and the details."""
    unloaded = store.loaded(limits_text(rubric))
    aside = store.set_aside()
    listed: list[Submission] = []
    details: dict[str, str] = {}
    for item in found:
        problem, sha256 = item.problem, str(item.sha256)
        failure = unloaded.get(sha256)
        if problem is None and sha256 in aside:
            problem = f"set aside: twice the grader was ended by this: {aside[sha256]}"
        elif problem is None and failure is not None:
            problem = f"cannot be loaded: {headline(failure)}"
            details[item.name] = last_lines(failure)
        listed.append(item if problem == item.problem else replace(item, problem=problem))
    return listed, details


def last_lines(text: str) -> str:
    """Return the last lines of a text, which contain the cause."""
    lines = text.strip("\n").splitlines()
    return "\n".join(["...", *lines[-LAST_LINES:]] if len(lines) > LAST_LINES else lines)


def _proof_text(proof: Mapping[str, Any], levels: set[str]) -> str:
    """Return the outcome of a self-test at the levels that were played at, in one sentence."""
    parts = []
    for level in sorted(levels & set(proof["levels"])):
        held = [item["text"] for item in proof["guarantees"] if item[level]]
        failed = [item["text"] for item in proof["guarantees"] if not item[level]]
        text = f"{len(held)} of {len(held) + len(failed)} guarantees hold at level {level}"
        parts.append(text + (f" (not: {'; '.join(failed)})" if failed else ""))
    day = str(proof["at"])[:10]
    return f"Self-test of the machine on {day}: {', '.join(parts) or 'not at that level'}."


def note_run(store: Store, level: str) -> None:
    """Add the protections of a run that begins, unless they are noted."""
    missing = [] if level == "wasm" else list(machine.missing())
    run = {"level": level, "missing": missing}
    runs = store.meta_json(RUNS) or []
    if run not in runs:
        store.set_meta({RUNS: json.dumps([*runs, run])})


def protection_lines(store: Store) -> list[str]:
    """Return the protections that games were played under, for students; no machine is named."""
    runs, proof = store.meta_json(RUNS) or [], store.meta_json(PROOF)
    lines = []
    for run in runs:
        missing = "; ".join(run["missing"])
        lacking = f" Missing on that machine: {missing}." if missing else ""
        lines.append(f"Games were played at isolation level {run['level']}.{lacking}")
    if runs and proof is not None:
        lines.append(_proof_text(proof, {run["level"] for run in runs}))
    return list(dict.fromkeys(lines))
