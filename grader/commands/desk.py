"""`python3 -m grader` without a command: where a class stands, and what the next command is.

It reads the results files and the hand-ins of the current folder, and changes nothing.
"""

import contextlib
import io
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Final

from connect4.errors import InputError
from grader.commands import NONE, read_roster, with_rosters
from grader.handin import Missing, Submission, named_few
from grader.handin import find as submissions
from grader.handin.roster import Owners, Student, assign
from grader.ladder import LADDER
from grader.output.explain import OUT, changed_marks
from grader.output.gradebooks import FILLED, read_gradebook
from grader.output.results import GRADE, TOURNAMENT, Results, read_results
from grader.output.tables import clipped
from grader.results.database import is_busy
from grader.results.store import COMMAND, Store
from grader.rubric import reading as rubrics
from grader.rubric.model import SubmissionRules

CALL: Final = "python3 -m grader"

MOST_LINES: Final = 20
MOST_DECISIONS: Final = 4


@dataclass
class Standing:
    """Where one results file stands, or hand-ins that no grading has."""

    place: str
    kind: str
    """`hand-ins`, `grade`, `tournament`, `ladder`, or why a results file cannot be read."""
    facts: dict[str, Mapping[str, int | str]] = field(default_factory=dict)
    """By subject: counts by what they count, texts by their names."""
    decide: list[str] = field(default_factory=list)
    """What only the teacher can decide."""
    zeros: dict[str, list[str]] = field(default_factory=dict)
    """Who has 0 points, by the cause."""
    rosters: list[str] = field(default_factory=list)
    """The files of the roster."""
    next: str = ""
    """The next command; empty if nothing is left to do."""

    def lines(self) -> list[str]:
        found = [f"{self.place}: {self.kind}"]
        for subject, known in self.facts.items():
            shown = [
                f"{n} {name}" if isinstance(n, int) else f"{name} {n}" for name, n in known.items()
            ]
            found.append(f"  {subject}: {', '.join(shown) or 'none'}")
        found += [f"  to decide: {clipped(line)}" for line in self.decide[:MOST_DECISIONS]]
        if (more := len(self.decide) - MOST_DECISIONS) > 0:
            found.append(f"  to decide: {more} more; `{CALL} --json` has all")
        return found + ([f"  next: {self.next}"] if self.next else [])


def desk(as_json: bool) -> bool:
    """Print where things stand in the current folder; return whether there is anything."""
    found = [_of_results(path) for path in sorted(Path().glob("*.db"))]
    found.sort(key=lambda one: one.kind != GRADE)
    if not any("hand-ins" in one.facts for one in found):
        found = [*_hand_ins(found), *found]
    lines = [line for one in found for line in one.lines()]
    if as_json:
        print(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=2))
    elif found:
        more = [*lines[: MOST_LINES - 1], "... `--json` has the rest"]
        print("\n".join(lines if len(lines) <= MOST_LINES else more))
    else:
        print("Here is no results file, and no folder or zip of several hand-ins.\n")
    return as_json or bool(found)


def _of_results(path: Path) -> Standing:
    try:
        with Store(path, writing=False) as store:
            kind = store.meta("kind")
            given = [word for word in store.meta_json(COMMAND) or () if word != "--dry-run"]
            given = [part for word in given for part in word.split("=", word.startswith("--"))]
            is_tried = kind is None and given[:1] == [GRADE]  # in a dry run
            rosters = _rosters(given, is_tried)
            words = with_rosters(given, rosters) if is_tried else given
            again = f"{CALL} {shlex.join(words)}" if words else "the command that began it goes on"
            again = "wait; a grader is at work on it" if is_busy(path) else again
            if kind in (LADDER, None):  # a dry run has only asked for moves
                facts = {"files": len(store.versions()), "games played": len(store.played())}
                one = Standing(str(path), kind or (words or [GRADE])[0], {"known": facts})
                one.next, one.rosters, one.decide = again, rosters, _rubric_changes(words, None)
                if is_tried and (had := set(_rosters(given)) - set(rosters)):
                    one.decide.append(f"which roster: the dry run had {', '.join(sorted(had))}")
                return one
            results = read_results(store)
            games = {game.key for game in results.games}
            done, failed = games & results.played.keys(), games & results.faults.keys()
            facts = {"planned": len(games), "played": len(done), "failed": len(failed)}
            one = Standing(str(path), results.kind, {"games": facts}, rosters=rosters)
            stages = results.rubric.tournament.stages if kind == TOURNAMENT else ()
            if stages:
                one.facts["stages"] = {"begun": len(results.stages), "planned": len(stages)}
            else:
                _add_marks(one, results, store)
            changed = _rubric_changes(words, store.meta_json("rubric"))
            is_over = not results.missing and len(results.stages) == len(stages)
            if kind == GRADE and is_over:
                changed += _new_hand_ins(words, results, store)
            one.decide[:0] = changed
            one.next = one.next if is_over and not changed else again
            return one
    except InputError as error:
        return Standing(str(path), str(error).removeprefix(f"{path}: "))


def _rubric_changes(words: Sequence[str], held: Any) -> list[str]:
    """Return how the rubric that a command names differs from the one `held`, if there is one."""
    if "--rubric" not in words:
        return []
    try:
        rubric = rubrics.read(Path(words[words.index("--rubric") + 1]))
    except InputError as error:
        return [f"what the rubric is to say: {error}"]
    other = ("match.seed ", "compare.", "ladder.", *(["tournament."] if GRADE in words else []))
    why = "whether marks follow the new rubric"
    changed = rubrics.changes(held, rubric)
    return [f"{why}: {line}" for line in changed if not line.startswith(other)]


def _new_hand_ins(words: Sequence[str], results: Results, store: Store) -> list[str]:
    """Return which hand-ins of a command for a class are not the stored ones."""
    paths = [Path(path) for path in takewhile(lambda word: not word.startswith("-"), words[1:])]
    found = _found(paths, results.rubric.submission)
    now, held = ({(one.name, one.sha256) for one in side} for side in (found, store.submissions()))
    names = sorted({name for name, _ in now ^ held}) if len(found) > 1 else []
    return [f"whether marks follow the new hand-ins: {named_few(names)}"] if names else []


def _found(paths: Sequence[Path], rules: SubmissionRules) -> list[Submission]:
    with contextlib.suppress(InputError), contextlib.redirect_stderr(io.StringIO()):
        return submissions.find(paths, rules)
    return []


def _add_marks(one: Standing, results: Results, store: Store) -> None:
    """Add whose hand-ins there are, their marks, what is written of them, and what comes next."""
    owners = results.owners
    unplayable = sum(bool(item.problem and not item.missing) for item in results.submissions)
    one.facts["hand-ins"] = {"found": len(store.submissions()), "unplayable": unplayable}
    _add_owners(one, owners, results.has_roster)
    marks = [(mark, own, mark.known(own)) for mark in results.marks for own in mark.students]
    is_open = [mark for mark, _, value in marks if value is None]
    one.facts["marks"] = {"known": len(marks) - len(is_open), "open": len(is_open)}
    for item, own in [(mark.submission, own) for mark, own, value in marks if value == 0]:
        why = "absent" if item.missing else "unplayable" if item.problem else "played"
        one.zeros.setdefault(why, []).append(str(own))
    one.facts["zeros"] = {why: len(names) for why, names in one.zeros.items()}
    out = Path(os.path.relpath(store.path.parent / (store.meta(OUT) or "marks")))
    grades = out / "grades.csv"
    one.next = f"{CALL} report {shlex.quote(one.place)} --out {shlex.quote(str(out))}/"
    one.facts["files"] = one.facts["gradebooks"] = {}
    new, wrong = _students(one.rosters, store.roster())
    if differs := bool(new) and set(new) != set(store.roster()):
        wrong.append(f"whether marks follow the new roster: {', '.join(one.rosters)}")
    one.decide[:0] = wrong
    named = "".join(f" --roster {shlex.quote(path)}" for path in one.rosters or ["roster.csv"])
    if store.meta(OUT) is None or not grades.is_file():
        return
    changed, _ = changed_marks(results, store)
    ages = {
        book.name: book.stat().st_mtime for book in out.iterdir() if FILLED.fullmatch(book.name)
    }
    old = [name for name, age in ages.items() if age < grades.stat().st_mtime]
    since = {} if results.missing else {"changed since": len(changed)}
    one.facts["files"] = {"below": f"{out}/", **since}
    states = {name: "of earlier marks" if name in old else "filled" for name in sorted(ages)}
    one.facts["gradebooks"] = states
    if differs:
        one.next += named
    elif is_open and not changed:
        one.next += f"{named}  # when its columns hand_in and submitted say it"
    elif changed or old or not ages:
        exports: dict[str, str] = {}
        for path in sorted(map(str, Path().glob("*.csv"))):
            if path not in _rosters(()):  # which may have the columns of an export
                with contextlib.suppress(InputError):
                    exports.setdefault(read_gradebook(Path(path)).system.file, path)
        stale = [Path(name).stem for name in (ages if changed else old)] or exports
        todo = [shlex.quote(path) for file, path in exports.items() if file in stale]
        one.next += "".join(f" --gradebook {path}" for path in todo or ["EXPORT.csv"])
    else:
        one.next = ""


def _add_owners(one: Standing, owners: Owners, has_roster: bool) -> None:
    """Add who is found in the roster and who is not, and what is to be decided."""
    absent = [str(item.people[0]) for item in owners.submissions if item.missing is Missing.ABSENT]
    if has_roster:
        why = Counter(item.missing for item in owners.submissions)
        found = sum(len(owners.students[item.name]) for item in owners.submissions)
        matched = found - why.total() + why[None] - len(owners.unknown)
        facts = {"matched": matched, "not in it": len(owners.unknown)}
        one.facts["roster"] = facts | {each.name.lower(): why[each] for each in Missing}
    one.decide += [line for line in owners.told if " is newer than " not in line]
    one.decide += [f"whose is the hand-in of {each}" for each in owners.unknown if each.may_be]
    for each in [each for each in owners.unknown if absent and not each.may_be]:
        nobody = f"not in the roster; without a hand-in are {'; '.join(absent)}"
        one.decide.append(f"whose is the hand-in of {each} ({nobody})")


def _students(
    rosters: Sequence[str], held: Sequence[Student] = ()
) -> tuple[Sequence[Student], list[str]]:
    """Return the students of rosters, and why they cannot be read."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return read_roster([Path(path) for path in rosters], held), []
    except InputError as error:
        return (), [f"what the roster is to say: {error}"]


def _rosters(words: Sequence[str], is_tried: bool = False) -> list[str]:
    """Return the rosters of a command, else those of this folder by their names.

    These come first if the command has only tried others.
    """
    here = sorted(map(str, Path().glob("roster*.csv")))
    here = ["roster.csv"] if "roster.csv" in here else here  # others may be copies
    given = [two for one, two in pairwise(words) if one == "--roster" and two != NONE]
    return here if not given or (is_tried and here and set(here).isdisjoint(given)) else given


def _hand_ins(of_results: Sequence[Standing]) -> Iterator[Standing]:
    """Yield the folders and archives here of which most files are students' agents.

    If a results file has a next command for them, they need none of their own.
    """
    here = [path for path in Path().glob("*.toml") if path.stem != "pyproject"]
    begun = [one for one in of_results if one.kind == GRADE]
    rosters = begun[0].rosters if begun else _rosters(())
    more = ["--rubric", str(here[0])] if len(here) == 1 else []
    roster, wrong = _students(rosters)
    wrong += [] if begun else _rubric_changes(more, None)
    wrong += [f"which rubric: {', '.join(sorted(map(str, here)))}"] if len(here) > 1 else []
    for path in sorted(Path().iterdir()):
        is_packed = path.name.lower().endswith(".zip")
        if path.name[0] in "._" or not (path.is_dir() or is_packed):
            continue
        found = _found([path], rubrics.read(None).submission)
        agents = [one for one in found if b"class AIPlayer" in (one.source or b"")]
        if len(found) > 1 and 2 * len(agents) >= len(found):
            unread = [f"{one.name}: {one.problem}" for one in found if one.problem]
            facts = {"found": len(found), "not read": len(unread)}
            words = shlex.join(with_rosters([str(path), *more], rosters))
            command = f"{CALL} grade {words} --results marks.db --out marks/ --dry-run"
            one = Standing(str(path), "hand-ins", {"hand-ins": facts}, [*wrong], rosters=rosters)
            one.next = "" if begun else command
            if roster:
                _add_owners(one, assign(found, roster), has_roster=True)
            one.decide += unread
            yield one
