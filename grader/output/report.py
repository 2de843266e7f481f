"""All output from stored results: the tables and the files below `--out`.

Nothing here plays. A report can be written during play, or years later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from connect4 import record as records
from connect4.errors import InputError, headline
from grader.handin.submission import Submission, file_name
from grader.marks.points import Mark, gradable, marks
from grader.marks.tournament import Placing, StageState, placings, stages
from grader.output import evidence, feedback, formats, github, tables
from grader.output.class_page import class_page
from grader.output.files import make_folder, write
from grader.output.lost_turns import LostTurn, lost_turns
from grader.output.protection import Protection, read_protection
from grader.output.standings import standings_page
from grader.play.replays import MADE_BY, Replay, renamed, replay_data
from grader.play.schedule import PlannedGame, grade_games, limits_text
from grader.results.store import InfraFailure, PlayedGame, Store
from grader.rubric.model import Rubric
from grader.rubric.reading import from_stored

GRADE: Final = "grade"
TOURNAMENT: Final = "tournament"

LAST_LINES: Final = 20

NEVER: Final = "9999"
"""Later than every time."""


@dataclass(frozen=True)
class Results:
    """The content of a results file, read at one moment."""

    kind: str
    rubric: Rubric
    submissions: list[Submission]
    played: dict[str, PlayedGame]
    faults: dict[str, InfraFailure]
    details: dict[str, str] = field(default_factory=dict)
    """Details for each submission that cannot be loaded."""
    protection: Protection = field(default_factory=Protection)
    published: dict[int, str] = field(default_factory=dict)
    """When each seed that is no longer secret was published."""

    @cached_property
    def games(self) -> list[PlannedGame]:
        """Return the games of the grading, or of the stages that have begun."""
        if self.kind == GRADE:
            return grade_games(gradable(self.submissions), self.rubric)
        return [game for state in self.stages for group in state.groups for game in group.games]

    def games_of(self, name: str) -> list[PlannedGame]:
        """Return the games that count for a submission's mark, in the order of the schedule."""
        return self._games_by_name.get(name, [])

    def lost_turns(self, game: PlannedGame) -> int:
        """Return the number of turns that the marked player lost in a game."""
        result = self.played.get(game.key)
        return 0 if result is None else result.faults[game.side - 1].total

    @cached_property
    def _games_by_name(self) -> dict[str, list[PlannedGame]]:
        found: dict[str, list[PlannedGame]] = {}
        for game in self.games:
            found.setdefault(game.match.one.name, []).append(game)
        return found

    @cached_property
    def marks(self) -> list[Mark]:
        """Return the marks of a grading; empty for a tournament."""
        if self.kind != GRADE:
            return []
        read = (self.submissions, self.played, self.rubric, self.details, self.faults)
        made = marks(*read, self.games)
        return [replace(mark, public=len(self.public(mark.submission.name))) for mark in made]

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

    @property
    def missing(self) -> int:
        """Return how many of the games have no result."""
        return len({game.key for game in self.games} - self.played.keys())

    def text(self, placement: Mapping[str, float], details: bool = False) -> str:
        """Return the tables."""
        if self.kind == GRADE:
            return tables.grade_text(self.marks, placement, self.rubric, details)
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
    rubric = with_secret(rubric, store)
    found, details = known_problems(store.submissions(), store, rubric)
    counted = rubric.match.opponent_faults == "count"
    stored = store.played(counted), store.faults(counted)
    shown = read_protection(store)
    return Results(kind, rubric, found, *stored, details, shown, store.published())


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


def placement_points(results: Results) -> dict[str, float]:
    """Return the points for placement by submission.

    Raises `InputError` if there is no tournament, it is not finished, or it has no points.
    """
    if results.kind != TOURNAMENT:
        raise InputError(f"holds a {results.kind}, not a tournament")
    wanted = len(results.rubric.tournament.stages)
    if len(results.stages) < wanted or results.missing:
        raise InputError("the tournament is not finished; give its command again, it goes on")
    if not results.rubric.tournament.points:
        raise InputError(
            "its rubric has no tournament.points; set them and give the tournament's command "
            "again, nothing is played"
        )
    return {item.contestant.name: item.points for item in results.placings}


def write_quick(
    results: Results, out: Path, placement: Mapping[str, float], tests: formats.Tests | None = None
) -> None:
    """Write the files that change during play.

    `tests` are Gradescope's. During play they are made here, without the reasons for lost turns.
    """
    make_folder(out)
    if results.kind == GRADE:
        tests = tests or formats.gradescope_tests(results.marks, results.rubric, {})
        document = formats.gradescope(results.marks, placement, tests)
        document["extra_data"] = {"protection": results.protection.lines()}
        write(out / "results.json", formats.to_json(document))
    else:
        text = results.text({})
        write(out / "standings.txt", text)
        page = standings_page(results.stages, results.placings, results.rubric, results.left_out)
        write(out / "standings.html", page)


def write_all(results: Results, store: Store, out: Path, placement: Mapping[str, float]) -> None:
    """Write every file except the records; pages that have not changed are not written."""
    lost = reasons(results, store)
    tests = formats.gradescope_tests(results.marks, results.rubric, lost)
    write_quick(results, out, placement, tests)
    protection = "".join(f"\n{line}\n" for line in results.protection.lines())
    write(out / "tables.txt", results.text(placement, details=True) + protection)
    if results.kind == GRADE:
        write(out / "grades.csv", formats.gradebook(results.marks, placement))
        write(out / "junit.xml", formats.junit(results, lost))
        if len(results.marks) > 1:
            make_folder(out / "results")
            for mark in results.marks:
                document = formats.gradescope([mark], placement, tests)
                path = out / "results" / f"{file_name(mark.submission.name)}.json"
                write(path, formats.to_json(document))
            write(out / "class.html", class_page(results, placement))
        write_pages(results, store, out, placement, lost)
    present = [item.name for item in results.submissions]
    evidence.remove_withdrawn(out, store.withdrawn(), present)


def reasons(results: Results, store: Store) -> dict[str, list[LostTurn]]:
    """Return the reasons for each submission's lost turns; empty for a tournament."""
    found: dict[str, list[LostTurn]] = {}
    for mark in results.marks:
        name = mark.submission.name
        if mark.faults.total:
            games = [game for game in results.games_of(name) if results.lost_turns(game)]
            found[name] = lost_turns(games, results.played, replays_of(games, store))
    return found


def replays_of(games: Sequence[PlannedGame], store: Store) -> dict[str, Replay]:
    """Return the data of the replay page for games that have been played.

    A game whose record is damaged or lost is reported and left out.
    """
    found: dict[str, Replay] = {}
    for game in games:
        names = [player.name for player in game.players]
        replay = store.page(game.key)
        if replay is not None and replay.startswith(MADE_BY):
            found[game.key] = renamed(replay, names)
            continue
        text = store.record(game.key)
        try:
            if text is None:
                raise InputError("damaged or lost")
            found[game.key] = replay_data(records.loads(text), names)
        except InputError as error:
            title = f"{game.match.one.name}, {game.title}"
            print(f"{title}: its record cannot be shown: {error}", file=sys.stderr)
    return found


def write_pages(
    results: Results, store: Store, out: Path, placement: Mapping[str, float], lost: formats.Lost
) -> None:
    """Write the page of each submission unless it exists and is up to date.

    `lost` has the reasons for lost turns, as `reasons` returns them.
    """
    folder = out / "feedback"
    make_folder(folder)
    for mark in results.marks:
        name = mark.submission.name
        games = results.games_of(name)
        upper = feedback.summary(mark, placement.get(name, 0.0), results.rubric)
        if any(game.key in results.played for game in games):
            upper = "\n".join(filter(None, (upper, results.protection.as_html())))
        digest = feedback.digest(upper, games, results.played)
        path = folder / f"{file_name(name)}.html"
        if _begins_with(path, digest):
            continue
        replays = replays_of([game for game in games if game.key in results.played], store)
        read = (results.played, replays, lost.get(name, ()), results.public(name))
        page = feedback.feedback_page(mark, upper, digest, games, *read)
        write(path, page)


def _begins_with(path: Path, digest: str) -> bool:
    with suppress(OSError), path.open(encoding="utf-8") as file:
        return digest in file.read(200)
    return False


def tell_github(results: Results, store: Store, placement: Mapping[str, float]) -> None:
    """Write annotations and the job summary when running in GitHub Actions."""
    if not github.in_actions():
        return
    lost = reasons(results, store)
    for mark in results.marks:
        github.annotate(formats.github_lines(mark, lost.get(mark.submission.name, ())))
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        try:
            with open(place, "a", encoding="utf-8") as file:
                file.write(formats.summary(results.marks, placement, results.rubric))
        except OSError as error:
            print(f"the job summary cannot be written: {error}", file=sys.stderr)
