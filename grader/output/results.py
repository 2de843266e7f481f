"""The content of a results file, with the marks and places that follow from it.

It stands in `output`, not in `results`: marks, stages and protection belong to layers above that.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from connect4.errors import InputError, headline
from connect4.isolation.seat import level_named
from grader.handin import Person, Submission, match
from grader.handin.roster import Owners, Student, assign, find
from grader.marks import Mark, MatchMark, found_in, gradable, lateness, mark_match
from grader.marks.tally import by_match
from grader.marks.tournament import Placing, StageState, placings, stages
from grader.output import tables
from grader.play.schedule import PlannedGame, grade_games, limits_text
from grader.play.working_time import grading_pace, slow_files
from grader.results import LOAD, EndedGames, PlayedGame
from grader.results.store import Store
from grader.rubric.model import Rubric, limit_of_move
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

PLACEMENT: Final = "placement"
"""The name of the points for placement, with the name of the tournament's file."""


@dataclass(frozen=True)
class Results:
    """The content of a results file at one moment."""

    kind: str
    rubric: Rubric
    submissions: list[Submission]
    played: Mapping[str, PlayedGame]
    faults: Mapping[str, str]
    """Why the other games failed."""
    owners: Owners
    """Whose mark each submission is; in a tournament, its authors'."""
    details: Mapping[str, str] = field(default_factory=dict)
    """More lines on a file that cannot be loaded, by hash."""
    protection: Sequence[str] = ()
    """The protections that games were played under, in words."""
    published: Mapping[int, str] = field(default_factory=dict)
    """When each seed that is no longer secret was published."""
    told: str = NEVER
    """When there were pages of the whole class, which replay the random player's moves."""
    starved: Mapping[str, int] = field(default_factory=dict)
    """The attempts at games that a busy machine has ended, by key."""
    slow: Mapping[str, str] = field(default_factory=dict)
    """From which time on the files play that do not in this grading, by hash."""
    placement: Mapping[str, float] = field(default_factory=dict)
    """The points for placement in a tournament, by submission."""
    unplaced: Sequence[str] = ()
    """Who earned points there and is not among these submissions."""
    tournament: str = ""
    """The name of that tournament's file."""
    has_roster: bool = False
    planned: Sequence[PlannedGame] = ()
    """The games of a grading if they are known already."""

    @cached_property
    def games(self) -> list[PlannedGame]:
        """Return the games of the grading, or of the stages that have begun."""
        if self.kind == GRADE:
            return list(self.planned) or grade_games(gradable(self.submissions), self.rubric)
        return [game for state in self.stages for group in state.groups for game in group.games]

    def games_of(self, item: Submission) -> list[PlannedGame]:
        """Return the games of a submission's file, in the order of the schedule."""
        return [] if item.problem else self.games_by_file.get(str(item.sha256), [])

    @cached_property
    def games_by_file(self) -> dict[str, list[PlannedGame]]:
        """Return the games of each file that has any, by hash."""
        found: dict[str, list[PlannedGame]] = {}
        for game in self.games:
            for player in game.players:
                if player.is_submission:
                    found.setdefault(player.id, []).append(game)
        return found

    @cached_property
    def marks(self) -> list[Mark]:
        """Return the marks of a grading; empty for a tournament."""
        if self.kind != GRADE:
            return []
        found: dict[str, list[MatchMark]] = {}  # those who share a file share its games
        for both, games in by_match(self.games).items():
            mark = mark_match(both, games, self.played, self.rubric, self.faults)
            found.setdefault(both.one.id, []).append(mark)
        return [self._mark(item, found.get(str(item.sha256), ())) for item in self.submissions]

    def _mark(self, item: Submission, matches: Sequence[MatchMark]) -> Mark:
        rubric, sha256 = self.rubric, str(item.sha256)
        students = tuple(self.owners.students[item.name]) or tuple(
            Student(one.name, one.keys, one.submitted) for one in item.people
        )
        return Mark(
            item,
            () if item.problem else tuple(matches),
            () if item.source is None else found_in(item.source, item.report, rubric.submission),
            detail=self.details.get(sha256, ""),
            public=len(self.public(item)),
            starved=sum(self.starved.get(game.key, 0) for game in self.games_of(item)),
            students=students,
            late=lateness(students, rubric),
            placement=self.placement.get(item.name, 0.0),
            limit=limit_of_move(rubric, rubric.match.time_limit),
            slow=self.slow.get(sha256, ""),
            open=self.owners.open.get(item.name, ""),
        )

    def public(self, item: Submission) -> set[str]:
        """Return the keys of a submission's games that were played when their seed was public.

        Of a file that came after the pages of the class, these are its games against `random`.
        """
        games = [game for game in self.games_of(item) if game.key in self.played]
        times = {game.key: self.played[game.key].played_at for game in games}
        came_after = min(times.values(), default="") > self.told
        return {
            game.key
            for game in games
            if times[game.key] >= self.published.get(game.seed, NEVER)
            or (came_after and game.match.two.agent == "random")
        }

    def find(self, text: str, where: object) -> Submission:
        """Return the submission of the person with a name, number, login or address.

        Raises `InputError` if nobody or several have it; `where` begins the message.
        """
        students = self.owners.students
        groups = [
            [Person(item.name), *item.people, *students[item.name]] for item in self.submissions
        ]
        return self.submissions[find(text, groups, where)]

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
    def ended(self) -> EndedGames:
        """Return the games that have ended, for a run to add to."""
        return EndedGames({**self.played}, {**self.faults})

    def after(self, ended: EndedGames) -> "Results":
        """Return what follows from the games that have ended by now."""
        planned = self.games if self.kind == GRADE else ()
        return replace(self, played={**ended.played}, faults={**ended.failed}, planned=planned)

    @property
    def missing(self) -> int:
        """Return how many of the games have no result."""
        return len({game.key for game in self.games} - self.played.keys())

    def text(self, details: bool = False) -> str:
        if self.kind == GRADE:
            return tables.grade_text(self.marks, self.rubric, details)
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
    secret, roster = store.secret(make=False), store.roster()
    if secret is not None and rubric.match.seed is None:
        rubric = replace(rubric, match=replace(rubric.match, seed=secret))
    details, problems = known_problems(store, rubric)
    owners = assign(found, roster, store.decisions(), store.corrections())
    listed = [
        item if item.problem else replace(item, problem=problems.get(str(item.sha256)))
        for item in owners.submissions
    ]
    placement, unplaced, tournament = placed(listed, owners, store.meta_json(PLACEMENT))
    return Results(
        kind,
        rubric,
        listed,
        store.played(),
        store.faults(),
        owners,
        details,
        protection_lines(store),
        store.published(),
        store.meta("told") or NEVER,
        store.starved(),
        slow_files(rubric, store, grading_pace(rubric)) if kind == GRADE else {},
        placement,
        unplaced,
        tournament,
        bool(roster),
    )


def placed(
    listed: Sequence[Submission], owners: Owners, held: Any
) -> tuple[dict[str, float], list[str], str]:
    """Return the stored points for placement by submission, who has none here, and their file.

    Persons are matched with the students, then with the names of the hand-ins; whoever is called
    otherwise there is found by the same file.
    """
    if held is None:
        return {}, [], ""
    earned = [
        ([Person.from_json(one) for one in entry["people"]], entry["sha256"], entry["points"])
        for entry in held["points"]
        if entry["people"]  # whoever was forgotten there is nobody here
    ]
    here = [(place, one) for place, (persons, _, _) in enumerate(earned) for one in persons]
    there = [(name, one) for name, students in owners.students.items() for one in students]
    first = match([one for _, one in here], [one for _, one in there])
    whose = {here[one][0]: there[two][0] for one, two in first.pairs.items()}
    unclear = {place for item in first.undecided for place in item.here}
    rest = [one for n, one in enumerate(here) if one[0] not in whose and n not in unclear]
    free = [
        (item.name, one)
        for item in listed
        if item.name not in whose.values()
        for one in item.people
    ]
    again = match([one for _, one in rest], [one for _, one in free]).pairs
    whose |= {rest[one][0]: free[two][0] for one, two in again.items()}
    for place, (_, sha256, _) in enumerate(earned):
        others = [item.name for item in listed if item.sha256 == sha256]
        alone = [one[1] for one in earned].count(sha256) == len(others) == 1
        if place not in whose and alone and others[0] not in whose.values():
            whose[place] = others[0]
    points = {name: earned[place][2] for place, name in whose.items()}
    absent = [str(persons[0]) for place, (persons, _, _) in enumerate(earned) if place not in whose]
    return points, absent, str(held["file"])


def known_problems(store: Store, rubric: Rubric) -> tuple[dict[str, str], dict[str, str]]:
    """Return the details on files that cannot be loaded, and the problem of each file, by hash."""
    noted = store.notes(LOAD, limits_text(rubric)).items()
    failures = {sha256: text for sha256, text in noted if text is not None}
    details = {sha256: last_lines(text) for sha256, text in failures.items()}
    problems = {one: f"cannot be loaded: {headline(text)}" for one, text in failures.items()}
    for sha256, title in store.aside().items():
        problems[sha256] = f"set aside: the grader was ended by this: {title}"
    return details, problems


def last_lines(text: str) -> str:
    """Return the last lines of a text, which contain the cause."""
    lines = text.strip("\n").splitlines()
    return "\n".join(["...", *lines[-LAST_LINES:]] if len(lines) > LAST_LINES else lines)


def note_run(store: Store, level: str) -> None:
    """Add the protections of a run that begins, unless they are noted."""
    missing = list(level_named(level).missing())
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
        parts = []
        for level in sorted({run["level"] for run in runs} & set(proof["levels"])):
            failed = [item["text"] for item in proof["guarantees"] if not item[level]]
            count = len(proof["guarantees"])
            text = f"{count - len(failed)} of {count} guarantees hold at level {level}"
            parts.append(text + (f" (not: {'; '.join(failed)})" if failed else ""))
        day = str(proof["at"])[:10]
        outcome = ", ".join(parts) or "not at that level"
        lines.append(f"Self-test of the machine on {day}: {outcome}.")
    return list(dict.fromkeys(lines))
