"""Shared parts of the commands: exit status, how games are played, whose a hand-in is."""

import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from connect4.games.base import Seconds
from connect4.isolation import machine
from connect4.isolation.seat import LEVELS, Level, choose_level, level_named
from connect4.isolation.wasm.level import in_fuel, limit_of
from connect4.players.base import split_name, student_file
from grader.handin import LATE, REMEDY, Missing, Submission, lists, match, named_few
from grader.handin.roster import Correction, Owners, Student, assign
from grader.marks import lateness
from grader.output import write
from grader.play import Pool, cluster_pool, local_pool, worker_count
from grader.results.store import Store
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric, kit_agents, level_of_games

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
    words: tuple[str, ...] = ()
    """The command as it was given: given again, it goes on."""

    def workers(self) -> int:
        """Return how many games this machine plays at once; raises `InputError` if too many."""
        return worker_count(self.jobs, self.force_jobs)

    def level(self) -> Level:
        """Return the isolation level of agents, and say what it lacks.

        Raises `InputError` if it is lower than the rubric requires.
        """
        level, notes = required_level(self.isolation, self.rubric)
        for note in notes:
            say(f"isolation: {note}")
        return level

    @contextlib.contextmanager
    def pool(self, level: Level) -> Iterator[Pool]:
        """Open the local workers or the cluster; agents play at a level of isolation."""
        if self.scheduler is not None:
            with cluster_pool(self.scheduler, level) as pool:
                yield pool
            return
        scratch = Path(tempfile.mkdtemp(prefix="connect4-grader-"))
        with local_pool(self.workers(), scratch, level) as pool:
            yield pool


def read_rubric(
    path: Path | None,
    seconds: Seconds | None = None,
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
    source = Path(rubric.source)
    secret = [] if rubric.match.seed is None else [source]
    secret += [source.parent / name for name in rubric.match.hidden]
    agents = [split_name(agent.agent) for agent in kit_agents(rubric)]
    secret += [student_file(agent) for agent in agents if agent.kind == "ai" and agent.rest]
    for path in filter(Path.is_file, secret if level == "process" else ()):
        if machine.is_open_to_agents(path):
            raise InputError(
                f"{path}: agents here could read it, as every user can, because the kernel has no "
                f"Landlock: chmod go-rwx {path}"
            )
    LEVELS[level].prepare(say)
    return level, notes


UNLIKELY: Final = "{} pairs of agents have margins that their ratings do not predict: see {}"

MOST_NAMED: Final = 10
"""More names than these are listed in a file."""

UNMATCHED: Final = "unmatched.csv"
"""Who handed in and is not found, whose hand-in it may be, and all lists of more names."""


def name_all(what: str, names: Sequence[str], out: Path | None, is_listed: bool = False) -> None:
    """Say names; more than ten are in `unmatched.csv` below `out`, else the first are said."""
    shown = "; ".join(names)
    if len(names) > MOST_NAMED and out is not None:
        place, _, why = what.rpartition(": ")
        if not is_listed:
            list_unmatched(out, [(place, name, "", why) for name in names])
        shown = f"{len(names)} names, listed in {out / UNMATCHED}"
    elif len(names) > MOST_NAMED:
        shown = named_few(names)
    if names:
        say(f"{what}: {shown}")


def list_unmatched(out: Path, rows: Sequence[Sequence[object]], anew: bool = False) -> None:
    """Add rows to `unmatched.csv` below `out`, or begin it with them."""
    path = out / UNMATCHED
    text = lists.csv_text(("List", "Hand-in of", "May be", "Why"), rows)
    if path.is_file() and not anew:
        text = path.read_text(encoding="utf-8") + text.partition("\n")[2]
    write(path, text)


NONE: Final = "none"


def with_rosters(words: Sequence[str], rosters: Iterable[object]) -> list[str]:
    """Return a command with these rosters in place of its own."""
    own = {n for n in range(len(words)) if "--roster" in words[max(0, n - 1) : n + 1]}
    kept = [word for n, word in enumerate(words) if n not in own]
    return kept + [word for path in rosters for word in ("--roster", str(path))]


def read_roster(paths: Sequence[Path], held: Sequence[Student]) -> tuple[Student, ...]:
    """Return the roster of one or several files, which complete each other; `none` is no roster.

    Say which columns are not used, and who of the roster that is `held` is no longer in it. A
    correction that is new gets the day of today.
    """
    if [str(path) for path in paths] == [NONE]:
        return ()
    found: tuple[Student, ...] = ()
    for path in paths:
        students, unused = lists.read_roster(path)
        found = _completed(found, students, path) if found else students
        if unused:
            say(f"{path}: columns that are not used: {', '.join(unused)}")
    mine, yours = ([replace(one, corrections=()) for one in side] for side in (found, held))
    same = [(n, yours.index(one)) for n, one in enumerate(mine) if one in yours]
    matching = match(found, held, same)
    pairs = matching.pairs
    doubtful = (one.there for one in matching.undecided if len(one.here) >= len(one.there))
    kept = {*pairs.values()}.union(*doubtful)
    if gone := [str(one) for n, one in enumerate(held) if n not in kept]:
        place = ", ".join(map(str, paths))
        say(f"{place} replaces the stored roster; no longer in it: {named_few(gone)}")
    return tuple(
        replace(one, corrections=_dated(one.corrections, held[pairs[n]] if n in pairs else None))
        for n, one in enumerate(found)
    )


def _completed(one: Sequence[Student], two: Sequence[Student], path: Path) -> tuple[Student, ...]:
    """Return the students of a roster with what another one adds to them, then its own.

    Raises `InputError` if it is not clear who is who.
    """
    matching = match(one, two)
    if matching.undecided:
        item = matching.undecided[0]
        listed = "; ".join(str(one[place]) for place in item.here)
        raise InputError(f"{path}: it is not clear who is {listed} ({item.why}); give a number")
    found = list(one)
    for here, there in matching.pairs.items():
        more = two[there]
        known: dict[str, Any] = {}
        for name in ("submitted", "section", "group", "extension", "hand_in", "corrections"):
            mine, other = getattr(found[here], name), getattr(more, name)
            if mine and other and mine != other and name not in ("submitted", "section"):
                what = f"{name} of {found[here]} differs from the roster before it"
                raise InputError(f"{path}: {what}; keep one of them")
            known[name] = mine or other
        found[here] = replace(found[here].with_keys(more.keys), **known)
    taken = set(matching.pairs.values())
    return (*found, *(student for place, student in enumerate(two) if place not in taken))


def _dated(entries: Sequence[Correction], before: Student | None) -> tuple[Correction, ...]:
    """Return corrections with the day on which each was entered first."""
    today = date.today().isoformat()
    known = {replace(entry, day=""): entry for entry in (before.corrections if before else ())}
    return tuple(known.get(entry, replace(entry, day=today)) for entry in entries)


def say_owners(
    store: Store | None,
    found: Sequence[Submission],
    roster: Sequence[Student],
    rubric: Rubric,
    paths: Sequence[Path],
    out: Path | None,
) -> Owners:
    """Match hand-ins with a roster, and list whoever cannot be found; return the owners.

    The lists are written below `out` too. Raises `InputError` if nobody who handed in is in the
    roster of `paths`.
    """
    decisions = store.decisions() if store else ()
    owners = assign(found, roster, decisions, store.corrections() if store else ())
    stored = "the stored roster" if roster or store is None else str(store.path)
    place = ", ".join(map(str, paths)) or stored
    if rubric.late.deadline:
        say(f"[late]: the deadline is {rubric.late.deadline} in the zone {rubric.late.zone}")
        if not (rubric.late.points_a_day or rubric.late.percent_a_day):
            say("[late]: points_a_day and percent_a_day are missing or 0, so nothing is deducted")
    people = [person for item in found for person in item.people]
    is_doubtful = any(one.why for one in owners.unknown)
    if roster and paths and len(owners.unknown) == len(people) and not is_doubtful:
        raise lists.nobody(place, *([one.name for one in side] for side in (people, roster)))
    for line in owners.told:
        say(f"{place}: {line}")
    absent, undecided = Missing.ABSENT, Missing.UNDECIDED
    unknown: dict[str, list[str]] = {"": [], LATE: [], absent: [], undecided: []}
    for item in owners.submissions:
        time = lateness(owners.students[item.name], rubric).submitted
        name = str(item.people[0]) if item.missing else item.name
        unknown.get(item.missing or time, []).append(name)
    if not rubric.late.deadline or len(owners.submissions) == 1:
        unknown[""].clear()
    none = "no time known in the roster, so nothing is deducted"
    rows = [[place, one.person, "; ".join(map(str, one.may_be)), one.why] for one in owners.unknown]
    if out is not None and (rows or (out / UNMATCHED).is_file()):
        list_unmatched(out, rows, anew=True)
    name_all(f"{place}: not in it", list(map(str, owners.unknown)), out, is_listed=True)
    name_all(f"{place}: {absent}, 0 points", unknown[absent], out)
    name_all(f"{place}: not decided, no mark yet", unknown[undecided], out)
    if unknown[undecided] or is_doubtful:
        say(f"{place}: to decide who is who, {REMEDY}")
    name_all(f"late by the file's name, {none}", unknown[LATE], out)
    name_all(f"[late]: {none}", unknown[""], out)
    return owners
